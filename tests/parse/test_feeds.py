"""Feeds in all dialects."""

import gzip
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.feeds import looks_like_feed, read_feed
from recrawl.parse.sitemaps import DatedAddress
from tests.parse.test_records import BOMBS

ADDRESS = "https://example.org/feeds/all"

RSS_2 = b"""<?xml version="1.0"?>
<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"
     xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>
  <link>https://example.org/</link><atom:link rel="self" href="https://example.org/feeds/all"/>
  <item><title>A</title><link>https://example.org/a</link>
    <pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate></item>
  <item><atom:link rel="self" href="/no"/><link><![CDATA[ ../b?x=1&y=2 ]]></link>
    <dc:date>1970-01-02T01:00:00+01:00</dc:date></item>
  <item><guid>https://example.org/c</guid><pubDate>yesterday</pubDate></item>
  <item><guid isPermaLink="false">https://example.org/no</guid></item>
  <item><guid>tag:1</guid></item>
  <item><link/><atom:link href="https://other.net/d"/></item>
  <item><link>https://example.org/a</link></item>
</channel></rss>"""

RSS_1 = b"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="https://example.org/"><link>https://example.org/</link></channel>
  <item rdf:about="https://example.org/a"><link>https://example.org/a</link>
    <dc:date>1970-01-02</dc:date></item>
</rdf:RDF>"""

RSS_091 = b"""<?xml version="1.0"?>
<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN"
  "http://my.netscape.com/publish/formats/rss-0.91.dtd">
<rss version="0.91"><channel><item><title>A&nbsp;B</title><link>https://example.org/a</link></item>
</channel></rss>"""

ATOM = b"""<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.org/"/>
  <updated>1970-01-05T00:00:00Z</updated>
  <entry><link rel="edit" href="/no"/><link rel="alternate" href="/a"/>
    <published>1970-01-02T00:00:00Z</published><updated>1970-01-03T00:00:00Z</updated>
    <content type="xhtml"><div><link href="/no"/></div></content></entry>
  <entry><link href="b"/><published>1970-01-02T00:00:00Z</published></entry>
  <entry><id>https://example.org/no</id></entry>
</feed>"""


def test_the_second_rss():
    feed = read_feed(RSS_2, ADDRESS)

    assert feed.broken == ""
    assert [entry.address for entry in feed.entries] == [
        "https://example.org/a",
        "https://example.org/b?x=1&y=2",
        "https://example.org/c",
        "https://other.net/d",
    ]
    assert [entry.modified for entry in feed.entries[:2]] == [86400.0, 86400.0]
    assert math.isnan(feed.entries[2].modified)


def test_the_first_rss():
    assert read_feed(RSS_1, ADDRESS).entries == (DatedAddress("https://example.org/a", 86400.0),)


def test_the_oldest_rss_has_rules_elsewhere_and_references_of_html():
    assert [entry.address for entry in read_feed(RSS_091, ADDRESS).entries] == [
        "https://example.org/a"
    ]


def test_atom_tells_the_last_change():
    assert read_feed(ATOM, ADDRESS).entries == (
        DatedAddress("https://example.org/a", 2 * 86400.0),
        DatedAddress("https://example.org/feeds/b", 86400.0),
    )


@pytest.mark.parametrize("body", [RSS_2, RSS_1, ATOM])
@pytest.mark.parametrize("change", [gzip.compress, lambda body: b"\n \n" + body])
def test_feeds_in_gzip_or_after_blank_lines_are_read(body, change):
    assert str(read_feed(change(body), ADDRESS)) == str(read_feed(body, ADDRESS))


def test_a_feed_that_breaks_off_gives_its_beginning():
    feed = read_feed(ATOM[: ATOM.index(b"<entry><id>") + 9], ADDRESS)

    assert len(feed.entries) == 2
    assert feed.broken.startswith("must be whole XML")


def test_what_is_no_feed_says_so():
    assert read_feed(b"<html/>", ADDRESS).broken == "must be a feed (got <html>)"
    assert read_feed(b"", ADDRESS).broken.startswith("must be whole XML")


def test_bombs_are_no_feeds():
    assert read_feed(BOMBS["laughs"], ADDRESS).entries == ()


_pieces = [b"<rss>", b"<item>", b"</item>", b"<link>", b"</link>", b"<link href='", b"'/>", b"a"]


@given(
    st.binary() | st.lists(st.sampled_from([*_pieces, RSS_1, ATOM[:300], ATOM[300:]])).map(b"".join)
)
def test_any_bytes_are_a_feed(body):
    for packed in (body, gzip.compress(body)):
        feed = read_feed(packed, ADDRESS)

        assert all(entry.address.startswith("http") for entry in feed.entries)
        assert looks_like_feed("text/xml", packed) in {True, False}


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(
    ("mime", "body", "is_one"),
    [
        ("text/html", RSS_2, True),
        ("", RSS_1, True),
        ("", RSS_091, True),
        ("application/octet-stream", ATOM, True),
        ("application/rss+xml", b"<!--" + b"x" * 5000 + b"--><rss>", True),
        ("text/xml", b"<!--" + b"x" * 5000 + b"--><rss>", False),
        ("application/rss+xml", b"<!DOCTYPE html><html>", False),
        ("application/rdf+xml", b"<rdf:RDF xmlns:rdf='x'><foaf:Person>", False),
        ("application/xml", b"<urlset>", False),
        ("application/rss+xml", b"text", False),
        ("application/rss+xml", b"", False),
    ],
)
def test_a_feed_is_known_by_its_beginning(pack, mime, body, is_one):
    assert looks_like_feed(mime, pack(body)) == is_one
