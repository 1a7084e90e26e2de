"""Columns of a file by name, whole: CSV, JSON lines or Parquet.

Touches: files.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recrawl.adapters.tables.text_lines import cell_text, json_object, text_lines
from recrawl.adapters.tables.visits import format_of, shown
from recrawl.errors import InvalidTable, MissingExtra, reason
from recrawl.parse import cells
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Bools, Floats, Instants, Ints

_NUMBER_RULE = "must be a positive, finite number or empty"
_FLAG_RULE = "must be true, false or empty"


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Cells of text, each different text once.

    Args:
        codes: Which text each cell is.
        words: The texts.
    """

    codes: Ints
    words: list[str]

    @classmethod
    def of(cls, texts: Iterable[str], count: int) -> Words:
        """Words of a column of texts."""
        numbers: dict[str, int] = {}
        codes = (numbers.setdefault(text, len(numbers)) for text in texts)
        return cls(np.fromiter(codes, np.int64, count), list(numbers))


_Cells: TypeAlias = "Words | np.ndarray[Any, Any]"


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """A file's columns.

    Args:
        path: The file.
        unit: What the file calls a row: "line" or "row".
        numbers: Number of each row in that unit.
        columns: Cells: words, or instants or flags where the file has such types.
    """

    path: Path
    unit: str
    numbers: Ints
    columns: dict[str, _Cells]

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.numbers)

    def __contains__(self, name: str) -> bool:
        """Whether there is such a column."""
        return name in self.columns

    def need(self, *names: str) -> None:
        """Refuse a file without one of these columns."""
        for name in names:
            if name not in self.columns:
                header = ", ".join(self.columns)
                message = f"{self.path}: column {name!r} must be present (got {header})"
                raise InvalidTable(message)

    def words(self, name: str) -> Words:
        """A column of texts."""
        column = self.columns[name]
        return column if isinstance(column, Words) else Words.of(map(str, column), len(column))

    def texts(self, name: str) -> list[str]:
        """A column of texts, cell by cell."""
        found = self.words(name)
        return [found.words[code] for code in found.codes.tolist()]

    def times(self, name: str, *, optional: bool = False) -> Instants:
        """A column of instants; NaT where a cell is empty, which it may be if `optional`."""
        column = self.columns[name]
        if isinstance(column, Words):
            values, wrong = cells.times(column.words, optional=optional)
            instants, bad = values.view("datetime64[us]")[column.codes], wrong[column.codes]
        else:
            instants = column.astype("datetime64[us]")
            whole = instants.view(np.int64)
            bad = (whole < EARLIEST_MICROSECONDS) | (whole > LATEST_MICROSECONDS)
            bad &= ~(np.isnat(instants) & optional)
        self._refuse(name, bad, cells.TIME_RULE)
        return instants

    def flags(self, name: str) -> Bools:
        """A column of true and false; false where a cell is empty."""
        column = self.columns[name]
        if not isinstance(column, Words):
            flags: Bools = column.astype(np.bool_)
            return flags
        values, wrong = cells.changes(column.words)
        self._refuse(name, wrong[column.codes], _FLAG_RULE)
        true: Bools = values[column.codes] == 1
        return true

    def positive(self, name: str) -> Floats:
        """A column of positive numbers; 1 where a cell is empty."""
        column = self.words(name)
        values = np.array([_number(text) for text in column.words], np.float64)
        wrong = ~((values > 0) & (values < np.inf))
        self._refuse(name, wrong[column.codes], _NUMBER_RULE)
        return values[column.codes]

    def _refuse(self, name: str, wrong: Bools, rule: str) -> None:
        if wrong.any():
            self.refuse(int(np.argmax(wrong)), name, rule)

    def refuse(self, row: int, name: str, rule: str) -> None:
        """Raise for one cell."""
        column = self.columns[name]
        cell = column.words[column.codes[row]] if isinstance(column, Words) else str(column[row])
        message = (
            f"{self.path}, {self.unit} {self.numbers[row]}, column {name!r}: {rule} "
            f"(got {shown(cell)})"
        )
        raise InvalidTable(message)


