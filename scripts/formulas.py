r"""Formulas of the documentation, `$...$` and `$$...$$`, as MathML that a browser draws by itself.

A Markdown extension for the build of the documentation: `pymdownx.arithmatex` finds the formulas,
`latex2mathml` turns each into MathML. So the pages need neither a script nor a font from elsewhere.
A command that is not understood would be shown as it is written; the build fails instead.

Touches: nothing but the page being built.
"""

import html
from typing import TYPE_CHECKING

from latex2mathml.converter import convert
from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from markdown.util import AtomicString

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_FOUND = {"generic": True, "tex_inline_wrap": ["", ""], "tex_block_wrap": ["", ""]}


class Formulas(Extension):
    """Finds the formulas of a page and draws them."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 - Markdown's name
        """Add the two steps to `md`."""
        md.registerExtensions(["pymdownx.arithmatex"], {"pymdownx.arithmatex": _FOUND})
        # After "inline" (20), which makes the elements of the formulas within a sentence.
        md.treeprocessors.register(_Drawing(md), "formulas", 15)


class _Drawing(Treeprocessor):
    """Puts MathML where `arithmatex` left LaTeX."""

    def run(self, root: "Element") -> None:
        """Draw every formula below `root`."""
        for place in root.iter():
            if place.get("class") == "arithmatex":
                display = "block" if place.tag == "div" else "inline"
                drawn = _mathml(html.unescape(place.text or ""), display=display)
                # Stashed, so that no later step takes a formula for Markdown.
                place.text = AtomicString(self.md.htmlStash.store(drawn))


def _mathml(formula: str, *, display: str) -> str:
    """Return `formula` as MathML, or refuse it."""
    drawn = convert(formula.strip(), display=display)
    if "\\" in html.unescape(drawn):
        message = f"formula must use only commands known to latex2mathml (got {formula.strip()!r})"
        raise ValueError(message)
    return drawn


def makeExtension(**settings: object) -> Formulas:  # noqa: N802 - the name Markdown looks for
    """Return the extension, as Markdown asks for it."""
    return Formulas(**settings)
