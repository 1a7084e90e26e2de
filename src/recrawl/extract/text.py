"""Blocks of a page as plain text.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.extract.nodes import (
    Code,
    DataTable,
    Definition,
    Heading,
    List,
    Paragraph,
    Quotation,
    Verbatim,
)

if TYPE_CHECKING:
    from recrawl.extract.nodes import Node, Spans


def plain_text(node: Node) -> str:
    r"""Text of a block: list items after dashes or numbers, cells between bars.

    >>> from recrawl.extract.nodes import STRONG, Span
    >>> words = (Span("two "), Span("words", STRONG))
    >>> plain_text(List(((Paragraph(words),), (Paragraph((Span("x"),)), Code("a\n  b"))), first=9))
    '9. two words\n10. x\n    a\n      b'
    """
    match node:
        case Heading(_, spans) | Paragraph(spans):
            return spans_text(spans)
        case Code(text) | Verbatim(text):
            return text
        case List(items, first):
            return "\n".join(
                _item("- " if first is None else f"{first + index}. ", item)
                for index, item in enumerate(items)
            )
        case Quotation(nodes):
            return "\n".join(map(plain_text, nodes))
        case Definition(terms, meanings):
            return "\n".join(
                [*map(spans_text, terms), *(f"  {spans_text(each)}" for each in meanings)]
            )
        case DataTable(header, rows):
            written = (" | ".join(map(spans_text, row)) for row in (header, *rows) if any(row))
            return "\n".join(written)


def spans_text(spans: Spans) -> str:
    """Text of spans.

    >>> from recrawl.extract.nodes import Span
    >>> spans_text((Span("one "), Span("two")))
    'one two'
    """
    return "".join([span.text for span in spans])


def _item(marker: str, nodes: tuple[Node, ...]) -> str:
    inner = "\n".join(map(plain_text, nodes)).replace("\n", "\n" + " " * len(marker))
    return (marker + inner).rstrip()
