"""SQLite connections to a store, and translation of SQLite's errors.

One connection writes and any number read at the same time (write-ahead log). A commit survives
a process that is killed at any instant; after a power cut the last few seconds may be missing,
never a part of a transaction.

Touches: files.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager, suppress
from stat import S_ISREG
from typing import TYPE_CHECKING
from urllib.parse import quote

import apsw

from recrawl.errors import (
    InvalidParameter,
    NotAStore,
    RecrawlError,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreLocked,
    StoreMissing,
    StoreUnwritable,
    reason,
)
from recrawl.store import APPLICATION
from recrawl.store.damage import UNREADABLE, damaged, printable
from recrawl.store.sqlite.guard import harden, limit_steps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# How the name of a database begins that is in memory, shared by the connections of this process.
MEMORY = "/recrawl-memory-"
_PAGE_BYTES = 4096

# Pages of the log before it is copied into the file, and memory for pages. With 200,000 first
# copies in random order in a store of a million pages, the worst there is, logs of 1000, 4000,
# 16,000 and 64,000 pages took 12, 17, 28 and 33 thousand visits a second (one run each, on a
# busy machine); from 16,000 on four times the memory gave no more.
_LOG_PAGES = 16_000
_FEWEST_LOG_PAGES = 64
_LOG_SHARE = 16  # of a small budget at most this part is for the log
_CACHE_KIB = 16_384
_READER_CACHE_KIB = 8192

_WAIT_MILLISECONDS = 5000
_LITTLE_ROOM_BYTES = 1 << 20


def require_regular_file(path: Path) -> None:
    """Raise for a file that is missing or empty, without opening it.

    A process that opens and closes a file loses all its POSIX locks on it, also those that
    SQLite holds for a running crawl. So only SQLite opens a store.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        raise StoreMissing(f"{path} not found; `recrawl init` creates a store") from None
    except OSError as error:
        raise StoreUnwritable(f"{path} cannot be read ({reason(error)})") from None
    if not S_ISREG(status.st_mode):
        raise NotAStore(f"{path} is not a recrawl store (not a regular file)")
    if not status.st_size:
        raise NotAStore(f"{path} is not a recrawl store (the file is empty)")


def _require_own_database(path: Path, connection: apsw.Connection) -> None:
    try:
        application = connection.execute("pragma application_id").get
    except apsw.NotADBError:
        raise NotAStore(f"{path} is not a recrawl store (not an SQLite database)") from None
    if application != APPLICATION:
        raise NotAStore(f"{path} is not a recrawl store (another program's SQLite database)")


def is_in_memory(path: Path) -> bool:
    """Whether a path is the name of a database in memory, which is no file."""
    return str(path).startswith(MEMORY)


def connect_new(path: Path) -> apsw.Connection:
    """A connection to a file that is not there yet, or to one in memory, marked as a store."""
    with translate_errors(path):
        if is_in_memory(path):
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
            connection = apsw.Connection(_memory_uri(path), flags=flags)
        else:
            connection = apsw.Connection(str(path))
        harden(connection)
        connection.execute(f"pragma page_size = {_PAGE_BYTES}")
        # Still with a rollback journal: so the number is in the file itself, not in its log.
        connection.execute(f"pragma application_id = {APPLICATION}")
    return connection


def _memory_uri(path: Path) -> str:
    return f"file:{quote(str(path))}?vfs=memdb"


