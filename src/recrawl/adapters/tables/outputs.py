"""Tables out: CSV, JSON lines or Parquet, to a file or to the standard output.

A file appears whole or not at all: it is written beside its place and moved there at the end.
Cells of CSV are exactly the data, with two exceptions: a terminal gets no control characters, and
for a spreadsheet what would be a formula is text. A figure that is not finite is empty or null in
every format: whoever writes a table need not look for nan and infinity.

Touches: files, the standard output.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
import sys
from contextlib import contextmanager, suppress
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.errors import CannotWrite, MissingExtra, OutputClosed, reason
from recrawl.report.rates import Group, Named, Nullable, finite
from recrawl.report.table import printable
from recrawl.store.scratch import whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from recrawl.arrays.types import Bools, Ints
    from recrawl.report.rates import Column

    OutputColumn: TypeAlias = Column | Texts

SPREADSHEET = "spreadsheet"  # CSV in which no cell is a formula
FORMATS = {
    ".csv": "csv",
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".feather": "arrow",
    ".arrow": "arrow",
}

_DIGITS = 12  # significant digits in text: more than any estimate is sure of
_ROWS = 1 << 13  # whose cells are texts at the same time
_ROW_GROUP = 1 << 17  # rows of a group in Parquet, at least

# What spreadsheets take for the beginning of a formula, also in letters of full width.
_FORMULA = re.compile(r"[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?", re.ASCII)


class TableWriter(Protocol):
    """Takes columns of equal length, again and again; the first one is the rows' names."""

    def write(self, names: Texts, columns: Mapping[str, OutputColumn]) -> None:
        """Write some rows."""


def check_output(path: Path, *, formats: Mapping[str, str] = FORMATS) -> str:
    """Format meant by a file's name; refuse a place where no file can be."""
    if path.suffix.lower() not in formats:
        raise CannotWrite(f"{path}: output must end in {', '.join(formats)} (got {path.name!r})")
    if path.is_dir():
        raise CannotWrite(f"{path} is a folder; the output must be a file")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        message = f"{path} cannot be written: {path.parent} is not a folder that can be written to"
        raise CannotWrite(message)
    return formats[path.suffix.lower()]


@contextmanager
def to_file(
    path: Path, header: Sequence[str], kind: str = "", *, most: int | None = None
) -> Iterator[TableWriter]:
    """Write a file by its suffix, or as `kind`; it appears when the block ends well.

    Args:
        path: The file.
        header: Names of the columns.
        kind: Format, if it is not the one of the suffix.
        most: Rows to write, if not all.
    """
    kind = kind or check_output(path)
    with whole_file(path) as raw, _writer(raw, kind, header) as writer:
        yield writer if most is None else _FirstRows(writer, most)


@contextmanager
def to_standard_output(
    kind: str, header: Sequence[str], *, most: int | None = None
) -> Iterator[TableWriter]:
    """Write to the standard output: all rows, or so many."""
    if sys.stdout is None:
        raise CannotWrite("the standard output is closed")
    try:
        shown = "terminal" if kind == "csv" and sys.stdout.isatty() else kind
        with _writer(sys.stdout.buffer, shown, header) as writer:
            yield writer if most is None else _FirstRows(writer, most)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise OutputClosed("the standard output was closed") from None
    except OSError as error:
        raise CannotWrite(f"cannot write to the standard output ({reason(error)})") from None


@contextmanager
def _writer(raw: IO[bytes], kind: str, header: Sequence[str]) -> Iterator[TableWriter]:
    if kind in ("parquet", "arrow"):
        with _ArrowWriter.open(raw, header[0], kind) as writer:
            yield writer
        return
    if kind == "json":
        yield _JsonWriter(raw, header)
        return
    yield _CsvWriter(raw, header, {"terminal": printable, SPREADSHEET: without_formula}.get(kind))


def without_formula(cell: str) -> str:
    """A cell that a spreadsheet takes for text, if it is no number.

    >>> without_formula("=HYPERLINK(1)"), without_formula("-0.5"), without_formula("-5+A1")
    ("'=HYPERLINK(1)", '-0.5', "'-5+A1")
    """
    return f"'{cell}" if _FORMULA.match(cell) and not _NUMBER.fullmatch(cell) else cell


class _FirstRows:
    """Hands on the first rows, and drops the others."""

    def __init__(self, writer: TableWriter, most: int) -> None:
        self._writer, self._left = writer, most

    def write(self, names: Texts, columns: Mapping[str, OutputColumn]) -> None:
        rows = np.arange(min(self._left, len(names)))
        self._left -= len(rows)
        self._writer.write(names.take(rows), _taken(columns, rows))


