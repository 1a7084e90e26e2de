"""Changes that wait to be told in one message.

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.parse.addresses import host_of
from recrawl.publish.cursors import cursor_text
from recrawl.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.records import FeedEvent

MOST_PAGES = 20  # that a message tells of one by one
MOST_EVENTS = 100_000  # of one message; the others come with the next


@dataclass(slots=True)
class PageChanges:
    """Events of one page: the first, the last and how many."""

    first: FeedEvent
    last: FeedEvent
    times: int = 1


class Digest:
    """Events in their order, gathered by page.

    Attributes:
        numbers: Numbers of the events.
        pages: The first pages, in the order of their first events.
        since_seconds: When the first was seen.
    """

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.pages: dict[int, PageChanges] = {}
        self.since_seconds = 0.0
        self._times: Counter[int] = Counter()
        self._hosts: set[str] = set()

    def __bool__(self) -> bool:
        """Whether there is anything to tell."""
        return bool(self.numbers)

    @property
    def is_full(self) -> bool:
        """Whether no more events have room in it."""
        return len(self.numbers) >= MOST_EVENTS

    def add(self, event: FeedEvent) -> None:
        """Add an event that came after all others."""
        if not self.numbers:
            self.since_seconds = event.at_seconds
        self.numbers.append(event.number)
        self._times[event.page] += 1
        self._hosts.add(host_of(event.address))
        known = self.pages.get(event.page)
        if known is not None:
            known.last = event
            known.times += 1
        elif len(self.pages) < MOST_PAGES:
            self.pages[event.page] = PageChanges(event, event)

    def title(self, name: str) -> str:
        """What it is about: the page, where there is but one, or how many changes there are.

        Args:
            name: Title of the first page; empty where it has none.
        """
        where = next(iter(self._hosts)) if len(self._hosts) == 1 else f"{len(self._hosts):,} hosts"
        if len(self._times) == 1 and name:
            (page,) = self.pages.values()
            return f"{page.last.kind.label} at {where}: {name}"
        return f"{counted(len(self.numbers), 'change')} at {where}"

    def tail(self, feed: str, pages: Sequence[int]) -> str:
        """What is said of the pages that are not shown.

        Args:
            feed: Name of the feed.
            pages: Those that are shown.
        """
        left = len(self._times) - len(pages)
        if not left:
            return ""
        start = cursor_text(feed, self.numbers[0] - 1)
        also = "and " if pages else ""
        return f"{also}{counted(left, 'more page')}: recrawl changes --after {start}"
