"""Hints that wait in a store, heard and taken by whoever schedules its pages.

What was heard stays in the store until a checkpoint knows of it; what taught nothing need not.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.detect.reliability import HINT
from recrawl.entries.entries import HintsTaken
from recrawl.settings.rules import NO_RULE
from recrawl.state.announcements import hear_hints
from recrawl.state.hints import read_hints

if TYPE_CHECKING:
    from recrawl.detect.reliability import SignalRecord
    from recrawl.entries.store import ReadStore
    from recrawl.state.opening import Crawl


def hear_waiting(crawl: Crawl, reader: ReadStore) -> list[str] | None:
    """Take some of the hints that wait; returns pages to add, or None where no hint waits.

    Those that the crawl has heard when it was opened are looked at once more for new pages.

    Args:
        crawl: The crawl as it stands.
        reader: Its store.
    """
    settings, position = crawl.settings, crawl.hints

    def record_of(host: str) -> SignalRecord:
        return crawl.trust.record(crawl.hosts.row(host), HINT)

    hints = None
    if position.taken < position.heard:
        heard = read_hints(settings, reader, position.taken, record_of, until=position.heard)
        hints = next(heard, None)
    if hints is None:
        hints = next(read_hints(settings, reader, position.heard, record_of), None)
        if hints is None:
            return None
        hear_hints(crawl, hints)
    position.taken = hints.last
    return [each for each in hints.unknown if settings.rule_of(each) != NO_RULE]


def taken_by(crawl: Crawl) -> HintsTaken | None:
    """What the store need not keep any more; None where a checkpoint must be saved before."""
    return None if crawl.hints.unsaved else HintsTaken(crawl.hints.taken)
