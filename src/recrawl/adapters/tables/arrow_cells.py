"""Cells of Arrow arrays, in any types that can mean a time, a name or a number.

They are read without Python objects where their types allow: a million rows take a second.

Touches: nothing but what it is given.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.tables.columns import CodedTexts, cell_text, listed
from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts
from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.parse import cells
from recrawl.parse.time_zones import Zone
from recrawl.parse.times import epoch_times, times
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS, epoch_days
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME, digest_hashes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recrawl.adapters.tables.columns import Cells, TableInput
    from recrawl.arrays.types import Answers, Bools, Bytes, Changes, Ints, Words
    from recrawl.listings.data.attributes import Attribute

FRAME = "frame of plain columns"  # what one must be that is in no file

_BEYOND_ASCII = 0x80
_LEADING_BITS = 0xC0  # of a byte inside of a letter they are 0x80

# First bytes of all letters that Python strips as spaces.
_BEGINS_SPACE = np.isin(np.arange(256), [*range(0x21), 0xC2, 0xE1, 0xE2, 0xE3])

# Microseconds in a tick, and ticks in a microsecond.
_TICKS = {
    "day": (86_400_000_000, 1),
    "s": (10**6, 1),
    "ms": (10**3, 1),
    "us": (1, 1),
    "ns": (1, 10**3),
}


@contextmanager
def refusing(table: TableInput, what: str = "") -> Iterator[None]:
    """Say in one sentence what Arrow finds wrong with a table."""
    import pyarrow as pa

    try:
        yield
    except UnicodeError:
        table.refuse("columns must have names in UTF-8 (got other bytes)")
    except (pa.ArrowException, OSError, OverflowError) as error:
        what = what or ("whole Parquet file" if table.reader is None else FRAME)
        table.refuse(f"must be a {what} ({_first_line(error)})")


def _first_line(error: Exception) -> str:
    """What Arrow says, without what the file may have brought into it."""
    line = str(error).partition("\n")[0].rstrip(".")
    return listed([line])


@dataclass(frozen=True, slots=True, eq=False)
class ArrowCells:
    """Cells of an Arrow array.

    Args:
        table: Whose they are.
        name: Name of their column.
        array: The array, in one piece.
    """

    table: TableInput
    name: str
    array: Any

    @classmethod
    def joined(cls, parts: list[ArrowCells]) -> ArrowCells:
        """Cells of a whole column from those of its batches."""
        import pyarrow as pa

        table, name = parts[0].table, parts[0].name
        with refusing(table):
            chunks = pa.chunked_array([part.array for part in parts])
            if pa.types.is_dictionary(chunks.type):
                chunks = chunks.unify_dictionaries()
            whole = chunks.combine_chunks()
            if isinstance(whole, pa.ChunkedArray):
                whole = whole.chunk(0) if whole.num_chunks else pa.array([], whole.type)
        return cls(table, name, whole)

    def __len__(self) -> int:
        """Count them."""
        return len(self.array)

    def text(self, row: int) -> str:
        """One cell, as an error quotes it."""
        return _text(self.array[row])

    def times(self, *, optional: bool, zone: Zone | None = None) -> tuple[Ints, Bools]:
        """Microseconds since 1970; the smallest integer where a cell is empty and may be."""
        import pyarrow as pa

        kind, types = self.array.type, pa.types
        number = types.is_integer(kind) or types.is_floating(kind)
        told = zone is not None and zone.form is not None
        if not _is_temporal(self.array) and (told or not number):
            return times(_texts(self.array), optional=optional, zone=zone)
        missing = self._missing()
        column = self.array.filter(pa.array(~missing)) if missing.any() else self.array
        found = _numbers(column, zone) if number else _instants(column, zone or Zone())
        if not missing.any():
            return found
        values, wrong = np.full(len(self), UNKNOWN_TIME), np.full(len(self), not optional)
        values[~missing], wrong[~missing] = found
        return values, wrong

    def changes(self, words: Mapping[str, int]) -> tuple[Changes, Bools]:
        """1, 0 or -1 for true, false and empty, by what each word means."""
        import pyarrow as pa

        if not pa.types.is_boolean(self.array.type):
            return cells.changes(_texts(self.array), words)
        known, told = self.array.buffers()
        values = _bits(told, self.array).view(np.int8)
        if self.array.null_count:
            values[_bits(known, self.array) == 0] = UNKNOWN_CHANGE
        return values, np.zeros(len(values), np.bool_)

    def answers(self) -> tuple[Answers, Bools]:
        """Numbers of `AnswerKind`."""
        return cells.answers(_texts(self.array))

    def digests(self) -> Words | None:
        """One number per digest, 0 where a cell is blank; None where all are."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self._refuse_nested()
        column, types = self.array, pa.types
        with self._refusing_type():
            if types.is_dictionary(column.type):
                column = column.dictionary_decode()
            if types.is_binary(column.type) or types.is_fixed_size_binary(column.type):
                return digest_hashes(_texts_of(column.cast(pa.binary()).fill_null(b"")))
            return digest_hashes(
                _texts_of(pc.utf8_trim_whitespace(column.cast(pa.string())).fill_null(""))
            )

    def _missing(self) -> Bools:
        """Cells without a value; one that is no number, as pandas has it, is none, too."""
        import pyarrow as pa

        missing = np.zeros(len(self), np.bool_)
        floating = pa.types.is_floating(self.array.type)
        if self.array.null_count or floating:
            empty = self.array.is_null(nan_is_null=floating)
            missing = _bits(empty.buffers()[1], empty).view(np.bool_)
        return missing

    def runs(self) -> tuple[Texts, Ints, Bools]:
        """Name of each run of equal cells, the row where it begins, and rows that name nothing."""
        import pyarrow as pa

        self._refuse_nested()
        with refusing(self.table):
            if not pa.types.is_dictionary(self.array.type):
                names = _texts_of(self.array)
                return names, np.arange(len(names)), _unnamed(names) | self._missing()
            codes = numbers_of(self.array.indices.cast(pa.int64()), -1)
            if not len(self.array.dictionary):
                names = Texts.of([""] * len(codes))
                return names, np.arange(len(names)), np.ones(len(codes), np.bool_)
            starts = np.flatnonzero(begins(codes))
            names = _texts_of(self.array.dictionary).take(np.maximum(codes[starts], 0))
            unnamed = np.repeat(_unnamed(names), np.diff(starts, append=len(codes)))
            return names, starts, unnamed | self._missing()

    def names(self, rows: Ints | None = None) -> Texts:
        """Texts of all cells, or of the named rows; empty where there is none."""
        import pyarrow as pa

        self._refuse_nested()
        with refusing(self.table):
            column = self.array if rows is None else self.array.take(pa.array(rows))
            return _texts_of(column.cast(pa.string()).fill_null(""))

    def _refuse_nested(self) -> None:
        import pyarrow as pa

        if is_nested(self.array):
            got = f"(got {listed([str(self.array.type)])})"
            fields = pa.types.is_struct(self.array.type)
            inside = "; --column names a field in it, as page=request.url does" if fields else ""
            self.table.refuse(f"column {self.name!r} must hold single values {got}{inside}")

    def coded(self) -> CodedTexts:
        """Texts of all cells, each different one once."""
        import pyarrow as pa

        column = self.array
        if is_nested(column):
            return CodedTexts(np.arange(len(self)), _texts(self.array))
        with refusing(self.table):
            encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
            words = _texts(encoded.dictionary)
            codes = numbers_of(encoded.indices.cast(pa.int64()), len(words))
        return CodedTexts(codes, [*words, ""])

    def is_unique(self) -> bool:
        """Whether every cell holds something, never twice the same."""
        self._refuse_nested()
        return self.array.null_count == 0 and len(self.array.unique()) == len(self.array)

    def places_in(self, known: Cells) -> Ints:
        """Row of the column `known` with the same cell; -1 where there is none."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not isinstance(known, ArrowCells):
            return self.coded().places_in(known.coded())
        self._refuse_nested()
        ours, theirs = self.array, known.array
        with self._refusing_type():
            if not ours.type.equals(theirs.type) or pa.types.is_dictionary(ours.type):
                ours, theirs = ours.cast(pa.string()), theirs.cast(pa.string())
            found = pc.index_in(ours, value_set=theirs).fill_null(-1)
        places: Ints = found.cast(pa.int64()).to_numpy(zero_copy_only=False)
        return places

    def attribute(self) -> Attribute:
        """Labels or numbers, for a listing."""
        import pyarrow as pa

        column, types = self.array, pa.types
        kind = column.type
        if _is_temporal(column):
            instants = self.times(optional=True)[0].view("datetime64[us]")
            return Numbers(epoch_days(instants), dated=True)
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            whole = column.cast(pa.float64(), safe=False)
            numbers = np.array(whole.to_numpy(zero_copy_only=False), np.float64)
            numbers[~np.isfinite(numbers)] = np.nan
            return Numbers(numbers)
        if is_nested(column):
            return Labels.of(_texts(self.array))
        with self._refusing_type():
            if not types.is_dictionary(kind):
                column = column.cast(pa.string()).dictionary_encode()
            return _labels(column)

    @contextmanager
    def _refusing_type(self) -> Iterator[None]:
        """Say in one sentence that a column is of a type that cannot be used so."""
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, UnicodeDecodeError) as error:
            sentence = f"column {self.name!r} must hold text or numbers ({_first_line(error)})"
            self.table.refuse(sentence)


def _numbers(column: Any, zone: Zone | None) -> tuple[Ints, Bools]:  # noqa: ANN401 - no types
    """Instants of numbers, and which are none."""
    import pyarrow as pa

    whole = pa.types.is_integer(column.type) and column.type != pa.uint64()
    return epoch_times(
        numbers_of(column.cast(pa.int64() if whole else pa.float64(), safe=False)), zone
    )


def _instants(column: Any, zone: Zone) -> tuple[Ints, Bools]:  # noqa: ANN401 - no types
    """Instants of times and dates, and which are out of range."""
    import pyarrow as pa

    kind = column.type
    unit = "day" if pa.types.is_date32(kind) else getattr(kind, "unit", "ms")
    ticks = numbers_of(column.cast(pa.int32() if unit == "day" else pa.int64()))
    values, wrong = _from_ticks(ticks.astype(np.int64), *_TICKS[unit])
    dated = pa.types.is_date(kind)
    return (zone.utc(values, days=dated) if dated or kind.tz is None else values), wrong


def is_nested(column: Any) -> bool:  # noqa: ANN401 - no types
    """Whether cells of an array hold lists or fields."""
    import pyarrow as pa

    return bool(pa.types.is_nested(column.type))


def _is_temporal(column: Any) -> bool:  # noqa: ANN401 - no types
    import pyarrow as pa

    return bool(pa.types.is_timestamp(column.type) or pa.types.is_date(column.type))


def _texts(column: Any) -> list[str]:  # noqa: ANN401 - no types
    """Cells as a CSV file would have them."""
    import pyarrow as pa

    if pa.types.is_timestamp(column.type) and column.type.unit == "ns":
        # Python's own times are no finer; Arrow would make those of pandas, where there is pandas.
        column = column.cast(pa.timestamp("us", column.type.tz), safe=False)
    try:
        return [cell_text(value) for value in column.to_pylist()]
    except (ValueError, OverflowError):  # as below
        return [_text(scalar) for scalar in column]


def _text(scalar: Any) -> str:  # noqa: ANN401 - no types
    value = getattr(scalar, "value", None)
    if getattr(scalar.type, "unit", "") == "ns" and value is not None and value % 1000:
        return str(value)  # as below; with pandas at hand it would come as its own type
    try:
        return cell_text(scalar.as_py())
    except UnicodeDecodeError:  # a writer need not check its text
        return str(_bytes(scalar))
    except (ValueError, OverflowError):  # beyond what Python's own types can hold
        return str(scalar.value)


def _bytes(scalar: Any) -> bytes:  # noqa: ANN401 - no types
    """Bytes of a text that is none; a word of a dictionary is looked up first."""
    text = scalar.dictionary[scalar.index.as_py()] if hasattr(scalar, "index") else scalar
    content: bytes = text.as_buffer().to_pybytes()
    return content


def _from_ticks(ticks: Ints, microseconds: int, parts: int) -> tuple[Ints, Bools]:
    """Microseconds since 1970, and which are out of range; nothing overflows."""
    low, high = EARLIEST_MICROSECONDS // microseconds, LATEST_MICROSECONDS // microseconds
    wrong = (ticks < low * parts) | (ticks > high * parts)
    return np.where(wrong, 0, ticks) * microseconds // parts, wrong


def numbers_of(column: Any, empty: int = 0) -> Any:  # noqa: ANN401 - no types
    """Numbers of an array, `empty` for cells without one.

    Arrow's own way out loads pandas, wherever it is installed: a third of a second.
    """
    import pyarrow as pa

    kind = "f" if pa.types.is_floating(column.type) else "i"
    dtype = np.dtype(f"{kind}{column.type.bit_width // 8}")
    if not len(column):
        return np.empty(0, dtype)
    known, values = column.buffers()
    found = np.frombuffer(values, dtype, len(column), column.offset * dtype.itemsize)
    if not column.null_count:
        return found
    return np.where(_bits(known, column) == 0, empty, found)


def _bits(buffer: Any, column: Any) -> Bytes:  # noqa: ANN401 - no types
    """The bits of a buffer of an array, one per cell, as numbers 0 and 1."""
    if not len(column):
        return np.empty(0, np.uint8)
    first = column.offset // 8
    count = column.offset % 8 + len(column)
    packed = np.frombuffer(buffer, np.uint8, -(-count // 8), first)
    return np.unpackbits(packed, count=count, bitorder="little")[column.offset % 8 :]


def _texts_of(column: Any) -> Texts:  # noqa: ANN401 - no types
    """Texts of a column, without copying where it is text already."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_binary(column.type):
        column = column.view(pa.string())
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        column = column.cast(pa.string())
    dtype = np.int64 if types.is_large_string(column.type) else np.int32
    _, offsets, data = column.buffers()
    if offsets is None:
        return Texts.of([""] * len(column))
    edges = np.frombuffer(offsets, dtype)[column.offset : column.offset + len(column) + 1]
    return Texts(np.frombuffer(b"" if data is None else data, np.uint8), np.asarray(edges))


