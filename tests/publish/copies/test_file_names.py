"""File names of pages: injective, inside of their folder, and the same on every file system."""

import itertools
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.publish.copies.file_names import ENDINGS, MANIFEST, file_name, is_file_name

_parts = st.sampled_from(
    [
        *("", "a", "A", "b", "index", "index.html", "a.html", "a.md", "..", ".", "...", "con"),
        *("nul.txt", "_", "%2e%2e", "a b", "ä", "~", "a" * 300, ".hidden", "a.", "manifest.jsonl"),
    ]
)
_hosts = st.sampled_from(
    [
        "a.org",
        "b.org",
        "a.org:8080",
        "a.org-8080",
        "A.org",
        "[::1]",
        "..",
        "manifest.jsonl",
        "con",
        "",
        "_",
        "-",
    ]
)
addresses = st.builds(
    lambda scheme, host, parts, query: f"{scheme}://{host}/{'/'.join(parts)}{query}",
    st.sampled_from(["https", "http"]),
    _hosts,
    st.lists(_parts, max_size=4),
    st.sampled_from(["", "?", "?a=1", "?a=../../b", "#x"]),
)
endings = st.sampled_from(list(ENDINGS.values()))


def test_plain_addresses_have_the_names_that_people_expect():
    names = {
        "https://example.org/": "example.org/index.html",
        "https://example.org": "example.org/index.html",
        "https://example.org/a/": "example.org/a/index.html",
        "https://example.org/a/b": "example.org/a/b.html",
        "https://example.org/a.b-c_d": "example.org/a.b-c_d.html",
        "http://example.org/a": "example.org/a.html",
        "http://127.0.0.1:33253/news/23": "127.0.0.1-33253/news/23.html",
        "https://example.org:8/a": "example.org-8/a.html",
    }

    assert {address: file_name(address, ".html") for address in names} == names


@pytest.mark.parametrize(
    "address",
    [
        *("ftp://example.org/a", "https://example.org/A", "https://example.org/a?b", "no address"),
        *("https://example.org/../a", "https://example.org/con", "https://example.org/index"),
        *("https://example.org/a.html/b", "https://example.org//a", "https://example.org:x/a"),
        *("https://me:pass@example.org/a", "https://[::1]:80/a", "https://example.org:/a"),
    ],
)
def test_all_others_are_told_apart_by_a_hash(address):
    assert "~" in file_name(address, ".html")


@given(st.one_of(addresses, st.text(max_size=60)), endings)
def test_no_address_leads_out_of_the_folder(address, ending):
    name = file_name(address, ending)

    assert is_file_name(name)
    assert name.endswith(ending)
    for path in (PurePosixPath(name), PureWindowsPath(name)):
        assert not path.is_absolute()
        assert not path.drive
        assert not {"..", ".", ""} & set(path.parts)
        assert not any(part.startswith(".") or part.endswith((".", " ")) for part in path.parts)
        assert not any(part.partition(".")[0] in ("con", "nul") for part in path.parts)
    assert all(len(part) <= 120 for part in name.split("/"))
    assert name.split("/")[0] != MANIFEST
    assert name == name.lower()
    assert name.isascii()


@given(st.sets(addresses, max_size=30), endings)
def test_no_two_pages_share_a_file_and_no_file_is_a_folder(found, ending):
    """Addresses come in one spelling: a host without a path is not one of them."""
    names: set[str] = set()
    for address in sorted(found):
        names.add(file_name(address, ending, taken=names))
    folders = {
        "/".join(parts[:count])
        for parts in (name.split("/") for name in names)
        for count in range(1, len(parts))
    }

    assert len(names) == len(found)
    assert not names & folders


@given(st.text(max_size=40))
def test_what_is_no_such_name_is_told(text):
    if is_file_name(text):
        assert not {"..", ".", ""} & set(text.split("/"))


def test_names_of_another_making_are_none():
    for name in ("/etc/passwd", "a.html", "../a.org/b.html", "a.org/b.sh", "a.org/../b.html", ""):
        assert not is_file_name(name), name
    assert all(
        is_file_name(file_name(f"https://a.org/{path}", ending))
        for path, ending in itertools.product(["", "b", "b?c", "B/c d"], ENDINGS.values())
    )
