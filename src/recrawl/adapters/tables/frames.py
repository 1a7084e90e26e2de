"""Frames in: pandas, polars, DuckDB, pyarrow, and whatever else gives Arrow batches.

A frame is read as a Parquet file is: batches of Arrow arrays become the same cells, and what is
wrong with one of them is said in the same words. Frames come by the Arrow PyCapsule interface
(`__arrow_c_stream__`), so no library is named but pyarrow, which takes them over without a copy.
Visits that are Python values are a table, too; they need no pyarrow.

Touches: nothing but what it is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.adapters.tables.arrow_cells import FRAME, refusing
from recrawl.adapters.tables.arrow_files import (
    arrow_batch,
    bounded,
    column_of,
    is_grouped,
    names_in,
    outermost,
)
from recrawl.adapters.tables.columns import ColumnBatch, TableFile, cell_text
from recrawl.adapters.tables.inputs import table_of
from recrawl.adapters.tables.text_files import TextCells, object_batches
from recrawl.errors import InvalidTable, MissingExtra
from recrawl.visits.visit import AnswerKind, Visit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recrawl.adapters.tables.columns import Choose, TableInput, TableReader
    from recrawl.adapters.tables.table_options import TableOptions

_STREAM, _ARRAY = "__arrow_c_stream__", "__arrow_c_array__"
_VISIT_COLUMNS = ("page", "visited_at", "changed", "last_modified", "status")
_VISITS = 1 << 16  # of a batch
_STATUS = {
    AnswerKind.OK: "",
    AnswerKind.NOT_MODIFIED: "304",
    AnswerKind.GONE: "gone",
    AnswerKind.FAILED: "failed",
}


def frame_input(source: object, options: TableOptions | None = None) -> TableInput:
    """A frame as a table to read; refuse what is none.

    Args:
        source: pandas or polars, lazy ones too, a DuckDB relation, a pyarrow table, reader or
            dataset, anything with `__arrow_c_stream__`, a mapping of columns, rows that are dicts,
            or visits.
        options: How it is read.
    """
    table = table_of([TableFile(Path("frame"), "")], options)
    table.reader = _reader_of(table, source)
    return table


def whole_frame_input(
    source: object, options: TableOptions | None = None, *, name: str = "frame"
) -> TableInput:
    """A frame as a table that is read column by column, and so kept in memory."""
    table = table_of([TableFile(Path(name), "")], options)
    if not _gives_arrow(source):
        raise InvalidTable(_no_frame(source))
    pa = _arrow()
    with refusing(table, FRAME):
        table.reader = _FrameReader(_FrameReader(source, pa).whole(), pa).read
    return table


def _reader_of(table: TableInput, source: object) -> TableReader:
    if _gives_arrow(source):
        pa = _arrow()
        with refusing(table, FRAME):
            return _FrameReader(source, pa).read
    if isinstance(source, Iterable) and not isinstance(source, str | bytes):
        visits = iter(source)
        first = next(visits, None)
        if first is None or isinstance(first, Visit):
            table.path = Path("visits")
            return _VisitReader(islice(chain([first], visits), first is None, None)).read
        if isinstance(first, Mapping):
            return _ObjectReader(chain([first], visits)).read
    raise InvalidTable(_no_frame(source, "a list of dicts", "visits"))


def _no_frame(source: object, *others: str) -> str:
    kinds = "a path, a frame (pandas, polars, DuckDB, pyarrow)", "a mapping of columns", *others
    return f"source must be {', '.join(kinds[:-1])} or {kinds[-1]} (got {type(source).__name__})"


def _gives_arrow(source: object) -> bool:
    marks = (_STREAM, _ARRAY, "scanner", "to_reader")
    return isinstance(source, Mapping) or _is_lazy(source) or any(hasattr(source, m) for m in marks)


def _is_lazy(source: object) -> bool:
    """Whether it is a question to polars, whose answer is a frame."""
    return type(source).__module__.partition(".")[0] == "polars" and hasattr(source, "collect")


def _arrow() -> Any:  # noqa: ANN401 - no types
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("reading a frame", "parquet") from None
    return pa


class _FrameReader:
    """Reads a frame; again and again if the frame is more than a stream."""

    def __init__(self, source: Any, pa: Any) -> None:  # noqa: ANN401 - no types
        self._pa = pa
        self._batches: Callable[[Sequence[str]], Iterable[Any]]
        # A dataset, of which only some columns need be read. Frames have columns as attributes.
        if hasattr(source, "scanner") and not hasattr(source, _STREAM):
            self._schema, self.names = source.schema, list(source.schema.names)
            self._batches = lambda wanted: source.to_batches(columns=list(wanted))
            return
        whole = self._as_arrow(source)
        self._schema, self.names = whole.schema, list(whole.schema.names)
        is_table = isinstance(whole, pa.Table)
        self._batches = lambda _: whole.to_batches() if is_table else whole

    def _as_arrow(self, source: Any) -> Any:  # noqa: ANN401 - no types
        """A table that is in memory anyway, or a stream."""
        pa = self._pa
        if _is_lazy(source):
            source = source.collect()
        if isinstance(source, pa.Table):
            return source
        if isinstance(source, Mapping):
            return pa.table({str(name): _column(values, pa) for name, values in source.items()})
        if hasattr(source, _STREAM):
            return pa.RecordBatchReader.from_stream(source)
        if hasattr(source, _ARRAY):
            return pa.Table.from_batches([pa.record_batch(source)])
        return source.to_reader()  # a scan that has its columns already

    def whole(self) -> Any:  # noqa: ANN401 - no types
        """All of it, as a table."""
        batches = list(self._batches(self.names))
        return self._pa.Table.from_batches(batches, self._schema)

    def read(self, table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
        """Columns that are wanted; the first of them by runs if neighbours are often equal."""
        wanted, position = list(choose(names_in(self._schema, table))), 0
        outer = dict.fromkeys(outermost(self._schema, name) for name in wanted)
        with refusing(table):
            for batch in bounded(self._batches(list(outer))):
                arrays = {name: _plain(column_of(batch, name), self._pa) for name in wanted}
                if wanted and is_grouped(arrays[wanted[0]]):
                    arrays[wanted[0]] = _encoded(arrays[wanted[0]], self._pa)
                yield arrow_batch(table, arrays, position, batch.num_rows)
                position += batch.num_rows


def _column(values: Any, pa: Any) -> Any:  # noqa: ANN401 - no types
    """A column of a mapping; a missing value of pandas is a missing cell."""
    if hasattr(values, _STREAM):
        return pa.chunked_array(values)
    return pa.array(values if hasattr(values, "__len__") else list(values), from_pandas=True)


def _plain(array: Any, pa: Any) -> Any:  # noqa: ANN401 - no types
    """The same cells in one of the types that files have."""
    kind = array.type
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(array.storage, pa)
    if pa.types.is_run_end_encoded(kind):
        import pyarrow.compute as pc

        return _plain(pc.run_end_decode(array), pa)
    if pa.types.is_dictionary(kind):
        words = _plain(array.dictionary, pa)
        return pa.DictionaryArray.from_arrays(array.indices, words)
    if pa.types.is_string_view(kind):
        return array.cast(pa.large_string())
    if pa.types.is_binary_view(kind):
        return array.cast(pa.large_binary())
    return array


def _encoded(array: Any, pa: Any) -> Any:  # noqa: ANN401 - no types
    return array if pa.types.is_dictionary(array.type) else array.dictionary_encode()


class _ObjectReader:
    """Reads rows that are mappings, as lines of JSON are read; once."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows = rows

    def read(self, table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
        """Columns of the rows; what one leaves out is an empty cell."""
        for batch in object_batches(table, choose, self._numbered(table)):
            yield replace(batch, unit="row")

    def _numbered(self, table: TableInput) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, row in enumerate(self._rows, 1):
            if not isinstance(row, Mapping):
                table.refuse(f"must all be dicts (got {type(row).__name__})", f"row {number}")
            yield number, {str(name): value for name, value in row.items()}


class _VisitReader:
    """Reads visits that are Python values, once."""

    def __init__(self, visits: Iterator[Any]) -> None:
        self._visits = visits

    def read(self, table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
        """Columns of the visits, as a file would have them."""
        wanted, position = list(choose(_VISIT_COLUMNS)), 0
        while some := list(islice(self._visits, _VISITS)):
            rows = [_cells(table, visit) for visit in some]
            texts = dict(zip(_VISIT_COLUMNS, zip(*rows, strict=True), strict=True))
            columns = {name: TextCells(texts[name]) for name in wanted}
            yield ColumnBatch(columns, range(position + 1, position + len(some) + 1), "row")
            position += len(some)


def _cells(table: TableInput, visit: object) -> tuple[str, ...]:
    if not isinstance(visit, Visit):
        table.refuse(f"must all be Visit (got {type(visit).__name__})")
    modified = visit.last_modified
    return (
        visit.page,
        visit.at.isoformat(),
        cell_text(visit.changed),
        "" if modified is None else modified.isoformat(),
        _STATUS[visit.answer],
    )
