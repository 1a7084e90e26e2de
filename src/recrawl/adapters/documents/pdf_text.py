"""Lines of a PDF file as a text that does not depend on its pages.

A PDF file has letters at places of pages. What belongs to pages and not to the text goes: running
heads and page numbers, leaders and page numbers of a table of contents, hyphens at the ends of
lines. Lines become paragraphs by a rule that holds within a page, between columns and over the end
of a page alike: if the first word of a line would have fitted into the line before it, the line
was broken on purpose. So a paragraph that another edit has moved to the next page is the same.

Pure.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HYPHEN = "\x02"  # what PDFium writes for one that it takes for the mark of a broken word
_MARGIN_LINES = 3  # at the top and at the bottom of a page, that may belong to the page
_SAME_WITHIN = 2  # pages: left and right ones may have heads of their own
_NEAR = 4  # lines that one is compared with, on either side
_NUMBER = re.compile(r"\b(?:\d{1,6}|[ivxlc]{1,8})\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_SECTION = re.compile(r"^\s*(?:[A-Z]|\d{1,4})(?:\.\d{1,4})*\.?\s+")
_LEADER = re.compile(r"(?:\s*[.…·_]){4,}\s*(?:\d{1,5}|[ivxlc]{1,8})?\s*$")
_BULLET = re.compile(r"[•‣▪◦●■○–∙·]\s+(?=\S)")  # noqa: RUF001 - signs of lists
_WORD_PARTS = re.compile(r"\w+(?:-\w+)+")
_FIRST_WORD, _LAST_WORD = re.compile(r"[\w-]+"), re.compile(r"[\w-]{1,64}$")
_LIST = re.compile(r"(?:<li>.*\n)+")
_ENDS = (".", "!", "?", ":", ";")
_HYPHENS = (HYPHEN, "-", "\xad")
# Of the height of letters: the room between lines of one paragraph, an indent, the room that a
# word needs beside its letters.
_MOST_LEADING, _INDENT, _SPACE = 1.9, 0.8, 0.3
_MOST_COLUMN_SHIFT = 3.0  # of the height of letters: an indented line is of the same column
_OTHER_SIZE = 0.1
_FEW_LINES, _FEW_ENDS = 5, 3  # of a column on a page, that tell nothing of how wide it is
_BIN = 3.0  # points, within which lines end at the same place
_EVEN = 0.25  # of the lines of a column, that end at its edge where they are justified
_HEADING_SIZE, _LONGEST_HEADING, _MOST_LEVELS = 1.12, 200, 4


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of a page; lengths are points, y grows upwards.

    Args:
        text: Its letters.
        left: Where they begin.
        right: Where they end.
        bottom: Their lower edge.
        size: Size of the font.
    """

    text: str
    left: float
    right: float
    bottom: float
    size: float


class _Block(NamedTuple):
    """Lines that belong together, joined; `listed` is an entry of a table of contents."""

    text: str
    size: float
    listed: bool


class _Edge(NamedTuple):
    """Right edge of a column; unsure where there are too few lines to tell."""

    right: float
    unsure: bool


def pdf_html(
    pages: Sequence[Sequence[PdfLine]], title: str, outline: Mapping[str, int] | None = None
) -> str:
    r"""HTML of the lines of a PDF file: headings, lists, paragraphs; empty where it has no words.

    Args:
        pages: Lines of each page in the order of the file.
        title: Title of the file.
        outline: Level of each heading that the file itself names; none where it names none.

    Examples:
        >>> lines = ["TEA 1", "A cup of good", "tea in the very", "morning.", "TEA 2", "Then"]
        >>> page = [PdfLine(text, 0, 6 * len(text), 90 - 15 * row, 10)
        ...     for row, text in zip([0, 2, 3, 4, 0, 2], lines)]
        >>> pdf_html([page[:4], page[4:]], "Tea")
        '<title>Tea</title>\n<p>A cup of good tea in the very morning.</p>\n<p>Then</p>\n'
    """
    kept = without_margins(pages)
    blocks = list(_blocks(kept))
    if not blocks:
        return ""
    names = {_folded(name): level for name, level in (outline or {}).items() if _folded(name)}
    levels = {} if names else _levels_by_size(blocks)
    made = [f"<title>{escape(title)}</title>\n"] if title else []
    for block in blocks:
        level = names.get(_folded(block.text)) or levels.get(_rounded(block.size), 0)
        level = 0 if block.listed else level
        text, item = (
            _BULLET.subn("", block.text, count=1)
            if _starts_item(block.text)
            else (
                block.text,
                0,
            )
        )
        name = f"h{level}" if level and len(text) <= _LONGEST_HEADING else "li" if item else "p"
        made.append(f"<{name}>{escape(text, quote=False)}</{name}>\n")
    return _LIST.sub(r"<ul>\n\g<0></ul>\n", "".join(made))


