"""Addresses are read as browsers read them; the oracle for plain ones is the standard library."""

import subprocess
import sys
from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.errors import InvalidAddress
from recrawl.parse.addresses import LONGEST_ADDRESS, canonical, host_of, origin_of, site_of

_pieces = st.sampled_from(
    [
        *("http", "https", ":", "//", "/", "?", "#", "@", ".", "..", "%", "%41", "a", "B", "ü"),
        *("[::1]", "0x7f", ":80", ":443", "\\", "xn--", "é", "\u3002", "&", "="),
        *(" ", "\t", "\n", "\x00", "\x7f"),
    ]
)
hostile = st.one_of(
    st.text(),
    st.lists(_pieces).map("".join),
    st.lists(_pieces).map(lambda pieces: "http://h" + "".join(pieces)),
)
_words = st.text(alphabet="abcxyz019-_~", min_size=1, max_size=6)
plain = st.builds(
    lambda scheme, labels, port, path, query: (
        f"{scheme}://{'.'.join(labels)}.org{port}/{'/'.join(path)}{query}"
    ),
    st.sampled_from(["http", "https"]),
    st.lists(st.text(alphabet="abcxyz", min_size=1, max_size=5), min_size=1, max_size=3),
    st.sampled_from(["", ":8080", ":1"]),
    st.lists(_words, max_size=4),
    st.one_of(st.just(""), _words.map(lambda word: "?" + word)),
)


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("HTTP://Example.ORG:80/a/../b?#top", "http://example.org/b"),
        ("https://example.org:443", "https://example.org/"),
        ("https://example.org:80/", "https://example.org:80/"),
        ("https://example.org/?", "https://example.org/"),
        ("https://example.org/??", "https://example.org/??"),
        ("https://example.org/?z=1&a=2", "https://example.org/?z=1&a=2"),
        ("https://example.org/A%7e%2f/", "https://example.org/A%7e%2f/"),
        ("https://example.org/a b/ü?ü", "https://example.org/a%20b/%C3%BC?%C3%BC"),
        ("https://faß.de/", "https://xn--fa-hia.de/"),
        ("https://ＥＸＡＭＰＬＥ.org/", "https://example.org/"),  # noqa: RUF001 - wide letters
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("  http://example.org/\n", "http://example.org/"),
        ("http://example.org/a\n\tb", "http://example.org/ab"),
        ("http://@example.org/", "http://example.org/"),
        ("http://example.org./", "http://example.org./"),
        ("http://localhost:8000/a", "http://localhost:8000/a"),
    ],
)
def test_an_address_has_one_spelling(text, address):
    assert canonical(text) == address


@pytest.mark.parametrize("text", ["0x7f.1", "2130706433", "0177.0.0.01", "127.1", "127.0.0.1."])
def test_a_numeric_host_is_written_as_four_numbers(text):
    """Else a check on private addresses could be walked around."""
    assert canonical(f"http://{text}/") == "http://127.0.0.1/"


def test_a_host_of_version_six_is_written_short():
    assert canonical("http://[0:0::0:1]:80/") == "http://[::1]/"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "/a",
        "ftp://example.org/",
        "javascript:alert(1)",
        "mailto:a@example.org",
        "data:text/html,a",
        "file:///etc/hostname",
        "http://",
        "http://someone@example.org/",
        "http://someone:secret@example.org/",
        "http://:80@example.org/",
        "http://exa mple.org/",
        "http://a..org/",
        "http://.org/",
        "http://exa*mple.org/",
        "http://a;b.org/",
        "http://1.2.3.400/",
        "http://example.org:65536/",
        "http://[::1%25eth0]/",
        "http://" + "a" * 64 + ".org/",
        "http://" + "a." * 127 + "org/",
        "http://example.org/a\x00b",
        "http://example.org/a\x1bb",
        "http://example.org/a\x7fb",
        "http://example.org/a\x85b",
        "http://example.org/\ud800",
    ],
)
def test_what_is_never_fetched_is_no_address(text):
    assert canonical(text) is None


