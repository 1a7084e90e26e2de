"""The feeds of a store, that of pages and that of listings: read in order, and followed.

Touches: a store, through what it is given, and the clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np

from recrawl.entries.listings import ObjectEvent
from recrawl.entries.records import FeedEvent
from recrawl.errors import CursorExpired
from recrawl.publish.cursors import cursor_text, position

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.entries.records import FeedRange
    from recrawl.entries.store import ReadStore

_POLL_SECONDS = 0.1
EventT = TypeVar("EventT", FeedEvent, ObjectEvent)


@dataclass(frozen=True, slots=True)
class EventFeed(Generic[EventT]):
    """A feed of a store, whatever its events tell of.

    Args:
        store: The store.
        range: Gives its name, and which of its events are kept.
        events: Gives events after a number, some at a time.
        snapshot: Gives all that readers have, as events, some at a time.
        first_since: Gives the number of the first event seen since an instant.
    """

    store: ReadStore
    range: Callable[[], FeedRange]
    events: Callable[[int, int], Iterator[list[EventT]]]
    snapshot: Callable[[int], Iterator[list[EventT]]]
    first_since: Callable[[float], int]

    def after(self, cursor: str | None) -> int:
        """Number of the last event that was read; None for a reader that has read none."""
        kept = self.range()
        return kept.oldest - 1 if cursor is None else position(cursor, kept, self.store.name)


def page_feed(store: ReadStore) -> EventFeed[FeedEvent]:
    """The change feed: what happened to pages."""
    return EventFeed(store, store.feed_range, store.events, store.snapshot, store.first_event_since)


def object_feed(store: ReadStore) -> EventFeed[ObjectEvent]:
    """The feed of listings: what happened to their objects."""
    return EventFeed(
        store,
        store.object_feed_range,
        store.object_events,
        store.object_snapshot,
        store.first_object_event_since,
    )


class LatestEvents:
    """Of several events of a page the newest, as they stand now; later ones are all taken.

    A reader that stops anywhere goes on after the last event it was given: whatever was left out
    before has a newer one of the same page after it.

    Args:
        store: The store.
        after: Number of the last event that was read.
    """

    def __init__(self, store: ReadStore, after: int) -> None:
        self._newest, self._first = store.latest_events(after)

    def of(self, batch: list[FeedEvent]) -> list[FeedEvent]:
        """The events of a batch that are the newest of their pages."""
        last = int(self._newest[-1]) if len(self._newest) else 0
        numbers = np.array([event.number for event in batch], np.int64)
        newest = self._newest[np.searchsorted(self._newest, numbers[numbers <= last])]
        wanted = {*newest.tolist(), *numbers[numbers > last].tolist()}
        return [event for event in batch if event.number in wanted]

    def skips(self, event: FeedEvent) -> bool:
        """Whether events of its page before it were left out."""
        row = int(np.searchsorted(self._newest, event.number))
        return row < len(self._newest) and int(self._first[row]) < event.number


def events_after(feed: EventFeed[EventT], after: int, rows: int) -> Iterator[list[EventT]]:
    """Events with numbers above `after` up to now; raise where some were dropped meanwhile."""
    for batch in feed.events(after, rows):
        if batch[0].number != after + 1:
            kept, name = feed.range(), feed.store.name
            position(cursor_text(kept.feed, after), kept, name)  # raises
            raise CursorExpired(f"{name}: events after {after} are gone; take a snapshot")
        yield batch
        after = batch[-1].number


def follow_events(
    feed: EventFeed[EventT], after: int, rows: int, sleep: Callable[[float], object] = time.sleep
) -> Iterator[list[EventT]]:
    """The same, and then whatever comes, for ever; an empty batch each time that nothing came.

    Args:
        feed: The feed.
        after: Number of the last event that was read.
        rows: Most events at once.
        sleep: Waits some seconds.
    """
    while True:
        version = feed.store.data_version()
        for batch in events_after(feed, after, rows):
            yield batch
            after = batch[-1].number
        yield []
        while feed.store.data_version() == version:
            sleep(_POLL_SECONDS)
