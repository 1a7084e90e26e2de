"""Columns of listing files: keys, instants, attributes, each read when it is asked for.

Parquet is read column by column without Python objects, for a million rows take a second; CSV
and JSON lines as everywhere.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from recrawl.adapters.tables.columns import Columns, Words, read_columns
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable, MissingExtra
from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.units import epoch_days

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recrawl.arrays.types import Instants, Ints
    from recrawl.listings.data.attributes import Attribute

_FLAGS = {"true": "true", "false": "false", "": ""}


class Table(Protocol):
    """A file's columns, however they are stored."""

    @property
    def path(self) -> Path:
        """The file."""
        ...

    @property
    def names(self) -> Sequence[str]:
        """Names of its columns."""
        ...

    def __len__(self) -> int:
        """Count the rows."""
        ...

    def times(self, name: str, *, optional: bool = False) -> Instants:
        """A column of instants."""
        ...

    def words(self, name: str) -> Words:
        """A column of texts."""
        ...

    def keys(self, name: str) -> Texts:
        """A column of names."""
        ...

    def is_unique(self, name: str) -> bool:
        """Whether a column has a value in each row, never twice the same."""
        ...

    def places(self, name: str, known: Table) -> Ints:
        """Row of the table `known` that has the same key; -1 where there is none."""
        ...

    def attribute(self, name: str) -> Attribute:
        """A column of labels or numbers."""
        ...

    def refuse(self, row: int, name: str, rule: str) -> None:
        """Raise for one cell."""
        ...


def open_table(path: Path) -> Table:
    """Columns of a file of CSV, JSON lines or Parquet."""
    if path.suffix.lower() in (".parquet", ".pq") and path.is_file():
        return ParquetTable(path)
    columns = read_columns(path)
    return TextTable(columns.path, columns)


@dataclass(frozen=True, eq=False)
class TextTable:
    """Columns of CSV or JSON lines."""

    path: Path
    columns: Columns

    @property
    def names(self) -> Sequence[str]:
        """Names of its columns."""
        return list(self.columns.columns)

    def __len__(self) -> int:
        """Count the rows."""
        return len(self.columns)

    def times(self, name: str, *, optional: bool = False) -> Instants:
        """A column of instants."""
        return self.columns.times(name, optional=optional)

    def words(self, name: str) -> Words:
        """A column of texts."""
        return self.columns.words(name)

    def keys(self, name: str) -> Texts:
        """A column of names."""
        words = self.columns.words(name)
        return Texts.of(words.words).take(words.codes)

    def is_unique(self, name: str) -> bool:
        """Whether a column has a value in each row, never twice the same."""
        words = self.columns.words(name)
        return all(map(str.strip, words.words)) and len(words.words) == len(self)

    def places(self, name: str, known: Table) -> Ints:
        """Row of the table `known` that has the same key; -1 where there is none."""
        return _places(self.words(name), known.words(name))

    def attribute(self, name: str) -> Attribute:
        """A column of labels or numbers."""
        words = self.columns.words(name)
        return attribute_of(words.codes, words.words)

    def refuse(self, row: int, name: str, rule: str) -> None:
        """Raise for one cell."""
        self.columns.refuse(row, name, rule)


def _places(words: Words, known: Words) -> Ints:
    first = np.full(len(known.words), -1, np.int64)
    first[known.codes[::-1]] = np.arange(len(known.codes))[::-1]
    row_of = dict(zip(known.words, first.tolist(), strict=True))
    return np.array([row_of.get(word, -1) for word in words.words], np.int64)[words.codes]


def attribute_of(codes: Ints, words: Sequence[str]) -> Attribute:
    """Column of texts as numbers where all are, as true and false where all are, else as labels.

    >>> attribute_of(np.array([0, 1, 2]), ["1", "", "2.5"]).numbers
    array([1. , nan, 2.5])
    """
    texts = [word.strip() for word in words]
    numbers = [_number(text) for text in texts]
    if any(texts) and all(number is not None for number in numbers):
        return Numbers(np.array(numbers, np.float64)[codes])
    if all(text.lower() in _FLAGS for text in texts):
        texts = [text.lower() for text in texts]
    found = Labels.of(texts)
    return Labels(found.codes[codes] if texts else codes, found.words)


def _number(text: str) -> float | None:
    """A finite number, nan for an empty cell, None for anything else."""
    if not text:
        return float("nan")
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and "_" not in text else None


