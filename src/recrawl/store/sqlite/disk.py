"""Room on disk: how much a store takes, keeping it within its budget, giving unused room back.

Deleted rows leave unused pages in the file, which are used again before it grows. So a file never
grows beyond the most that was ever used, and versions that are deleted in time keep it small.

Touches: files.
"""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from recrawl.entries.records import DiskUsage
from recrawl.errors import StoreFull
from recrawl.store.rows import versions
from recrawl.store.sqlite.connections import log_bytes
from recrawl.store.sqlite.guard import file_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import apsw

    from recrawl.store.sqlite.database import SqliteDatabase

_SPARE = 20  # a part of the budget that is freed at once, so that not every visit must
_TRIES = 3
_LOGS = 4  # room for the log, in logs that are full: a batch comes on top of one


def usage(connection: apsw.Connection) -> DiskUsage:
    """What a store takes on disk."""
    unused = _pragma(connection, "freelist_count") * _pragma(connection, "page_size")
    kept = connection.execute("select exists (select 1 from versions)").get
    return DiskUsage(file_bytes(connection), unused, has_versions=bool(kept))


def keep_within(database: SqliteDatabase, budget: int) -> int:
    """Delete the oldest versions of a store that takes more than its budget; returns how many.

    Room is left for the log, which grows by a whole batch before it is moved into the file. Where
    all versions are gone, the rest stays.
    """
    room = budget - _LOGS * log_bytes(budget)
    gone = 0
    for _ in range(_TRIES):  # a body takes whole pages, so that more or less may become free
        excess = _used(database.connection) - room
        if excess <= 0:
            break
        some = versions.free(database, excess + room // _SPARE)
        gone += some
        if not some:
            break
    return gone


def _used(connection: apsw.Connection) -> int:
    pages = _pragma(connection, "page_count") - _pragma(connection, "freelist_count")
    return pages * _pragma(connection, "page_size")


def _pragma(connection: apsw.Connection, name: str) -> int:
    return int(connection.execute(f"pragma {name}").get)


def compact(path: Path, connection: apsw.Connection) -> None:
    """Rewrite the whole file without its unused pages.

    Raises:
        StoreFull: There is no room for a second and a third copy meanwhile.
    """
    # One copy is made beside the file, and goes into the log before it goes into the file.
    needed, free = 2 * _used(connection), shutil.disk_usage(path.resolve().parent).free
    if free < needed:
        raise StoreFull(
            f"{path}: compacting needs about {needed:,} bytes of free space beside it (free: "
            f"{free:,})"
        )
    connection.execute("pragma wal_checkpoint(truncate)")
    with _scratch_beside(path):
        connection.execute("vacuum")
    connection.execute("pragma wal_checkpoint(truncate)")


@contextmanager
def _scratch_beside(path: Path) -> Iterator[None]:
    """Let SQLite put its scratch file on the disk whose room was looked at, not on a small /tmp."""
    before = os.environ.get("SQLITE_TMPDIR")
    os.environ["SQLITE_TMPDIR"] = str(path.resolve().parent)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SQLITE_TMPDIR"]
        else:
            os.environ["SQLITE_TMPDIR"] = before
