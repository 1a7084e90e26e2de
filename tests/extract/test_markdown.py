"""Markdown that a parser of others reads back to the same text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract.content import ContentBlock
from recrawl.extract.markdown import markdown
from recrawl.extract.nodes import (
    BREAK,
    CODE,
    EMPHASIS,
    STRONG,
    Code,
    DataTable,
    Definition,
    Heading,
    List,
    Paragraph,
    Quotation,
    Span,
)
from tests.extract.reparsed import PARSER, bare, reparsed

SIGNS = "\\`*_{}[]()<>#+-.!|~:=&;/@\"'1aé个 "
STYLES = range(8)
# As builders of blocks make them: white space is single, and none stands at either end.
texts = st.text(st.sampled_from(SIGNS), min_size=1, max_size=12).map(
    lambda text: " ".join(text.split()) or "x"
)
links = st.sampled_from(["", "", "https://example.org/a_(b)*c*?d=[e]&copy;=1\\"])
spans = st.builds(Span, texts, st.sampled_from(STYLES), links)
spaced = st.builds(lambda span: span._replace(text=f"{span.text} "), spans)


@st.composite
def lines(draw, *, breaks=True):
    """Spans of a block, some apart and some not."""
    found = draw(st.lists(st.one_of(spans, spaced), min_size=1, max_size=5))
    if breaks and draw(st.booleans()):
        found.insert(draw(st.integers(1, len(found))), BREAK)
    if found[-1] == BREAK:
        found.append(Span("end"))
    return (*found[:-1], found[-1]._replace(text=found[-1].text.rstrip()))


cells = lines(breaks=False)
codes = st.builds(Code, st.text(st.sampled_from(SIGNS + "\n"), min_size=1).filter(str.strip))
leaves = st.one_of(
    st.builds(Paragraph, lines()),
    codes,
    st.builds(Heading, st.integers(1, 6), cells),
    st.builds(
        Definition,
        st.lists(cells, min_size=1, max_size=2).map(tuple),
        st.lists(cells, min_size=1, max_size=2).map(tuple),
    ),
    st.builds(
        DataTable,
        st.tuples(cells, cells),
        st.lists(st.tuples(cells, cells), max_size=3).map(tuple),
    ),
)
plain_leaves = st.one_of(st.builds(Paragraph, lines()), codes)
nodes = st.recursive(
    plain_leaves,
    lambda inner: st.one_of(
        st.builds(
            List,
            st.lists(
                st.lists(inner, min_size=1, max_size=2).map(tuple), min_size=1, max_size=3
            ).map(tuple),
            st.sampled_from([None, 1, 9, 999]),
        ),
        st.builds(Quotation, st.lists(inner, min_size=1, max_size=2).map(tuple)),
    ),
    max_leaves=6,
)


@given(leaves)
def test_a_block_reads_back_as_its_text(node):
    assert reparsed(markdown(node)) == bare(node)


@given(nodes)
def test_blocks_within_blocks_read_back_as_their_text(node):
    assert reparsed(markdown(node)) == bare(node)


@given(st.lists(st.one_of(leaves, nodes), max_size=4))
def test_blocks_after_one_another_read_back_as_their_text(found):
    written = "\n\n".join(ContentBlock(node).markdown for node in found)

    assert reparsed(written) == "".join(map(bare, found))


@given(lines())
def test_links_lead_where_they_did(found):
    """Where there is a link with words, its address stands in the HTML of a parser once or more."""
    linked = any(span.link and span.text.strip() for span in found)

    assert ("href=" in PARSER.render(markdown(Paragraph(found)))) == linked


@pytest.mark.parametrize(
    ("found", "written"),
    [
        ((Span("2 * 3"),), "2 \\* 3"),
        ((Span("snake_case and _private"),), "snake_case and \\_private"),
        ((Span("# no heading"),), "\\# no heading"),
        ((Span("1. no list"),), "1\\. no list"),
        ((Span("- no list"),), "\\- no list"),
        ((Span("a < b <c>"),), "a < b \\<c>"),
        ((Span("AT&T &amp; co"),), "AT&T \\&amp; co"),
        ((Span("bold", STRONG), Span("er")), "**bold**er"),
        ((Span("(bold)", STRONG), Span("er")), "(bold)er"),
        ((Span("a "), Span("b", EMPHASIS), Span(" c")), "a *b* c"),
        ((Span("`tick`", CODE),), "`` `tick` ``"),
        ((Span("a"), BREAK, Span("- b")), "a\\\n\\- b"),
    ],
)
def test_signs_are_escaped_where_they_would_mean_something(found, written):
    assert markdown(Paragraph(found)) == written


def test_a_table_has_one_line_per_row():
    cell = tuple((Span(text),) for text in ("a|b", "c"))

    assert markdown(DataTable(cell, (cell, cell[:1]))) == (
        "| a\\|b | c |\n| --- | --- |\n| a\\|b | c |\n| a\\|b |"
    )


def test_code_has_a_fence_longer_than_any_in_it():
    assert markdown(Code("```\nx", "sh")) == "````sh\n```\nx\n````"
