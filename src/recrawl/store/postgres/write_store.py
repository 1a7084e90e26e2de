"""The writing side of a store in PostgreSQL: one process holds it.

Touches: the network.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from psycopg import errors, sql

from recrawl.store.postgres import idle, lock, schema
from recrawl.store.postgres.connections import (
    connect,
    transaction,
    translate_errors,
    translate_read_errors,
)
from recrawl.store.postgres.database import PostgresDatabase
from recrawl.store.retention import Retention
from recrawl.store.rows import hints
from recrawl.store.rows.write_store import RowWriteStore, begin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import psycopg

    from recrawl.parse.store_addresses import PostgresAddress


class PostgresWriteStore(RowWriteStore):
    """A store in PostgreSQL held for writing; every call must come from one thread at a time.

    See `recrawl.entries.store.WriteStore` for its methods.

    Args:
        address: Where it is.
        connection: To it; the store closes it.
        fence: Number of whoever holds it, which this process does.
        retention: Which versions to keep.
    """

    def __init__(
        self,
        address: PostgresAddress,
        connection: psycopg.Connection[Any],
        fence: int,
        retention: Retention,
    ) -> None:
        """Load the counters and positions that the last writer left."""
        self._address = address
        self._connection = connection
        self._fence = fence
        super().__init__(address.name, PostgresDatabase(connection, address.schema), retention)

    @classmethod
    def create(cls, address: PostgresAddress, retention: Retention | None = None) -> Self:
        """Create a store in a schema that is empty, or not there yet."""
        connection = connect(address)
        try:
            schema.create(connection, address)
        except BaseException:
            connection.close()
            raise
        return cls._opened(address, connection, retention)

    @classmethod
    def open(cls, address: PostgresAddress, retention: Retention | None = None) -> Self:
        """Open a store, and migrate it to the current format."""
        return cls._opened(address, connect(address), retention)

    @classmethod
    def _opened(
        cls,
        address: PostgresAddress,
        connection: psycopg.Connection[Any],
        retention: Retention | None,
    ) -> Self:
        try:
            with translate_read_errors(address):
                schema.upgrade(connection, address)
                database = PostgresDatabase(connection, address.schema)
                fence = lock.take(database, address)
                with transaction(connection):
                    begin(database)
                    return cls(address, connection, fence, retention or Retention())
        except BaseException:
            connection.close()
            raise

    @contextmanager
    def errors(self, *, reading: bool = False) -> Iterator[None]:
        """Raise the errors of the database as our own; also of its values where it reads."""
        with (translate_read_errors if reading else translate_errors)(self._address):
            yield

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[None]:  # noqa: ARG002 - by `wipe`
        """Write everything inside or nothing."""
        with transaction(self._connection):
            lock.require(self._own_database, self._address, self._fence)
            yield

    @property
    def _own_database(self) -> PostgresDatabase:
        assert isinstance(self.database, PostgresDatabase)  # noqa: S101 - as it was made
        return self.database

    def _wipe(self) -> bool:
        """Write all tables anew without what was deleted, which lies in their files until then.

        The server's log and backups are not ours to write over.
        """
        try:
            self._rewrite()
        except errors.LockNotAvailable:
            return False
        return True

    def check(self) -> list[str]:
        """Tables that are missing; the server looks after the rest."""
        with self.errors():
            checked = self.database.check_file(quick=True)
            return [each for each in checked if isinstance(each, str)]

    def compact(self) -> None:
        """Write all tables anew, without the room of what was deleted."""
        with self.errors():
            self._rewrite()

    def _rewrite(self) -> None:
        found, _ = schema.tables_of(self._connection, self._address.schema)
        for name in sorted(table for table, kind in found.items() if kind == "r"):
            self._connection.execute(sql.SQL("vacuum (full) {}").format(sql.Identifier(name)))

    def abandon(self) -> None:
        """Close the connection at once, and so release the lock. Idempotent."""
        self._closed = True
        lock.release(self._connection)
        self._connection.close()


def add_hints(address: PostgresAddress, addresses: Sequence[str], at_seconds: float) -> None:
    """Add hints to a store that somebody else may be writing to.

    Args:
        address: Where it is.
        addresses: Canonical addresses.
        at_seconds: When, in epoch seconds.
    """
    with connect(address) as connection:
        schema.require_current(connection, address)
        database = PostgresDatabase(connection, address.schema)
        with translate_errors(address), transaction(connection):
            hints.add_hints(database, address.name, addresses, at_seconds)


def is_taken(address: PostgresAddress) -> bool:
    """Whether the schema of a store has anything in it."""
    with connect(address) as connection:
        return schema.exists(connection, address)


def delete(address: PostgresAddress) -> None:
    """Delete a store, and whatever else is in its schema."""
    idle.close(address)
    with connect(address) as connection:
        schema.drop(connection, address)
