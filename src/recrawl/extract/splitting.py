"""Blocks that are too long for a chunk, cut into shorter blocks.

A list is cut between its items, a table between its rows, code between its lines, and running text
between its words. What is nested in an item that is itself too long is taken out of it. Only what
has no such place is cut anywhere. Each part is written but a few times, however deep it is nested.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

from recrawl.extract.markdown import markdown
from recrawl.extract.nodes import (
    DEEPEST,
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
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import TypeVar

    from recrawl.extract.nodes import Node, Span, Spans

    _Part = TypeVar("_Part")

_FENCES = 32  # letters of the two lines around code
_SIGNS = 16  # letters of the marks around a span, besides its link
_BETWEEN = 2 * DEEPEST + 2  # letters of the empty line between two parts, quoted so many times
_LEAST = 20  # letters that a piece has at least, whatever it takes to write them


def split_node(node: Node, longest: int) -> Iterator[Node]:
    r"""A block as blocks whose Markdown has at most `longest` characters.

    >>> [piece.code for piece in split_node(Code("one\ntwo\n" * 8), 60)]
    ['one\ntwo\none\ntwo\none\ntwo\none', 'two\none\ntwo\none\ntwo\none\ntwo', 'one\ntwo']
    """
    if _size(node, longest) is not None:
        yield node
        return
    match node:
        case List(items, first):
            yield from _split_parts(
                list(enumerate(items)),
                lambda some: List(
                    tuple(item for _, item in some), None if first is None else first + some[0][0]
                ),
                lambda part: part[1],
                longest,
            )
        case Quotation(nodes):
            yield from _split_parts(
                nodes, lambda some: Quotation(tuple(some)), lambda part: [part], longest
            )
        case DataTable(header, rows):
            yield from _split_parts(
                (header, *rows) if any(header) else rows,
                lambda some: _table(some, header),
                lambda row: [Paragraph(cell) for cell in row if cell],
                longest,
            )
        case Definition(terms, meanings):
            for spans in (*terms, *meanings):
                yield from split_node(Paragraph(spans), longest)
        case _:
            yield from _split_text(node, longest)


def _split_parts(
    parts: Sequence[_Part],
    wrap: Callable[[Sequence[_Part]], Node],
    open_up: Callable[[_Part], Iterable[Node]],
    longest: int,
) -> Iterator[Node]:
    """Blocks of as many parts as fit; a part that does not fit alone is opened up."""
    some: list[_Part] = []
    room = longest
    for part in parts:
        size = _size(wrap([part]), longest)
        if some and (size is None or size > room):
            yield wrap(some)
            some, room = [], longest
        if size is None:
            for node in open_up(part):
                yield from split_node(node, longest)
        else:
            some.append(part)
            room -= size + _BETWEEN
    if some:
        yield wrap(some)


def _table(rows: Sequence[tuple[Spans, ...]], header: tuple[Spans, ...]) -> DataTable:
    """A table of some rows; only with the header itself it has one."""
    if rows[0] is header:
        return DataTable(header, tuple(rows[1:]))
    empty: tuple[Spans, ...] = ((),) * max(map(len, rows))
    return DataTable(empty, tuple(rows))


def _size(node: Node, longest: int) -> int | None:
    """Letters of a block's Markdown; None if too many, which need not be written to be told."""
    room = longest
    for text in _texts(node):
        room -= len(text)
        if room < 0:
            return None
    size = len(markdown(node))
    return size if size <= longest else None


def _texts(node: Node) -> Iterator[str]:
    """All texts of a block."""
    match node:
        case Heading(_, spans) | Paragraph(spans):
            yield from (span.text for span in spans)
        case Code(text) | Verbatim(text):
            yield text
        case List(items):
            for each in chain.from_iterable(items):
                yield from _texts(each)
        case Quotation(nodes):
            for each in nodes:
                yield from _texts(each)
        case Definition(terms, meanings):
            yield from _texts_of_lines((*terms, *meanings))
        case DataTable(header, rows):
            yield from _texts_of_lines(chain(header, chain.from_iterable(rows)))


def _texts_of_lines(lines: Iterable[Spans]) -> Iterator[str]:
    for spans in lines:
        yield " | "  # what stands between two of them, at least
        for span in spans:
            yield span.text


def _split_text(node: Node, longest: int) -> Iterator[Node]:
    """A block of text alone, in pieces."""
    match node:
        case Code(code):
            for text in _cut_text(code.strip("\n"), longest - _FENCES):
                yield replace(node, code=text)
        case Verbatim(text):
            for piece in _cut_text(text, longest):
                yield Verbatim(piece)
        case Heading(_, spans) | Paragraph(spans):
            for part in _cut_spans(spans, longest):
                yield Paragraph(part)


def _cut_spans(spans: Spans, longest: int) -> Iterator[Spans]:
    """Spans in parts that fit, cut between words, were each letter to be escaped."""
    some: list[Span] = []
    room = longest
    for span in spans:
        signs = len(span.link) + _SIGNS
        for text in _cut_text(span.text, max((longest - signs) // 2, _LEAST)):
            needed = 2 * len(text) + signs
            if some and needed > room:
                yield tuple(some)
                some, room = [], longest
            some.append(span._replace(text=text))
            room -= needed
    if some:
        yield tuple(some)


def _cut_text(text: str, longest: int) -> Iterator[str]:
    """Text in pieces, cut between lines, else between words, else anywhere."""
    start = 0
    while len(text) - start > longest:
        limit = start + longest
        end = text.rfind("\n", start + 1, limit)
        if end < 0:
            end = text.rfind(" ", start + 1, limit)
        if end < 0:
            end = limit
        yield text[start:end]
        start = end + (text[end] == "\n")
    if start < len(text):
        yield text[start:]
