"""The writing side of a slot in PostgreSQL: one worker holds it, others hold other slots.

Transactions of all workers come one after the other, by the row that counts them: numbers of pages,
visits and events rise in the order of commits. Each one begins by looking whether the slot is still
this worker's. One that loses its connection tries to have another until its lease is over, and
finds out by a counter whether what it was writing is written.

Touches: the network, the clock.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from recrawl.entries.entries import HintsTaken
from recrawl.entries.freshness import FreshnessNoted
from recrawl.errors import RecrawlError, StoreError, StoreLocked
from recrawl.store.postgres import lock, schema, slot_hosts
from recrawl.store.postgres.connections import connect, transaction, translate_read_errors
from recrawl.store.postgres.database import PostgresDatabase
from recrawl.store.postgres.write_store import PostgresWriteStore
from recrawl.store.rows.columns import largest_id, milliseconds
from recrawl.store.rows.erasure import tombstones
from recrawl.store.rows.values import number
from recrawl.store.rows.write_store import begin
from recrawl.store.slots.entries import in_slot, in_store
from recrawl.store.slots.latest_visits import OwnLatestVisits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import psycopg

    from recrawl.entries.entries import Entry, Receipt
    from recrawl.parse.store_addresses import PostgresAddress
    from recrawl.store.retention import Retention
    from recrawl.store.slots.leases import SlotLease
    from recrawl.store.slots.numbers import SlotNumbers

_Aside: TypeAlias = HintsTaken | FreshnessNoted
_AGAIN_SECONDS = 0.2
_NEXT = "update writers set commits = commits + 1 where slot = 0"
# Whether the slot is still ours, by its fence, and what there is by now.
_BEGIN = """
    update slot_notes set commits = commits + 1 from slots
    where slot_notes.slot = ? and slots.slot = slot_notes.slot and slots.fence = ?
    returning commits, (select coalesce(max(id), 0) from pages),
        (select coalesce(max(id), 0) from visits)
"""
_WRITTEN = """
    select commits from slot_notes join slots on slots.slot = slot_notes.slot
    where slots.slot = ? and fence = ?
"""
_NOTE = "update slot_notes set copies = ?, fresh = ?, low = ?, high = ? where slot = ?"
# Slots note their own share of fresh copies; of the whole crawl it is the mean over all copies.
_NOTED = """
    insert into freshness (at, copies, fresh, low, high)
    select ?, sum(copies), sum(fresh * copies) / sum(copies), sum(low * copies) / sum(copies),
        sum(high * copies) / sum(copies)
    from slot_notes where copies > 0 having sum(copies) > 0
    on conflict (at) do update set copies = excluded.copies, fresh = excluded.fresh,
        low = excluded.low, high = excluded.high
"""


@dataclass(frozen=True, slots=True)
class HeldSlot:
    """A slot that this worker holds.

    Args:
        address: Where the store is.
        numbers: Which pages, hosts and rules the slot has.
        lease: Until when.
    """

    address: PostgresAddress
    numbers: SlotNumbers
    lease: SlotLease

    @property
    def slot(self) -> int:
        """Its number."""
        return self.numbers.scope.slot

    def lost(self) -> StoreLocked:
        """Error of one that is another worker's by now."""
        return StoreLocked(f"{self.address.name}: slot {self.slot} is another worker's by now")


