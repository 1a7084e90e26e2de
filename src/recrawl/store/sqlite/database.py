"""A SQLite database as the tables of a store need it.

SQLite concatenates whole columns into one text that numpy parses, which is several times faster
than creating a Python object per number.

Touches: files.
"""

from __future__ import annotations

import json
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np

from recrawl.store.rows.database import ROWS_AT_A_TIME
from recrawl.store.rows.values import number
from recrawl.store.sqlite import disk
from recrawl.store.sqlite.guard import STEPS_AT_A_TIME, file_bytes, limit_steps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from recrawl.arrays.types import Ints

_MOST_KEYS = 1 << 62  # that an array can number


class SqliteDatabase:
    """See `recrawl.store.rows.database.Database` for its methods.

    Args:
        connection: To the file.
    """

    alike = "like"
    among = "in (select value from json_each(?))"
    unreadable: tuple[type[Exception], ...] = (apsw.CorruptError,)

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection
        # As they are: a call more is felt where a statement takes microseconds.
        self.execute = connection.execute
        self.executemany = connection.executemany

    def stream(
        self,
        query: str,
        values: Sequence[Any] = (),
        *,
        rows: int = ROWS_AT_A_TIME,  # noqa: ARG002 - one at a time
    ) -> Iterator[Any]:
        """Rows of a query, one by one."""
        limit_steps(self.connection)
        return iter(self.execute(query, values))

    def each(self, query: str, keys: Iterable[Any]) -> list[Any]:
        """Rows with one of some keys."""
        # In one transaction, or one inside of another: each begins and ends with calls of the
        # system that take longer than to find a row.
        with self.connection:
            found = self.executemany(f"{query} = ?", ((key,) for key in keys)).fetchall()
        return found  # noqa: RET504 - for mypy a context may hide an error

    def listed(self, values: Collection[Any]) -> str:
        """Numbers or texts as one value."""
        return json.dumps(list(values))

    def numbers(self, columns: Sequence[str], source: str, values: Sequence[Any] = ()) -> Ints:
        """Whole numbers of a query, a row each."""
        row = " || ',' || ".join(columns)
        text: Any = self.execute(f"select group_concat({row}) from ({source})", values).get  # noqa: S608 - our own names
        if text is None:
            return np.empty((0, len(columns)), np.int64)
        flat: Ints = np.fromstring(text, np.int64, sep=",")
        # What is no whole number ends the column before its end, with a warning at best.
        if len(flat) != text.count(",") + 1 or text.encode().translate(None, b"-0123456789,"):
            raise ValueError("a column of whole numbers holds something else")
        return flat.reshape(-1, len(columns))

    def counts(self, columns: Sequence[str], table: str) -> Ints:
        """How many rows have the same whole numbers.

        SQLite sorts all rows to group them, which takes three times as long as to read them.
        """
        rows = self.numbers(columns, f"select {', '.join(columns)} from {table}")  # noqa: S608 - our own names
        if not len(rows):
            return np.empty((0, len(columns) + 1), np.int64)
        least, most = rows.min(axis=0), rows.max(axis=0)
        spans = [high - low + 1 for low, high in zip(least.tolist(), most.tolist(), strict=True)]
        if prod(spans) >= _MOST_KEYS:
            raise ValueError(f"{table}: some of {', '.join(columns)} are out of any range")
        keys = np.ravel_multi_index((rows - least).T, spans)
        found, count = _counted(keys, prod(spans))
        values = (
            low + each for low, each in zip(least, np.unravel_index(found, spans), strict=True)
        )
        return np.column_stack([*values, count])

    def look_up(self, table: str, columns: Sequence[str], ids: Ints) -> Ints:
        """Whole numbers of the rows with some ids, in their order."""
        query = f"select {', '.join(columns)} from {table} where id = ?"  # noqa: S608 - our own names
        rows = self.executemany(query, ((each,) for each in ids.tolist())).fetchall()
        return np.array(rows, np.int64).reshape(len(ids), len(columns))

    def append(self, table: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add many rows."""
        self.executemany(_insert(table, columns), rows)

    def newest(self, table: str) -> int:
        """Largest number that a table ever had."""
        query = "select seq from sqlite_sequence where name = ?"
        return number(self.execute(query, (table,)).get or 0)

    def set_newest(self, table: str, number: int) -> None:
        """Let numbers go on after another one."""
        self.execute("delete from sqlite_sequence where name = ?", (table,))
        self.execute("insert into sqlite_sequence (name, seq) values (?, ?)", (table, number))

    def columns(self, table: str) -> list[str]:
        """Names of the columns of a table, but for numbers of rows that are only SQLite's."""
        found = [str(row[1]) for row in self.execute(f"pragma table_info({table})")]
        return found[1:] if table == "checkpoint" else found

    def take_numbers(self, table: str, count: int) -> int:  # noqa: ARG002 - SQLite counts what is added
        """The next number of a table: one process writes at a time."""
        return self.newest(table) + 1

    def named(self, value: int | str) -> int | str:
        """A value as the table `meta` takes it: any."""
        return value

    def stored_bytes(self) -> int:
        """Bytes of the file and its log."""
        return file_bytes(self.connection)

    def check_file(self, *, quick: bool) -> Iterator[str | int]:
        """Its pages, and what SQLite finds wrong with them."""
        # It takes as long as it takes, and can be interrupted.
        self.connection.set_progress_handler(bool, STEPS_AT_A_TIME)
        yield int(self.execute("pragma page_count").get)
        pragma = "quick_check" if quick else "integrity_check"
        for (text,) in self.execute(f"pragma {pragma}"):
            if text != "ok":
                yield str(text)

    def make_room(self, budget: int) -> None:
        """Delete the oldest versions of a store that takes more than its budget."""
        disk.keep_within(self, budget)


@cache
def _insert(table: str, columns: str) -> str:
    marks = ", ".join("?" * len(columns.split(",")))
    return f"insert into {table} ({columns}) values ({marks})"  # noqa: S608 - our own names


def _counted(keys: Ints, below: int) -> tuple[Ints, Ints]:
    """Keys that occur, rising, and how often each does."""
    if below > len(keys):
        return np.unique(keys, return_counts=True)
    count = np.bincount(keys, minlength=below)
    found = np.flatnonzero(count)
    return found, count[found]
