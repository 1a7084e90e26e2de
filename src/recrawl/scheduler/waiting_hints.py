"""Hints that wait in a store, heard by whoever schedules its pages.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.parse.addresses import canonical
from recrawl.settings.rules import NO_RULE
from recrawl.state.announcements import hear_hints

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.state.opening import Crawl

_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class HeardHints:
    """Hints that were heard.

    Args:
        new: Addresses of pages of the crawl that are not known yet.
        last: Number of the last hint.
    """

    new: list[str]
    last: int


def hear_waiting(crawl: Crawl, reader: ReadStore, after: int) -> HeardHints | None:
    """Take in some of the hints that wait above a number; None where none does.

    Args:
        crawl: The crawl as it stands.
        reader: Its store.
        after: Number of the last hint that was heard.
    """
    some = reader.hints(after, _AT_ONCE)
    if not some:
        return None
    settings = crawl.settings
    named = [each for _, each in some if canonical(each) == each]  # whoever wrote them
    addresses = list(dict.fromkeys(settings.admit(each).address for each in named))
    unknown = hear_hints(crawl, reader, addresses)
    new = [address for address in unknown if settings.rule_of(address) != NO_RULE]
    return HeardHints(new, some[-1][0])
