"""Old versions of pages: each distinct body stored once, compressed.

Touches: files.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import zstandard

from recrawl.entries.entries import Erased
from recrawl.entries.records import Version, digest_of
from recrawl.errors import InvalidParameter
from recrawl.store.retention import Versions, oldest, surplus
from recrawl.store.sqlite.columns import largest_id, read_columns
from recrawl.store.sqlite.guard import unpacked
from recrawl.store.sqlite.values import exactly, instant, number

if TYPE_CHECKING:
    import apsw

    from recrawl.arrays.types import Bools
    from recrawl.store.retention import Retention

_OWN = threading.local()
LARGEST_BODY = 1 << 26  # three times what a request may bring
_NEWEST = "select body, at from versions where page = ? + 1 order by at desc limit 1"
_UNUSED = """
    delete from bodies
    where id = ? and not exists (select 1 from versions where versions.body = bodies.id)
"""
_PAGES_AT_A_TIME = 1 << 16
_COLUMNS = ("page", "at", "body", "room")
_ROWS = """
    select versions.page, versions.at, versions.body, length(bodies.data) as room
    from versions join bodies on bodies.id = versions.body
    where versions.page > ? and versions.page <= ?
"""


def keep(connection: apsw.Connection, page: int, at: int, body: bytes) -> bytes:
    """Store a body as the newest version of a page, unless it is that already; its digest."""
    if len(body) > LARGEST_BODY:
        raise InvalidParameter(
            f"a body must have at most {LARGEST_BODY:,} bytes (got {len(body):,})"
        )
    digest = digest_of(body)
    number = connection.execute("select id from bodies where digest = ?", (digest,)).get
    if number is None:
        values = (digest, len(body), packed(body))
        connection.execute("insert into bodies (digest, size, data) values (?, ?, ?)", values)
        number = connection.last_insert_rowid()
    newest, newest_at = connection.execute(_NEWEST, (page,)).fetchone() or (None, at - 1)
    if newest != number:
        at = max(at, newest_at + 1)  # a clock may have been set back
        connection.execute("insert into versions values (? + 1, ?, ?)", (page, at, number))
    return digest


def drop(connection: apsw.Connection, page: int) -> Erased:
    """Delete all versions of a page, and the bodies that no other page has; says how many."""
    rows = "select distinct body from versions where page = ? + 1"
    bodies = [body for (body,) in connection.execute(rows, (page,))]
    connection.execute("delete from versions where page = ? + 1", (page,))
    count, size = connection.changes(), 0
    gone = 0
    for body in bodies:
        room = connection.execute("select length(data) from bodies where id = ?", (body,)).get
        connection.execute(_UNUSED, (body,))
        if connection.changes():
            gone, size = gone + 1, size + int(room)
    return Erased(count, gone, size)


def unavailable_pages(connection: apsw.Connection, now_seconds: float) -> list[int]:
    """Pages that asked for nothing to be kept of them from some instant on, which has come."""
    due = "select page - 1 from copies where unavailable_after <= ?"
    return [page for (page,) in connection.execute(due, (now_seconds,))]


def too_many(connection: apsw.Connection, page: int, most: int) -> bool:
    """Whether there are more than so many versions of a page."""
    count = connection.execute("select count(*) from versions where page = ? + 1", (page,)).get
    return int(count) > most


def versions_of(connection: apsw.Connection, page: int) -> list[Version]:
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


def newest_body(connection: apsw.Connection, page: int) -> bytes | None:
    """Body of the newest version of a page; None where none is kept."""
    query = """
        select data, size, digest from versions join bodies on bodies.id = versions.body
        where page = ? + 1 order by at desc limit 1
    """
    return _body(connection.execute(query, (page,)).fetchone())


def body_of(connection: apsw.Connection, digest: bytes) -> bytes | None:
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


def packed(content: bytes) -> bytes:
    """Compress, by this thread's compressor: creating one takes longer than compressing a page."""
    try:
        made: zstandard.ZstdCompressor = _OWN.compressor
    except AttributeError:
        made = _OWN.compressor = zstandard.ZstdCompressor()
    return made.compress(content)


def prune(
    connection: apsw.Connection, retention: Retention, now_seconds: float, page: int | None = None
) -> int:
    """Delete the surplus versions of one page or of all, and return their number."""
    if page is None:
        versions = _all_versions(connection)
    else:
        versions = Versions(*read_columns(connection, _COLUMNS, _ROWS, (page, page + 1)))
    return _delete(connection, versions, surplus(versions, retention, now_seconds))


def free(connection: apsw.Connection, excess: int) -> int:
    """Delete the oldest versions until so many bytes are free, and return their number."""
    versions = _all_versions(connection)
    return _delete(connection, versions, oldest(versions, excess))


def _all_versions(connection: apsw.Connection) -> Versions:
    last = connection.execute("select coalesce(max(page), 0) from versions").get
    starts = range(0, number(last, most=largest_id(connection, "pages")) or 1, _PAGES_AT_A_TIME)
    parts = [
        read_columns(connection, _COLUMNS, _ROWS, (start, start + _PAGES_AT_A_TIME))
        for start in starts
    ]
    return Versions(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _delete(connection: apsw.Connection, versions: Versions, drop: Bools) -> int:
    rows = zip(versions.page[drop].tolist(), versions.at[drop].tolist(), strict=True)
    connection.executemany("delete from versions where page = ? and at = ?", rows)
    bodies = np.unique(versions.body[drop]).tolist()
    connection.executemany(_UNUSED, ((body,) for body in bodies))
    return int(np.count_nonzero(drop))
