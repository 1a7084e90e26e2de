"""Pages of a crawl that runs, lent to other crawlers: what they visit, it need not.

Used in the event loop of the crawl.

Touches: a store and the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import partial
from typing import TYPE_CHECKING

from recrawl.parse.addresses import host_of
from recrawl.scheduler.outside_visits import judge_visit, reported_visits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.crawl.ledger import Ledger
    from recrawl.crawl.new_pages import NewPages
    from recrawl.crawl.worker_threads import WorkerThreads
    from recrawl.entries.reports import AnsweredReport
    from recrawl.scheduler.crawl_schedule import CrawlSchedule, DuePage
    from recrawl.scheduler.outside_visits import JudgedVisit, OutsideVisits
    from recrawl.scheduler.reports import KnownPage, Report
    from recrawl.visits.status import VisitOutcome


class Lender:
    """Lends pages of a crawl, and learns what was found.

    Args:
        outside: Pages that are out.
        schedule: The schedule of the crawl.
        ledger: Writes down what happens.
        new_pages: Takes in pages that others have moved to.
        threads: Reads large pages.

    Attributes:
        wake: Called when a page came back, or a host may be asked again.
    """

    def __init__(
        self,
        outside: OutsideVisits,
        schedule: CrawlSchedule,
        ledger: Ledger,
        new_pages: NewPages,
        threads: WorkerThreads,
    ) -> None:
        self._outside = outside
        self._schedule = schedule
        self._ledger = ledger
        self._new_pages = new_pages
        self._threads = threads
        self._waiting: deque[tuple[int, asyncio.Future[list[DuePage]]]] = deque()
        self.wake: Callable[[], object] = bool

    async def due(self, most: int, wait_seconds: float = 0.0) -> list[DuePage]:
        """Pages that are most worth a visit now; fewer than asked for where no more may be made.

        Args:
            most: How many.
            wait_seconds: How long to wait for one, ahead of the crawl itself.
        """
        found = self._outside.due(most)
        if found or not wait_seconds:
            return found
        given: asyncio.Future[list[DuePage]] = asyncio.get_running_loop().create_future()
        self._waiting.append((most, given))
        await asyncio.wait([given], timeout=wait_seconds)
        if given.done():
            return given.result()
        given.cancel()
        return []

    def give_due(self) -> None:
        """Give due pages to those who wait for some; the crawl calls it before it takes any."""
        while self._waiting:
            most, given = self._waiting[0]
            pages = [] if given.done() else self._outside.due(most)
            if not pages and not given.done():
                return
            self._waiting.popleft()
            if pages:
                given.set_result(pages)

    async def due_in(self) -> float:
        """Seconds until a page may be due, as far as is known."""
        clock = self._schedule.clock
        now = clock.now()
        return clock.seconds(max(self._schedule.crawl.agenda.ready(now) - now, 0.0))

    async def release(self, page: DuePage) -> None:
        """Take back a page that was not visited."""
        self._outside.release(page)
        self.wake()

    async def reported(self, key: str) -> AnsweredReport | None:
        """A batch that was taken within a day, by its key; None where there was none."""
        return self._schedule.reader.report(key)

    async def seen_all(
        self, visits: Sequence[tuple[DuePage, Report]], batch: tuple[str, bytes] | None
    ) -> list[VisitOutcome | None]:
        """Learn what visits found; as `recrawl.Scheduler.seen_all`."""
        outside, now = self._outside, self._schedule.clock.now()
        known = [outside.known(page) if outside.has(page) else None for page, _ in visits]
        pairs = zip(visits, known, strict=True)
        judged = [await self._judge(*visit, facts, now) for visit, facts in pairs]
        # From here to the end nothing waits: what is learned is what is written, in one order.
        found = outside.learn(judged)
        written = self._ledger.put_report(reported_visits(found, batch, now))
        for made in found.made:
            self._ledger.tally.outcomes[made.outcome] += 1
            self._schedule.visited()
        rules, agenda = self._schedule.crawl.settings.rules, self._schedule.crawl.agenda
        for visit in found.moved:
            page = visit.page.lease.page
            self._new_pages.moved(page, visit.target, rules[agenda.term(page)].links, now)
        self.wake()
        await written
        return found.outcomes

    async def _judge(
        self, page: DuePage, report: Report, known: KnownPage | None, now: float
    ) -> JudgedVisit | None:
        if known is None:
            return None
        settings = self._schedule.crawl.settings
        size = 0 if report.response is None else len(report.response.body)
        work = partial(judge_visit, page, report, known, settings, now)
        return await self._threads.read(work, size, host_of(page.address))
