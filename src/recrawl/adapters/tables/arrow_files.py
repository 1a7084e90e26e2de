"""Tables as Arrow arrays: Parquet and Arrow IPC (Feather).

Touches: files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from recrawl.adapters.tables.arrow_cells import ArrowCells, is_nested, numbers_of, refusing
from recrawl.adapters.tables.columns import ColumnBatch
from recrawl.errors import MissingExtra

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from recrawl.adapters.tables.columns import Choose, TableInput

ARROW_MARKS = (b"ARROW1", b"\xff\xff\xff\xff")  # first bytes of a file, of a stream

_ROWS = 1 << 18  # of a batch
_PEEK = 1 << 14
# A column with this share of cells equal to the one before is read by runs.
_GROUPED = 0.3


def read_parquet(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of a Parquet file; the first of them by runs if neighbours are often equal."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading Parquet", "parquet") from None

    position = 0
    with refusing(table), table.seekable() as source:
        with pq.ParquetFile(source) as file:
            wanted = list(choose(names_in(file.schema_arrow, table)))
            runs = wanted[:1] if wanted and _is_grouped(file, wanted[0]) else []
        with pq.ParquetFile(source, read_dictionary=runs) as file:
            for batch in file.iter_batches(_ROWS, columns=wanted):
                arrays = {name: column_of(batch, name) for name in wanted}
                yield arrow_batch(table, arrays, position, batch.num_rows)
                position += batch.num_rows
                table.report_progress(position, file.metadata.num_rows)


def read_arrow(table: TableInput, choose: Choose) -> Iterator[ColumnBatch]:
    """Columns of an Arrow IPC file (Feather) or stream."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra("reading Arrow", "parquet") from None

    position = 0
    with refusing(table, "whole Arrow file"), table.seekable() as source:
        whole = pa.OSFile(str(source)) if isinstance(source, Path) else pa.PythonFile(source, "r")
        with whole:
            stream = whole.read(len(ARROW_MARKS[0])) != ARROW_MARKS[0]
            read = pa.ipc.open_stream if stream else pa.ipc.open_file
            whole.seek(0)
            schema = read(whole).schema
            wanted = list(choose(names_in(schema, table)))
            fields = sorted({schema.names.index(outermost(schema, name)) for name in wanted})
            whole.seek(0)
            reader = read(whole, options=pa.ipc.IpcReadOptions(included_fields=fields))
            numbers = () if stream else range(reader.num_record_batches)
            for batch in bounded(reader if stream else map(reader.get_batch, numbers)):
                batch.validate(full=True)  # a file may say anything of its buffers
                arrays = {name: column_of(batch, name) for name in wanted}
                yield arrow_batch(table, arrays, position, batch.num_rows)
                position += batch.num_rows
                table.report_progress(whole.tell(), whole.size())


def names_in(schema: Any, table: TableInput) -> list[str]:  # noqa: ANN401 - no types
    """Names of columns, and of the fields inside of them that somebody named."""
    import pyarrow as pa

    def has(path: Sequence[str]) -> bool:
        if path[0] not in schema.names:
            return False
        kind = schema.field(path[0]).type
        for name in path[1:]:
            if not pa.types.is_struct(kind) or kind.get_field_index(name) < 0:
                return False
            kind = kind.field(name).type
        return True

    nested = table.nested(has)
    return [*schema.names, *(name for name in nested if name not in schema.names)]


def outermost(schema: Any, name: str) -> str:  # noqa: ANN401 - no types
    """The column that a name is of; one that has the very name wins."""
    return name if name in schema.names else name.partition(".")[0]


def column_of(batch: Any, name: str) -> Any:  # noqa: ANN401 - no types
    """A column of a batch, or a field inside of one."""
    if name in batch.schema.names:
        return batch.column(name)
    import pyarrow.compute as pc

    first, *path = name.split(".")
    return pc.struct_field(batch.column(first), path)


def _is_grouped(file: Any, name: str) -> bool:  # noqa: ANN401 - no types
    """Whether neighbouring rows often have one text."""
    for batch in file.iter_batches(_PEEK, columns=[name]):
        return is_grouped(batch.column(0))
    return False


def is_grouped(column: Any) -> bool:  # noqa: ANN401 - no types
    """Whether neighbouring cells of an array often have one text, by its first ones."""
    if is_nested(column):
        return False
    codes = numbers_of(column[:_PEEK].drop_null().dictionary_encode().indices)
    return bool((codes[1:] == codes[:-1]).sum() > _GROUPED * len(codes))


def bounded(batches: Iterable[Any]) -> Iterator[Any]:
    """The same rows in batches that are not too long."""
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            yield batch.slice(start, _ROWS)


def arrow_batch(
    table: TableInput, arrays: Mapping[str, Any], position: int, rows: int
) -> ColumnBatch:
    """Some rows of a table as Arrow arrays, `position` rows after its first one."""
    columns = {name: ArrowCells(table, name, array) for name, array in arrays.items()}
    return ColumnBatch(columns, range(position + 1, position + rows + 1), "row")
