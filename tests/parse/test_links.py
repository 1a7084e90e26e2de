"""Links and feeds of pages, honest and hostile."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]  # ships no types

from recrawl.parse.addresses import canonical
from recrawl.parse.links import MOST_LINKS, feeds_of, links, start_tags

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


def hrefs(page):
    """What the links of a page refer to."""
    return [tag.attributes.get("href") for tag in start_tags(page, frozenset({"a"}))]


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("<a href=1>", ["1"]),
        ("<A HREF='1'><a href=\"2\">", ["1", "2"]),
        ("<a\nhref\n=\n1\n>", ["1"]),
        ("<a/href=1/>", ["1/"]),
        ("<a href=1 href=2>", ["1"]),
        ("<a title=it's href=1>", ["1"]),
        ("<a title='<a href=0>' href=1>", ["1"]),
        ('<a title=">" href=1>', ["1"]),
        ('<a href="1"class=x>', ["1"]),
        ("<a href>", [""]),
        ("<a href=>", [""]),
        ("<a =href=1>", [None]),
        ("<abbr href=1>", []),
        ("</a href=1>", []),
        ("< a href=1>", []),
        ("a < b <a href=1>", ["1"]),
        ("<div title='<a href=0>'><a href=1>", ["1"]),
        ("<!-- <a href=0> --><a href=1>", ["1"]),
        ("<!-- <a href=0> --!><a href=1>", ["1"]),
        ("<!--><a href=1>", ["1"]),
        ("<!---><a href=1>", ["1"]),
        ("<!-- > <a href=0>", []),
        ("<!x <a href=0><a href=1>", ["1"]),
        ("<?x <a href=0><a href=1>", ["1"]),
        ("</ <a href=0><a href=1>", ["1"]),
        ("<script>'<a href=0>'</script ><a href=1>", ["1"]),
        ("<script></scripts><a href=0></SCRIPT><a href=1>", ["1"]),
        ("<style><a href=0></style><a href=1>", ["1"]),
        ("<title><a href=0></title><a href=1>", ["1"]),
        ("<textarea><!--</textarea><a href=1>", ["1"]),
        ("<script><a href=0>", []),
        ("<noscript><a href=1></noscript>", ["1"]),
        ("<a href=1><plaintext><a href=0>", ["1"]),
        ("<a href=1><a href=2", ["1"]),
        ("<svg><a href=1></svg>", ["1"]),
    ],
)
def test_tags_are_cut_as_the_standard_says(page, found):
    assert hrefs(page) == found


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("?a&amp;b", "?a&b"),
        ("?a&b", "?a&b"),
        ("?a&copy=1", "?a&copy=1"),
        ("?a&copyright", "?a&copyright"),
        ("&copy", "©"),
        ("&copy;=1", "©=1"),
        ("&eacute;&#233;&#xe9;&#XE9", "éééé"),
        ("&nosuch;", "&nosuch;"),
        ("&#0;&#xD800;", "\ufffd\ufffd"),
        ("&#" + "9" * 9 + ";", "\ufffd"),
        ("&;&#;&#x;&", "&;&#;&#x;&"),
    ],
)
def test_references_are_letters(value, meant):
    assert hrefs(f"<a href='{value}'>") == [meant]


_values = st.text(alphabet="abc/?=&;#<> é'", max_size=8)
_elements = st.recursive(
    st.one_of(
        st.text(alphabet="abc \n", max_size=5),
        _values.map(lambda text: f"<!-- {text.replace('-', '')} -->"),
        _values.map(lambda text: f"<script>{text.replace('<', '')}</script>"),
        st.builds(
            lambda value, word: f'<a class={word} href="{value.replace("&", "&amp;")}">b</a>',
            _values,
            st.text(alphabet="xyz", min_size=1, max_size=3),
        ),
    ),
    lambda inner: st.lists(inner, max_size=4).map(lambda all_: f"<div>{''.join(all_)}</div>"),
    max_leaves=12,
)


@given(_elements)
def test_pages_without_faults_are_read_as_by_another_parser(page):
    tree = etree.HTML(f"<html><body>{page}</body></html>")

    assert hrefs(page) == [link.get("href") for link in tree.iter("a")]


@given(
    st.text()
    | st.lists(
        st.sampled_from(
            [
                *("<", ">", "</", "<!", "<!--", "-->", "<?", "<a ", "<a href=", "href", "=", "'"),
                *('"', "/", " ", "&", "&#", "&amp", ";", "\0", "<script>", "</script", "<title>"),
                *("\ud800", "x" * 50, "&#" + "9" * 5000 + ";"),
            ]
        )
    ).map("".join)
)
def test_any_text_has_tags(page):
    assert all(href is None or isinstance(href, str) for href in hrefs(page))
