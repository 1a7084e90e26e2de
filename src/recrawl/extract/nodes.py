"""Parts of a page's content as values: spans of text, and the blocks that hold them.

Blocks hold blocks only within lists and quotations, and no deeper than `DEEPEST`: whoever writes
them may call itself.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

# Lists and quotations within each other; deeper ones are taken for plain parts of their place.
DEEPEST = 8


# How a span is set; several are added. Not an enumeration: this is asked for each word of a page.
PLAIN, STRONG, EMPHASIS, CODE = 0, 1, 2, 4


class Span(NamedTuple):
    r"""A run of text.

    Args:
        text: The text, white space collapsed but for its ends; `\n` alone for a line break.
        style: How it is set: `STRONG`, `EMPHASIS`, `CODE`, or their sum.
        link: Canonical address that it links to; empty for none.
    """

    text: str
    style: int = PLAIN
    link: str = ""


BREAK = Span("\n")
Spans: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6."""

    level: int
    spans: Spans


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    spans: Spans


@dataclass(frozen=True, slots=True)
class Code:
    """Preformatted text, and the name of its language, if it is known."""

    code: str
    language: str = ""


@dataclass(frozen=True, slots=True)
class List:
    """A list; its items hold blocks.

    Args:
        items: Blocks of each item.
        first: Number of the first item; None for bullets.
    """

    items: tuple[tuple[Node, ...], ...]
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Quotation:
    """Blocks that are quoted."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Definition:
    """Terms and what they mean, each in one paragraph."""

    terms: tuple[Spans, ...]
    meanings: tuple[Spans, ...]


@dataclass(frozen=True, slots=True)
class DataTable:
    """Rows of cells; rows may be shorter than the header, which may be all empty.

    Args:
        header: Cells of the first row, one per column.
        rows: All other rows.
    """

    header: tuple[Spans, ...]
    rows: tuple[tuple[Spans, ...], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text of a page that is no HTML, as it stands there; a heading where it has a level."""

    text: str
    level: int = 0


Node: TypeAlias = Heading | Paragraph | Code | List | Quotation | Definition | DataTable | Verbatim
