"""The reading side of a store in PostgreSQL: any number of readers, also while a crawl writes.

Touches: the network.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self, cast

from recrawl.entries.records import SavedSlots
from recrawl.errors import StoreError
from recrawl.store.postgres import disk, idle, schema
from recrawl.store.postgres.connections import (
    connect,
    has_left,
    read_transaction,
    translate_read_errors,
)
from recrawl.store.postgres.database import PostgresDatabase
from recrawl.store.postgres.leases import said_by_slots
from recrawl.store.rows import checkpoints, meta
from recrawl.store.rows.read_store import RowReadStore
from recrawl.store.rows.values import number
from recrawl.store.slots.numbers import SlotNumbers
from recrawl.store.slots.read_slot import ReadSlot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.arrays.types import Ints
    from recrawl.entries.records import DiskUsage
    from recrawl.entries.store import ReadStore
    from recrawl.parse.store_addresses import PostgresAddress
    from recrawl.settings.slots import SlotScope
    from recrawl.store.rows.database import Database

_AGAIN_SECONDS = 0.2
# None where a single process has found hosts since, which lie in no slot yet.
_SLOTS = """
    select count(*) from slots where (select coalesce(max(host), 0) from slot_hosts)
        = (select coalesce(max(id), 0) from hosts)
"""
_WRITTEN = """
    select cast((select sum(commits) from writers) as bigint)
        + (select value from counters where name = 'hints')
"""


class PostgresReadStore(RowReadStore):
    """A store in PostgreSQL open for reading; see `recrawl.entries.store.ReadStore`.

    Args:
        address: Where it is.
        remarks: Where to note damage that is made good.
    """

    def __init__(self, address: PostgresAddress, remarks: list[str] | None = None) -> None:
        """Open the store; raise if it cannot be read."""
        super().__init__(address.name, remarks)
        self._closed = False
        self._address = address
        self._connection = idle.take(address) or connect(address)
        self.database = PostgresDatabase(self._connection, address.schema)
        try:
            schema.require_current(self._connection, address)
            with self._reading() as database:
                meta.refuse_half_moved(database, self.name)
                self._seed = meta.get(database, "seed")
        except BaseException:
            self._connection.close()
            raise

    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""
        return type(self)(self._address, self._remarks)

    def close(self) -> None:
        """Give the connection back. Idempotent."""
        if not self._closed:
            self._closed = True
            idle.give(self._address, self._connection)

    def data_version(self) -> int:
        """Number that differs once another process has written to the store."""
        with self._reading() as database:
            return number(database.execute(_WRITTEN).get)

    def disk_usage(self) -> DiskUsage:
        """What the store takes on disk."""
        with self.at_one_instant():
            return disk.usage(self.database)

    def saved_slots(self) -> SavedSlots | None:
        """What workers have left of their slots; None where there are none."""
        with self.at_one_instant() as database:
            slots = number(database.execute(_SLOTS).get)
            visits = checkpoints.visits_of_slots(database)
            said = said_by_slots(self._connection)
        demands = {slot: tuple(each) for slot, (each, _) in said.items()}
        return SavedSlots(slots, visits, demands) if slots else None

    def slot(self, scope: SlotScope) -> tuple[ReadStore, Ints]:
        """A slot as a store of its own, over this reader, and the numbers of its pages here."""
        numbers = SlotNumbers(scope)
        with self.at_one_instant() as database:
            numbers.grow(database)
        return cast("ReadStore", ReadSlot(self, numbers)), numbers.pages

    @contextmanager
    def _reading(self) -> Iterator[Database]:
        """The database, for a single statement."""
        with translate_read_errors(self._address):
            yield self._opened()

    @contextmanager
    def at_one_instant(self) -> Iterator[Database]:
        """The database, for statements that must see the same state."""
        database = self._opened()
        with translate_read_errors(self._address), read_transaction(self._connection):
            yield database

    def _opened(self) -> PostgresDatabase:
        if self._closed:  # the connection may be another reader's by now
            raise StoreError(f"{self.name}: the store is closed")
        return self.database


class PatientReadStore(PostgresReadStore):
    """A reader that waits for a server that is away, as long as its worker has a slot.

    Args:
        address: Where it is.
        remarks: Where to note damage that is made good.
        is_over: Whether to wait no longer.
    """

    def __init__(
        self,
        address: PostgresAddress,
        remarks: list[str] | None = None,
        is_over: Callable[[], bool] = bool,
    ) -> None:
        self._is_over = is_over
        super().__init__(address, remarks)

    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""
        return type(self)(self._address, self._remarks, self._is_over)

    def _opened(self) -> PostgresDatabase:
        database = super()._opened()
        while has_left(self._connection):
            try:
                self._connection = connect(self._address)
            except StoreError:
                if self._is_over():
                    raise
                time.sleep(_AGAIN_SECONDS)
                continue
            database = self.database = PostgresDatabase(self._connection, self._address.schema)
        return database
