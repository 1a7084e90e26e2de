"""Tables as text: CSV, JSON lines and JSON arrays.

    read_csv           a header, then one row per line
    read_json_lines    one object per line; what an object leaves out is an empty cell
    read_json_array    one array of such objects

Touches: files.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from recrawl.adapters.tables.columns import CodedTexts, ColumnBatch, cell_text
from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts
from recrawl.listings.data.attributes import attribute_of
from recrawl.parse import cells
from recrawl.parse.times import times
from recrawl.visits.rows import digest_hashes

if TYPE_CHECKING:
    from _csv import Reader as CsvReader
    from collections.abc import Iterator, Mapping, Sequence

    from recrawl.adapters.tables.columns import Cells, Choose, TableInput
    from recrawl.arrays.types import Answers, Bools, Changes, Ints, Words
    from recrawl.listings.data.attributes import Attribute
    from recrawl.parse.time_zones import Zone

    _Values = TypeVar("_Values", Ints, Changes, Answers)

_ROWS = 1 << 16  # of a batch, which so takes tens of megabytes
_BLOCK = 1 << 20  # bytes read at a time
_LONGEST_LINE = 1 << 24
_DELIMITERS = ",;\t|"  # the first of those that are equally often in a header
_JSON = json.JSONDecoder()
_UTF8 = "utf-8"
_NO_ARRAY = "must be a whole JSON array"
_JSON_SPACE = re.compile(r"[ \t\r\n]*")


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

    def times(self, *, optional: bool, zone: Zone | None = None) -> tuple[Ints, Bools]:
        """Microseconds since 1970; the smallest integer where a cell is empty and may be."""
        return self._spread(times(self.texts, optional=optional, zone=zone))

    def changes(self, words: Mapping[str, int]) -> tuple[Changes, Bools]:
        """1, 0 or -1 for true, false and empty, by what each word means."""
        return self._spread(cells.changes(self.texts, words))

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
    """Columns of a CSV file, whose header tells what separates its cells."""
    with table.open() as raw:
        lines = text_lines(table, raw)
        first = next((line for line in lines if line.strip()), "")
        if not first:
            table.refuse("must begin with a header (got an empty file)")
        delimiter = table.delimiter or delimiter_in(first)
        rows = csv.reader(chain([first], lines), strict=True, delimiter=delimiter)
        header, _ = _csv_rows(table, rows, 1)
        names = [name.strip() for name in header[0]]
        places = {name: names.index(name) for name in choose(names)}
        while True:
            taken, numbers = _csv_rows(table, rows, _ROWS, len(names))
            if not taken:
                return
            columns = {
                name: TextCells([row[place] for row in taken]) for name, place in places.items()
            }
            yield ColumnBatch(columns, numbers, "line")
            table.report_read()


def delimiter_in(header: str) -> str:
    """What separates the names of a header: what is most often in it, outside of quotes.

    >>> delimiter_in('page;"a,b,c";changed'), delimiter_in("page|at"), delimiter_in("page")
    (';', '|', ',')
    """
    bare = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=bare.count)


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
    for number, block in _blocks(table, raw):
        if b"\0" in block:
            where = number + _line_ends(block[: block.index(b"\0")])
            table.refuse("must be text (got a NUL byte)", f"line {where}")
        try:
            text = block.decode(table.encoding)
        except UnicodeDecodeError as error:
            where = number + _line_ends(block[: error.start])
            table.refuse(_no_text(table, block[error.start]), f"line {where}")
        yield from io.StringIO(text, newline="")


def _no_text(table: TableInput, got: int) -> str:
    """What is wrong with a byte, and what to do."""
    if table.encoding != _UTF8:
        return f"must be text in {table.encoding} (got byte 0x{got:02x})"
    remedy = "name its encoding with --encoding, e.g. latin-1, or convert it with iconv"
    return f"must be UTF-8 text (got byte 0x{got:02x}); {remedy}"


def _blocks(table: TableInput, raw: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """A file in blocks of whole lines, however these end, each with the number of its first."""
    number, rest = 1, b""
    while block := raw.read(_BLOCK):
        rest += block
        # A carriage return at the very end may be the first half of a line's end.
        cut = max(rest.rfind(b"\n"), rest.rfind(b"\r", 0, len(rest) - 1)) + 1
        if cut:
            yield number, rest[:cut]
            number += _line_ends(rest[:cut])
            rest = rest[cut:]
        elif len(rest) > _LONGEST_LINE:
            table.refuse(f"must be shorter than {_LONGEST_LINE:,} bytes", f"line {number}")
    if rest:
        yield number, rest


def _line_ends(block: bytes) -> int:
    return block.count(b"\n") + block.count(b"\r") - block.count(b"\r\n")


def read_json_lines(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of a file with one JSON object per line."""
    with table.open() as raw:
        yield from object_batches(table, choose, _lines_of_objects(table, raw))