def test_the_longest_address_is_the_longest():
    start = "http://example.org/"
    longest = start + "a" * (LONGEST_ADDRESS - len(start))

    assert canonical(longest) == longest
    assert canonical(longest + "a") is None
    assert canonical(start + "ü" * 400) is None  # six letters each when sent


@pytest.mark.parametrize(
    ("reference", "address"),
    [
        ("c", "https://example.org/a/c"),
        ("../c", "https://example.org/c"),
        ("../../../c", "https://example.org/c"),
        ("/c", "https://example.org/c"),
        ("//other.net/c", "https://other.net/c"),
        ("?c", "https://example.org/a/b?c"),
        ("#c", "https://example.org/a/b?q"),
        ("", "https://example.org/a/b?q"),
        ("http:c", "http://c/"),
        ("https:c", "https://example.org/a/c"),
        ("mailto:c", None),
    ],
)
def test_a_reference_is_relative_to_its_page(reference, address):
    assert canonical(reference, "https://example.org/a/b?q") == address


def test_a_reference_on_a_page_without_an_address_leads_nowhere():
    assert canonical("c", "page 3") is None


@given(hostile, st.sampled_from(["", "https://example.org/a/b", "http://[::1]:8080/?q"]))
@example("http://h/ ?#", "")
def test_the_one_spelling_stays_as_it_is(text, base):
    address = canonical(text, base)

    if address is not None:
        assert canonical(address) == address
        assert canonical(address, "https://example.net/x") == address
        assert address.isascii()
        assert address.isprintable()
        assert not set(address) & set(' "<>#')


@given(hostile, st.sampled_from(["", "https://example.org/a/b"]))
def test_the_standard_library_sees_the_same_host(text, base):
    """Two readings of one address are how checks on hosts are evaded."""
    address = canonical(text, base)

    if address is not None:
        split = urlsplit(address)
        assert split.username is None
        assert origin_of(address) == f"{split.scheme}://{split.netloc}"
        assert host_of(address).partition(":")[0] == split.netloc.partition(":")[0].rstrip(".")


@given(plain)
def test_plain_addresses_stay_as_they_are(address):
    assert canonical(address) == address


@given(plain, st.lists(st.sampled_from(["a", "b", "..", "."]), min_size=1).map("/".join))
def test_plain_references_are_resolved_as_by_the_standard_library(base, reference):
    assert canonical(reference, base) == urljoin(base, reference)


def test_politeness_counts_by_host_and_port():
    assert host_of("https://example.org/") == host_of("http://example.org/a")
    assert host_of("https://example.org./") == "example.org"
    assert host_of("http://example.org:8080/") == "example.org:8080"
    assert host_of("http://[::1]:8080/") == "[::1]:8080"


@pytest.mark.parametrize(
    ("address", "site"),
    [
        ("https://news.bbc.co.uk/1", "bbc.co.uk"),
        ("https://one.github.io/", "one.github.io"),
        ("http://127.0.0.1:8000/", "127.0.0.1"),
        ("http://[::1]:8000/", "[::1]"),
        ("http://localhost/", "localhost"),
    ],
)
def test_a_site_is_a_registered_domain(address, site):
    assert site_of(address) == site


@pytest.mark.parametrize("of", [host_of, origin_of, site_of])
@pytest.mark.parametrize("text", ["", "page 3", "ftp://a/", "http://A/", "http://a", "x" * 5000])
def test_other_spellings_have_no_host(of, text):
    with pytest.raises(InvalidAddress, match="address must be canonical") as caught:
        of(text)

    assert len(str(caught.value)) < 200


def test_reading_addresses_loads_no_numpy():
    code = "import sys, recrawl.parse.addresses; print('numpy' in sys.modules)"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert answer.stdout.strip() == "False"
