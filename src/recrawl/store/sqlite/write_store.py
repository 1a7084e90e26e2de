"""The writing side of a SQLite store: one process, whole transactions.

A crawl keeps its schedule in memory and stores what it needs after a restart: pages, visits,
copies, versions, and from time to time a checkpoint. Others read meanwhile (`SqliteReadStore`).

Touches: files.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import apsw

from recrawl.entries.entries import PagesErased
from recrawl.errors import StoreError, StoreUnwritable, reason
from recrawl.store.lock import Lock
from recrawl.store.retention import Retention
from recrawl.store.sqlite import clock_ahead, disk, erasure, feed, meta, schema
from recrawl.store.sqlite.columns import largest_id, milliseconds
from recrawl.store.sqlite.connections import (
    MEMORY,
    connect,
    connect_new,
    connect_to_read,
    prepare_to_write,
    transaction,
    translate_errors,
    translate_read_errors,
    zeroing,
)
from recrawl.store.sqlite.guard import limit_steps
from recrawl.store.sqlite.latest_visits import SAVED_EVERY, LatestVisits
from recrawl.store.sqlite.transaction import Transaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.entries import Entry, Receipt

_SEED_BITS = 62
_NEW = ".new"


class SqliteWriteStore:
    """A SQLite store held for writing; every call must come from one thread at a time.

    See `recrawl.entries.store.WriteStore` for its methods.

    Args:
        path: The file.
        connection: To it; the store closes it.
        lock: Held on it; the store releases it. None for what is in memory, and so ours alone.
        retention: Which versions to keep.
    """

    def __init__(
        self, path: Path, connection: apsw.Connection, lock: Lock | None, retention: Retention
    ) -> None:
        """Load the counters and positions that the last writer left."""
        self._path = path
        self._retention = retention
        self._connection = connection
        self._lock = lock
        self._closed = False
        self._seed = meta.get(connection, "seed")
        self._pages = largest_id(connection, "pages")
        self._visit = largest_id(connection, "visits")
        self._latest = LatestVisits(connection, self._pages, self._visit)
        self._taken_out = frozenset(each.page for each in erasure.tombstones(connection))

    @classmethod
    def create(cls, path: Path | str, retention: Retention | None = None) -> Self:
        """Create a store in a file that does not exist yet."""
        path = Path(path)
        try:
            if path.exists() and path.stat().st_size:
                raise StoreError(f"{path} already exists")
        except OSError as error:
            raise StoreUnwritable(f"{path} cannot be written ({reason(error)})") from None
        lock = Lock(path)
        try:
            _make(path)
            return cls._opened(path, connect(path), lock, retention)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def create_in_memory(cls, retention: Retention | None = None) -> Self:
        """Create a store in memory; readers open it by its name, until it is closed."""
        path = Path(f"{MEMORY}{secrets.token_hex(8)}")
        return cls._opened(path, connect_new(path), None, retention)

    @classmethod
    def open(cls, path: Path | str, retention: Retention | None = None) -> Self:
        """Open a store, and migrate it to the current format."""
        path = Path(path)
        connect_to_read(path).close()  # so that no lock file is created beside what is not a store
        lock = Lock(path)
        try:
            return cls._opened(path, connect(path), lock, retention)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def _opened(
        cls, path: Path, connection: apsw.Connection, lock: Lock | None, retention: Retention | None
    ) -> Self:
        try:
            schema.upgrade(path, connection, schema.steps_in())
            with translate_read_errors(path):
                prepare_to_write(connection, retention.total_bytes if retention else None)
                if not meta.get(connection, "seed"):
                    meta.put(connection, "seed", secrets.randbits(_SEED_BITS) | 1)
                feed.begin(connection)
                return cls(path, connection, lock, retention or Retention())
        except BaseException:
            connection.close()
            raise

    @property
    def name(self) -> str:
        """Name used in messages."""
        return str(self._path)

    def page_count(self) -> int:
        """How many pages there are."""
        return self._pages

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        return self._visit

    def write(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Write all entries or none, and return a receipt for each."""
        with translate_errors(self._path):
            if self._visit - self._latest.saved_visit >= SAVED_EVERY:
                self._save_latest()  # before, so that what fails has written none of the entries
            erases = any(isinstance(entry, PagesErased) for entry in entries)
            with zeroing(self._connection, erases), transaction(self._connection):
                written = Transaction(
                    self._connection,
                    self._latest,
                    seed=self._seed,
                    pages=self._pages,
                    visit=self._visit,
                    taken_out=self._taken_out,
                )
                receipts = [written.add(entry, self._retention) for entry in entries]
                written.finish(self._retention)
            self._pages, self._visit = written.pages, written.visit
            self._taken_out = written.taken_out
            self._latest.move(written.pages, written.latest)
        return receipts

    def date_back(self, now_seconds: float) -> int:
        """Date back to now what a clock ahead of time has written; returns how many visits."""
        with translate_read_errors(self._path), transaction(self._connection):
            return clock_ahead.date_back(self._connection, milliseconds(now_seconds))

    def wipe(self) -> bool:
        """Leave no byte of what was erased in the store's files; False where a reader prevents it.

        Nothing is done where nothing was erased since the last time.
        """
        with translate_errors(self._path):
            return not erasure.is_to_wipe(self._connection) or erasure.wipe(self._connection)

    def check(self) -> list[str]:
        """Problems found by an integrity check of the whole file; empty if there are none."""
        said = []
        try:
            for (text,) in self._connection.execute("pragma integrity_check"):
                said.append(str(text))
        except apsw.CorruptError as error:
            said.append(str(error))
        return [text for text in said if text != "ok"]

    def compact(self) -> None:
        """Give unused room back to the system; needs room for two copies meanwhile."""
        with translate_errors(self._path):
            limit_steps(self._connection)
            disk.compact(self._path, self._connection)

    def close(self) -> None:
        """Fold the write-ahead log into the file and close it. Idempotent."""
        if self._closed:
            return
        try:
            # On a full disk the log stays beside the file; nothing is lost.
            with translate_errors(self._path), suppress(apsw.FullError):
                if self._visit > self._latest.saved_visit:
                    self._save_latest()
                self._connection.execute("pragma wal_checkpoint(truncate)")
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Close the file at once; committed entries stay committed. Idempotent."""
        self._closed = True
        self._connection.close(True)  # noqa: FBT003 - also with a statement half done
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        if isinstance(error, StoreError):  # the disk has failed: it would only fail again
            self.abandon()
        else:
            self.close()

    def _save_latest(self) -> None:
        with transaction(self._connection):
            self._latest.save(self._connection, self._visit)
        self._latest.saved_visit = self._visit


def _make(path: Path) -> None:
    """Make an empty store beside its place, and move it there whole; the caller holds its lock.

    A process that is killed leaves only a file that the next one removes.
    """
    scratch = path.resolve().with_name(path.name + _NEW)
    delete_files(scratch)
    try:
        connection = connect_new(scratch)
        try:
            schema.upgrade(scratch, connection, schema.steps_in())
        finally:
            connection.close()
        scratch.replace(path.resolve())
    except OSError as error:
        raise StoreUnwritable(f"{path} cannot be written ({reason(error)})") from None
    finally:
        delete_files(scratch)


def delete_files(path: Path) -> None:
    """Delete the file of a store and all that SQLite and we put beside it."""
    for suffix in ("", "-journal", "-wal", "-shm", ".lock"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
