"""A PostgreSQL database as the tables of a store need it.

Columns of numbers come as arrays, one for each column, whose elements have one size in binary form,
so that numpy reads all of them at once. Rows are added by COPY.

Touches: the network.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import psycopg
from psycopg import errors, sql

from recrawl.store.postgres import disk, schema
from recrawl.store.rows.database import ROWS_AT_A_TIME
from recrawl.store.rows.values import number

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.store.postgres.connections import Cursor

_MARK = re.compile(r"\?(\d*)")
_HEADER_BYTES = 20  # of an array of one dimension in binary form
_CELL = np.dtype([("size", ">i4"), ("value", ">i8")])
_COLUMNS = """
    select attname from pg_attribute
    where attrelid = cast(format('%I.%I', cast(? as text), cast(? as text)) as regclass)
        and attnum > 0 and not attisdropped
    order by attnum
"""


class PostgresDatabase:
    """See `recrawl.store.rows.database.Database` for its methods.

    Args:
        connection: To the database.
        schema: Schema of the store.
    """

    alike = "ilike"
    among = "= any(?)"
    unreadable: tuple[type[Exception], ...] = (errors.DataCorrupted, errors.IndexCorrupted)

    def __init__(self, connection: psycopg.Connection[Any], schema: str) -> None:
        self.connection = connection
        self.schema = schema
        self.room = disk.Room()
        self._streams = count()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> Cursor:
        """Carry out one statement."""
        found = self.connection.execute(_translated(statement), values, binary=True)
        return cast("Cursor", found)

    def executemany(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Carry out a statement for one row of values after the other, in one go."""
        with self.connection.cursor() as cursor:
            cursor.executemany(_translated(statement), rows)

    def stream(
        self, query: str, values: Sequence[Any] = (), *, rows: int = ROWS_AT_A_TIME
    ) -> Iterator[Any]:
        """Rows of a query, some at a time; inside of a transaction."""
        name = f"recrawl_{next(self._streams)}"
        with psycopg.RawServerCursor(self.connection, name) as cursor:
            cursor.itersize = rows
            cursor.execute(_translated(query), values, binary=True)
            yield from cursor

    def each(self, query: str, keys: Iterable[Any]) -> list[Any]:
        """Rows with one of some keys."""
        return self.execute(f"{query} = any(?)", (list(keys),)).fetchall()

    def listed(self, values: Collection[Any]) -> list[Any]:
        """Numbers or texts as one value: an array."""
        return list(values)

    def numbers(self, columns: Sequence[str], source: str, values: Sequence[Any] = ()) -> Ints:
        """Whole numbers of a query, a row each."""
        literals = iter([sql.Literal(each).as_string(self.connection) for each in values])
        bound = _MARK.sub(lambda _: next(literals), source)
        return self._columns(columns, f"({bound}) as found")

    def counts(self, columns: Sequence[str], table: str) -> Ints:
        """How many rows have the same whole numbers."""
        names = ", ".join(columns)
        query = f"select {names}, count(*) as rows from {table} group by {names} order by {names}"  # noqa: S608 - our own names
        return self.numbers((*columns, "rows"), query)

    def look_up(self, table: str, columns: Sequence[str], ids: Ints) -> Ints:
        """Whole numbers of the rows with some ids, in their order."""
        wanted = ",".join(map(str, ids.tolist()))
        named = ", ".join(f"{each} as found_{number}" for number, each in enumerate(columns))
        query = (
            f"(select {named} from unnest('{{{wanted}}}'::bigint[]) with ordinality "  # noqa: S608 - ours
            f"as wanted(wanted, place) join {table} on {table}.id = wanted.wanted "
            f"order by place) as found"
        )
        found = self._columns([f"found_{number}" for number in range(len(columns))], query)
        if len(found) != len(ids):
            raise ValueError(f"{table}: some rows are missing")
        return found

    def _columns(self, columns: Sequence[str], source: str) -> Ints:
        """Whole numbers of rows, in their order.

        Not by COPY: the driver hands its rows over one by one, at a hundred times the cost.
        """
        wanted = ", ".join(f"array_agg(cast({each} as bigint))" for each in columns)
        with self.connection.cursor() as cursor:
            cursor.execute(f"select {wanted} from {source}".encode(), binary=True)  # noqa: S608 - ours
            result = cursor.pgresult
            assert result is not None  # noqa: S101 - of a query
            found = [_numbers(result.get_value(0, at)) for at in range(len(columns))]
        return np.stack(found, axis=1)

    def append(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows."""
        statement = f"copy {table} ({columns}) from stdin".encode()
        with self.connection.cursor() as cursor, cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)

    def newest(self, table: str) -> int:
        """Largest number that was ever given for a table."""
        return number(self.execute("select value from counters where name = ?", (table,)).get)

    def set_newest(self, table: str, number: int) -> None:
        """Let numbers go on after another one."""
        self.execute("update counters set value = ? where name = ?", (number, table))

    def columns(self, table: str) -> list[str]:
        """Names of the columns of a table."""
        return [str(name) for (name,) in self.execute(_COLUMNS, (self.schema, table))]

    def take_numbers(self, table: str, count: int) -> int:
        """The first of so many numbers; others wait for the end of the transaction."""
        take = "update counters set value = value + ? where name = ? returning value"
        return number(self.execute(take, (count, table)).get) - count + 1

    def named(self, value: int | str) -> str:
        """A value as the table `meta` takes it: a text."""
        return str(value)

    def stored_bytes(self) -> int:
        """Bytes of all tables and their indexes."""
        return disk.used_bytes(self)

    def check_file(self, *, quick: bool) -> Iterator[str | int]:  # noqa: ARG002 - the server reads with checksums
        """How many tables it has, and those that it has lost."""
        found, lost = schema.tables_of(self.connection, self.schema)
        yield len(found)
        yield from (f"{each}: the {kind} is missing" for each, kind in lost.items())

    def make_room(self, budget: int) -> None:
        """Delete the oldest versions of a store that takes more than its budget."""
        self.room.keep_within(self, budget)


def _numbers(array: bytes | None) -> Ints:
    """Numbers of an array in binary form; None where it has no element."""
    cells = np.frombuffer((array or b"")[_HEADER_BYTES:], np.uint8)
    if len(cells) % _CELL.itemsize == 0:
        found = cells.view(_CELL)
        if (found["size"] == _CELL["value"].itemsize).all():
            return found["value"].astype(np.int64)
    raise ValueError("a column of whole numbers holds something else")  # what is null is shorter


@cache
def _translated(statement: str) -> bytes:
    """A statement with the marks that PostgreSQL has for values.

    >>> _translated("select ? where a = ? + 1")
    b'select $1 where a = $2 + 1'
    >>> _translated("select ?1, ?2, ?1")
    b'select $1, $2, $1'
    """
    numbers = count(1)
    return _MARK.sub(lambda mark: f"${mark[1] or next(numbers)}", statement).encode()