# What belongs to pages.


def without_margins(pages: Sequence[Sequence[PdfLine]]) -> list[list[PdfLine]]:
    """Pages without running heads and page numbers.

    A line at the edge of a page goes if one at the same place of another page has the same words,
    and numbers that are the same or differ as much as the pages lie apart. If none differs, the
    other page must be one of the two before: the first of such lines stays, for it may be the
    head of a table that goes on.
    """
    edges = [_edges(page) for page in pages]
    alike: dict[tuple[str, int], list[_EdgeLine]] = {}
    for number, (page, rows) in enumerate(zip(pages, edges, strict=True)):
        for row in {*rows[0], *rows[1]}:
            line = _EdgeLine.of(number, page[row])
            alike.setdefault(line.key, []).append(line)
    return [
        [line for row, line in enumerate(page) if row not in gone]
        for number, page in enumerate(pages)
        for gone in [_margin_rows(number, page, edges[number], alike)]
    ]


class _EdgeLine(NamedTuple):
    """A line at the edge of a page: where it stands, its words, its numbers."""

    page: int
    key: tuple[str, int]
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, page: int, line: PdfLine) -> _EdgeLine:
        numbers = tuple(map(_value, _NUMBER.findall(line.text)))
        return cls(page, (_NUMBER.sub("#", line.text), round(line.bottom)), numbers)

    def repeats(self, other: _EdgeLine) -> bool:
        """Whether it is a running head or a page number, by another line of its key."""
        step = self.page - other.page
        differences = {a - b for a, b in zip(self.numbers, other.numbers, strict=True)}
        if differences <= {0}:
            return 0 < step <= _SAME_WITHIN
        return step != 0 and differences <= {0, step}


def _edges(page: Sequence[PdfLine]) -> tuple[list[int], list[int]]:
    """Rows of the lines at the top and at the bottom of a page, from the edge inwards."""
    rows = sorted(range(len(page)), key=lambda row: -page[row].bottom)
    return rows[:_MARGIN_LINES], rows[::-1][:_MARGIN_LINES]


def _margin_rows(
    number: int,
    page: Sequence[PdfLine],
    edges: tuple[list[int], list[int]],
    alike: Mapping[tuple[str, int], list[_EdgeLine]],
) -> set[int]:
    """Rows of a page that belong to the page and not to the text."""
    found = set()
    for rows in edges:
        for row in rows:
            line = _EdgeLine.of(number, page[row])
            others = alike[line.key]
            place = bisect_left(others, number, key=lambda other: other.page)
            near = others[max(place - _NEAR, 0) : place + _NEAR]
            if not any(line.repeats(other) for other in near):
                break
            found.add(row)
    return found


def _value(number: str) -> int:
    """What an Arabic or Roman number says.

    >>> _value("12"), _value("xiv")
    (12, 14)
    """
    if number.isdecimal():
        return int(number)
    digits = [_ROMAN[letter] for letter in number]
    return sum(
        -digit if digit < following else digit
        for digit, following in zip(digits, [*digits[1:], 0], strict=True)
    )


# Paragraphs.


def _blocks(pages: Iterable[Sequence[PdfLine]]) -> Iterable[_Block]:
    """Blocks of lines that belong together, over the ends of pages."""
    pages = list(pages)
    compounds = {
        word.lower() for page in pages for line in page for word in _WORD_PARTS.findall(line.text)
    }
    ends = _line_ends(line for page in pages for line in page)
    block: list[PdfLine] = []
    edge = _Edge(0.0, unsure=True)  # of the column of the last line
    for page in pages:
        for line, its_edge in zip(page, _right_edges(page, ends), strict=True):
            if block and not _goes_on(block, edge, line):
                yield _joined(block, compounds)
                block = []
            block.append(line)
            edge = its_edge
    if block:
        yield _joined(block, compounds)


