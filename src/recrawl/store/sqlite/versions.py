"""Old versions of pages: each distinct body stored once, compressed.

Touches: files.
"""

from __future__ import annotations

import hashlib
import threading
from typing import TYPE_CHECKING

import numpy as np
import zstandard

from recrawl.entries.records import Version
from recrawl.store.retention import Versions, surplus
from recrawl.store.sqlite.columns import read_columns

if TYPE_CHECKING:
    import apsw

    from recrawl.store.retention import Retention

_OWN = threading.local()
_DIGEST_BYTES = 16
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


def keep(connection: apsw.Connection, page: int, at: int, body: bytes) -> None:
    """Store a body as the newest version of a page, unless it is that already."""
    digest = hashlib.sha256(body).digest()[:_DIGEST_BYTES]
    number = connection.execute("select id from bodies where digest = ?", (digest,)).get
    if number is None:
        packed = _compressor().compress(body)
        connection.execute(
            "insert into bodies (digest, size, data) values (?, ?, ?)", (digest, len(body), packed)
        )
        number = connection.last_insert_rowid()
    newest, newest_at = connection.execute(_NEWEST, (page,)).fetchone() or (None, at - 1)
    if newest != number:
        at = max(at, newest_at + 1)  # a clock may have been set back
        connection.execute("insert into versions values (? + 1, ?, ?)", (page, at, number))


def too_many(connection: apsw.Connection, page: int, most: int) -> bool:
    """Whether there are more than so many versions of a page."""
    count = connection.execute("select count(*) from versions where page = ? + 1", (page,)).get
    return int(count) > most


def versions_of(connection: apsw.Connection, page: int) -> list[Version]:
    """Versions of a page that are kept, oldest first."""
    query = """
        select versions.at / 1000.0, bodies.digest, bodies.size
        from versions join bodies on bodies.id = versions.body
        where versions.page = ? + 1 order by versions.at
    """
    return [Version(*row) for row in connection.execute(query, (page,))]


def newest_body(connection: apsw.Connection, page: int) -> bytes | None:
    """Body of the newest version of a page; None where none is kept."""
    query = """
        select data from versions join bodies on bodies.id = versions.body
        where page = ? + 1 order by at desc limit 1
    """
    return _unpacked(connection.execute(query, (page,)).get)


def body_of(connection: apsw.Connection, digest: bytes) -> bytes | None:
    """A body by its digest; None where it is not kept."""
    return _unpacked(connection.execute("select data from bodies where digest = ?", (digest,)).get)


def _unpacked(packed: bytes | None) -> bytes | None:
    return None if packed is None else zstandard.decompress(packed)


def _compressor() -> zstandard.ZstdCompressor:
    """Compressor of this thread: creating one takes longer than compressing a page."""
    try:
        made: zstandard.ZstdCompressor = _OWN.compressor
    except AttributeError:
        made = _OWN.compressor = zstandard.ZstdCompressor()
    return made


def prune(
    connection: apsw.Connection, retention: Retention, now_seconds: float, page: int | None = None
) -> int:
    """Delete the surplus versions of one page or of all, and return their number."""
    if page is None:
        last = connection.execute("select coalesce(max(page), 0) from versions").get
        ranges = [
            (start, start + _PAGES_AT_A_TIME) for start in range(0, int(last), _PAGES_AT_A_TIME)
        ]
    else:
        ranges = [(page, page + 1)]
    parts = [read_columns(connection, _COLUMNS, _ROWS, some) for some in ranges]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    if not columns:
        return 0
    drop = surplus(Versions(*columns), retention, now_seconds)
    gone = np.stack([column[drop] for column in columns[:3]], axis=1).tolist()
    connection.executemany(
        "delete from versions where page = ? and at = ?", ((page_id, at) for page_id, at, _ in gone)
    )
    bodies = sorted({body for _, _, body in gone})
    connection.executemany(_UNUSED, ((body,) for body in bodies))
    return len(gone)
