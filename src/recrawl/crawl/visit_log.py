"""A line of JSON for every visit, written after the visit is on disk.

Touches: a file.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import IO, TYPE_CHECKING

from recrawl.errors import CannotWrite, reason

if TYPE_CHECKING:
    from recrawl.crawl.ledger import Told


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class VisitLog:
    """Writes visits to a file that is open.

    Args:
        file: Where to; lines are there for others as soon as they are written.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def __call__(self, visit: Told) -> None:
        """Write the line of a visit."""
        try:
            self._file.write(line_of(visit) + "\n")
            self._file.flush()
        except OSError as error:
            message = f"{self._file.name}: log must be a file with room ({reason(error)})"
            raise CannotWrite(message) from None


def line_of(visit: Told) -> str:
    """One visit in JSON.

    >>> from recrawl.detect.verdict import Judgement
    >>> from recrawl.crawl.ledger import Told
    >>> from recrawl.crawl.page_visit import Look
    >>> from recrawl.crawl.trips import Trip
    >>> from recrawl.fetch.fetcher import Answer
    >>> from recrawl.visits.status import Outcome
    >>> answer = Answer("https://a.org/", status=200, body=b"abc", raw_bytes=3, seconds=0.25)
    >>> look = Look(Trip(answer), Judgement(Outcome.CHANGED, share=0.125), at=1.5)
    >>> print(line_of(Told(7, 0, "https://a.org/", look)))
    {"visit": 7, "at": "1970-01-02T12:00:00.000Z", "address": "https://a.org/",
     "outcome": "changed", "status": 200, "bytes": 3, "seconds": 0.25, "share": 0.125}
    """
    look, answer, judgement = visit.look, visit.look.trip.answer, visit.look.judgement
    at = (_EPOCH + timedelta(days=look.at)).isoformat(timespec="milliseconds")
    values: dict[str, object] = {
        "visit": visit.number,
        "at": f"{at.removesuffix('+00:00')}Z",
        "address": visit.address,
        "outcome": judgement.outcome.label,
        "status": answer.status or None,
        "bytes": answer.raw_bytes,
        "seconds": round(answer.seconds, 4),
    }
    if judgement.share > 0:
        values["share"] = round(judgement.share, 4)
    if judgement.wall:
        values["wall"] = judgement.wall
    if look.audit:
        values["audit"] = look.audit.label
    if answer.problem:
        values |= {"problem": answer.problem, "detail": answer.detail}
    return json.dumps(values, ensure_ascii=False)