def _line_ends(lines: Iterable[PdfLine]) -> dict[int, Counter[int]]:
    """How many lines end where, by where they begin."""
    ends: dict[int, Counter[int]] = {}
    for line in lines:
        ends.setdefault(round(line.left), Counter())[round(line.right / _BIN)] += 1
    return ends


def _right_edges(page: Sequence[PdfLine], all_ends: dict[int, Counter[int]]) -> list[_Edge]:
    """Right edge of the column that each line stands in: where most lines end, or the longest.

    Args:
        page: Lines of a page.
        all_ends: How many lines of all pages end where, for columns of which a page shows little.
    """
    ends = _line_ends(page)
    found: dict[tuple[int, float], _Edge] = {}
    for line in page:
        place = round(line.left), line.size
        if place not in found:
            column = _column(ends, *place)
            if column.total() < _FEW_LINES:
                column = _column(all_ends, *place)
            edge = max(column, key=lambda end: (column[end] + column[end - 1], end))
            few = column.total() < _FEW_LINES
            even = column[edge] + column[edge - 1] >= max(_EVEN * column.total(), _FEW_ENDS)
            found[place] = _Edge(_BIN * (edge if even else max(column)), few)
    return [found[round(line.left), line.size] for line in page]


def _column(ends: Mapping[int, Counter[int]], left: int, size: float) -> Counter[int]:
    """Where lines end that begin at about the same place."""
    column: Counter[int] = Counter()
    shift = int(_MOST_COLUMN_SHIFT * size) + 1
    for near in range(left - shift, left + shift + 1):
        if near in ends:
            column += ends[near]
    return column


def _goes_on(block: Sequence[PdfLine], edge: _Edge, line: PdfLine) -> bool:
    """Whether a line goes on with a block whose last line stands in a column with this edge."""
    last = block[-1]
    if abs(line.size - last.size) > _OTHER_SIZE * last.size or _starts_item(line.text):
        return False
    if _LEADER.search(last.text):
        return False
    drop = last.bottom - line.bottom
    if drop > _MOST_LEADING * last.size:
        return False
    if drop > 0:  # in the same column
        indented = line.left - last.left > _INDENT * line.size
        if indented and not _starts_item(block[0].text):
            return False
    if edge.unsure and last.text.rstrip().endswith(_ENDS):
        return False
    word = line.text.split(maxsplit=1)[0]
    width = (line.right - line.left) * len(word) / max(len(line.text), 1) + _SPACE * line.size
    return last.right + width > edge.right


def _starts_item(text: str) -> bool:
    return _BULLET.match(text) is not None


def _joined(block: Sequence[PdfLine], compounds: set[str]) -> _Block:
    pieces: list[str] = []
    for line in block:
        now = line.text.strip()
        last = pieces[-1] if pieces else ""
        broken = last[-1:] in _HYPHENS and last[-2:-1].isalpha() and now[:1].islower()
        if broken:
            pieces[-1] = last[:-1] + "-" * _is_compound(last[:-1], now, compounds)
        elif pieces:
            pieces.append(" ")
        pieces.append(now)
    text, leaders = _LEADER.subn("", "".join(pieces).replace(HYPHEN, "-"))
    return _Block(" ".join(text.split()), block[0].size, bool(leaders))


def _is_compound(start: str, end: str, compounds: set[str]) -> bool:
    """Whether a word that is broken at its hyphen has one elsewhere, too."""
    first, second = _LAST_WORD.search(start), _FIRST_WORD.match(end)
    return bool(first and second and f"{first[0]}-{second[0]}".lower() in compounds)


# Headings.


def _levels_by_size(blocks: Sequence[_Block]) -> dict[float, int]:
    """Level of each size of letters that is used for headings."""
    letters: Counter[float] = Counter()
    for block in blocks:
        letters[_rounded(block.size)] += len(block.text)
    usual = max(letters, key=lambda size: (letters[size], -size))
    large = {
        _rounded(block.size)
        for block in blocks
        if block.size > _HEADING_SIZE * usual and len(block.text) <= _LONGEST_HEADING
    }
    ranked = sorted(large, reverse=True)
    return {size: min(level, _MOST_LEVELS) for level, size in enumerate(ranked, 1)}


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _folded(text: str) -> str:
    """Letters of a heading, without its number and what else an outline writes otherwise.

    >>> _folded("2.3  Simple parsing"), _folded("Simple Parsing")
    ('simpleparsing', 'simpleparsing')
    """
    return re.sub(r"\W", "", _SECTION.sub("", text)).lower()
