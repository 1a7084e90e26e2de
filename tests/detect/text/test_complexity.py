"""Pages of which no tree is made, and real ones that must not be among them."""

import time

import pytest
from lxml import etree  # type: ignore[import-untyped] # ships no types
from resiliparse.parse.html import HTMLTree  # type: ignore[import-untyped] # ships no types

from recrawl.detect.text.complexity import is_too_complex
from tests.detect.text.test_lines import HOSTILE

DEEP = "<div>" * 30_000
# What hides tags from a reader that takes these for text, and not from a parser.
HIDING = (
    "{}",
    "<svg><style>{}</style></svg>",
    "<svg><script>{}</script></svg>",
    "<math><style>{}</style></math>",
    "<svg><title></svg></title><style>{}</style>",
    "<svg><desc><style></desc>{}</style>",
    "<svg><foreignObject></svg><style>{}</style>",
    "<svg><![CDATA[ > <!-- ]]>{}-->",
    "<svg><![CDATA[<script>]]>{}</script>",
    "<select><style><input>{}</style>",
    "<textarea><script></textarea>{}</script>",
    "<title><style></title>{}</style>",
    "<iframe><script></iframe>{}</script>",
    "<noframes><script></noframes>{}</script>",
    "<xmp><script></xmp>{}</script>",
    "<noscript>{}</noscript>",
    "<script></script>{}",
    "<script/>{}</script>{}",
    "<!-->{}-->",
    "<!--->{}-->",
    "<!-- --!>{}-->",
    "<!x>{}",
    "<?x>{}?>",
    "<!-- <svg> -->{}",
    "<svg></svg>{}",
    "<svg/>{}",
    "<svg><svg/></svg>{}",
    "<svg><p>{}</p></svg>",
    "<p title='>'>{}",
    "<a <b>{}",
    "</svg><script>x</script>{}",
)
# Elements that are closed in a drawing, and open elsewhere.
PATHS = (
    "<svg></svg>{}",
    "<svg/>{}",
    "<svg><foreignObject>{}",
    "<svg><desc>{}",
    "<svg><title>{}",
    "<svg><div>{}",
    "<!-- <svg> -->{}",
    "<script><svg></script>{}",
    "<svg></p>{}",
    "</svg>{}",
)
# Real habits that once made a page too complex: each many times over.
PLAIN = (
    '<a name="x"/><p>text',
    "<a href=/>text<p>",
    '<svg viewBox="0 0 1 1"><title>x</title><g><path d="M0"/><circle r="1" /></g></svg>',
    "<script>if (a<b && c<d) { x = '<div><div><div>' }</script>",
    "<style>a>b{}</style><!-- <div><div> --><p>",
)


@pytest.mark.parametrize("page", HIDING)
def test_nothing_hides_nesting(page):
    assert is_too_complex(page.replace("{}", DEEP))


@pytest.mark.parametrize("page", PATHS)
@pytest.mark.parametrize("tag", ["<path/>", '<path d="x"/>'])
def test_what_is_closed_in_a_drawing_is_open_elsewhere(page, tag):
    assert is_too_complex(page.replace("{}", tag * 3000))


@pytest.mark.parametrize("tag", ["<path d=x/>", "<path d=x'/>", "<path d= />", '<path d=x"/>'])
def test_a_slash_within_a_value_closes_nothing(tag):
    assert is_too_complex(f"<svg>{tag * 3000}")


@pytest.mark.parametrize("piece", PLAIN)
def test_real_habits_are_not_too_complex(piece):
    assert not is_too_complex(f"<html><body>{piece * 1000}")


@pytest.mark.parametrize(
    "piece", [*HOSTILE, "<a><div>", "<a><p><b>", "<a><table><td>", "<a><b></a>", *PLAIN, *HIDING]
)
def test_what_is_not_too_complex_is_quickly_a_tree(piece):
    """Half a second each, on a machine that has nothing else to do."""
    page = piece.replace("{}", "x<b>") * ((1 << 18) // len(piece))
    if is_too_complex(page):
        return

    began = time.process_time()
    HTMLTree.parse(page)
    etree.HTML(page or "x", etree.HTMLParser(huge_tree=True))

    assert time.process_time() - began < 4


@pytest.mark.parametrize("piece", [*HOSTILE, *HIDING, *PATHS])
def test_looking_takes_linear_time(piece):
    page = piece.replace("{}", "<div>") * ((1 << 19) // len(piece))

    began = time.process_time()
    is_too_complex(page)

    assert time.process_time() - began < 5