class _CsvWriter:
    def __init__(
        self, raw: IO[bytes], header: Sequence[str], shown: Callable[[str], str] | None
    ) -> None:
        self._raw, self._header, self._shown = raw, header, shown
        self._put([header])

    def write(self, names: Texts, columns: Mapping[str, OutputColumn]) -> None:
        for part, cells in _parts(names, columns):
            texts = [part, *(_texts(cells[name]) for name in self._header[1:])]
            self._put(zip(*texts, strict=True))

    def _put(self, rows: Any) -> None:  # noqa: ANN401 - rows of cells
        if self._shown is not None:
            rows = (map(self._shown, row) for row in rows)
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows(rows)
        self._raw.write(lines.getvalue().encode())


class _JsonWriter:
    def __init__(self, raw: IO[bytes], header: Sequence[str]) -> None:
        self._raw, self._header = raw, header

    def write(self, names: Texts, columns: Mapping[str, OutputColumn]) -> None:
        keys = [json.dumps(name) for name in self._header]
        for part, cells in _parts(names, columns):
            firsts = [json.dumps(name) for name in part]
            texts = [firsts, *(_values(cells[name]) for name in self._header[1:])]
            rows = zip(*texts, strict=True)
            lines = [
                "{"
                + ", ".join(f"{key}: {cell}" for key, cell in zip(keys, row, strict=True))
                + "}\n"
                for row in rows
            ]
            self._raw.write("".join(lines).encode())


class _ArrowWriter:
    """Writes Parquet, or Arrow (which Feather is), once it knows the types of the first rows."""

    def __init__(self, first: str, pa: Any, make: Callable[[Any], Any], *, coded: bool) -> None:  # noqa: ANN401 - no types
        self._first, self._pa, self._make, self._coded = first, pa, make, coded
        self._file: Any = None
        self._file_schema: Any = None
        self._waiting: list[Any] = []

    @classmethod
    @contextmanager
    def open(cls, raw: IO[bytes], first: str, kind: str) -> Iterator[_ArrowWriter]:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra(f"writing {kind.capitalize()}", "parquet") from None

        def parquet(schema: Any) -> Any:  # noqa: ANN401 - no types
            # Names repeat, and so do words. Figures and digests seldom do: to try costs time.
            coded = [each.name for each in schema if pa.types.is_dictionary(each.type)]
            return pq.ParquetWriter(raw, schema, use_dictionary=[first, *coded])

        make = parquet if kind == "parquet" else partial(pa.ipc.new_file, raw)
        writer = cls(first, pa, make, coded=kind == "parquet")
        try:
            yield writer
        except BaseException:
            with suppress(OSError):  # the first error is the one to tell
                writer.close()
            raise
        writer.flush()
        writer.close()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def write(self, names: Texts, columns: Mapping[str, OutputColumn]) -> None:
        self._waiting.append(arrow_table(self._first, names, columns, self._pa))
        if sum(rows.num_rows for rows in self._waiting) >= _ROW_GROUP:
            self.flush()

    def flush(self) -> None:
        """Write all rows that wait as one group: small groups cost time, and room in the file."""
        if not self._waiting:
            return
        rows = self._pa.concat_tables(self._waiting).unify_dictionaries()
        self._waiting = []
        if self._file is None:
            self._file_schema = (
                rows.schema if self._coded else _without_codes(rows.schema, self._pa)
            )
            self._file = self._make(self._file_schema)
        self._file.write_table(rows.cast(self._file_schema))


def _without_codes(schema: Any, pa: Any) -> Any:  # noqa: ANN401 - no types
    """The same columns with plain text: an Arrow file has one list of words for all its rows."""
    fields = [
        pa.field(
            field.name, field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        )
        for field in schema
    ]
    return pa.schema(fields)


def arrow_table(first: str, names: Texts, columns: Mapping[str, OutputColumn], pa: Any) -> Any:  # noqa: ANN401 - no types
    """Rows as an Arrow table, whose column `first` is their names; empty figures are null."""
    arrays = {name: _arrow(column, pa) for name, column in columns.items()}
    return pa.table({first: _arrow_texts(names, pa)} | arrays)


def _arrow_texts(names: Texts, pa: Any) -> Any:  # noqa: ANN401 - no types
    offsets = pa.py_buffer(np.ascontiguousarray(names.offsets, np.int64))
    data = pa.py_buffer(np.ascontiguousarray(names.data))
    return pa.LargeStringArray.from_buffers(len(names), offsets, data)


