"""Old versions of pages: each distinct body stored once, compressed.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.entries.entries import Erased
from recrawl.entries.records import Version, digest_of
from recrawl.store.retention import Retention, Versions, oldest, surplus
from recrawl.store.rows import body_lines
from recrawl.store.rows.columns import largest_id, read_columns
from recrawl.store.rows.packing import LARGEST_BODY, unpacked
from recrawl.store.rows.values import exactly, instant, number

if TYPE_CHECKING:
    from collections.abc import Collection

    from recrawl.arrays.types import Bools
    from recrawl.store.rows.database import Database

_UNUSED = """
    delete from bodies
    where id = ? and not exists (select 1 from versions where versions.body = bodies.id)
"""
_DROP = _UNUSED + " returning length(data)"
_PAGES_AT_A_TIME = 1 << 16
_COLUMNS = ("page", "at", "body", "room")
_ROWS = """
    select versions.page, versions.at, versions.body, length(bodies.data) as room
    from versions join bodies on bodies.id = versions.body
"""
_BETWEEN = f"{_ROWS} where versions.page > ? and versions.page <= ?"


def drop(connection: Database, page: int) -> Erased:
    """Delete all versions of a page, and the bodies that no other page has; says how many."""
    rows = "delete from versions where page = ? + 1 returning body"
    bodies = [body for (body,) in connection.execute(rows, (page,)).fetchall()]
    dropped = (connection.execute(_DROP, (body,)).fetchone() for body in sorted(set(bodies)))
    sizes = [size for (size,) in filter(None, dropped)]
    # Of a body that other pages have, too, they are read from the body again.
    body_lines.drop(connection, sorted(set(bodies)))
    return Erased(len(bodies), len(sizes), sum(sizes))


def unavailable_pages(connection: Database, now_seconds: float) -> list[int]:
    """Pages that asked for nothing to be kept of them from some instant on, which has come."""
    due = "select page - 1 from copies where unavailable_after <= ?"
    return [page for (page,) in connection.execute(due, (now_seconds,))]


def versions_of(connection: Database, page: int) -> list[Version]:
    """Versions of a page that are kept, oldest first."""
    query = """
        select versions.at, bodies.digest, bodies.size
        from versions join bodies on bodies.id = versions.body
        where versions.page = ? + 1 order by versions.at
    """
    return [
        Version(instant(at), exactly(bytes, digest), number(size, most=LARGEST_BODY))
        for at, digest, size in connection.execute(query, (page,))
    ]


def newest_body(connection: Database, page: int) -> bytes | None:
    """Body of the newest version of a page; None where none is kept."""
    query = """
        select data, size, digest from versions join bodies on bodies.id = versions.body
        where page = ? + 1 order by at desc limit 1
    """
    return _body(connection.execute(query, (page,)).fetchone())


def body_of(connection: Database, digest: bytes) -> bytes | None:
    """A body by its digest; None where it is not kept."""
    query = "select data, size, digest from bodies where digest = ?"
    return _body(connection.execute(query, (digest,)).fetchone())


def _body(row: Any) -> bytes | None:  # noqa: ANN401 - a row of a query
    return None if row is None else body_in(*row)


def body_in(data: bytes, size: int, digest: bytes) -> bytes:
    """A body as it was before it was stored; raises `ValueError` if it is another one."""
    body = unpacked(data, LARGEST_BODY, size)
    if digest_of(body) != digest:
        raise ValueError("a body is not the one that was stored")
    return body


def prune(connection: Database, retention: Retention, now_seconds: float) -> int:
    """Delete the surplus versions of all pages, and return their number."""
    versions = _all_versions(connection)
    return _delete(connection, versions, surplus(versions, retention, now_seconds))


def prune_pages(connection: Database, pages: Collection[int], most: int) -> None:
    """Delete the oldest versions of some pages, but for so many of each."""
    rows = f"{_ROWS} where versions.page {connection.among}"
    ids = connection.listed([page + 1 for page in pages])
    versions = Versions(*read_columns(connection, _COLUMNS, rows, (ids,)))
    _delete(connection, versions, surplus(versions, Retention(versions=most), 0.0))


def free(connection: Database, excess: int) -> int:
    """Delete the oldest versions until so many bytes are free, and return their number."""
    versions = _all_versions(connection)
    return _delete(connection, versions, oldest(versions, excess))


def _all_versions(connection: Database) -> Versions:
    last = connection.execute("select coalesce(max(page), 0) from versions").get
    starts = range(0, number(last, most=largest_id(connection, "pages")) or 1, _PAGES_AT_A_TIME)
    parts = [
        read_columns(connection, _COLUMNS, _BETWEEN, (start, start + _PAGES_AT_A_TIME))
        for start in starts
    ]
    return Versions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _delete(connection: Database, versions: Versions, drop: Bools) -> int:
    rows = zip(versions.page[drop].tolist(), versions.at[drop].tolist(), strict=True)
    connection.executemany("delete from versions where page = ? and at = ?", rows)
    bodies = sorted(set(versions.body[drop].tolist()))
    connection.executemany(_UNUSED, ((body,) for body in bodies))
    body_lines.drop(connection, bodies)
    return int(np.count_nonzero(drop))
