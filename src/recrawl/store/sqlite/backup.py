"""A copy of a store while a crawl goes on writing to it.

SQLite copies page after page from one snapshot: what is committed meanwhile waits in the log, and
nobody waits for us. Between two steps we rest as long as a step takes, so that a crawl on a slow
disk has at least half of it.

Touches: files, the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import apsw

from recrawl.errors import CannotWrite, StoreCorrupt
from recrawl.store.rows.columns import largest_id
from recrawl.store.scratch import new_file
from recrawl.store.sqlite import schema
from recrawl.store.sqlite.connections import (
    connect_to_read,
    read_transaction,
    translate_errors,
    translate_read_errors,
)
from recrawl.store.sqlite.database import SqliteDatabase

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PAGES_AT_A_TIME = 256
_LONGEST_REST_SECONDS = 0.1


def back_up(path: Path, copy: Path, on_progress: Callable[[float], object]) -> int:
    """Copy a store to a file that must not be there, and return the number of its last visit.

    Args:
        path: The store.
        copy: Where to; it appears once it is whole and checked.
        on_progress: Called now and then with the share that is done.
    """
    if copy.exists() or copy.is_symlink():
        raise CannotWrite(f"{copy} already exists")
    source = connect_to_read(path)
    try:
        schema.require_current(path, source, schema.steps_in())
        with new_file(copy) as (_, scratch), translate_read_errors(path):
            with read_transaction(source):
                visit = largest_id(SqliteDatabase(source), "visits")  # also begins the snapshot
                with translate_errors(copy):
                    _copy(source, scratch, on_progress)
            _verify(scratch, copy, visit)
        return visit
    finally:
        source.close()


def _copy(source: apsw.Connection, scratch: Path, on_progress: Callable[[float], object]) -> None:
    target = apsw.Connection(str(scratch))
    try:
        with target.backup("main", source, "main") as backup:
            while not backup.done:
                began = time.monotonic()
                backup.step(_PAGES_AT_A_TIME)
                on_progress(1 - backup.remaining / max(backup.page_count, 1))
                time.sleep(min(time.monotonic() - began, _LONGEST_REST_SECONDS))
        # Without files beside it: a copy is one file.
        target.execute("pragma journal_mode = delete")
    finally:
        target.close()


def _verify(scratch: Path, copy: Path, visit: int) -> None:
    """Raise unless a copy is whole and has all visits."""
    connection = apsw.Connection(str(scratch), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        with translate_errors(copy):
            said = connection.execute("pragma quick_check(1)").get
            found = largest_id(SqliteDatabase(connection), "visits")
    finally:
        connection.close()
    if said != "ok" or found != visit:
        raise StoreCorrupt(f"{copy} was not written: the copy is damaged, and so may be its source")
