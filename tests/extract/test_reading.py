"""What is content of a page, and what is not."""

import pytest

from recrawl.detect.reading import Criteria
from recrawl.extract import read_content
from tests.extract.reading import ADDRESS, content_of


def markdown(page, **parts):
    """Content of a page as Markdown."""
    return content_of(page, **parts).markdown


@pytest.mark.parametrize(
    "outside",
    [
        "<nav><p>Home</nav>",
        "<header><a href=/>Shop</a></header>",
        "<footer>All rights reserved</footer>",
        "<aside>Elsewhere</aside>",
        "<div role=navigation>Home</div>",
        "<div class=cookie-banner>We use cookies. <a href=/privacy>More</a></div>",
        "<div id=sidebar><a href=/a>A</a> <a href=/b>B</a></div>",
        "<ul class=breadcrumbs><li><a href=/>Home</a></ul>",
        "<div hidden>Hidden</div>",
        "<p style='color: red; display : none'>Hidden</p>",
        "<div aria-hidden=true>Hidden</div>",
        "<script>let x = '<p>no</p>'</script>",
        "<style>p { color: red }</style>",
        "<template><p>no</template>",
        "<select><option>one</select>",
        "<dialog>Accept?</dialog>",
        "<div class=toc><ul><li><a href=#a>A</a><li><a href=#b>B</a></ul></div>",
        "<ul><li><a href=#a>A</a><li><a href=tea.html#b>B</a><li><a href=#c>C</a></ul>",
        "<div class=lang><a href=/fr hreflang=fr>fr</a> or others</div>",
    ],
)
def test_what_stands_around_the_content_is_left_out(outside):
    assert markdown(f"{outside}<h1>Tea</h1><p>Hot.{outside}") == "# Tea\n\nHot."


@pytest.mark.parametrize(
    "inside",
    [
        "<div class=sidebar>A long note in a box, which links nowhere at all.</div>",
        "<section id=sharing-files><h2>Sharing files</h2><p>Files are shared so.</section>",
        "<div class=nav><h1>Title</h1></div>",
        "<span class=menu>File</span>",
        "<article><header><h2>Part</h2></header><p>one<footer>by Bo</footer></article>",
        "<div class=toc><ul><li><a href=/one>One</a><li><a href=/two>Two</a></ul></div>",
        "<main><aside>Note well.</aside></main>",
    ],
)
def test_what_only_sounds_like_navigation_stays(inside):
    words = markdown(f"<p>Hot.</p>{inside}").split()

    assert len(words) > 1


def test_the_main_element_is_the_content_with_the_heading_before_it():
    page = "<p>Ad<h1>Tea</h1><p>Ad<main><p>Hot.</main><p>Ad"

    assert markdown(page) == "# Tea\n\nHot."


def test_a_page_that_is_all_navigation_is_taken_whole():
    assert markdown("<nav><ul><li><a href=/a>A</a></ul></nav>") == "- [A](https://example.org/a)"


def test_links_are_canonical_and_lead_where_the_base_says():
    page = "<base href=/b/><p><a href='c?utm_source=x#y'>c</a> <a href=#top>top</a>"

    assert markdown(page) == "[c](https://example.org/b/c) top"


def test_watched_parts_are_content_whatever_they_are_and_ignored_ones_are_none():
    page = "<title>T</title><nav><b>Menu</b> one</nav><p>Hot <i class=ad>ad</i>tea"

    assert markdown(page, criteria=Criteria(watch=("nav",))) == "**Menu** one"
    assert markdown(page, criteria=Criteria(ignore=(".ad",))) == "Hot tea"
    assert markdown(page, criteria=Criteria(watch=("h6",))) == ""


@pytest.mark.parametrize(
    ("html", "written"),
    [
        ("<ul><li>a<ul><li>b</ul><li><p>c<p>d</ul>", "- a\n  - b\n- c\n\n  d"),
        ("<ol start=9><li>a<li>b</ol>", "9. a\n10. b"),
        ("<dl><dt>a<dd>b</dl>", "a\n: b"),
        ("<dl><dt>a<dd><p>b<p>c</dl>", "a\n\nb\n\nc"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<pre class='language-py'>a\n  b</pre>", "```py\na\n  b\n```"),
        ("<div class='highlight-c'><div><pre>x</pre></div></div>", "```c\nx\n```"),
        ("<p>a<br>b<br><br>c", "a\\\nb\n\nc"),
        ("<p>see <img alt='a cup' src=x>", "see a cup"),
        ("<p><q>a</q>", "“a”"),
        ("<p>a<sup>2</sup> &amp; b", "a2 & b"),
        ("<a href=/a><h3>Card</h3></a>", "### [Card](https://example.org/a)"),
        ("<table><tr><th>h<th>i<tr><td>1<td>2</table>", "| h | i |\n| --- | --- |\n| 1 | 2 |"),
        ("<table><tr><td>1<td>2<tr><td colspan=2>3</table>",
         "|  |  |\n| --- | --- |\n| 1 | 2 |\n| 3 |  |"),
        ("<table><tr><td><p>one<td><pre>two</pre></table>", "one\n\n```\ntwo\n```"),
        ("<ul><li><h3>a</h3><p>b</ul>", "### a\n\nb"),
        ("text <p>one", "text\n\none"),
    ],
)  # fmt: skip
def test_blocks_are_written_as_markdown(html, written):
    assert markdown(f"<body>{html}") == written


@pytest.mark.parametrize(
    ("body", "kind", "text"),
    [
        (b"a\n\n b  *c*\n", "text/plain", "a\n\n b  *c*"),
        (b"# a\nb\n```\n# c\n\n```", "text/markdown", "# a\n\nb\n```\n# c\n\n```"),
        (b'{"a":[1,{}]}', "application/json", '{\n  "a":[\n    1,\n    {\n    }\n  ]\n}'),
        (b"<a>\n <b/>\n</a>", "application/xml", "<a>\n <b/>\n</a>"),
        (b"", "text/plain", ""),
        (b"", "text/html", ""),
    ],
)  # fmt: skip
def test_what_is_no_html_stays_as_it_is(body, kind, text):
    assert content_of(body, kind).text == text


def test_what_is_no_text_has_no_content():
    assert read_content(b"%PDF", "application/pdf", ADDRESS) is None


def test_a_page_too_complex_for_a_tree_is_read_by_lines():
    content = content_of("<title>T</title>" + "<div>" * 1000 + "<p>a <a href=b>*c*</a>")

    assert content.read_as == "lines"
    assert content.title == "T"
    assert content.markdown == "T\n\na \\*c\\*"