def _arrow(column: OutputColumn, pa: Any) -> Any:  # noqa: ANN401 - no types
    if isinstance(column, Texts):
        return _arrow_texts(column, pa)
    if isinstance(column, Named):
        words = _arrow_texts(Texts.of(column.words), pa).cast(pa.string())
        return pa.DictionaryArray.from_arrays(_plain(column.codes.astype(np.int32), pa), words)
    if isinstance(column, Group):
        parts = {name: _arrow(part, pa) for name, part in column.columns.items()}
        return pa.StructArray.from_arrays(list(parts.values()), list(parts))
    if isinstance(column, Nullable):
        return _plain(column.cells, pa, column.known)
    return _arrow_array(column, pa)


def _arrow_array(column: np.ndarray[Any, Any], pa: Any) -> Any:  # noqa: ANN401 - no types
    if column.dtype.kind == "M":
        instants = column.astype("datetime64[us]", copy=False).view(np.int64)
        return _plain(instants, pa, ~np.isnat(column)).cast(pa.timestamp("us", tz="UTC"))
    if column.dtype.kind == "f":
        figures = finite(column)
        return _plain(figures, pa, ~np.isnan(figures))
    return _plain(column, pa)


def _plain(column: np.ndarray[Any, Any], pa: Any, known: Bools | None = None) -> Any:  # noqa: ANN401
    """Figures or flags as an Arrow array, without the cells that are not known.

    Not by `pa.array`: it loads pandas, wherever it is installed, a third of a second.
    """
    bits = None
    if known is not None and not known.all():
        bits = pa.py_buffer(np.packbits(known, bitorder="little"))
    if column.dtype.kind == "b":
        kind, values = pa.bool_(), np.packbits(column, bitorder="little")
    else:
        kind, values = pa.from_numpy_dtype(column.dtype), np.ascontiguousarray(column)
    return pa.Array.from_buffers(kind, len(column), [bits, pa.py_buffer(values)])


def _parts(
    names: Texts, columns: Mapping[str, OutputColumn]
) -> Iterator[tuple[list[str], dict[str, OutputColumn]]]:
    for start in range(0, len(names), _ROWS):
        rows = np.arange(start, min(start + _ROWS, len(names)))
        yield names.take(rows).tolist(), _taken(columns, rows)


def _taken(columns: Mapping[str, OutputColumn], rows: Ints) -> dict[str, OutputColumn]:
    return {
        name: column.take(rows) if isinstance(column, Texts) else column[rows]
        for name, column in columns.items()
    }


def _texts(column: OutputColumn) -> list[str]:
    """Cells of CSV: nothing for what is not known."""
    if isinstance(column, Named | Texts):
        return column.tolist()
    if isinstance(column, Group):
        return [json.dumps(_nulls(row)) for row in column.tolist()]
    if isinstance(column, Nullable):
        cells = zip(_array_texts(column.cells), column.known.tolist(), strict=True)
        return [text if known else "" for text, known in cells]
    return _array_texts(column)


def _array_texts(column: np.ndarray[Any, Any]) -> list[str]:
    kind = column.dtype.kind
    if kind == "f":
        return [f"{value:.{_DIGITS}g}" if math.isfinite(value) else "" for value in column.tolist()]
    if kind == "M":
        return _instants(column)
    if kind == "b":
        return ["true" if value else "false" for value in column.tolist()]
    return [str(value) for value in column.tolist()]


def _values(column: OutputColumn) -> list[str]:
    """Cells of JSON: null for what is not known."""
    if isinstance(column, Named):
        return Named(column.codes, [json.dumps(word) for word in column.words]).tolist()
    texts = _texts(column)
    if isinstance(column, Texts):
        return [json.dumps(text) for text in texts]
    if isinstance(column, Group):
        return texts
    if isinstance(column, Nullable) or column.dtype.kind == "f":
        return [text or "null" for text in texts]
    if column.dtype.kind == "M":
        return [json.dumps(text or None) for text in texts]
    return texts


def _nulls(row: dict[str, float]) -> dict[str, float | None]:
    """The same figures, null for what is not known."""
    return {
        name: float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else None
        for name, value in row.items()
    }


def _instants(column: np.ndarray[Any, Any]) -> list[str]:
    """ISO 8601 in UTC, to the second where that is exact."""
    unknown = np.isnat(column)
    whole = column.astype("datetime64[s]")
    exact = whole == column
    texts = np.where(
        exact,
        np.datetime_as_string(whole, timezone="UTC"),
        np.datetime_as_string(column, timezone="UTC"),
    )
    cells: list[str] = np.where(unknown, "", texts).tolist()
    return cells
