"""A store moved from one place to another, of whatever kind each is: table by table.

Rows go in the order of their keys, so many in each transaction. A move that was killed goes on
after the last row that is there. Until all are there, and were compared, nobody can use the copy.

Touches: files, the network.
"""

from __future__ import annotations

import marshal
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import xxhash

from recrawl.errors import InvalidParameter, StoreCorrupt, StoreError
from recrawl.store import create_store, is_taken, open_rows, open_store
from recrawl.store.places import place_of
from recrawl.store.rows import meta
from recrawl.store.rows.feed import feed_range
from recrawl.store.rows.read_store import RowReadStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recrawl.store import Address
    from recrawl.store.rows.database import Database
    from recrawl.store.rows.write_store import RowWriteStore

# Every table but `meta`, with its key: what others refer to comes first.
TABLES = {
    "hosts": "id",
    "pages": "id",
    "tombstones": "page",
    "copies": "page",
    "moves": "page",
    "masks": "page",
    "duplicates": "page",
    "robots": "origin",
    "host_masks": "host",
    "signal_records": "host, kind",
    "address_shapes": "host, shape",
    "refused_addresses": "host, reason, detail",
    "discovered": "address",
    "sources": "address",
    "subscriptions": "feed",
    "hints": "id",
    "visits": "id",
    "days": "day, outcome",
    "latest_visits": "block",
    "bodies": "id",
    "versions": "page, at",
    "body_lines": "body",
    "changes": "id",
    "manifests": "visit",
    "destinations": "id",
    "undelivered": "destination, change",
    "listings": "id",
    "objects": "id",
    "syncs": "id",
    "events": "id",
    "handed_details": "id",
    "reports": "key",
    "freshness": "at",
    "checkpoint": "part, block",
}
_NUMBERED = ("changes", "hints", "handed_details")
_MOST_ROWS = 5000
_MOST_BYTES = 1 << 23
# Rows of these may be megabytes long.
_LARGE = {
    "bodies": 8,
    "body_lines": 64,
    "checkpoint": 8,
    "latest_visits": 8,
    "manifests": 16,
    "robots": 16,
}


@dataclass(frozen=True, slots=True)
class Moved:
    """What was moved.

    Args:
        tables: Tables that were compared, row by row.
        rows: Rows in them.
        before: Rows of them that an earlier move had left.
        visit: Number of the last visit.
    """

    tables: int
    rows: int
    before: int
    visit: int


def move(source: Address, target: Address, on_progress: Callable[[float], object] = bool) -> Moved:
    """Copy a store to a place without one, and compare both; the source stays as it is.

    No crawl can use either meanwhile. A move that ended half-way is completed.

    Args:
        source: Path or URL of the store.
        target: Where to.
        on_progress: Called now and then with the share that is done.

    Raises:
        StoreError: There is something else, a crawl is running, or the copy differs.
    """
    if place_of(source).resolve() == place_of(target).resolve():
        raise InvalidParameter(f"{place_of(target)}: a store cannot be moved to itself")
    with open_rows(source) as held:
        held.refuse_half_moved()
        with open_store(source) as reader, _opened(target) as written:
            assert isinstance(reader, RowReadStore)  # noqa: S101 - all are
            with reader.at_one_instant() as origin, written.errors(reading=True):
                return _move(origin, reader, written, on_progress)


@contextmanager
def _opened(target: Address) -> Iterator[RowWriteStore]:
    """The store that is moved to; a new one where there is none."""
    if not is_taken(target):
        create_store(target).close()
    written = open_rows(target)
    try:
        yield written
    finally:
        written.abandon()  # what it knows in memory is what was there before


