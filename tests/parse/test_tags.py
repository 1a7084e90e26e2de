"""Start tags as the HTML standard cuts them; the oracle is libxml2 on pages without faults."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree  # type: ignore[import-untyped]  # ships no types

from recrawl.parse.tags import start_tags


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
