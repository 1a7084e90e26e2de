"""The change feed as people read it: newest first.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter
from recrawl.parse.addresses import host_of
from recrawl.publish.feeds import page_feed
from recrawl.report.changes import page_name, what_happened
from recrawl.units import utc_text
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from recrawl.entries.records import FeedEvent
    from recrawl.entries.store import ReadStore

ROWS = 50
_AT_A_TIME = 500
_MOST_LOOKED_AT = 20_000  # events, for one answer
KINDS = tuple(each.label for each in FeedKind if each)


@dataclass(frozen=True, slots=True)
class ChangesQuery:
    """Which events to show.

    Args:
        kind: Their kind; empty for all.
        host: Host of their pages; empty for all.
        under: What their addresses begin with; empty for all.
        share: Least share of the words that differ, in per cent.
        before: Only those before this number; 0 for the newest.
    """

    kind: str = ""
    host: str = ""
    under: str = ""
    share: float = 0.0
    before: int = 0

    def __post_init__(self) -> None:
        if self.kind and self.kind not in KINDS:
            raise InvalidParameter(f"kind must be one of {', '.join(KINDS)} (got {self.kind!r})")

    def holds(self, event: FeedEvent) -> bool:
        """Whether an event is one of them."""
        if self.kind and event.kind.label != self.kind:
            return False
        if self.host and host_of(event.address) != self.host:
            return False
        if self.under and not event.address.startswith(self.under):
            return False
        return not self.share or (event.share is not None and 100 * event.share >= self.share)


@dataclass(frozen=True, slots=True)
class ShownChange:
    """An event.

    Args:
        number: Its number.
        page: Number of its page.
        name: Address of its page.
        seen: When it was seen.
        likely: When it probably happened; empty where that is unknown.
        what: What happened.
        share: Share of the words that differ; None where nothing was compared.
        to: Seconds after 1970 of the version that it brought; None where there is no diff.
    """

    number: int
    page: int
    name: str
    seen: str
    likely: str
    what: str
    share: float | None
    to: float | None


@dataclass(frozen=True, slots=True)
class RecentChanges:
    """A part of the feed, newest first.

    Args:
        at: The instant that they were read, in days after 1970.
        rows: The events.
        newest: Number of the newest event of all.
        before: Number to go on before; 0 at the end.
    """

    at: float
    rows: list[ShownChange]
    newest: int
    before: int


def read_changes(reader: ReadStore, query: ChangesQuery, now: float) -> RecentChanges:
    """The newest events that fit, at an instant in days after 1970."""
    kept = page_feed(reader).range()
    end = min(query.before - 1, kept.newest) if query.before else kept.newest
    rows: list[ShownChange] = []
    looked_at = 0
    while end >= kept.oldest and len(rows) < ROWS and looked_at < _MOST_LOOKED_AT:
        start = max(end - _AT_A_TIME, kept.oldest - 1)
        found = next(iter(reader.events(start, end - start)), [])
        for event in reversed([each for each in found if each.number <= end]):
            looked_at += 1
            end = event.number - 1
            if query.holds(event):
                rows.append(_shown(event))
            if len(rows) == ROWS:
                break
        else:
            end = start
    return RecentChanges(now, rows, kept.newest, end + 1 if end >= kept.oldest else 0)


def _shown(event: FeedEvent) -> ShownChange:
    compared = event.version is not None and event.before is not None
    return ShownChange(
        number=event.number,
        page=event.page,
        name=page_name(event),
        seen=utc_text(event.at_seconds),
        likely="" if event.likely_seconds is None else utc_text(event.likely_seconds),
        what=what_happened(event),
        share=event.share,
        to=event.at_seconds if compared else None,
    )
