"""Room on the server's disk: how much a store takes, keeping it within its budget, giving it back.

Deleted rows leave room in the files of a table that later rows use (autovacuum); files hardly ever
become smaller. So a budget is compared with what is kept, not with the files.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.records import DiskUsage
from recrawl.store.rows import versions
from recrawl.store.rows.values import number

if TYPE_CHECKING:
    from recrawl.store.postgres.database import PostgresDatabase

_SPARE = 20  # a part of the budget that is freed at once, so that not every visit must
_TRIES = 3
_CALLS = 64  # between two looks at the size of the files
_OF_SCHEMA = "from pg_class where relnamespace = cast(? as regnamespace) and relkind = 'r'"
_USED = f"select coalesce(cast(sum(pg_total_relation_size(oid)) as bigint), 0) {_OF_SCHEMA}"
_KEPT = "select coalesce(cast(sum(octet_length(data)) as bigint), 0), count(*) from bodies"
_ROW_BYTES = 120  # of a body, without its data: its row, two entries of indexes


def used_bytes(database: PostgresDatabase) -> int:
    """Bytes of all files of a store: tables, indexes, and what is too long for a row."""
    return number(database.execute(_USED, (database.schema,)).get)


def usage(database: PostgresDatabase) -> DiskUsage:
    """What a store takes on disk."""
    kept = database.execute("select exists (select 1 from versions)").get
    return DiskUsage(used_bytes(database), 0, has_versions=bool(kept))


class Room:
    """Keeps a store within its budget, by a look at its files now and then."""

    def __init__(self) -> None:
        self._calls = 0

    def keep_within(self, database: PostgresDatabase, budget: int) -> int:
        """Delete the oldest versions if the rows of a store take more; returns how many."""
        self._calls += 1
        if self._calls % _CALLS != 1 or used_bytes(database) <= budget:
            return 0
        gone = 0
        for _ in range(_TRIES):
            excess = _live_bytes(database) - budget
            if excess <= 0:
                break
            some = versions.free(database, excess + budget // _SPARE)
            gone += some
            if not some:
                break
        return gone


def _live_bytes(database: PostgresDatabase) -> int:
    """What would be left of the files if what was deleted had left no room."""
    bodies = number(database.execute("select pg_total_relation_size('bodies')").get)
    data, rows = database.execute(_KEPT).get
    return used_bytes(database) - bodies + number(data) + number(rows) * _ROW_BYTES