def read_json_array(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of a file with one JSON array of objects."""
    with table.open() as raw:
        yield from object_batches(table, choose, _array_of_objects(table, raw))


def object_batches(
    table: TableInput, choose: Choose, objects: Iterator[tuple[int, dict[str, Any]]]
) -> Iterator[ColumnBatch]:
    """Columns of objects, which come with their numbers; what one leaves out is an empty cell."""
    header: list[str] = []
    while taken := list(islice(objects, _ROWS)):
        found = [row for _, row in taken]
        nested = table.nested(partial(_any_has, found))
        if not set(header).issuperset(set(nested).union(*found)):
            names = (name for row in found for name in row)
            header = list(dict.fromkeys([*header, *names, *nested]))
        columns = {name: _json_cells(found, name) for name in choose(header)}
        yield ColumnBatch(columns, [line for line, _ in taken], "line")
        table.report_read()
    if not header and not table.skipped:
        table.refuse("must hold one object per line (got none)")


def _json_cells(rows: Sequence[dict[str, Any]], name: str) -> TextCells:
    if any(name in row for row in rows) or "." not in name:
        values = [row.get(name) for row in rows]
    else:
        values = [_field(row, name.split("."))[1] for row in rows]
    return TextCells([cell_text(value) for value in values], values=values)


def _any_has(rows: Sequence[dict[str, Any]], path: Sequence[str]) -> bool:
    return any(_field(row, path)[0] for row in rows)


def _field(row: dict[str, Any], path: Sequence[str]) -> tuple[bool, Any]:
    """Whether an object has a field inside of its fields, and its value."""
    value: Any = row
    for name in path:
        if not isinstance(value, dict) or name not in value:
            return False, None
        value = value[name]
    return True, value


def _lines_of_objects(table: TableInput, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    for first, block in _blocks(table, raw):
        for number, line in enumerate(block.splitlines(), first):
            found = json_object(line, table.encoding)
            if found is not None:
                yield number, found
            elif line.strip():
                got = line[:40].decode(errors="replace").strip()
                table.refuse_row(f"must be a JSON object (got {got!r})", f"line {number}")


def _array_of_objects(table: TableInput, raw: IO[bytes]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Objects of an array, with the lines where they begin."""
    array = _JsonArray(table, raw)
    while array.goes_on():
        line, got = array.line(), array.peek()
        found = array.value()
        if isinstance(found, dict):
            yield line, found
        else:
            table.refuse_row(f"must be a JSON object (got {got!r})", f"line {line}")


class _JsonArray:
    """Values of a JSON array, read one by one from a file of any size."""

    def __init__(self, table: TableInput, raw: IO[bytes]) -> None:
        self._table, self._raw = table, raw
        self._decoder = codecs.getincrementaldecoder(table.encoding)()
        self._text, self._place = "", 0
        self._line, self._counted = 1, 0
        self._ended = False
        self._next()  # which is "["
        self._place += 1
        self._first = True

    def goes_on(self) -> bool:
        """Step to the next value; False at the end of the array."""
        mark = self._next()
        if mark == "]":
            self._place += 1
            if self._next():
                self._refuse("must end with its array")
            return False
        if not self._first:
            if mark != ",":
                self._refuse(_NO_ARRAY)
            self._place += 1
            mark = self._next()
        if mark in ("", ",", "]"):
            self._refuse(_NO_ARRAY)
        self._first = False
        return True

    def line(self) -> int:
        """Number of the line that has been reached."""
        self._line += self._text.count("\n", self._counted, self._place)
        self._counted = self._place
        return self._line

    def peek(self) -> str:
        """How the next value begins."""
        return self._text[self._place : self._place + 40].strip()

    def value(self) -> object:
        """The next value."""
        while True:
            try:
                found, end = _JSON.raw_decode(self._text, self._place)
            except (ValueError, RecursionError):
                found, end = None, -1
            if end >= 0 and (end < len(self._text) or self._ended):  # else it may go on
                self._place = end
                return found
            if self._ended:
                self._refuse(_NO_ARRAY)
            if len(self._text) - self._place > _LONGEST_LINE:
                self._refuse(f"must have objects shorter than {_LONGEST_LINE:,} letters")
            self._more()

    def _next(self) -> str:
        """The next letter that is no space; empty at the end of the file."""
        while True:
            space = _JSON_SPACE.match(self._text, self._place)
            assert space is not None  # noqa: S101 - it matches nothing, too
            self._place = space.end()
            if self._place < len(self._text) or self._ended:
                return self._text[self._place : self._place + 1]
            self._more()

    def _more(self) -> None:
        self.line()
        block = self._raw.read(_BLOCK)
        self._ended = not block
        try:
            text = self._decoder.decode(block, final=self._ended)
        except UnicodeDecodeError as error:
            self._refuse(_no_text(self._table, error.object[error.start]))
        self._text = self._text[self._place :] + text
        self._place = self._counted = 0

    def _refuse(self, sentence: str) -> NoReturn:
        self._table.refuse(sentence, f"line {self.line()}")


def json_object(line: bytes, encoding: str = _UTF8) -> dict[str, Any] | None:
    """The JSON object that a line holds; None where it holds anything else.

    >>> json_object(b'{"page": "/a"}'), json_object(b"[1]"), json_object(b"{")
    ({'page': '/a'}, None, None)
    """
    try:
        found = json.loads(line if encoding == _UTF8 else line.decode(encoding))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
