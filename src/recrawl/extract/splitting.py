"""Blocks that are too long for a chunk, cut into shorter blocks of their kind.

A list is cut between its items, a table between its rows, code between its lines, and running text
between its words. Only what has no such place is cut anywhere.

Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recrawl.extract.markdown import markdown
from recrawl.extract.nodes import (
    Code,
    DataTable,
    Definition,
    Heading,
    List,
    Paragraph,
    Quotation,
    Span,
    Verbatim,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import TypeVar

    from recrawl.extract.nodes import Node, Spans

    _Part = TypeVar("_Part")

_FENCES = 40  # letters of the two lines around code
_LEAST = 20  # letters that a piece has at least, whatever it takes to write them


def split_node(node: Node, longest: int) -> Iterator[Node]:
    r"""A block as blocks whose Markdown has at most `longest` characters.

    >>> [piece.code for piece in split_node(Code("one\ntwo\n" * 8), 65)]
    ['one\ntwo\none\ntwo\none\ntwo', 'one\ntwo\none\ntwo\none\ntwo', 'one\ntwo\none\ntwo\n']
    """
    if len(markdown(node)) <= longest:
        yield node
        return
    match node:
        case Code(code):
            for text in _cut_text(code, longest - _FENCES):
                yield replace(node, code=text)
        case Verbatim(text):
            for piece in _cut_text(text, longest):
                yield Verbatim(piece)
        case Heading(_, spans) | Paragraph(spans):
            for part in _cut_spans(spans, longest):
                yield replace(node, spans=part)
        case Definition(terms, meanings):
            for spans in (*terms, *meanings):
                yield from split_node(Paragraph(spans), longest)
        case Quotation(nodes):
            inner = [piece for each in nodes for piece in split_node(each, longest // 2)]
            yield from _gathered(inner, lambda some: Quotation(tuple(some)), longest)
        case List():
            yield from _cut_list(node, longest)
        case DataTable():
            yield from _cut_table(node, longest)


def _cut_list(node: List, longest: int) -> Iterator[Node]:
    """Lists of items that fit; an item that does not is cut into its blocks."""
    first, waiting = node.first, list[tuple["Node", ...]]()

    def gathered(until: int) -> Iterator[Node]:
        start = None if first is None else first + until - len(waiting)
        yield from _gathered(waiting, lambda some: List(tuple(some), start), longest)

    for index, item in enumerate(node.items):
        if len(markdown(List((item,), first))) <= longest:
            waiting.append(item)
            continue
        yield from gathered(index)
        waiting = []
        number = None if first is None else first + index
        for each in item:
            for piece in split_node(each, longest - _FENCES):
                yield List(((piece,),), number)
    yield from gathered(len(node.items))


def _cut_table(node: DataTable, longest: int) -> Iterator[Node]:
    """Tables of rows that fit; the header stands in the first only. A longer row becomes text."""
    empty: tuple[Spans, ...] = ((),) * len(node.header)
    waiting = list[tuple["Spans", ...]]()
    for row in (node.header, *node.rows):
        if len(markdown(DataTable(empty, (row,)))) <= longest:
            waiting.append(row)
            continue
        yield from _gathered(waiting, lambda some: DataTable(empty, tuple(some)), longest)
        waiting = []
        for cell in row:
            yield from split_node(Paragraph(cell), longest)
    yield from _gathered(waiting, lambda some: DataTable(empty, tuple(some)), longest)


def _gathered(
    parts: Sequence[_Part], made: Callable[[Sequence[_Part]], Node], longest: int
) -> Iterator[Node]:
    """Blocks of as many parts as fit, each written once to be measured."""
    some: list[_Part] = []
    room = longest
    for part in parts:
        needed = len(markdown(made([part]))) + 2
        if some and needed > room:
            yield made(some)
            some, room = [], longest
        some.append(part)
        room -= needed
    if some:
        yield made(some)


def _cut_spans(spans: Spans, longest: int) -> Iterator[Spans]:
    """Spans in parts that fit, cut between words; the signs around each are counted."""
    some: list[Span] = []
    room = longest
    for span in spans:
        extra = len(span.link) + 16
        # Each letter may have to be escaped.
        for text in _cut_text(span.text, max((longest - extra) // 2, _LEAST)):
            needed = 2 * len(text) + extra
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
        for sign in ("\n", " "):
            end = text.rfind(sign, start + 1, limit)
            if end > 0:
                break
        else:
            end = limit
        yield text[start:end]
        start = end + (text[end] == "\n")
    if start < len(text):
        yield text[start:]