def connect(path: Path) -> apsw.Connection:
    """A connection that writes to an existing store."""
    with translate_errors(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        harden(connection)
        limit_steps(connection)
    return connection


def log_bytes(budget: int | None) -> int:
    """How large the log becomes before it is moved into the file, of a store with a disk budget.

    >>> log_bytes(None), log_bytes(80 << 20), log_bytes(1000)
    (65536000, 5242880, 262144)
    """
    if budget is None:
        return _LOG_PAGES * _PAGE_BYTES
    pages = budget // _LOG_SHARE // _PAGE_BYTES
    return min(max(pages, _FEWEST_LOG_PAGES), _LOG_PAGES) * _PAGE_BYTES


def prepare_to_write(connection: apsw.Connection, budget: int | None = None) -> None:
    """Set the pragmas of the one connection that writes.

    Args:
        connection: The connection.
        budget: Bytes that the store may take on disk; None for any.
    """
    log = log_bytes(budget)
    connection.set_busy_timeout(_WAIT_MILLISECONDS)
    connection.execute("pragma journal_mode = wal")
    connection.execute("pragma synchronous = normal")
    connection.execute(f"pragma wal_autocheckpoint = {log // _PAGE_BYTES}")
    connection.execute(f"pragma cache_size = -{_CACHE_KIB}")
    connection.execute(f"pragma journal_size_limit = {log}")


def connect_to_read(path: Path) -> apsw.Connection:
    """A connection that cannot write, whoever else writes meanwhile."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    name = _memory_uri(path) if is_in_memory(path) else _file_uri(path)
    with translate_errors(path):
        connection = apsw.Connection(name, flags=flags)
        try:
            connection.set_busy_timeout(_WAIT_MILLISECONDS)
            _require_own_database(path, connection)
            harden(connection)
            limit_steps(connection)
            connection.execute("pragma query_only = on")
            connection.execute(f"pragma cache_size = -{_READER_CACHE_KIB}")
        except BaseException:
            connection.close()
            raise
    return connection


def _file_uri(path: Path) -> str:
    require_regular_file(path)
    # A write-ahead log needs a shared-memory file beside it. Where none can be created, nobody
    # can write either, so the file is opened as immutable.
    log = path.with_name(path.name + "-wal")
    still = not os.access(path.parent, os.W_OK) and not log.exists()
    return f"file:{quote(str(path.absolute()))}?mode=ro" + ("&immutable=1" if still else "")


@contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """Write everything inside or nothing."""
    limit_steps(connection)
    connection.execute("begin immediate")
    try:
        yield
        connection.execute("commit")
    except BaseException:
        with suppress(apsw.Error):  # a disk that fails has often rolled back by itself
            if connection.in_transaction:
                connection.execute("rollback")
        raise


@contextmanager
def zeroing(connection: apsw.Connection, wanted: bool) -> Iterator[None]:  # noqa: FBT001 - the question
    """Write zeros over what is deleted inside, where that is wanted."""
    if wanted:
        connection.execute("pragma secure_delete = on")
    try:
        yield
    finally:
        if wanted:
            connection.execute("pragma secure_delete = off")


@contextmanager
def read_transaction(connection: apsw.Connection) -> Iterator[None]:
    """Read everything inside from one snapshot of the database."""
    limit_steps(connection)
    connection.execute("begin")
    try:
        yield
    finally:
        with suppress(apsw.Error):
            connection.execute("rollback")


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as `StoreError` and its kin."""
    try:
        yield
    except apsw.Error as error:
        raise _translated(path, error) from error
    except UnicodeDecodeError as error:  # only what comes from the file is decoded
        raise damaged(str(path), error) from error


@contextmanager
def translate_read_errors(path: Path) -> Iterator[None]:
    """The same, and report values that cannot be decoded as damage.

    SQLite finds damage to its own structures. A damaged value shows only when it is decoded.
    """
    try:
        yield
    except Exception as error:
        raise_read_error(path, error)
        raise


def raise_read_error(path: Path, error: BaseException) -> None:
    """Raise what came while a store was read as an error of ours, unless it is to come as it is."""
    if isinstance(error, apsw.Error):
        raise _translated(path, error) from error
    if isinstance(error, UNREADABLE) and not isinstance(error, RecrawlError):
        raise damaged(str(path), error) from error


def _translated(path: Path, error: apsw.Error) -> RecrawlError:  # noqa: PLR0911 - one kind each
    said = printable(str(error))
    match error:
        case apsw.NotADBError():
            return NotAStore(f"{path} is not a recrawl store (not an SQLite database)")
        case apsw.InterruptError():
            return StoreCorrupt(f"{path} is damaged (a query of it does not end)")
        case apsw.CorruptError():
            return StoreCorrupt(f"{path} is damaged ({said})")
        case apsw.ConstraintError() | apsw.MismatchError() | apsw.TooBigError():
            return InvalidParameter(f"{path}: the database rejected a row ({said})")
        case apsw.BusyError() | apsw.LockedError():
            return StoreLocked(f"{path} is locked by another process")
        case apsw.FullError():
            return _full(path)
        case apsw.IOError() if _is_disk_full(path):
            return _full(path)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.CantOpenError():
            return StoreUnwritable(f"{path} cannot be opened or written ({said})")
        case apsw.IOError():
            return StoreUnwritable(f"{path}: the disk failed ({said})")
        case _:
            return StoreError(f"{path}: SQLite failed ({said})")


def _full(path: Path) -> StoreFull:
    return StoreFull(f"{path}: the disk is full")


def _is_disk_full(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _LITTLE_ROOM_BYTES
    except OSError:
        return False
