"""Pages that a crawl comes across: into the store first, then to the schedule.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from recrawl.entries.entries import DetailsWritten, Found, PagesFound
from recrawl.fetch.polite import MOST_HOPS
from recrawl.parse.addresses import host_of, origin_of, site_of
from recrawl.parse.encodings import decoded
from recrawl.parse.links import links
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Iterable

    from recrawl.crawl.ledger import Ledger
    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.entries.entries import DetailPages, Receipt
    from recrawl.entries.listings import ListingSynced
    from recrawl.fetch.robots_cache import RobotsCache
    from recrawl.parse.messages import Response
    from recrawl.parse.robots import Permission
    from recrawl.scheduler.crawl_schedule import CrawlSchedule

# New pages of a budget that wait, in all and in days of the budget, before links are let be: a page
# may make up links for ever, and what is let be now is found again at the next change.
_MOST_WAITING, _MOST_DAYS = 10_000, 30.0


class NewPages:
    """Takes in pages that were found.

    Args:
        schedule: Schedules them.
        ledger: Writes down what happens.
        robots: What hosts allow.
        on_new_pages: Called when there are new pages.
        threads: Reads large pages.
    """

    def __init__(
        self,
        schedule: CrawlSchedule,
        ledger: Ledger,
        robots: RobotsCache,
        on_new_pages: Callable[[], object],
        threads: WorkerThreads,
    ) -> None:
        self._schedule = schedule
        self._crawl = schedule.crawl
        self._reader = schedule.reader
        self._ledger = ledger
        self._robots = robots
        self._on_new_pages = on_new_pages
        self._threads = threads

    def add(self, addresses: Iterable[str], now: float, depth: int = 0) -> asyncio.Future[Receipt]:
        """Add pages that were found; those already known stay as they are.

        Args:
            addresses: Canonical addresses.
            now: The instant.
            depth: How many links away they are from what a sitemap, a feed or a person named.
        """
        new = list(addresses)
        names = [host_of(address) for address in new]
        rules = self._crawl.settings.rules_of(new)
        entry = PagesFound(new, names, rules, now * SECONDS_A_DAY, depth)
        future = self._ledger.put(entry)
        future.add_done_callback(partial(self._added, entry))
        return future

    def synced(self, synced: ListingSynced) -> asyncio.Future[Receipt]:
        """Write a sync down; the detail pages that it found are pages of the crawl from then on."""
        future = self._ledger.put(synced)
        if synced.details is not None:
            future.add_done_callback(partial(self._detailed, synced.details))
        return future

    def _detailed(self, details: DetailPages, done: asyncio.Future[Receipt]) -> None:
        """Let the agenda know of detail pages that came and went."""
        if done.cancelled() or done.exception() is not None:
            return
        written = done.result()
        assert isinstance(written, DetailsWritten)  # noqa: S101 - the receipt of such a sync
        self._ledger.tally.found += self._schedule.take_in_details(written, details)
        self._on_new_pages()

    def moved(self, page: int, target: str, links: int, now: float) -> None:
        """Add the page that another has moved to, unless pages move on and on.

        Args:
            page: Number of the page that has moved.
            target: Where to.
            links: How many links deep its rule allows.
            now: The instant.
        """
        depth = self._reader.depth(page) + 1
        if depth <= links + MOST_HOPS:
            self.add([target], now, depth)

    async def follow(self, page: int, response: Response, number: int, now: float) -> None:
        """Add the pages of the same rule that a page links to, as deep as the rule allows."""
        depth = self._reader.depth(page)
        if depth >= self._crawl.settings.rules[number].links or self._has_enough(page):
            return
        # All of one rule's pages are of one origin.
        permission = await self._robots.known(origin_of(self._crawl.settings.rules[number].address))
        work = partial(self._links, response, number, permission)
        found: list[str] = []
        with suppress(Exception):  # no page, whatever it holds, may end a crawl
            owner = site_of(response.address)
            found = await self._threads.read(work, len(response.body), owner)
        if found:
            self.add(found, now, depth + 1)

    def _has_enough(self, page: int) -> bool:
        """Whether so many new pages wait already that the budget will not reach more for long."""
        waiting, visits_a_day = self._crawl.agenda.new_pages(page)
        return waiting > max(_MOST_WAITING, _MOST_DAYS * visits_a_day)

    def _links(self, response: Response, number: int, permission: Permission | None) -> list[str]:
        text = decoded(response.body, response.headers.get("content-type", ""))
        rule_of = self._crawl.settings.rule_of
        found = [each for each in links(text, response.address) if rule_of(each) == number]
        if permission is None:
            return found
        return [each for each in found if permission.robots.allows(each)]

    def _added(self, entry: PagesFound, done: asyncio.Future[Receipt]) -> None:
        """Let the agenda know of pages that are new."""
        if done.cancelled() or done.exception() is not None:
            return
        found = done.result()
        assert isinstance(found, Found)  # noqa: S101 - the receipt of `PagesFound`
        new = self._schedule.take_in(found, entry)
        self._ledger.tally.found += new
        if new:
            self._on_new_pages()
