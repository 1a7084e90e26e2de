"""Tables as text: CSV and JSON lines.

    read_csv           a header, then one row per line
    read_json_lines    one object per line; what an object leaves out is an empty cell

Touches: files.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, TypeVar

import numpy as np

from recrawl.adapters.tables.columns import CodedTexts, ColumnBatch, cell_text
from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts
from recrawl.listings.data.attributes import attribute_of
from recrawl.parse import cells
from recrawl.visits.rows import digest_hashes

if TYPE_CHECKING:
    from _csv import Reader as CsvReader
    from collections.abc import Iterator, Sequence

    from recrawl.adapters.tables.columns import Cells, Choose, TableInput
    from recrawl.arrays.types import Answers, Bools, Changes, Ints, Words
    from recrawl.listings.data.attributes import Attribute

    _Values = TypeVar("_Values", Ints, Changes, Answers)

_ROWS = 1 << 16  # of a batch, which so takes tens of megabytes


@dataclass(frozen=True, slots=True, eq=False)
class TextCells:
    """Cells of text.

    Args:
        texts: Text of each cell; with `codes` each different one once.
        codes: Which of the texts each cell is, where they are told apart.
        values: What the cells were in a file that has more than text.
    """

    texts: Sequence[str]
    codes: Ints | None = None
    values: Sequence[Any] = ()

    def __len__(self) -> int:
        """Count them."""
        return len(self.texts if self.codes is None else self.codes)

    def text(self, row: int) -> str:
        """One cell, as an error quotes it."""
        return self.texts[row if self.codes is None else self.codes[row]]

    def times(self, *, optional: bool) -> tuple[Ints, Bools]:
        """Microseconds since 1970; the smallest integer where a cell is empty and may be."""
        return self._spread(cells.times(self.texts, optional=optional))

    def changes(self) -> tuple[Changes, Bools]:
        """1, 0 or -1 for true, false and empty."""
        return self._spread(cells.changes(self.texts))

    def answers(self) -> tuple[Answers, Bools]:
        """Numbers of `AnswerKind`."""
        return self._spread(cells.answers(self.texts))

    def digests(self) -> Words | None:
        """One number per digest, 0 where a cell is blank; None where all are."""
        found = digest_hashes(Texts.of([text.strip() for text in self.texts]))
        return found if found is None or self.codes is None else found[self.codes]

    def _spread(self, read: tuple[_Values, Bools]) -> tuple[_Values, Bools]:
        values, wrong = read
        return read if self.codes is None else (values[self.codes], wrong[self.codes])

    def runs(self) -> tuple[Texts, Ints, Bools]:
        """Name of each run of equal cells, the row where it begins, and rows that name nothing."""
        texts = self._texts()
        unnamed = cells.unnamed(texts)
        if self.values:
            nested = [isinstance(value, dict | list) for value in self.values]
            unnamed |= np.array(nested, np.bool_)
        named = np.array(texts, object)
        named[unnamed] = "-"  # what cannot be a name must not become one, even for a moment
        starts = np.flatnonzero(begins(named))
        return Texts.of(named[starts].tolist()), starts, unnamed

    def _texts(self) -> Sequence[str]:
        if self.codes is None:
            return self.texts
        return [self.texts[code] for code in self.codes.tolist()]

    def names(self, rows: Ints | None = None) -> Texts:
        """Texts of all cells, or of the named rows."""
        if self.codes is None:
            texts = self.texts if rows is None else [self.texts[row] for row in rows.tolist()]
            return Texts.of(texts)
        return Texts.of(self.texts).take(self.codes if rows is None else self.codes[rows])

    def coded(self) -> CodedTexts:
        """Texts of all cells, each different one once."""
        if self.codes is not None:
            return CodedTexts(self.codes, list(self.texts))
        numbers: dict[str, int] = {}
        codes = (numbers.setdefault(text, len(numbers)) for text in self.texts)
        return CodedTexts(np.fromiter(codes, np.int64, len(self.texts)), list(numbers))

    def is_unique(self) -> bool:
        """Whether every cell holds something, never twice the same."""
        coded = self.coded()
        return all(map(str.strip, coded.words)) and len(coded.words) == len(self)

    def places_in(self, known: Cells) -> Ints:
        """Row of the column `known` with the same cell; -1 where there is none."""
        return self.coded().places_in(known.coded())

    def attribute(self) -> Attribute:
        """Labels or numbers, for a listing."""
        coded = self.coded()
        return attribute_of(coded.codes, coded.words)


def read_csv(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of a CSV file."""
    size = table.path.stat().st_size
    with table.open() as raw:
        rows = csv.reader(text_lines(table, raw), strict=True)
        header, _ = _csv_rows(table, rows, 1)
        if not header:
            table.refuse("must begin with a header (got an empty file)")
        names = [name.strip() for name in header[0]]
        places = {name: names.index(name) for name in choose(names)}
        while True:
            taken, lines = _csv_rows(table, rows, _ROWS, len(names))
            if not taken:
                return
            columns = {
                name: TextCells([row[place] for row in taken]) for name, place in places.items()
            }
            yield ColumnBatch(columns, lines, "line")
            table.report_progress(raw.tell(), size)


