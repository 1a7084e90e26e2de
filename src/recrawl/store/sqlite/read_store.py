"""The reading side of a SQLite store: any number of readers, also while a crawl writes.

Touches: files.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

from recrawl.store.rows import meta
from recrawl.store.rows.read_store import RowReadStore
from recrawl.store.rows.values import number
from recrawl.store.sqlite import disk, schema
from recrawl.store.sqlite.connections import (
    connect_to_read,
    raise_read_error,
    read_transaction,
    translate_read_errors,
)
from recrawl.store.sqlite.database import SqliteDatabase
from recrawl.store.sqlite.guard import limit_steps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from recrawl.entries.records import DiskUsage
    from recrawl.store.rows.database import Database


class SqliteReadStore(RowReadStore):
    """A SQLite store open for reading; see `recrawl.entries.store.ReadStore` for its methods.

    Args:
        path: The file.
        remarks: Where to note damage that is made good.
    """

    def __init__(self, path: Path | str, remarks: list[str] | None = None) -> None:
        """Open the store; raise if it cannot be read."""
        self._path = Path(path)
        super().__init__(str(self._path), remarks)
        self._connection = connect_to_read(self._path)
        self.database = SqliteDatabase(self._connection)
        self._statement = _Statement(self._path, self.database)
        try:
            schema.require_current(self._path, self._connection, schema.steps_in())
            with self._reading() as database:
                meta.refuse_half_moved(database, self.name)
                self._seed = meta.get(database, "seed")
        except BaseException:
            self._connection.close()
            raise

    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""
        return type(self)(self._path, self._remarks)

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._connection.close(True)  # noqa: FBT003 - also with a read half done

    def data_version(self) -> int:
        """Number that differs once another process has written to the store."""
        with self._reading() as database:
            return number(database.execute("pragma data_version").get)

    def disk_usage(self) -> DiskUsage:
        """What the store takes on disk."""
        with self.at_one_instant():
            return disk.usage(self._connection)

    def _reading(self) -> AbstractContextManager[Database]:
        """The database, for a single statement."""
        return self._statement

    @contextmanager
    def at_one_instant(self) -> Iterator[Database]:
        """The database, for statements that must see the same state."""
        with translate_read_errors(self._path), read_transaction(self._connection):
            yield self.database


class _Statement:
    """A database for single statements, one after the other: a context that holds nothing.

    One made by a generator for each costs as much as a small query.

    Args:
        path: The file.
        database: The same.
    """

    __slots__ = ("_database", "_path")

    def __init__(self, path: Path, database: SqliteDatabase) -> None:
        self._path = path
        self._database = database

    def __enter__(self) -> Database:
        limit_steps(self._database.connection)
        return self._database

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None:
            raise_read_error(self._path, error)
