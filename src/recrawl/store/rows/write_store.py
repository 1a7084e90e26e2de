"""The writing side of a store: one process, whole transactions.

A crawl keeps its schedule in memory and stores what it needs after a restart: pages, visits,
copies, versions, and from time to time a checkpoint. Others read meanwhile (`RowReadStore`).

Touches: a database, through what it is given.
"""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Self

from recrawl.entries.entries import PagesErased
from recrawl.errors import StoreError
from recrawl.store.rows import clock_ahead, erasure, feed, meta
from recrawl.store.rows.columns import largest_id, milliseconds
from recrawl.store.rows.latest_visits import SAVED_EVERY, LatestVisits
from recrawl.store.rows.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from recrawl.entries.entries import Entry, Receipt
    from recrawl.store.retention import Retention
    from recrawl.store.rows.database import Database
    from recrawl.store.rows.latest_visits import NewestVisits

_SEED_BITS = 62


def begin(database: Database) -> None:
    """Give a store what is its own, once and for ever: a seed, and a name of its change feed."""
    if not meta.get(database, "seed"):
        meta.put(database, "seed", secrets.randbits(_SEED_BITS) | 1)
    feed.begin(database)


class RowWriteStore(ABC):
    """A store held for writing, whatever keeps it; every call must come from one thread at a time.

    See `recrawl.entries.store.WriteStore` for its methods. A backend opens and closes the database.

    Args:
        name: Name used in messages.
        database: Where to.
        retention: Which versions to keep.
    """

    def __init__(self, name: str, database: Database, retention: Retention) -> None:
        """Load the counters and positions that the last writer left."""
        self._name = name
        self._retention = retention
        self.database = database
        self._closed = False
        # Receipts of what is being committed: whoever lost the answer finds out whether they hold.
        self.prepared: list[Receipt] | None = None
        self._seed = meta.get(database, "seed")
        self._pages = largest_id(database, "pages")
        self._visit = largest_id(database, "visits")
        self._latest = self._load_latest()
        self._taken_out = frozenset(each.page for each in erasure.tombstones(database))

    @property
    def name(self) -> str:
        """Name used in messages."""
        return self._name

    @abstractmethod
    def errors(self, *, reading: bool = False) -> AbstractContextManager[None]:
        """Raise the errors of the database as our own; also of its values where it reads."""

    @abstractmethod
    def transaction(self, *, erases: bool = False) -> AbstractContextManager[None]:
        """Write everything inside or nothing; where it erases, over what is deleted."""

    @abstractmethod
    def _wipe(self) -> bool:
        """Write over all that was deleted; False where a reader is in the way."""

    @abstractmethod
    def check(self) -> list[str]:
        """Problems found by an integrity check; empty if there are none."""

    @abstractmethod
    def compact(self) -> None:
        """Give unused room back to the system."""

    @abstractmethod
    def abandon(self) -> None:
        """Close the store at once; committed entries stay committed. Idempotent."""

    def refuse_half_moved(self) -> None:
        """Raise for a store of which only a part is here."""
        with self.errors(reading=True):
            meta.refuse_half_moved(self.database, self.name)

    def page_count(self) -> int:
        """How many pages there are."""
        return self._pages

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        return self._visit

    def write(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Write all entries or none, and return a receipt for each."""
        with self.errors():
            if self._visit - self._latest.saved_visit >= SAVED_EVERY:
                self._save_latest()  # before, so that what fails has written none of the entries
            erases = any(isinstance(entry, PagesErased) for entry in entries)
            self.prepared = None
            with self.transaction(erases=erases):
                written = Transaction(
                    self.database,
                    self._latest,
                    seed=self._seed,
                    pages=self._pages,
                    visit=self._visit,
                    taken_out=self._taken_out,
                )
                written.is_ours = self._is_ours
                written.look_ahead(entries)
                receipts = [written.add(entry, self._retention) for entry in entries]
                written.finish(self._retention)
                self.prepared = receipts
            self._pages, self._visit = written.pages, written.visit
            self._taken_out = written.taken_out
            self._latest.move(written.pages, written.latest)
        return receipts

    def date_back(self, now_seconds: float) -> int:
        """Date back to now what a clock ahead of time has written; returns how many visits."""
        with self.errors(reading=True), self.transaction():
            return clock_ahead.date_back(self.database, milliseconds(now_seconds))

    def wipe(self) -> bool:
        """Leave no byte of what was erased in the store's files; False where a reader prevents it.

        Nothing is done where nothing was erased since the last time.
        """
        with self.errors():
            if not erasure.is_to_wipe(self.database):
                return True
            if not self._wipe():
                return False
            with self.transaction():
                erasure.wiped(self.database)
            return True

    def close(self) -> None:
        """Save what spares the next writer some reading, and close the store. Idempotent."""
        if self._closed:
            return
        try:
            with self.errors():
                self._finish()
        finally:
            self.abandon()

    def _is_ours(self, page: int) -> bool:  # noqa: ARG002 - of a slot, some are not
        """Whether a page is of what this writes: of a whole store all are."""
        return True

    def _finish(self) -> None:
        if self._visit > self._latest.saved_visit:
            self._save_latest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        if isinstance(error, StoreError):  # the disk has failed: it would only fail again
            self.abandon()
        else:
            self.close()

    def _load_latest(self) -> NewestVisits:
        return LatestVisits(self.database, self._pages, self._visit)

    def _save_latest(self) -> None:
        with self.transaction():
            self._latest.save(self.database, self._visit)
        self._latest.saved_visit = self._visit
