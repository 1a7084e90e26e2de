"""Events of the change feed in words, for a terminal and for feed readers.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.report.diff.lines import share_words
from recrawl.units import SECONDS_A_DAY, duration, utc_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.records import FeedEvent

HEADER = ("seen", "happened", "within", "what", "page")


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


def page_name(event: FeedEvent) -> str:
    """Address of an event's page, or its number where the page was erased."""
    return event.address or f"page {event.page}"


def _within(event: FeedEvent) -> str:
    """How long the gap is in which it happened."""
    if event.earliest_seconds is None:
        return "-"
    return duration((event.latest_seconds - event.earliest_seconds) / SECONDS_A_DAY)
