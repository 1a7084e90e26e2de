"""Lines of newest versions: what the next version of a page is compared with.

Lines belong to a body, and are compressed with it as the dictionary: they are parts of it, so each
takes some bytes. Decompressing both takes a tenth of the time of a parse. A body that is no longer
the newest version of a page loses its lines, and one that goes takes them with it. Nobody may rely
on them: a body can always be read again.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.entries.records import VersionLines
from recrawl.store.rows.database import upsert
from recrawl.store.rows.packing import LARGEST_BODY, packed_beside, unpacked, unpacked_beside
from recrawl.store.rows.values import exactly, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.store.rows.database import Database

LARGEST_LINES = 1 << 18  # bytes; of longer pages the body is read again
_CUTS = b"\n\n"  # before the cuts; no line is empty
_PUT = upsert("body_lines", "body, reading, size, data", "body")
_NEWEST = """
    select reading, body_lines.size, body_lines.data, bodies.size, bodies.data
    from versions join bodies on bodies.id = versions.body
    left join body_lines on body_lines.body = versions.body
    where page = ? + 1 order by at desc limit 1
"""
# Number of a body, and what `lines_in` takes.
ALL = """
    select body, reading, body_lines.size, body_lines.data, bodies.size, bodies.data
    from body_lines join bodies on bodies.id = body_lines.body order by body
"""
_DELETE = "delete from body_lines where body = ?"


def newest_lines(connection: Database, page: int) -> VersionLines | None:
    """Lines of the newest version of a page; None where none are kept."""
    row = connection.execute(_NEWEST, (page,)).fetchone()
    return None if row is None or row[0] is None else lines_in(*row)


def lines_in(reading: bytes, size: int, data: bytes, body_size: int, body: bytes) -> VersionLines:
    """Lines as they were before they were stored; raises `ValueError` if they cannot be such."""
    size = number(size, most=LARGEST_LINES)
    beside = unpacked(exactly(bytes, body), LARGEST_BODY, number(body_size, most=LARGEST_BODY))
    text = unpacked_beside(exactly(bytes, data), beside, LARGEST_LINES, size)
    # Cuts come last: looked for from there they are found at once.
    written, divided, cuts = text.rpartition(_CUTS)
    if not divided:
        written, cuts = text, b""
    lines = tuple(written.decode(errors="surrogatepass").split("\n")) if written else ()
    if not all(lines):
        raise ValueError("a line of a version is empty")
    return VersionLines(exactly(bytes, reading), lines, cuts.decode(), beside)


def text_kept(found: VersionLines) -> bytes:
    """Lines and cuts as they are compressed."""
    text = "\n".join(found.lines).encode(errors="surrogatepass")
    return b"%b%b%b" % (text, _CUTS, found.cuts.encode()) if found.cuts else text


def drop(connection: Database, bodies: Iterable[int]) -> None:
    """Delete the lines of some bodies."""
    connection.executemany(_DELETE, ((body,) for body in bodies))


class NewLines:
    """Lines that are added to a store in one transaction.

    Args:
        connection: Inside of its transaction.
    """

    def __init__(self, connection: Database) -> None:
        self._connection = connection
        self._new: dict[int, tuple[Any, ...]] = {}
        self._old: set[int] = set()

    def keep(self, number: int, body: bytes, found: VersionLines | None, before: int) -> None:
        """Keep the lines of a body that is the newest version of a page now.

        Args:
            number: Number of the body.
            body: The body.
            found: Its lines; None where they are not known.
            before: Number of the body that was the newest; 0 where there was none.
        """
        if before and before != number:
            self._new.pop(before, None)
            self._old.add(before)
        if found is None:
            return
        text = text_kept(found)
        if len(text) <= LARGEST_LINES:
            self._new[number] = (number, found.reading, len(text), packed_beside(text, body))
            self._old.discard(number)

    def write(self) -> None:
        """Write what was added so far."""
        if self._old:
            drop(self._connection, sorted(self._old))
        if self._new:
            self._connection.executemany(_PUT, list(self._new.values()))
        self._old.clear()
        self._new.clear()
