"""Events of the change feed in words, for a terminal and for feed readers.

Pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.diff.lines import share_words
from recrawl.report.listings.sheets import texts
from recrawl.units import SECONDS_A_DAY, duration, instants_after_epoch, utc_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recrawl.entries.records import FeedEvent
    from recrawl.report.rates import Column

HEADER = ("seen", "happened", "within", "what", "page")
# Names of the columns of a table in a file, that of the addresses first.
COLUMNS = (
    *("page", "seen_at", "kind", "reason", "moved_to", "earliest", "latest", "likely"),
    *("share", "gist", "version", "before", "cursor"),
)


def what_happened(event: FeedEvent) -> str:
    """An event in a few words.

    >>> from recrawl.entries.records import FeedEvent
    >>> from recrawl.visits.status import FeedKind
    >>> event = FeedEvent(7, FeedKind.CHANGED, 3, "https://a.org/", 0.0, *(None, 0.0, None, 9),
    ...     *(None, None, 0.25, "figures", None, None))
    >>> what_happened(event)
    'changed: 25 % of the words (figures)'
    """
    words = event.kind.label
    if event.share is not None and not event.kind.ends:
        words += f": {share_words(event.share)} of the words"
        words += f" ({event.gist})" if event.gist else ""
    if event.reason is not None and event.reason.label != event.kind.label:
        words += f": {event.reason.label}"
    return words + (f" to {event.target}" if event.target else "")


def event_words(events: Sequence[FeedEvent]) -> list[list[str]]:
    """Events under `HEADER`, in their order."""
    return [
        [
            utc_text(event.at_seconds),
            "-" if event.likely_seconds is None else utc_text(event.likely_seconds),
            _within(event),
            what_happened(event),
            page_name(event),
        ]
        for event in events
    ]


def event_columns(events: Sequence[FeedEvent], feed: str) -> dict[str, Column]:
    """Events as columns under `COLUMNS` but for the first, in their order.

    Args:
        events: The events.
        feed: Name of the feed.
    """

    def instants(seconds: Iterable[float | None]) -> Column:
        days = [math.nan if each is None else each / SECONDS_A_DAY for each in seconds]
        return instants_after_epoch(np.array(days, np.float64))

    digests = ([each.version for each in events], [each.before for each in events])
    version, before = (
        texts(["" if each is None else each.hex() for each in some]) for some in digests
    )
    shares = [math.nan if each.share is None else each.share for each in events]
    cells = (
        instants(each.at_seconds for each in events),
        texts([each.kind.label for each in events]),
        texts(["" if each.reason is None else each.reason.label for each in events]),
        texts([each.target or "" for each in events]),
        instants(each.earliest_seconds for each in events),
        instants(each.latest_seconds for each in events),
        instants(each.likely_seconds for each in events),
        np.array(shares, np.float64),
        texts([each.gist or "" for each in events]),
        version,
        before,
        texts([f"{feed}-{each.number}" for each in events]),
    )
    return dict(zip(COLUMNS[1:], cells, strict=True))


def page_name(event: FeedEvent) -> str:
    """Address of an event's page, or its number where the page was erased."""
    return event.address or f"page {event.page}"


def _within(event: FeedEvent) -> str:
    """How long the gap is in which it happened."""
    if event.earliest_seconds is None:
        return "-"
    return duration((event.latest_seconds - event.earliest_seconds) / SECONDS_A_DAY)
