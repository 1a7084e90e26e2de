"""A visit to a page, and the outcome of the gap between two visits.

A `Visit` comes from a crawler, a proxy log or an archive. Two visits make a gap, and the gap has
one `GapOutcome`. It does not matter who made the visits: a passive log is as good as a crawl.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, IntEnum, IntFlag
from http import HTTPStatus
from typing import TYPE_CHECKING

from recrawl.errors import InvalidHistory

if TYPE_CHECKING:
    from datetime import datetime

_CODE = re.compile("[0-9]{3}")
_SHOWN = 40  # letters of a status that is none


class AnswerKind(IntEnum):
    """How the host answered a visit. The larger wins where two visits are merged."""

    OK = 0
    NOT_MODIFIED = 1  # 304: unchanged, as the host says
    GONE = 2  # 404 or 410: after the last visit that saw the page, a change that ends its history
    FAILED = 3  # 429, 5xx, a time-out, a wall: no visit at all


class GapOutcome(Enum):
    """Outcome of a gap."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"  # at least once, at an unknown time
    CHANGED_AT = "changed_at"  # at least once, the last time at a known age
    COUNTED = "counted"  # the source tells how often
    OPEN = "open"  # nothing: the gap goes on to the next visit


class Flag(IntFlag):
    """Warnings about a page from vetting or an estimator; a page may have several."""

    LM_TOUCH = 1  # Last-Modified moved although the content is the same
    LM_STALE = 2  # the content differs although Last-Modified lies before the visit before
    LM_SKEW = 4  # Last-Modified slightly later than the visit: the host's clock runs ahead
    LM_FUTURE = 8  # Last-Modified far later than the visit: ignored
    LM_GENERATED = 16  # Last-Modified is always "now": ignored for this page
    GONE = 32  # the page answered 404 or 410 in the end, and its history ends there
    RETURNED = 64  # the page answered 404 or 410 and came back
    IRREGULAR_GAPS = 128  # gaps differ too much for a method that takes them for equal
    UNDATED = 256  # changes without a date, taken for the middle of their gaps
    HEAVY_TAIL = 512  # so few visits that the estimate has no finite variance
    FALLBACK = 1024  # the method has no answer: the figures are those of `gamma`
    REVERTED = 2048  # a change went back to an earlier version, by its digest


def flag_names(bits: int) -> list[str]:
    """Names of the flags set in `bits`, as files and tables write them.

    >>> flag_names(Flag.LM_TOUCH | Flag.GONE)
    ['lm_touch', 'gone']
    """
    return [str(flag.name).lower() for flag in Flag if bits & flag]


@dataclass(frozen=True, slots=True)
class Visit:
    """One visit to one page.

    Args:
        page: The page's address or any other name.
        at: When it was visited (aware).
        changed: Whether the content differs from the visit before; None where it was not
            compared (a first visit, a HEAD request).
        last_modified: When the host says the page last changed (aware).
        answer: How the host answered.
        digest: Digest of the content; empty where there is none. Where `changed` is None, it tells
            whether the content differs from the visit before.

    Examples:
        >>> from datetime import UTC, datetime
        >>> Visit("/news", datetime(2026, 1, 2, tzinfo=UTC), changed=True).answer.name
        'OK'
    """

    page: str
    at: datetime
    changed: bool | None = None
    last_modified: datetime | None = None
    answer: AnswerKind = AnswerKind.OK
    digest: str = ""

    def __post_init__(self) -> None:
        """Check that instants have a time zone."""
        for name in ("at", "last_modified"):
            moment = getattr(self, name)
            if moment is not None and moment.tzinfo is None:
                message = f"page {self.page!r}: {name} must be an aware datetime (got {moment})"
                raise InvalidHistory(message)


def answer_of(status: str) -> AnswerKind:
    """Answer meant by an HTTP code or by `ok`, `failed`, `gone`; empty means `ok`.

    >>> [answer_of(text).name for text in ("200", "304", "410", "503", "ok", "")]
    ['OK', 'NOT_MODIFIED', 'GONE', 'FAILED', 'OK', 'OK']
    """
    words = {
        "": AnswerKind.OK,
        "ok": AnswerKind.OK,
        "failed": AnswerKind.FAILED,
        "gone": AnswerKind.GONE,
    }
    text = status.strip().lower()
    if text in words:
        return words[text]
    code = int(text) if _CODE.fullmatch(text) else 0
    if not 100 <= code <= 599:  # noqa: PLR2004 - the range of HTTP status codes
        shown = status if len(status) <= _SHOWN else status[:_SHOWN] + "..."
        raise InvalidHistory(f"status must be an HTTP code, ok, failed or gone (got {shown!r})")
    if code == HTTPStatus.NOT_MODIFIED:
        return AnswerKind.NOT_MODIFIED
    if code in (HTTPStatus.NOT_FOUND, HTTPStatus.GONE):
        return AnswerKind.GONE
    answered = HTTPStatus.OK <= code < HTTPStatus.BAD_REQUEST
    return AnswerKind.OK if answered else AnswerKind.FAILED
