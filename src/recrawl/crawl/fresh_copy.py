"""A copy of a page that is fresh with a wanted chance: visited first only where it must be.

    chance >= wanted        the copy as it is
    else, a visit may be    the copy after the visit, and what it taught
    else                    the copy as it is, its chance, and why it was not visited

Touches: the network, the clock and a store.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from recrawl.adapters.documents.converter import DocumentConverter
from recrawl.checks import check_fraction
from recrawl.clock import RealClock
from recrawl.crawl.running import running
from recrawl.errors import NoVersion, StoreLocked
from recrawl.inspect.pages import chance_fresh
from recrawl.publish.reading import CopyReader
from recrawl.report.words import every
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_store
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.clock import Clock
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.fetch.access import AccessTable
    from recrawl.publish.reading import PageCopy
    from recrawl.settings.settings import Settings
    from recrawl.store import Address

WAIT_SECONDS = 30.0
_LEARNED_NOTHING = (VisitOutcome.FAILED, VisitOutcome.WALLED)
_HELD = "a crawl is running, and visits the page when it is due"


@dataclass(frozen=True, slots=True)
class FreshCopy:
    """A copy of a page, and how sure it is that the page is still so.

    Args:
        copy: The copy.
        fresh: Chance that it is what the page is now; nan where the policy knows no rates.
        visited: Whether the page was visited for it.
        why_not: Why it is less sure than wanted, in a few words; empty where it is not.
    """

    copy: PageCopy
    fresh: float
    visited: bool
    why_not: str

    @property
    def held(self) -> bool:
        """Whether the page was not visited because a crawl holds the store."""
        return self.why_not == _HELD


def fresh_copy(  # noqa: PLR0913 - what is asked for, and what a visit needs
    settings: Settings,
    store: Address,
    page: int | str,
    at_least: float,
    *,
    wait_seconds: float = WAIT_SECONDS,
    clock: Clock | None = None,
    access: AccessTable | None = None,
) -> FreshCopy:
    """The copy of a page that is fresh with a chance; the page is visited first if need be.

    A visit is made as the crawl would make it: within the budget, no sooner than robots.txt and
    the politeness delay allow, written down and learned from. While a crawl holds the store none
    is made here. Not for use inside an event loop.

    Args:
        settings: Settings of the crawl.
        store: Path or URL of its store.
        page: Number or address of the page.
        at_least: The chance that is wanted, from 0 to 1.
        wait_seconds: Seconds to wait at most before a visit begins.
        clock: Source of the current time; the real one if none is given.
        access: How addresses are asked for; as the settings say, with paths that begin in the
            working folder, unless given.

    Raises:
        UnknownPage: There is no such page.
        NoVersion: No version of it is kept.
    """
    check_fraction(at_least=at_least)
    clock = clock or RealClock()
    number, chance = _look(settings, store, page, clock)
    visited, why_not = False, ""
    if not chance >= at_least:
        visited, why_not = _visit(settings, store, number, wait_seconds, clock, access)
        _, chance = _look(settings, store, number, clock)
    if chance >= at_least:
        why_not = ""
    elif not why_not:
        why_not = "the page changes too often"
    with CopyReader(open_store(store), settings, DocumentConverter()) as reader:
        try:
            copy = reader.copy(number)
        except NoVersion as error:
            raise NoVersion(f"{error}; {why_not}" if why_not else str(error)) from None
    return FreshCopy(copy, chance, visited, why_not)


def _look(settings: Settings, store: Address, page: int | str, clock: Clock) -> tuple[int, float]:
    """Number of a page, and the chance that its copy is fresh now."""
    with open_store(store) as reader:
        number, _ = CopyReader(reader, settings).page_of(page)
        now = max(clock.now(), reader.newest_instant() / SECONDS_A_DAY)
        return number, chance_fresh(load_snapshot(settings, reader, now), number)


def _visit(
    settings: Settings,
    store: Address,
    page: int,
    wait_seconds: float,
    clock: Clock,
    access: AccessTable | None,
) -> tuple[bool, str]:
    """Visit a page; whether that was done, and why it did not help."""
    made: list[PageVisit] = []

    async def visit() -> float:
        told = made.append
        async with running(settings, store, clock, on_visit=told, access=access) as crawler:
            until = clock.now() + wait_seconds / clock.seconds(1.0)
            return await crawler.visit(page, until)

    try:
        ready = asyncio.run(visit())
    except StoreLocked:
        return False, _HELD
    ours = [each for each in made if each.page == page]
    if ours:
        outcome, detail = ours[-1].outcome, ours[-1].response.detail
        failed = outcome in _LEARNED_NOTHING
        why = f"the visit {outcome.label}{f': {detail}' if detail else ''}" if failed else ""
        return True, why
    if ready == inf:
        return False, "the settings allow no visit to it"
    wait = ready - clock.now()
    if wait > 0:
        return False, f"its host and the budget allow a visit in {every(wait)}"
    return False, "its host is on hold"