def _labels(column: Any) -> Labels:  # noqa: ANN401 - no types
    """Words and codes of a dictionary array; an empty word is a missing one."""
    import pyarrow as pa

    words = _texts_of(column.dictionary.cast(pa.string()).fill_null(""))
    codes: Ints = numbers_of(column.indices.cast(pa.int64()), -1)
    # A dictionary may hold words that no row has, as those of another column.
    kept = (np.diff(words.offsets) > 0) & (np.bincount(codes + 1, minlength=len(words) + 1)[1:] > 0)
    if kept.all():
        return Labels(codes, words)
    number = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)  # code -1 is the last
    return Labels(number[codes], words.take(np.flatnonzero(kept)))


def _unnamed(names: Texts) -> Bools:
    """Which names are blank or no UTF-8."""
    wrong: Bools = np.diff(names.offsets) == 0
    # A blank name begins with a space, so its first byte tells which names to look at.
    rows = np.flatnonzero(~wrong)
    first = names.data.take(names.offsets[:-1].take(rows))
    doubtful = rows[_BEGINS_SPACE.take(first)]
    if not _is_utf8(names):
        doubtful = rows
    for row in doubtful.tolist():
        name = names.data[names.offsets[row] : names.offsets[row + 1]].tobytes()
        wrong[row] = not _names_something(name)
    return wrong


def _is_utf8(names: Texts) -> bool:
    """Whether all names are UTF-8: together they are, and none begins inside of a letter."""
    data = names.data[names.offsets[0] : names.offsets[-1]]
    if not len(data) or data.max() < _BEYOND_ASCII:
        return True
    rows = np.flatnonzero(np.diff(names.offsets))
    inside = (names.data[names.offsets[rows]] & _LEADING_BITS) == _BEYOND_ASCII
    try:
        data.tobytes().decode()
    except UnicodeDecodeError:
        return False
    return not inside.any()


def _names_something(name: bytes) -> bool:
    try:
        return bool(name.decode().strip())
    except UnicodeDecodeError:
        return False
