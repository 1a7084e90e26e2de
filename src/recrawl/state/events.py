"""Which events of the change feed a visit makes, and when what it found has happened.

Readers of the feed have a copy of a page, or they have none. An event tells them of another copy,
of the first one, or that there is none any more; nothing else is one:

    they have   the visit found          event
    none        a copy                   new; back where they had one before
    a copy      another one              changed
    a copy      gone, for the 2nd time   removed (gone)
    a copy      robots.txt forbids it    removed (refused)
    a copy      another address          moved
    a copy      what another page is     moved (duplicate)

A page that fails, answers with a wall or is found gone once stays as it is, and what nobody would
call a change is none.

Pure.
"""

from __future__ import annotations

from math import floor, isnan, nan
from typing import NamedTuple

from recrawl.entries.entries import PageEvent
from recrawl.rates.last_change import last_change_share
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import FeedKind, PageStatus, RemovalReason, VisitOutcome

_ENDS = {
    PageStatus.GONE: (FeedKind.REMOVED, RemovalReason.GONE),
    PageStatus.REFUSED: (FeedKind.REMOVED, RemovalReason.REFUSED),
    PageStatus.MOVED: (FeedKind.MOVED, RemovalReason.MOVED),
    PageStatus.DUPLICATE: (FeedKind.MOVED, RemovalReason.DUPLICATE),
}
_A_SECOND = 0.999  # within the second that a host dates a change to


class Gap(NamedTuple):
    """The time in which something has happened to a page, in days after 1970.

    Attributes:
        last: When the page was last compared with its copy; nan if never.
        now: When a visit found it otherwise.
        age: Days since it changed, by a date of its host that is believed; nan if unknown.
    """

    last: float
    now: float
    age: float = nan


def visit_event(
    outcome: VisitOutcome,
    status: PageStatus,
    gap: Gap,
    *,
    listed: bool,
    rate: float = nan,
    gist: str | None = None,
) -> PageEvent | None:
    """The event that a visit makes; None where readers have nothing to be told.

    Args:
        outcome: What the visit found.
        status: How the page stands afterwards.
        gap: When that may have happened.
        listed: Whether readers have a copy of the page.
        rate: Changes a day that were expected of the page in the gap; nan if unknown.
        gist: Kind of the change in one word; None if unknown.

    Examples:
        A page that changes once a day on average was found changed after a day, and had probably
        changed ten hours before:

        >>> gap = Gap(last=0.0, now=1.0)
        >>> found = VisitOutcome.CHANGED, PageStatus.COPIED, gap
        >>> event = visit_event(*found, listed=True, rate=1.0)
        >>> event.kind.label, event.earliest_seconds, event.latest_seconds
        ('changed', 0.0, 86400.0)
        >>> round((event.latest_seconds - event.likely_seconds) / 3600, 2)
        10.03
    """
    has_copy = outcome is VisitOutcome.FIRST or outcome.compared
    if not has_copy:
        kind, reason = _ENDS.get(status, (None, None))
        if kind is None or not listed:
            return None
        return _event(kind, Gap(gap.last, gap.now), nan, reason)
    if not listed:
        kind = FeedKind.NEW if isnan(gap.last) else FeedKind.BACK
        return _event(kind, gap, nan, gist=gist)
    if outcome in (VisitOutcome.CHANGED, VisitOutcome.FIRST):
        return _event(FeedKind.CHANGED, gap, rate, gist=gist)
    return None


def told_event(kind: FeedKind, at_seconds: float, reason: RemovalReason | None = None) -> PageEvent:
    """The event of what a person or the settings have done to a page, which is known exactly."""
    return PageEvent(kind, at_seconds, at_seconds, at_seconds, reason)


def _event(
    kind: FeedKind,
    gap: Gap,
    rate: float,
    reason: RemovalReason | None = None,
    gist: str | None = None,
) -> PageEvent:
    """An event with the time at which it happened, as far as that is known."""
    now = gap.now * SECONDS_A_DAY
    if not isnan(gap.age):
        second = float(floor(now - gap.age * SECONDS_A_DAY + 0.5))  # hosts date to the second
        latest, begun = min(second + _A_SECOND, now), min(second, now)
        return PageEvent(kind, latest, begun, begun, gist=gist)
    if isnan(gap.last):
        return PageEvent(kind, now, reason=reason, gist=gist)
    length = max(gap.now - gap.last, 0.0)
    age = length * last_change_share(0.0 if isnan(rate) else max(rate, 0.0) * length)
    likely = now - age * SECONDS_A_DAY
    return PageEvent(kind, now, now - length * SECONDS_A_DAY, likely, reason, gist=gist)
