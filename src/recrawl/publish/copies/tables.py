"""Rows of copies or chunks as one file: JSON lines, Parquet or an SQLite database.

A file appears whole or not at all.

Touches: files.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recrawl.errors import CannotWrite, MissingExtra
from recrawl.store.scratch import scratch_file, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    Rows = Sequence[dict[str, Any]]
    Write = Callable[[Rows], object]

FORMATS = {
    ".jsonl": "json",
    ".ndjson": "json",
    ".parquet": "parquet",
    ".db": "sqlite",
    ".sqlite": "sqlite",
}
_SQL_TYPES = {int: "integer", str: "text", list: "text", datetime: "text"}


@contextmanager
def table_file(path: Path, kind: str, name: str, columns: Mapping[str, type]) -> Iterator[Write]:
    """A function that takes rows, some at a time; the file appears when the block ends well.

    Args:
        path: The file.
        kind: One of the values of `FORMATS`.
        name: Name of the table in a database.
        columns: Name and type of each column; rows hold times as text in ISO 8601.
    """
    if kind == "sqlite":
        with _database(path, name, columns) as write:
            yield write
    elif kind == "parquet":
        with _parquet(path, columns) as write:
            yield write
    else:
        with whole_file(path) as file:
            yield lambda rows: file.write(_json_lines(rows))


def _json_lines(rows: Rows) -> bytes:
    return "".join([json.dumps(row) + "\n" for row in rows]).encode()


@contextmanager
def _database(path: Path, name: str, columns: Mapping[str, type]) -> Iterator[Write]:
    """A database of one table, which sqlite3 and datasette read."""
    key = next(iter(columns))
    kinds = ", ".join(f"{column} {_SQL_TYPES[kind]}" for column, kind in columns.items())
    marks = ", ".join("?" for _ in columns)
    with scratch_file(path) as (_, scratch):
        try:
            with closing(sqlite3.connect(scratch)) as connection:
                connection.execute("pragma journal_mode = off")
                connection.execute(f"create table {name} ({kinds}, primary key ({key}))")
                insert = f"insert or replace into {name} values ({marks})"  # noqa: S608 - ours

                def write(rows: Rows) -> None:
                    cells = (tuple(_cell(row[column]) for column in columns) for row in rows)
                    connection.executemany(insert, cells)

                yield write
                connection.commit()
        except sqlite3.Error as error:
            raise CannotWrite(f"{path} could not be written ({error})") from None
        scratch.replace(path)


def _cell(value: Any) -> Any:  # noqa: ANN401 - whatever a row holds
    if isinstance(value, list):
        return json.dumps(value)
    if isinstance(value, str):  # half of a pair of surrogates has no place in UTF-8
        return value.encode(errors="replace").decode()
    return value


@contextmanager
def _parquet(path: Path, columns: Mapping[str, type]) -> Iterator[Write]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing Parquet", "parquet") from None
    kinds = {
        int: pa.int64(),
        str: pa.large_string(),
        list: pa.list_(pa.string()),
        datetime: pa.timestamp("us", tz="UTC"),
    }
    schema = pa.schema([(name, kinds[kind]) for name, kind in columns.items()])
    with whole_file(path) as file, pq.ParquetWriter(file, schema) as writer:

        def write(rows: Rows) -> None:
            if rows:
                safe = [
                    {name: _typed(row[name], kind) for name, kind in columns.items()}
                    for row in rows
                ]
                writer.write_table(pa.Table.from_pylist(safe, schema=schema))

        yield write


def _typed(value: Any, kind: type) -> Any:  # noqa: ANN401 - whatever a row holds
    """A cell as a value of the type of its column."""
    if kind is datetime and value is not None:
        return datetime.fromisoformat(value)
    return _cell(value) if isinstance(value, str) else value
