"""Links and feeds of pages, honest and hostile."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.addresses import canonical
from recrawl.parse.links import MOST_LINKS, feeds_of, links

ADDRESS = "https://example.org/a/b"


def paths(page):
    """Links of a page on its own host, without it."""
    return [link.removeprefix("https://example.org") for link in links(page, ADDRESS)]


def test_links_are_canonical_in_order_and_without_repeats():
    page = """<a href="c">1</a> <A HREF='/d?x=1&amp;y=2#e'>2</A> <a href=" ../f ">3</a>
        <a href="https://Other.NET">4</a> <a href="c#g">5</a> <area href="/h">"""

    assert links(page, ADDRESS) == (
        "https://example.org/a/c",
        "https://example.org/d?x=1&y=2",
        "https://example.org/f",
        "https://other.net/",
        "https://example.org/h",
    )


def test_what_cannot_be_fetched_is_no_link():
    page = "<a href='javascript:x()'><a href=mailto:a@b><a href='http://u:p@h/'><a name=x><a href>"

    assert paths(page) == ["/a/b"]  # the empty reference is the page itself


def test_a_base_holds_for_the_whole_page():
    """The standard lets the first one count, even for links before it."""
    assert paths("<a href=c><base href=/x/><base href=/y/><a href=d>") == ["/x/c", "/x/d"]
    assert links("<base href=//other.net><a href=c>", ADDRESS) == ("https://other.net/c",)


@pytest.mark.parametrize("base", ["javascript:x", "", "http://", "data:x,"])
def test_a_base_that_leads_nowhere_is_none(base):
    assert paths(f"<base href='{base}'><a href=c>") == ["/a/c"]


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<a href=c rel=nofollow>", []),
        ("<a href=c rel='noopener NOFOLLOW'>", []),
        ("<a href=c rel='noopener,nofollow'>", []),
        ("<a href=c rel=nofollower>", ["/a/c"]),
        ("<area href=c rel=nofollow>", []),
        ("<meta name=robots content=nofollow><a href=c>", []),
        ("<a href=c><meta name=Robots content='noindex, NoFollow'>", []),
        ("<meta name=robots content=none><a href=c>", []),
        ("<meta name=robots content=noindex><a href=c>", ["/a/c"]),
        ("<meta name=description content=nofollow><a href=c>", ["/a/c"]),
    ],
)
def test_sites_say_what_not_to_follow(page, found):
    assert paths(page) == found


def test_the_canonical_address_is_a_link():
    page = "<link rel=stylesheet href=x.css><link rel='Canonical' href=/c><a href=d>"

    assert paths(page) == ["/c", "/a/d"]


def test_feeds_are_named_in_the_head():
    page = """<base href=/x/>
        <link rel=alternate type=application/rss+xml href=rss>
        <link rel="alternate home" type="Application/Atom+XML; charset=utf-8" href="/atom">
        <link rel=alternate type=text/html hreflang=de href=de>
        <link rel=stylesheet type=application/rss+xml href=no>
        <link rel=alternate type=application/rss+xml>
        <a rel=alternate type=application/rss+xml href=no>"""

    assert feeds_of(page, ADDRESS) == ("https://example.org/x/rss", "https://example.org/atom")


def test_links_are_counted():
    page = "".join(f"<a href={number}>" for number in range(MOST_LINKS + 100))
    found = links(page, ADDRESS)

    assert len(found) == MOST_LINKS
    assert found[-1] == f"https://example.org/a/{MOST_LINKS - 1}"


def _long(piece):
    return piece * (1_000_000 // len(piece))


@pytest.mark.parametrize(
    "page",
    [
        _long("<div>"),
        _long("<a href=/x><b><i>"),
        _long("<div>") + _long("</p></b>"),
        _long("<table><tr><td>"),
        _long("<"),
        _long("</"),
        _long("<!"),
        _long("<!--"),
        _long('<a href="'),
        _long("<a "),
        "<a " + _long("x=1 "),
        "<a href=" + _long("&#1"),
        "<a href='" + _long("&") + "'>",
        _long("<script>"),
        _long("<title></titl"),
        _long("<a href=javascript:x>"),
        "".join(f"<a href=x{number}:>" for number in range(60_000)),
        _long("<li><a href=/y>z</li><ul>"),
        _long("\0<a href=/x>"),
        "<!--" + _long("-"),
        _long("<a b='> c\" <a href=") + '"',
    ],
)
def test_no_page_takes_long(page):
    """Parsers that build trees take minutes for some of these."""
    began = time.process_time()
    found = links(page, ADDRESS)

    assert time.process_time() - began < 5  # a third of a second on an idle machine
    assert len(found) <= MOST_LINKS


@given(st.text() | st.text(alphabet="<>a href='\"=/&;!-:base"), st.just(ADDRESS))
def test_any_text_is_a_page(page, address):
    for found in (links(page, address), feeds_of(page, address)):
        assert all(canonical(link) == link for link in found)
        assert len(set(found)) == len(found)