class PostgresWriteSlot(PostgresWriteStore):
    """A slot held for writing; see `recrawl.entries.store.WriteStore` for its methods.

    Args:
        held: The slot.
        connection: To the store; the slot closes it.
        retention: Which versions to keep.
    """

    def __init__(
        self, held: HeldSlot, connection: psycopg.Connection[Any], retention: Retention
    ) -> None:
        """Load what the last writer left."""
        self._held = held
        self._begun = 0
        self._new_hosts = self._known_pages = 0
        super().__init__(held.address, connection, held.lease.fence, retention)

    @classmethod
    def hold(cls, held: HeldSlot, retention: Retention) -> Self:
        """Open a slot that this worker holds."""
        connection = _connected(held)
        try:
            with translate_read_errors(held.address), transaction(connection):
                begin(PostgresDatabase(connection, held.address.schema))
                return cls(held, connection, retention)
        except BaseException:
            connection.close()
            raise

    def page_count(self) -> int:
        """How many pages the slot has."""
        return len(self._held.numbers.pages)

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[None]:  # noqa: ARG002 - by `wipe`
        """Write everything inside or nothing."""
        with transaction(self._connection):
            self.database.execute(_NEXT)  # from now on nobody else writes, or takes a slot
            ours = self._held.slot, self._held.lease.fence
            found = self.database.execute(_BEGIN, ours).fetchone()
            if found is None:
                raise self._held.lost()
            self._begun, self._pages, self._visit = map(number, found)
            self._known_pages = self._pages
            yield
            self._new_hosts = slot_hosts.enter(self._own_database, self._held.numbers.scope.slots)

    def write(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Write all entries or none, and return a receipt for each."""
        numbers = self._held.numbers
        own = [in_store(each, numbers) for each in entries if not isinstance(each, _Aside)]
        receipts = self._written(own) if own else []
        found = iter([in_slot(each, numbers) for each in receipts])
        aside = [each for each in entries if isinstance(each, _Aside)]
        if aside:
            self._put_aside(aside)
        return [None if isinstance(each, _Aside) else next(found) for each in entries]

    def date_back(self, now_seconds: float) -> int:  # noqa: ARG002 - workers go by the server's clock
        """Nothing: what others have written is theirs to date."""
        return 0

    def _finish(self) -> None:
        """Nothing: what spares the next writer some reading is saved now and then."""

    def _is_ours(self, page: int) -> bool:
        """Whether a page lies in the slot; those that are new in a transaction all do."""
        return page >= self._known_pages or self._held.numbers.own_page(page) is not None

    def _load_latest(self) -> OwnLatestVisits:
        self._held.numbers.grow(self.database)
        return OwnLatestVisits(self.database, self._held.numbers, self._pages, self._visit)

    def _written(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Receipts of entries that are written, also if the connection breaks meanwhile."""
        while True:
            try:
                receipts = super().write(entries)
            except StoreError:
                if not self._connection.closed:
                    raise
                if not self._recovered() or self.prepared is None:
                    continue
                return self.prepared  # its pages were read when the slot was opened again
            if self._new_hosts or self._pages > self._known_pages:
                with self.errors():
                    found = range(self._known_pages, self._pages)
                    self._held.numbers.add(self.database, found)
            return receipts

    def _put_aside(self, entries: Sequence[_Aside]) -> None:
        """Write what concerns the whole store from the side of the slot."""
        has, slot = self._held.numbers.scope.has, self._held.slot
        with self.errors(), self.transaction():
            for entry in entries:
                if isinstance(entry, HintsTaken):
                    query = "select id, address from hints where id <= ?"
                    rows = self.database.execute(query, (entry.last,)).fetchall()
                    taken = [each for each, address in rows if has(address)]
                    self.database.execute("delete from hints where id = any(?)", (taken,))
                else:
                    at = milliseconds(entry.at_seconds)
                    figures = (entry.copies, entry.fresh, entry.low, entry.high)
                    self.database.execute(_NOTE, (*figures, slot))
                    self.database.execute(_NOTED, (at,))

    def _recovered(self) -> bool:
        """Have another connection while the lease lasts; whether the last write is committed."""
        while not self._held.lease.is_over():
            try:
                connection = _connected(self._held)
            except StoreLocked:
                raise
            except RecrawlError:  # the server is away
                time.sleep(_AGAIN_SECONDS)
                continue
            self._connection = connection
            self.database = PostgresDatabase(connection, self._address.schema)
            with self.errors(reading=True), transaction(connection):
                where = (self._held.slot, self._held.lease.fence)
                found = self.database.execute(_WRITTEN, where).get
                self._pages = largest_id(self.database, "pages")
                self._visit = largest_id(self.database, "visits")
                self._latest = self._load_latest()
                self._taken_out = frozenset(each.page for each in tombstones(self.database))
            if found is None:
                raise self._held.lost()
            return bool(int(found) == self._begun)
        raise self._held.lost()


def _connected(held: HeldSlot) -> psycopg.Connection[Any]:
    """A connection that shares the lock of the store with other workers."""
    connection = connect(held.address)
    try:
        with translate_read_errors(held.address):
            schema.require_current(connection, held.address)
            lock.share(connection, held.address)
            lock.be_brief(connection, held.lease.seconds)
    except BaseException:
        connection.close()
        raise
    return connection