@dataclass(frozen=True, eq=False)
class ParquetTable:
    """Columns of a Parquet file.

    Args:
        path: The file.
        kept: The column that was read last.
    """

    path: Path
    kept: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def _file(self) -> Any:  # noqa: ANN401 - no types
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise MissingExtra("reading Parquet", "parquet") from None
        try:
            return pq.ParquetFile(self.path)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> InvalidTable:
        why = str(error).partition("\n")[0].rstrip(".")
        return InvalidTable(f"{self.path}: must be a whole Parquet file ({why})")

    @property
    def names(self) -> Sequence[str]:
        """Names of its columns."""
        return list(dict.fromkeys(self._file.schema_arrow.names))

    def __len__(self) -> int:
        """Count the rows."""
        return int(self._file.metadata.num_rows)

    def column(self, name: str) -> Any:  # noqa: ANN401 - no types
        """A column as an Arrow array; the last one is kept, for keys are asked for in a row."""
        import pyarrow as pa

        if name not in self.kept:
            self.kept.clear()
            self.kept[name] = self._read(name)
        column = self.kept[name]
        if pa.types.is_nested(column.type):
            message = f"{self.path}: column {name!r} must hold single values (got {column.type})"
            raise InvalidTable(message)
        return column

    def _read(self, name: str) -> Any:  # noqa: ANN401 - no types
        import pyarrow as pa

        try:
            found = self._file.read(columns=[name]).column(0)
            if pa.types.is_dictionary(found.type):
                found = found.unify_dictionaries()
            whole = found.combine_chunks()
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise self._broken(error) from None
        return whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole

    def _columns(self, name: str, cells: Any) -> Columns:  # noqa: ANN401 - words or an array
        return Columns(self.path, "row", np.arange(1, len(self) + 1), {name: cells})

    def times(self, name: str, *, optional: bool = False) -> Instants:
        """A column of instants."""
        import pyarrow as pa

        column = self.column(name)
        if pa.types.is_timestamp(column.type) or pa.types.is_date(column.type):
            return self._columns(name, _instants(column)).times(name, optional=optional)
        return self._columns(name, _words(column)).times(name, optional=optional)

    def words(self, name: str) -> Words:
        """A column of texts."""
        return _words(self.column(name))

    def keys(self, name: str) -> Texts:
        """A column of names."""
        import pyarrow as pa

        column = self.column(name)
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        return _texts(column.cast(pa.string()).fill_null(""))

    def is_unique(self, name: str) -> bool:
        """Whether a column has a value in each row, never twice the same."""
        column = self.column(name)
        return column.null_count == 0 and len(column.unique()) == len(column)

    def places(self, name: str, known: Table) -> Ints:
        """Row of the table `known` that has the same key; -1 where there is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not isinstance(known, ParquetTable):
            return _places(self.words(name), known.words(name))
        ours, theirs = self.column(name), known.column(name)
        if not ours.type.equals(theirs.type) or pa.types.is_dictionary(ours.type):
            ours, theirs = ours.cast(pa.string()), theirs.cast(pa.string())
        found = pc.index_in(ours, value_set=theirs).fill_null(-1)
        places: Ints = found.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return places

    def attribute(self, name: str) -> Attribute:
        """A column of labels or numbers."""
        import pyarrow as pa

        try:
            return _attribute(self._read(name))
        except (pa.ArrowException, UnicodeDecodeError) as error:
            why = str(error).partition("\n")[0]
            message = f"{self.path}: column {name!r} must hold text or numbers ({why})"
            raise InvalidTable(message) from None

    def refuse(self, row: int, name: str, rule: str) -> None:
        """Raise for one cell."""
        self._columns(name, _words(self.column(name))).refuse(row, name, rule)


def _attribute(column: Any) -> Attribute:  # noqa: ANN401 - no types
    import pyarrow as pa

    kind, types = column.type, pa.types
    if types.is_timestamp(kind) or types.is_date(kind):
        return Numbers(epoch_days(_instants(column)), dated=True)
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        whole = column.cast(pa.float64(), safe=False)
        numbers = np.array(whole.to_numpy(zero_copy_only=False), np.float64)
        numbers[~np.isfinite(numbers)] = np.nan
        return Numbers(numbers)
    if types.is_nested(kind):
        return Labels.of(["" if cell is None else str(cell) for cell in column.to_pylist()])
    if not types.is_dictionary(kind):
        column = column.cast(pa.string()).dictionary_encode()
    return _labels(column)


def _labels(column: Any) -> Labels:  # noqa: ANN401 - no types
    """Words and codes of a dictionary array; an empty word is a missing one."""
    import pyarrow as pa

    words = _texts(column.dictionary.cast(pa.string()).fill_null(""))
    codes: Ints = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    # A dictionary may hold words that no row has, as those of another column.
    kept = (np.diff(words.offsets) > 0) & (np.bincount(codes + 1, minlength=len(words) + 1)[1:] > 0)
    if kept.all():
        return Labels(codes, words)
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # code -1 is the last
    return Labels(number[codes], words.take(np.flatnonzero(kept)))


def _instants(column: Any) -> Instants:  # noqa: ANN401 - no types
    import pyarrow as pa

    finer = getattr(column.type, "unit", "") == "ns"  # what is cut off is nothing to us
    micro = column.cast(pa.timestamp("us"), safe=not finer).cast(pa.int64())
    whole: Ints = micro.fill_null(np.iinfo(np.int64).min).to_numpy(zero_copy_only=False)
    return whole.view("datetime64[us]")


def _words(column: Any) -> Words:  # noqa: ANN401 - no types
    import pyarrow as pa

    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    words = ["" if word is None else str(word) for word in encoded.dictionary.to_pylist()]
    codes = encoded.indices.cast(pa.int64()).fill_null(len(words))
    return Words(codes.to_numpy(zero_copy_only=False), [*words, ""])


def _texts(column: Any) -> Texts:  # noqa: ANN401 - no types
    """Bytes of an Arrow array of strings, not copied."""
    buffers = column.buffers()
    if buffers[1] is None:
        return Texts.of([""] * len(column))
    offsets = np.frombuffer(buffers[1], np.int32)[column.offset : column.offset + len(column) + 1]
    data = np.empty(0, np.uint8) if buffers[2] is None else np.frombuffer(buffers[2], np.uint8)
    return Texts(data, offsets.astype(np.int64))
