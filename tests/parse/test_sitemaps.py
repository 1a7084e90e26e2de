"""Sitemaps by the protocol's examples, and what strangers make of it."""

import gzip
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.records import MOST_RECORDS
from recrawl.parse.sitemaps import DatedAddress, read_sitemap
from tests.parse.test_records import BOMBS

ADDRESS = "https://example.org/sitemap.xml"
HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n'
SITEMAP = (
    HEAD
    + b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc> https://example.org/a?b=1&amp;c=2 </loc>
    <lastmod>1970-01-02</lastmod>
    <changefreq>monthly</changefreq>
    <image:image><image:loc>https://example.org/a.png</image:loc></image:image>
  </url>
  <url><loc>https://example.org/b</loc></url>
  <url><lastmod>1970-01-02</lastmod></url>
  <url><loc>https://other.net/c</loc></url>
  <url><loc>https://example.org/b#again</loc><lastmod>1970</lastmod></url>
  <url><loc>mailto:someone@example.org</loc></url>
</urlset>"""
)
INDEX = (
    HEAD
    + b"""<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
  <sitemap><loc>https://example.org/1.xml.gz</loc><lastmod>1970-01-01T00:00:10Z</lastmod></sitemap>
  <sitemap><loc>/2.xml</loc></sitemap>
</sitemapindex>"""
)


def addresses(entries):
    return [entry.address for entry in entries]


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_sitemap_names_pages_and_when_they_changed(pack):
    sitemap = read_sitemap(pack(SITEMAP), ADDRESS)

    assert addresses(sitemap.pages) == ["https://example.org/a?b=1&c=2", "https://example.org/b"]
    assert sitemap.pages[0].modified == 86400.0
    assert math.isnan(sitemap.pages[1].modified)
    assert sitemap.sitemaps == ()
    assert sitemap.foreign == 1
    assert sitemap.broken == ""


def test_other_hosts_count_only_if_asked_for():
    sitemap = read_sitemap(SITEMAP, ADDRESS, anywhere=True)

    assert "https://other.net/c" in addresses(sitemap.pages)
    assert sitemap.foreign == 0


def test_the_own_host_may_have_another_scheme():
    assert len(read_sitemap(SITEMAP, "http://example.org/sitemap.xml").pages) == 2
    assert read_sitemap(SITEMAP, "https://www.example.org/sitemap.xml").pages == ()


def test_an_index_names_sitemaps():
    sitemap = read_sitemap(INDEX, ADDRESS)

    assert sitemap.pages == ()
    assert sitemap.sitemaps[0] == DatedAddress("https://example.org/1.xml.gz", 10.0)
    assert addresses(sitemap.sitemaps)[1:] == ["https://example.org/2.xml"]


def test_plain_text_has_an_address_a_line():
    body = b"\xef\xbb\xbfhttps://example.org/a\r\n\r\nnonsense\n https://example.org/b \nhttps://c/"

    sitemap = read_sitemap(body, ADDRESS)

    assert addresses(sitemap.pages) == ["https://example.org/a", "https://example.org/b"]
    assert sitemap.foreign == 1
    assert sitemap.broken == ""


@pytest.mark.parametrize(
    ("body", "pages", "broken"),
    [
        (SITEMAP[: SITEMAP.index(b"<url><loc>https://other")], 2, "must be whole XML"),
        (SITEMAP[: SITEMAP.index(b"example.org/b<")], 1, "must be whole XML"),
        (gzip.compress(SITEMAP)[:-10], 2, "must be whole gzip"),
        (b"<html><body>Not found</body></html>", 0, "must be a sitemap (got <html>)"),
        (b"<!DOCTYPE html><html><br></html>", 0, "must be whole XML"),
        (b"\0\0\0", 0, "must be whole XML"),
        (b"", 0, ""),
    ],
)
def test_what_is_broken_says_so_and_gives_what_it_can(body, pages, broken):
    sitemap = read_sitemap(body, ADDRESS)

    assert len(sitemap.pages) == pages
    assert sitemap.broken.startswith(broken)
    assert bool(sitemap.broken) == bool(broken)


def test_bare_ampersands_lose_no_address():
    body = b"<urlset><url><loc>https://example.org/?a=1&b=2</loc></url></urlset>"

    assert addresses(read_sitemap(body, ADDRESS).pages) == ["https://example.org/?a=1&b=2"]


@pytest.mark.parametrize("lines", [MOST_RECORDS, MOST_RECORDS + 1])
def test_entries_are_counted(lines):
    text = b"".join(b"https://example.org/%d\n" % number for number in range(lines))
    xml = b"".join(b"<url><loc>https://example.org/%d</loc></url>" % n for n in range(lines))

    for body in (text, b"<urlset>" + xml + b"</urlset>"):
        sitemap = read_sitemap(body, ADDRESS)

        assert len(sitemap.pages) == MOST_RECORDS
        assert bool(sitemap.broken) == (lines > MOST_RECORDS)


def test_entities_of_other_files_and_bombs_are_harmless(tmp_path):
    (tmp_path / "secret").write_text("secret")
    body = (
        f'<!DOCTYPE r [<!ENTITY x SYSTEM "file://{tmp_path}/secret">]>'
        "<urlset><url><loc>https://example.org/&x;</loc></url></urlset>"
    )

    assert "secret" not in str(read_sitemap(body.encode(), ADDRESS))
    assert read_sitemap(BOMBS["laughs"], ADDRESS).pages == ()


@given(
    st.binary()
    | st.text(alphabet="<>/urlsetocmap&;![]-?x \n").map(str.encode)
    | st.lists(st.sampled_from([SITEMAP[:200], SITEMAP[200:], INDEX, b"<url>", b"<"])).map(b"".join)
)
def test_any_bytes_are_a_sitemap(body):
    for packed in (body, gzip.compress(body)):
        sitemap = read_sitemap(packed, ADDRESS)

        assert all(page.address.startswith("http") for page in sitemap.pages)
