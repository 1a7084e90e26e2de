"""Requests in access logs as visits: what each says of its page, and how weak that may be.

    304, or a cache that has asked and found its copy good   unchanged
    an ETag                                                  a digest
    a size                                                   changed if the page never had it before

A size is weak evidence. Changes of equal size are missed; and a page that is sent packed to some
clients and plain to others has two sizes for each of its versions, which is why one that it has had
before is none of a change. What a cache answered by itself is no visit to the page.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from recrawl.adapters.imports.foreign_visits import (
    FAILED_STATUS,
    NOT_MODIFIED,
    ROWS,
    UNKNOWN_STATUS,
    ForeignVisitRows,
)
from recrawl.visits.rows import UNKNOWN_CHANGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recrawl.adapters.imports.foreign_visits import ForeignVisits, ImportReading

OTHER_METHOD = "request other than GET and HEAD", "requests other than GET and HEAD"
FROM_CACHE = (
    "answer of a cache that had not asked the host",
    "answers of a cache that had not asked the host",
)
SIZES = "sizes"
ETAGS = "ETags"
COMPARED = "answers 304 and checks of a cache"

UNKNOWN_SIZE = -1
_METHODS = frozenset({"GET", "HEAD"})
_OK = 200
_LEAST_STATUS, _MOST_STATUS = 100, 599
_MOST_SIZES = 1 << 21  # of each of two generations
_LONGEST_LINE = 1 << 16


class LoggedRequest(NamedTuple):
    """A line of a log.

    Attributes:
        page: Address that was asked for.
        at: When, in microseconds since 1970.
        method: How.
        status: Status of the answer; 0 where there was none.
        size: Bytes of the body; -1 where unknown, or where they say nothing of the content.
        etag: ETag of the answer; empty where it was not logged.
        changed: Whether a cache in between has found that the page changed; -1 if unknown.
        cached: Whether a cache answered by itself.
    """

    page: str
    at: int
    method: str
    status: int
    size: int = UNKNOWN_SIZE
    etag: str = ""
    changed: int = UNKNOWN_CHANGE
    cached: bool = False


class SizeMemory:
    """Sizes that pages have had, within a bound: those not seen for longest are forgotten.

    Examples:
        >>> sizes = SizeMemory()
        >>> [sizes.changed("/a", size) for size in (5, 5, 7, 5, 7)]
        [-1, 0, 1, 0, 0]
    """

    def __init__(self, most: int = _MOST_SIZES) -> None:
        self._most = most
        self._new: set[int] = set()
        self._old: set[int] = set()

    def changed(self, page: str, size: int) -> int:
        """1 for a size that a page did not have before, 0 for one that it had, -1 for the first."""
        if self._seen(hash((page, size))):
            self._seen(hash(page))
            return 0
        return 1 if self._seen(hash(page)) else UNKNOWN_CHANGE

    def _seen(self, key: int) -> bool:
        if key in self._new:
            return True
        if len(self._new) >= self._most:
            self._new, self._old = set(), self._new
        self._new.add(key)
        return key in self._old


class RequestReader:
    """Makes visits of the lines of logs, which come in the order of time.

    Args:
        reading: Counts what is left out, and what visits rest on.
    """

    def __init__(self, reading: ImportReading) -> None:
        self._reading = reading
        self._sizes = SizeMemory()

    def read(
        self,
        blocks: Iterable[bytes],
        parse: Callable[[bytes], LoggedRequest | None],
        name: str,
    ) -> Iterator[ForeignVisits]:
        """Visits of a log.

        Args:
            blocks: Its bytes, in blocks of whole lines.
            parse: Reads a line; None for one that is malformed. Comments are not given to it.
            name: What the log is called.
        """
        rows = ForeignVisitRows()
        for block in blocks:
            for line in block.splitlines():
                if not line.strip():
                    continue
                request = parse(line) if len(line) <= _LONGEST_LINE else None
                if request is None:
                    if not line.startswith(b"#"):
                        self._reading.malformed(name, line)
                    continue
                self._add(rows, request)
            if len(rows) >= ROWS:
                yield self._reading.vetted(rows.flush())
        if len(rows):
            yield self._reading.vetted(rows.flush())

    def _add(self, rows: ForeignVisitRows, request: LoggedRequest) -> None:
        reading = self._reading
        if request.method not in _METHODS:
            reading.leave_out(OTHER_METHOD)
            return
        if request.cached:
            reading.leave_out(FROM_CACHE)
            return
        status = request.status
        if not _LEAST_STATUS <= status <= _MOST_STATUS:
            status = FAILED_STATUS if status == UNKNOWN_STATUS else UNKNOWN_STATUS
        changed, digest = request.changed, ""
        if changed == 0 or status == NOT_MODIFIED:
            status = NOT_MODIFIED
            reading.evidence[COMPARED] += 1
        elif changed == 1:
            reading.evidence[COMPARED] += 1
        elif status == _OK and request.etag:
            digest = request.etag
            reading.evidence[ETAGS] += 1
        elif status == _OK and request.size >= 0 and request.method == "GET":
            changed = self._sizes.changed(request.page, request.size)
            reading.evidence[SIZES] += 1
        rows.add(request.page, request.at, status, digest, changed=changed)
