"""Visit logs as Parquet, in any types that can mean a page, a time, a change.

Touches: files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.tables.text_lines import cell_text
from recrawl.adapters.tables.visits import Where, read_cells
from recrawl.arrays.ranges import begins
from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidTable, MissingExtra
from recrawl.parse import cells
from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS
from recrawl.visits.batch import Batch
from recrawl.visits.rows import UNKNOWN_CHANGE, UNKNOWN_TIME
from recrawl.visits.visit import Answer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.adapters.tables.visits import Reading
    from recrawl.arrays.types import Bools, Changes, Ints

_ROWS = 1 << 18
_PEEK = 1 << 14
# A log with this share of rows naming the page of the row before is read by runs.
_GROUPED = 0.3
_BEYOND_ASCII = 0x80
_LEADING_BITS = 0xC0  # of a byte inside of a letter they are 0x80

# First bytes of all letters that Python strips as spaces.
_BEGINS_SPACE = np.isin(np.arange(256), [*range(0x21), 0xC2, 0xE1, 0xE2, 0xE3])


def read(reading: Reading) -> Iterator[Batch]:
    """Rows of a Parquet file, a batch at a time."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None

    try:
        yield from _read(reading, pa, pq)
    except UnicodeDecodeError:
        reading.refuse("columns must have names in UTF-8 (got other bytes)")
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0].rstrip(".")
        message = f"{reading.path}: must be a whole Parquet file ({reason})"
        raise InvalidTable(message) from None


def _read(reading: Reading, pa: Any, pq: Any) -> Iterator[Batch]:  # noqa: ANN401 - no types
    with pq.ParquetFile(reading.path) as file:
        present = reading.present(file.schema_arrow.names)
        _check_types(reading, file.schema_arrow, present, pa)
        grouped = _is_grouped(file, present["page"])
    position, total = 0, 0
    runs = [present["page"]] if grouped else []
    with pq.ParquetFile(reading.path, read_dictionary=runs) as file:
        total = file.metadata.num_rows
        for batch in file.iter_batches(_ROWS, columns=list(present.values())):
            table = {ours: batch.column(theirs) for ours, theirs in present.items()}
            yield _batch(reading, table, position, pa)
            position += batch.num_rows
            if reading.progress is not None:
                reading.progress(position / max(total, 1))


def _is_grouped(file: Any, page: str) -> bool:  # noqa: ANN401 - no types
    """Whether neighbouring rows often name one page."""
    for batch in file.iter_batches(_PEEK, columns=[page]):
        codes = batch.column(0).dictionary_encode()
        codes = codes.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return bool((codes[1:] == codes[:-1]).sum() > _GROUPED * len(codes))
    return False


def _batch(reading: Reading, table: dict[str, Any], position: int, pa: Any) -> Batch:  # noqa: ANN401
    rows = len(table["page"])
    names, starts = _runs(table["page"], pa)
    unnamed = _unnamed(names)
    if len(names) < rows:
        unnamed = np.repeat(unnamed, np.diff(starts, append=rows))
    ways = {
        "visited_at": lambda column: _times(column, pa, optional=False),
        "changed": lambda column: _changed(column, pa),
        "last_modified": lambda column: _times(column, pa, optional=True),
        "status": lambda column: cells.answers(_texts(column)),
    }
    values, wrong = read_cells(table, ways)
    unnamed |= _missing(table["page"])
    where = Where(
        rows=rows,
        unit="row",
        number=lambda row: position + row + 1,
        cell=lambda ours, row: _cell(table[ours], row),
    )
    keep = reading.sift({"page": (unnamed, cells.PAGE_RULE), **wrong}, where)
    answer = values.get("status")
    single = len(names) == rows
    batch = Batch(
        names=names,
        at=values["visited_at"],
        # In a file of changes each row is one.
        changed=values.get("changed", np.ones(rows, np.int8)),
        lengths=None if single else np.diff(starts, append=rows),
        position=position,
        last_modified=values.get("last_modified"),
        answer=None if answer is None or (answer == Answer.OK).all() else answer,
        site=_site(table, starts, pa, single=single),
    )
    return batch if keep is None else batch.rows(keep)


def _check_types(reading: Reading, schema: Any, present: dict[str, str], pa: Any) -> None:  # noqa: ANN401
    """Refuse names that are no single values."""
    for ours in ("page", "site"):
        theirs = present.get(ours)
        if theirs is not None and pa.types.is_nested(schema.field(theirs).type):
            kind = schema.field(theirs).type
            reading.refuse(f"column {theirs!r} must hold text or numbers (got {kind})")


def _cell(column: Any, row: int) -> str:  # noqa: ANN401 - no types
    scalar = column[row]
    try:
        return str(scalar.as_py())
    except UnicodeDecodeError:
        return str(_bytes(scalar))
    except (ValueError, OverflowError):  # beyond what Python's own types can hold
        return str(scalar.value)


