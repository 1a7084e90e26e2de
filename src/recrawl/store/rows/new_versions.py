"""Versions that a transaction adds: looked up and written for many pages at once.

A question per page would cost a round trip each where the database is another process.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from recrawl.errors import InvalidParameter
from recrawl.store.rows.body_lines import NewLines
from recrawl.store.rows.columns import largest_id
from recrawl.store.rows.packing import LARGEST_BODY, packed

if TYPE_CHECKING:
    from collections.abc import Collection

    from recrawl.entries.records import VersionLines
    from recrawl.store.rows.database import Database

_KEPT = """
    select page - 1, body, at,
        (select count(*) from versions others where others.page = newest.page)
    from versions newest
    where at = (select max(at) from versions others where others.page = newest.page) and page
"""
_BODIES = "select digest, id from bodies where digest"


class _Kept(NamedTuple):
    """Versions of a page.

    Attributes:
        body: Number of the newest body; 0 where there is none.
        at: When it was stored, in epoch milliseconds.
        number: How many versions there are.
    """

    body: int = 0
    at: int = 0
    number: int = 0


class NewVersions:
    """Versions that are added to a store in one transaction.

    Args:
        connection: Inside of its transaction.
    """

    def __init__(self, connection: Database) -> None:
        self._connection = connection
        self._kept: dict[int, _Kept] = {}
        self._bodies: dict[bytes, int] = {}
        self._last_body = -1  # number of it; below 0 where nobody has asked yet
        self._new_bodies: list[tuple[int, bytes, int, bytes]] = []
        self._new_versions: list[tuple[int, int, int]] = []
        self._lines = NewLines(connection)
        self._bytes = 0

    def look_ahead(self, pages: Collection[int], digests: Collection[bytes]) -> None:
        """Find out at once what is known of pages, and of bodies that some of them will have."""
        found = self._connection.each(_KEPT, [page + 1 for page in pages])
        self._kept |= dict.fromkeys(pages, _Kept())
        self._kept |= {page: _Kept(body, at, count) for page, body, at, count in found}
        known = dict(self._connection.each(_BODIES, digests))
        self._bodies |= {digest: known.get(digest, 0) for digest in digests}

    def keep(
        self, page: int, at: int, body: bytes, digest: bytes, lines: VersionLines | None = None
    ) -> int:
        """Add a body as the newest version of a page, unless it is that already.

        Args:
            page: Number of the page.
            at: When it was fetched, in epoch milliseconds.
            body: The body.
            digest: Its digest.
            lines: What a reader sees of it; None if that is not known.

        Returns:
            How many versions of the page there are then.
        """
        if len(body) > LARGEST_BODY:
            raise InvalidParameter(
                f"a body must have at most {LARGEST_BODY:,} bytes (got {len(body):,})"
            )
        if page not in self._kept or digest not in self._bodies:
            self.look_ahead([page], [digest])
        stored = self._bodies[digest] or self._store(body, digest)
        kept = self._kept[page]
        self._lines.keep(stored, body, lines, kept.body)
        if kept.body == stored:
            return kept.number
        at = max(at, kept.at + 1) if kept.number else at  # a clock may have been set back
        self._new_versions.append((page + 1, at, stored))
        self._kept[page] = _Kept(stored, at, kept.number + 1)
        return kept.number + 1

    def _store(self, body: bytes, digest: bytes) -> int:
        if self._last_body < 0:
            self._last_body = largest_id(self._connection, "bodies")
        self._last_body += 1
        data = packed(body)
        self._new_bodies.append((self._last_body, digest, len(body), data))
        self._bodies[digest] = self._last_body
        self._bytes += len(data)
        return self._last_body

    @property
    def waiting_bytes(self) -> int:
        """What the bodies take that wait to be written."""
        return self._bytes

    def write(self) -> None:
        """Write what was added so far."""
        if self._new_bodies:
            self._connection.append("bodies", "id, digest, size, data", self._new_bodies)
        if self._new_versions:
            self._connection.append("versions", "page, at, body", self._new_versions)
        self._lines.write()
        self._new_bodies.clear()
        self._new_versions.clear()
        self._bytes = 0

    def forget(self) -> None:
        """Write what was added, and ask the database anew from now on: rows are about to go."""
        self.write()
        self._kept.clear()
        self._bodies.clear()
        self._last_body = -1
