"""The writing side of a SQLite store: one process holds the file.

Touches: files.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import apsw

from recrawl.errors import StoreError, StoreUnwritable, reason
from recrawl.store.lock import Lock
from recrawl.store.retention import Retention
from recrawl.store.rows.write_store import RowWriteStore, begin
from recrawl.store.sqlite import disk, schema
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
from recrawl.store.sqlite.database import SqliteDatabase
from recrawl.store.sqlite.guard import limit_steps

if TYPE_CHECKING:
    from collections.abc import Iterator

_NEW = ".new"


class SqliteWriteStore(RowWriteStore):
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
        self._connection = connection
        self._lock = lock
        super().__init__(str(path), SqliteDatabase(connection), retention)

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
                begin(SqliteDatabase(connection))
                return cls(path, connection, lock, retention or Retention())
        except BaseException:
            connection.close()
            raise

    @contextmanager
    def errors(self, *, reading: bool = False) -> Iterator[None]:
        """Raise the errors of the database as our own; also of its values where it reads."""
        with (translate_read_errors if reading else translate_errors)(self._path):
            yield

    @contextmanager
    def transaction(self, *, erases: bool = False) -> Iterator[None]:
        """Write everything inside or nothing."""
        with zeroing(self._connection, erases), transaction(self._connection):
            yield

    def _wipe(self) -> bool:
        """Write the file anew without what was deleted.

        That lies in pages that are free and in the log until they are written over.
        """
        self._connection.execute("vacuum")
        log = self._connection.execute("pragma wal_checkpoint(truncate)").fetchone()
        busy, *_ = log or (1,)
        return not busy

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

    def _finish(self) -> None:
        """Fold the write-ahead log into the file."""
        with suppress(apsw.FullError):  # the log stays beside the file; nothing is lost
            super()._finish()
            self._connection.execute("pragma wal_checkpoint(truncate)")

    def abandon(self) -> None:
        """Close the file at once; committed entries stay committed. Idempotent."""
        self._closed = True
        self._connection.close(True)  # noqa: FBT003 - also with a statement half done
        if self._lock is not None:
            self._lock.release()


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
