"""Limits on what a file may make us do: it may be damaged, or come from a stranger.

SQLite is told to trust nothing that the file says of itself: no functions in its schema, no views
or triggers when we read or write, no pages that lie about their size. A statement may take only so
many steps for each byte of the file, so that a tree whose branches lead back to themselves ends.

Touches: files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable

# The longest text is a column of all pages at once: 45 bytes for each of ten million.
_LONGEST_VALUE = 1 << 29
_LIMITS = {
    apsw.SQLITE_LIMIT_LENGTH: _LONGEST_VALUE,
    apsw.SQLITE_LIMIT_ATTACHED: 1,  # which vacuuming needs
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_SWITCHES = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_VIEW: 0,
}

# Reading every visit takes about two steps for each byte of the file, counting pages by status one.
_STEPS_A_BYTE = 64
_FEWEST_STEPS = 20_000_000  # less than a second
STEPS_AT_A_TIME = 1_000_000


def harden(connection: apsw.Connection) -> None:
    """Let a connection do what we need, and nothing that only the file asks for."""
    for switch, value in _SWITCHES.items():
        connection.config(switch, value)
    for limit, value in _LIMITS.items():
        connection.limit(limit, value)
    connection.execute("pragma cell_size_check = on")


def limit_steps(connection: apsw.Connection) -> None:
    """Interrupt what comes next if it takes far longer than a file of this size can need.

    Python also looks for signals then, so that a long query can be interrupted. What is in memory
    is our own.
    """
    if connection.filename:
        connection.set_progress_handler(_limit(connection), STEPS_AT_A_TIME)


def _limit(connection: apsw.Connection) -> Callable[[], bool]:
    taken = 0

    def is_too_long() -> bool:
        nonlocal taken
        taken += STEPS_AT_A_TIME
        return taken > _FEWEST_STEPS and taken > _STEPS_A_BYTE * file_bytes(connection)

    return is_too_long


def file_bytes(connection: apsw.Connection) -> int:
    """Bytes of a store's file and its log; by their names, for only SQLite may open them.

    None of what is in memory, which has no name for SQLite.
    """
    if not connection.filename:
        return 0
    path = Path(connection.filename)
    files = (path, path.with_name(path.name + "-wal"))
    return sum(each.stat().st_size for each in files if each.exists())