def _csv_rows(
    table: TableInput, rows: CsvReader, most: int, width: int = 0
) -> tuple[list[list[str]], list[int]]:
    """Up to so many rows that are not blank, and the line on which each ends."""
    taken: list[list[str]] = []
    lines: list[int] = []
    try:
        for row in rows:
            if not row:
                continue
            if width and len(row) != width:
                sentence = f"must have as many cells as the header, {width} (got {len(row)})"
                table.refuse_row(sentence, f"line {rows.line_num}")
                continue
            taken.append(row)
            lines.append(rows.line_num)
            if len(taken) == most:
                break
    except csv.Error as error:
        table.refuse(f"must be CSV ({error})", f"line {rows.line_num}")
    return taken, lines


def text_lines(table: TableInput, raw: IO[bytes]) -> Iterator[str]:
    """Lines of a file as text, each with its end; refuse what is no text."""
    for number, line in enumerate(raw, 1):
        if b"\0" in line:
            table.refuse("must be text (got a NUL byte)", f"line {number}")
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            got = f"0x{line[error.start]:02x}"
            table.refuse(f"must be UTF-8 text (got byte {got})", f"line {number}")


def read_json_lines(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of a file with one JSON object per line."""
    size = table.path.stat().st_size
    header: list[str] = []
    with table.open() as raw:
        objects = _objects(table, raw)
        while taken := list(islice(objects, _ROWS)):
            found = [row for _, row in taken]
            if not set(header).issuperset(set().union(*found)):
                header = list(dict.fromkeys([*header, *(name for row in found for name in row)]))
            columns = {name: _json_cells(found, name) for name in choose(header)}
            yield ColumnBatch(columns, [line for line, _ in taken], "line")
            table.report_progress(raw.tell(), size)
    if not header and not table.skipped:
        table.refuse("must hold one object per line (got none)")


def _json_cells(rows: Sequence[dict[str, Any]], name: str) -> TextCells:
    values = [row.get(name) for row in rows]
    return TextCells([cell_text(value) for value in values], values=values)


def _objects(table: TableInput, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(raw, 1):
        if not line.strip():
            continue
        found = json_object(line)
        if found is not None:
            yield number, found
        else:
            got = line[:40].decode(errors="replace").strip()
            table.refuse_row(f"must be a JSON object (got {got!r})", f"line {number}")


def json_object(line: bytes) -> dict[str, Any] | None:
    """The JSON object that a line holds; None where it holds anything else.

    >>> json_object(b'{"page": "/a"}'), json_object(b"[1]"), json_object(b"{")
    ({'page': '/a'}, None, None)
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