def _move(
    origin: Database, reader: RowReadStore, written: RowWriteStore, tell: Callable[[float], object]
) -> Moved:
    name = feed_range(origin).feed
    _claim(written, name)
    there = written.database
    counts = {table: _count(origin, table) for table in TABLES}
    before = sum(_count(there, table) for table in TABLES)
    progress = _Progress(2 * sum(counts.values()), before, tell)
    for table in TABLES:
        for rows in _batches(_rows_after(origin, table, _last_key(there, table)), table):
            with written.transaction():
                there.append(table, _columns(origin, table), rows)
            progress.add(len(rows))
    for table in TABLES:
        with written.transaction():  # of what it reads
            _compare(origin, there, table, written.name)
        progress.add(counts[table])
    with written.transaction():
        _copy_meta(origin, there)
        meta.end_move(there)
    return Moved(len(TABLES), sum(counts.values()), before, reader.last_visit())


def _claim(written: RowWriteStore, name: str) -> None:
    """Note which store is moved here; raise where there is anything else."""
    there = written.database
    moving = meta.moved_from(there)
    if moving == name:
        return
    if moving:
        raise StoreError(
            f"{written.name} holds a part of another store; delete it, or choose another place"
        )
    if any(_last_key(there, table) for table in TABLES):
        raise StoreError(f"{written.name} has content already; a move never overwrites a store")
    with written.transaction():
        meta.begin_move(there, name)


class _Progress:
    def __init__(self, total: int, done: int, tell: Callable[[float], object]) -> None:
        self._total, self._done, self._tell = max(total, 1), done, tell

    def add(self, rows: int) -> None:
        self._done += rows
        self._tell(min(self._done / self._total, 1.0))


def _columns(database: Database, table: str) -> str:
    return ", ".join(f'"{name}"' for name in database.columns(table))


def _count(database: Database, table: str) -> int:
    return int(database.execute(f"select count(*) from {table}").get)  # noqa: S608 - our own names


def _last_key(database: Database, table: str) -> tuple[Any, ...]:
    """Key of the last row of a table; empty where there is none."""
    keys = TABLES[table].split(", ")
    falling = ", ".join(f"{key} desc" for key in keys)
    query = f"select {TABLES[table]} from {table} order by {falling} limit 1"  # noqa: S608 - our own names
    return tuple(database.execute(query).fetchone() or ())


def _rows_after(database: Database, table: str, key: tuple[Any, ...]) -> Iterator[Any]:
    """Rows of a table after a key, in the order of their keys."""
    names = TABLES[table]
    where = f"where ({names}) > ({', '.join('?' * len(key))})" if key else ""
    query = f"select {_columns(database, table)} from {table} {where} order by {names}"  # noqa: S608 - ours
    return database.stream(query, key, rows=_LARGE.get(table, _MOST_ROWS))


def _batches(rows: Iterable[Any], table: str) -> Iterator[list[Any]]:
    """Rows in lists that are neither long nor large."""
    some: list[Any] = []
    size = 0
    is_large = table in _LARGE
    for row in rows:
        some.append(row)
        size += sum(len(each) for each in row if isinstance(each, bytes)) if is_large else 0
        if len(some) >= _MOST_ROWS or size > _MOST_BYTES:
            yield some
            some, size = [], 0
    if some:
        yield some


def _compare(origin: Database, there: Database, table: str, name: str) -> None:
    """Raise unless both have the same rows."""
    first, second = _sum(origin, table), _sum(there, table)
    if first != second:
        raise StoreCorrupt(
            f"{name}: {table} has {second[0]:,} rows that differ from the {first[0]:,} of the "
            "source, which may have changed since the move began; delete it and move again"
        )


def _sum(database: Database, table: str) -> tuple[int, str]:
    """Number of rows, and a checksum of them all in the order of their keys."""
    found = xxhash.xxh3_128()
    count = 0
    for row in _rows_after(database, table, ()):
        found.update(marshal.dumps(tuple(row), 0))  # the same for the same values
        count += 1
    return count, found.hexdigest()


def _copy_meta(origin: Database, there: Database) -> None:
    for (name,) in origin.execute("select name from meta order by name").fetchall():
        if name != "format":  # each kind of store counts its own
            read = meta.get if meta.is_number(name) else meta.get_text
            meta.put(there, name, read(origin, name))
    for table in _NUMBERED:
        there.set_newest(table, origin.newest(table))
