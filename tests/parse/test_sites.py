"""Hosts are cut out of whole columns of bytes; the oracle is the standard library, one by one."""

from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from publicsuffixlist import PublicSuffixList

from recrawl.arrays.texts import Texts
from recrawl.parse.sites import numbered, registered_domain, sites_of

SUFFIXES = PublicSuffixList()

_labels = st.text(alphabet="abcxyz019-", min_size=1, max_size=8)
_hosts = st.one_of(
    st.builds(
        lambda labels, suffix: ".".join([*labels, suffix]),
        st.lists(_labels, min_size=1, max_size=3),
        st.sampled_from(["com", "org", "co.uk", "com.au", "github.io", "museum", "кц.рф", "test"]),
    ),
    st.sampled_from(["localhost", "127.0.0.1", "10.0.0.2", "co.uk", "com"]),
)
_addresses = st.builds(
    lambda scheme, user, host, port, rest: f"{scheme}://{user}{host}{port}{rest}",
    st.sampled_from(["http", "https", "HTTP", "Https"]),
    st.sampled_from(["", "", "someone@", "someone:secret@"]),
    _hosts,
    st.sampled_from(["", "", ":80", ":8443"]),
    st.sampled_from(["", "/", "/a/b.html", "?q=1", "#top", "/a@b.org/", "/http://c.net/"]),
)
_others = st.sampled_from(
    ["", "page 3", "/a/b", "ftp://a.org/", "http:/a.org", "https", "http://", "https:///x", "httpx"]
)


def site_names(pages):
    """Site of each page by name."""
    number, names = sites_of(Texts.of(pages))
    return [names[site] for site in number.tolist()]


def by_hand(page):
    """Site of one page with the standard library."""
    if not page.lower().startswith(("http://", "https://")):
        return ""
    host = urlsplit(page).hostname or ""
    if host.replace(".", "").isdigit():
        return host
    return SUFFIXES.privatesuffix(host) or host


@pytest.mark.parametrize(
    ("page", "site"),
    [
        ("https://www.example.org/a", "example.org"),
        ("http://example.org", "example.org"),
        ("https://news.bbc.co.uk/1?x=/", "bbc.co.uk"),
        ("https://one.github.io/", "one.github.io"),
        ("HTTPS://WWW.Example.ORG/", "example.org"),
        ("https://user:secret@www.example.org:8443/", "example.org"),
        ("https://example.org./", "example.org"),
        ("https://example.org\\evil.net/", "example.org"),
        ("http://192.168.0.1:80/a", "192.168.0.1"),
        ("http://[2001:db8::1]:80/a", "[2001:db8::1]"),
        ("http://localhost/a", "localhost"),
        ("http://co.uk/", "co.uk"),
        ("ftp://example.org/", ""),
        ("example.org/a", ""),
        ("page 3", ""),
        ("", ""),
        ("http://", ""),
        ("https:///a", ""),
    ],
)
def test_the_site_of_a_page_is_the_registered_domain_of_its_address(page, site):
    assert site_names([page]) == [site]


def test_sites_are_numbered_in_order_of_appearance():
    pages = ["https://b.org/1", "x", "https://a.org/", "https://www.b.org/", "y"]
    number, names = sites_of(Texts.of(pages))

    assert number.tolist() == [0, 1, 2, 0, 1]
    assert names == ["b.org", "", "a.org"]


def test_plain_strings_will_do():
    number, names = sites_of(["https://b.org/1", "https://b.org/2"])

    assert (number.tolist(), names) == ([0, 0], ["b.org"])


def test_no_pages_have_no_sites():
    number, names = sites_of(Texts.of([]))

    assert (number.tolist(), names) == ([], [])


@settings(max_examples=200)
@given(st.lists(_addresses | _others, max_size=8))
def test_sites_are_those_of_the_standard_library(pages):
    """Whatever stands before and behind an address in the same bytes."""
    assert site_names(pages) == [by_hand(page) for page in pages]


@settings(max_examples=200)
@given(st.lists(st.text(max_size=20).map(lambda rest: f"http://{rest}") | st.text(), max_size=5))
def test_any_text_has_some_site(pages):
    """Hostile text in, a value out: neither an error nor a site too many."""
    number, names = sites_of(Texts.of(pages))

    assert len(number) == len(pages)
    assert sorted(set(number.tolist())) == list(range(len(names)))


def test_a_host_of_any_length_ends():
    """Longer than a host may be: cut, not followed through megabytes."""
    pages = ["http://" + "a" * 100_000, "http://b.org/"]
    number, names = sites_of(Texts.of(pages))

    assert number.tolist() == [0, 1]
    assert len(names[0]) <= 255
    assert names[1] == "b.org"


def test_many_pages_are_read_block_by_block():
    """A block is 16384 pages."""
    pages = [
        f"https://{number % 7}.example{number % 1000}.org/{number}" for number in range(40_000)
    ]
    number, names = sites_of(Texts.of(pages))

    assert names == [f"example{number}.org" for number in range(1000)]
    assert (number == np.arange(40_000) % 1000).all()


@given(st.lists(st.text(max_size=3)))
def test_texts_are_numbered_by_a_dictionary(texts):
    known: dict[str, int] = {}
    expected = [known.setdefault(text, len(known)) for text in texts]

    number, names = numbered(Texts.of(texts))

    assert number.tolist() == expected
    assert names == list(known)


@pytest.mark.parametrize("end", ["", "/", "?", "#", "\\"])
@pytest.mark.parametrize("length", range(1, 20))
def test_a_host_ends_at_its_end_wherever_that_lies_among_eight_letters(length, end):
    """Letters are looked at in eights; each of the four ends hosts, and its neighbours do not."""
    host = ("ab.-_!0>\x7f\x0f]" * 3)[:length].rstrip(".") or "a"

    assert site_names([f"https://{host}{end}{'c' * 9}"[: 8 + len(host) + 9 * bool(end)]]) == [
        registered_domain(host)
    ]
