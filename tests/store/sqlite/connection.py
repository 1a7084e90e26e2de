"""The connection of a SQLite store, for faults and figures that nothing else gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.store.sqlite.read_store import SqliteReadStore
from recrawl.store.sqlite.write_store import SqliteWriteStore

if TYPE_CHECKING:
    import apsw

    from recrawl.entries.store import ReadStore, WriteStore


def connection_of(store: ReadStore | WriteStore) -> apsw.Connection:
    """The store's own connection to its file."""
    assert isinstance(store, SqliteReadStore | SqliteWriteStore)
    return store._connection
