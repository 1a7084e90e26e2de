"""A line of JSON for every visit, written after the visit is on disk.

Where its reader has gone, as behind `| head`, nobody misses a line, and the crawl goes on without a
log. A file that cannot be written to any more would lack lines that somebody counts on: that ends
the crawl. Either way all visits are in the store. A line that was left unfinished, by a full disk
or a kill, is taken out when the log is next opened.

Touches: a file.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING

from recrawl.errors import CannotWrite, reason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recrawl.crawl.page_visit import PageVisit


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BEGINS = b'{"visit": '
_LONGEST_LINE = 1 << 20  # bytes


def open_log(path: Path) -> IO[str]:
    """Open a log to append to; what a crawl left unfinished at its end is taken out."""
    if path.is_file():
        _mend_end(path)
    return path.open("a", encoding="utf-8")


def _mend_end(path: Path) -> None:
    """Let a file end with a whole line; a line that we did not write is ended, not deleted."""
    with path.open("r+b") as file:
        start = max(file.seek(0, os.SEEK_END) - _LONGEST_LINE, 0)
        file.seek(start)
        tail = file.read()
        last = tail[tail.rfind(b"\n") + 1 :]
        if not last:
            return
        if last.startswith(_BEGINS) or _BEGINS.startswith(last):
            file.truncate(start + len(tail) - len(last))
        else:
            file.write(b"\n")


class VisitLog:
    """Writes visits to a file that is open.

    Args:
        file: Where to; lines are there for others as soon as they are written.
        on_closed: Called once, when its reader has gone.
    """

    def __init__(self, file: IO[str], on_closed: Callable[[], object] = bool) -> None:
        self._file = file
        self._on_closed = on_closed
        self._closed = False

    def __call__(self, visit: PageVisit) -> None:
        """Write the line of a visit."""
        if self._closed:
            return
        try:
            self._file.write(line_of(visit) + "\n")
            self._file.flush()
        except BrokenPipeError:
            self._closed = True
            self._on_closed()
        except OSError as error:
            message = f"{self._file.name}: the visit log cannot be written ({reason(error)})"
            raise CannotWrite(message) from None


def line_of(visit: PageVisit) -> str:
    """One visit in JSON.

    >>> from recrawl.crawl.page_visit import PageVisit
    >>> from recrawl.detect.verdict import Verdict
    >>> from recrawl.parse.messages import Response
    >>> from recrawl.visits.status import VisitOutcome
    >>> response = Response("https://a.org/", status=200, body=b"abc", raw_bytes=3, seconds=0.25)
    >>> verdict = Verdict(VisitOutcome.CHANGED, share=0.125)
    >>> print(line_of(PageVisit(0, "https://a.org/", 1.5, response, verdict, number=7)))
    {"visit": 7, "at": "1970-01-02T12:00:00.000Z", "address": "https://a.org/",
     "outcome": "changed", "status": 200, "bytes": 3, "seconds": 0.25, "share": 0.125}
    """
    response, verdict = visit.response, visit.verdict
    at = (_EPOCH + timedelta(days=visit.at)).isoformat(timespec="milliseconds")
    values: dict[str, object] = {
        "visit": visit.number,
        "at": f"{at.removesuffix('+00:00')}Z",
        "address": visit.address,
        "outcome": verdict.outcome.label,
        "status": response.status or None,
        "bytes": response.raw_bytes,
        "seconds": round(response.seconds, 4),
    }
    if verdict.share > 0:
        values["share"] = round(verdict.share, 4)
    if verdict.wall:
        values["wall"] = verdict.wall
    if visit.audit:
        values["audit"] = visit.audit.label
    if response.problem:
        values |= {"problem": response.problem, "detail": response.detail}
    return json.dumps(values, ensure_ascii=False)