def _bytes(scalar: Any) -> bytes:  # noqa: ANN401 - no types
    """Bytes of a text that is none; a word of a dictionary is looked up first."""
    text = scalar.dictionary[scalar.index.as_py()] if hasattr(scalar, "index") else scalar
    content: bytes = text.as_buffer().to_pybytes()
    return content


def _site(table: dict[str, Any], starts: Ints, pa: Any, *, single: bool) -> Texts | None:  # noqa: ANN401
    """Site of each run."""
    if "site" not in table:
        return None
    column = table["site"] if single else table["site"].take(pa.array(starts))
    return _names(column.cast(pa.string()).fill_null(""), pa)


def _missing(column: Any) -> Bools:  # noqa: ANN401 - no types
    missing = np.zeros(len(column), np.bool_)
    if column.null_count:
        missing[:] = column.is_null().to_numpy(zero_copy_only=False)
    return missing


def _unnamed(names: Texts) -> Bools:
    """Which names are blank or no UTF-8."""
    wrong: Bools = np.diff(names.offsets) == 0
    # A blank name begins with a space, so its first byte tells which names to look at.
    rows = np.flatnonzero(~wrong)
    first = names.data[names.offsets[rows]]
    doubtful = rows[_BEGINS_SPACE[first]]
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


def _runs(column: Any, pa: Any) -> tuple[Texts, Ints]:  # noqa: ANN401 - no types
    """Page of each run, and the row where it begins; no rows where each is a run."""
    if not pa.types.is_dictionary(column.type):
        return _names(column, pa), np.empty(0, np.int64)
    codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy()
    if not len(column.dictionary):
        return Texts.of([""] * len(codes)), np.empty(0, np.int64)
    starts = np.flatnonzero(begins(codes))
    dictionary = _names(column.dictionary, pa)
    return dictionary.take(np.maximum(codes[starts], 0)), starts


def _names(column: Any, pa: Any) -> Texts:  # noqa: ANN401 - no types
    """Texts of a column, without copying where it is text already."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    types = pa.types
    if types.is_binary(column.type):
        column = column.view(pa.string())
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        column = column.cast(pa.string())
    dtype = np.int64 if types.is_large_string(column.type) else np.int32
    buffers = column.buffers()
    offsets = np.frombuffer(buffers[1], dtype)[column.offset : column.offset + len(column) + 1]
    data = np.empty(0, np.uint8) if buffers[2] is None else np.frombuffer(buffers[2], np.uint8)
    return Texts(data, np.asarray(offsets))


def _times(column: Any, pa: Any, *, optional: bool) -> tuple[Ints, Bools]:  # noqa: ANN401
    types = pa.types
    missing = _missing(column)
    if types.is_timestamp(column.type) or types.is_date(column.type):
        unit = "day" if types.is_date32(column.type) else getattr(column.type, "unit", "ms")
        ticks = column.cast(pa.int32() if unit == "day" else pa.int64()).fill_null(0).to_numpy()
        values, wrong = _from_ticks(ticks.astype(np.int64), *_TICKS[unit])
    elif types.is_integer(column.type) or types.is_floating(column.type):
        numbers = column.cast(pa.float64(), safe=False).fill_null(0).to_numpy()
        values, wrong = cells.epoch_times(numbers)
    else:
        return cells.times(_texts(column), optional=optional)
    if missing.any():
        values = np.where(missing, UNKNOWN_TIME, values)
        wrong = np.where(missing, not optional, wrong)
    return values, wrong


# Microseconds in a tick, and ticks in a microsecond.
_TICKS = {
    "day": (86_400_000_000, 1),
    "s": (10**6, 1),
    "ms": (10**3, 1),
    "us": (1, 1),
    "ns": (1, 10**3),
}


def _from_ticks(ticks: Ints, microseconds: int, parts: int) -> tuple[Ints, Bools]:
    """Microseconds since 1970, and which are out of range; nothing overflows."""
    low, high = EARLIEST_MICROSECONDS // microseconds, LATEST_MICROSECONDS // microseconds
    wrong = (ticks < low * parts) | (ticks > high * parts)
    return np.where(wrong, 0, ticks) * microseconds // parts, wrong


def _changed(column: Any, pa: Any) -> tuple[Changes, Bools]:  # noqa: ANN401
    if not pa.types.is_boolean(column.type):
        return cells.changes(_texts(column))
    values = column.cast(pa.int8()).fill_null(UNKNOWN_CHANGE).to_numpy()
    return values, np.zeros(len(values), np.bool_)


def _texts(column: Any) -> list[str]:  # noqa: ANN401 - no types
    try:
        values = column.to_pylist()
    except UnicodeDecodeError:  # a writer need not check its text
        values = [_cell(column, row) for row in range(len(column))]
    return [cell_text(value) for value in values]