def _number(text: str) -> float:
    try:
        return float(text) if text.strip() else 1.0
    except ValueError:
        return float("nan")


def read_columns(path: Path) -> Columns:
    """All columns of a file, which is read by its name or its first bytes."""
    kind = format_of(path)
    if kind == "store":
        message = f"{path}: must be a table (got a store; recrawl export writes tables of it)"
        raise InvalidTable(message)
    try:
        if kind == "parquet":
            return _parquet(path)
        with path.open("rb") as raw:
            rows = _json_rows(path, raw) if kind == "json" else _csv_rows(path, raw)
    except OSError as error:
        message = f"{path}: must be a readable file ({reason(error)})"
        raise InvalidTable(message) from None
    return _from_rows(path, *rows)


def _from_rows(
    path: Path, header: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[int]
) -> Columns:
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        message = f"{path}: column {twice[0]!r} must be there once (got {', '.join(header)})"
        raise InvalidTable(message)
    columns: dict[str, _Cells] = {
        name: Words.of((row[place] for row in rows), len(rows)) for place, name in enumerate(header)
    }
    return Columns(path, "line", np.array(lines, np.int64), columns)


def _csv_rows(path: Path, raw: IO[bytes]) -> tuple[list[str], list[list[str]], list[int]]:
    reader = csv.reader(text_lines(path, raw), strict=True)
    rows, lines = [], []
    try:
        header = [name.strip() for name in next(reader, [])]
        for row in reader:
            if row and len(row) != len(header):
                message = (
                    f"{path}, line {reader.line_num}: must have as many cells as the header, "
                    f"{len(header)} (got {len(row)})"
                )
                raise InvalidTable(message)
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        message = f"{path}, line {reader.line_num}: must be CSV ({error})"
        raise InvalidTable(message) from None
    return header, rows, lines


def _json_rows(path: Path, raw: IO[bytes]) -> tuple[list[str], list[list[str]], list[int]]:
    found: list[dict[str, Any]] = []
    lines = []
    for number, line in enumerate(text_lines(path, raw), 1):
        if not line.strip():
            continue
        row = json_object(line)
        if row is None:
            got = shown(line[:40].strip())
            message = f"{path}, line {number}: must be a JSON object (got {got})"
            raise InvalidTable(message)
        found.append(row)
        lines.append(number)
    header = list(dict.fromkeys(name for row in found for name in row))
    return header, [[cell_text(row.get(name)) for name in header] for row in found], lines


def _parquet(path: Path) -> Columns:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None
    try:
        table = pq.read_table(path)
        names = list(dict.fromkeys(table.column_names))
        columns = {name: _arrow(table.column(name).combine_chunks(), pa) for name in names}
    except (pa.ArrowException, ValueError, KeyError) as error:
        why = str(error).partition("\n")[0].rstrip(".")
        message = f"{path}: must be a whole Parquet file ({why})"
        raise InvalidTable(message) from None
    return Columns(path, "row", np.arange(1, table.num_rows + 1), columns)


def _arrow(column: Any, pa: Any) -> _Cells:  # noqa: ANN401 - no types
    types = pa.types
    if types.is_timestamp(column.type) or types.is_date(column.type):
        finer = getattr(column.type, "unit", "") == "ns"  # what is cut off is nothing to us
        micro = column.cast(pa.timestamp("us"), safe=not finer)
        nat = np.iinfo(np.int64).min
        whole: Ints = micro.cast(pa.int64()).fill_null(nat).to_numpy(zero_copy_only=False)
        return whole.view("datetime64[us]")
    if types.is_boolean(column.type):
        whole = column.cast(pa.int8()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.asarray(whole, np.bool_)
    encoded = column if types.is_dictionary(column.type) else column.dictionary_encode()
    words = [cell_text(word) for word in encoded.dictionary.to_pylist()]
    codes = encoded.indices.cast(pa.int64()).fill_null(len(words))
    return Words(codes.to_numpy(zero_copy_only=False), [*words, ""])
