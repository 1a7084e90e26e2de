"""Entries of `extract/`: bodies of strangers, and the content that is made of them."""

from __future__ import annotations

from recrawl.detect.masks.masks import learn_masks
from recrawl.detect.reading import Criteria
from recrawl.detect.text.lines import lines
from recrawl.extract import LONGEST_CHUNK, chunks_of, read_content
from recrawl.extract.noise import tree_lines
from recrawl.extract.tree import read_tree
from tests.fuzz.checks import PAGE, as_text
from tests.fuzz.parser import Parser
from tests.fuzz.parsers.documents import HTML, HTML_TOKENS, JSON_PAGE

_KINDS = ("text/html", "", "text/plain", "text/markdown", "application/json", "application/xml")
_ALL = (
    b"<title>T</title><nav>n</nav><main><h1>a</h1><p>b <b>c</b><br><a href=d>e</a><ul><li>f<ol>"
    b"<li>g</ol></ul><table><tr><th>h<tr><td colspan=2>i<td rowspan=2>j<tr><td>k</table><dl><dt>l"
    b"<dd>m<dd><p>n<p>o</dl><blockquote>p</blockquote><pre class=language-q>r\n s</pre><img alt=t>"
    b"<q>u</q></main>"
)
_TOKENS = (
    b"<ul> <li> <ol> <dl> <dt> <dd> <table> <tr> <td> <th> <pre> <code> <blockquote> <h1> <h2> <b>"
    b" <i> <br> <main> <nav> <q> </ul> </li> </table> </td> </a> </b> </dl> </pre> </h1> </main>"
    b" class=nav class=toc hidden colspan=9 rowspan=9 href=#a ``` # - * [ ] | \\ & ~"
).split()


def _read_content(data: bytes) -> None:
    page = as_text(data)
    masks = learn_masks(lines(page), lines(page[::2]))
    criteria = Criteria(ignore=("b",)) if b"<i>" in data else Criteria()
    for kind in _KINDS:
        content = read_content(data, kind, PAGE, masks=masks, criteria=criteria)
        if content is None:
            assert not kind  # only what nobody has called text is looked at
            continue
        assert content == read_content(data, kind, PAGE, masks=masks, criteria=criteria)
        assert all(block.text.strip() for block in content.blocks)
        chunks = chunks_of(content)
        assert len({chunk.id for chunk in chunks}) == len(chunks)
        assert all(len(chunk.markdown) <= LONGEST_CHUNK for chunk in chunks)
    tree = read_tree(page)
    assert tree is None or all(tree_lines(tree))


PARSERS = (
    Parser(
        "content",
        _read_content,
        seeds=(
            *HTML,
            _ALL,
            JSON_PAGE.partition(b"\n")[2],
            b"# a\n\nb\n```\nc\n```\n",
            b"<p>Made in 0.03 s 5 minutes ago by web7<p>x<p>y",
            b"<ul><li>a<li>b<li>c</ul>" * 3,
            b"<p>" + b"word " * 600,
            b"<div>" * 300 + b"<p>a",
        ),
        modules=tuple(
            f"recrawl.extract.{name}"
            for name in (
                *("chunks", "content", "main_content", "markdown", "nodes", "noise", "other_text"),
                *("reading", "splitting", "tables", "text", "tree", "tree_blocks"),
            )
        ),
        tokens=(*HTML_TOKENS, *_TOKENS),
        real=("html",),
    ),
)
