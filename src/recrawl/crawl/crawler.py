"""The loop: due pages out, visits made, until it is enough.

All decisions are the schedule's. A crawl that is asked to stop gives out no more leases, waits a
little for the visits under way, gives the rest back, and saves what it has learned.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from recrawl.crawl.discovery import Discovery
from recrawl.crawl.duplicates import DuplicateFinder
from recrawl.crawl.finding import SiteFinder
from recrawl.crawl.hints import HintTaker
from recrawl.crawl.ledger import Ledger, NewestVersions
from recrawl.crawl.lending import Lender
from recrawl.crawl.listing_fetch import ListFetcher
from recrawl.crawl.listing_sync import DetailTaker, ListingSyncer
from recrawl.crawl.new_pages import NewPages
from recrawl.crawl.page_reader import PageReader
from recrawl.crawl.page_visitor import PageVisitor
from recrawl.crawl.progress import Figures
from recrawl.crawl.push import Subscriber
from recrawl.crawl.pushed_feeds import CrawlFeeds
from recrawl.crawl.remarks import Remarks
from recrawl.crawl.visits import VisitCycle
from recrawl.crawl.worker_threads import WorkerThreads
from recrawl.entries.entries import HintsGiven, RobotsRead
from recrawl.errors import StoreCorrupt
from recrawl.fetch.cpu_shares import CpuShares
from recrawl.fetch.host_slots import PATIENCE, HostBusy
from recrawl.fetch.polite import PoliteClient
from recrawl.fetch.robots_cache import RobotsCache
from recrawl.frontier.sources import expected_unknown
from recrawl.parse.addresses import host_of, origin_of
from recrawl.scheduler.crawl_schedule import CrawlSchedule
from recrawl.scheduler.outside_visits import OutsideVisits
from recrawl.state.announcements import hear
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence

    from recrawl.adapters.documents.converter import DocumentConverter
    from recrawl.clock import Clock
    from recrawl.crawl.finding import Discovered
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.crawl.pushed_feeds import PushedFeeds
    from recrawl.crawl.tally import Tally
    from recrawl.entries.entries import Receipt
    from recrawl.entries.listings import ListingSynced
    from recrawl.entries.sources import Source
    from recrawl.entries.store import ReadStore
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.scheduler.crawl_schedule import DuePage
    from recrawl.settings.push_keys import PushSettings
    from recrawl.state.opening import Crawl
    from recrawl.store.writer import Writer

_AT_ONCE = 100
GRACE_SECONDS = 5.0
_WHILE_WRITING_SECONDS = 0.05
_LONGEST_SLEEP_SECONDS = 60.0  # a machine that slept wakes up late, but not by more


class Crawler:
    """Makes the visits of a crawl.

    Args:
        crawl: The crawl as it stands.
        reader: Its store, for reading.
        writer: The same, for writing.
        fetcher: Makes requests.
        clock: Source of the current time.
        on_visit: Called with each visit once it is on disk.
        on_remark: Called with a sentence on what holds the crawl up, each once an hour.
        documents: Reads PDF and Office documents; None to leave them unread.

    Attributes:
        may_end: Whether a crawl may end now that is to end when nothing is due.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it works with, and whom it calls back
        self,
        crawl: Crawl,
        reader: ReadStore,
        writer: Writer,
        fetcher: Fetcher,
        clock: Clock,
        on_visit: Callable[[PageVisit], object],
        on_remark: Callable[[str], object] = bool,
        documents: DocumentConverter | None = None,
    ) -> None:
        self.crawl = crawl
        self._reader = reader
        self._writer = writer
        self._clock = clock
        self._moved = asyncio.Event()
        settings, hosts = crawl.settings, crawl.hosts
        ledger = self._ledger = Ledger(writer, on_visit, self._fail)
        self.schedule = CrawlSchedule(crawl, reader, clock, ledger.put)
        on_remark = Remarks(on_remark, clock)
        cpu = CpuShares(clock, on_remark)
        threads = WorkerThreads(on_cpu=cpu.charge)
        robots = RobotsCache(
            hosts,
            clock,
            settings.robots_agent,
            load=self._robots,
            write=ledger.put,
            is_ours=settings.has_host,
            run=threads.run,
        )
        client = self._client = PoliteClient(
            fetcher,
            hosts,
            robots,
            clock,
            is_local=settings.is_local,
            write=ledger.put,
            on_release=self._released,
            cpu=cpu,
        )
        client.is_elsewhere = settings.is_elsewhere
        self._new_pages = NewPages(self.schedule, ledger, robots, self._wake, threads)
        pages = PageReader(threads, documents, cpu.charge, on_remark)
        versions = NewestVersions(ledger, reader)
        visitor = PageVisitor(crawl, client, versions, clock, pages, lambda: self._stopping)
        duplicates = DuplicateFinder(self.schedule, threads, versions.body, self._new_pages.moved)
        self._visits = VisitCycle(
            self.schedule, visitor, ledger, self._new_pages, duplicates, on_remark
        )
        discovery = Discovery(client, settings, threads)
        self._hints = HintTaker(crawl, reader, self.add, ledger.put, self._hinted)
        self._finder = SiteFinder(
            discovery,
            crawl,
            clock,
            self._new_pages,
            self._hear,
            ledger.put,
            self._visit_early,
            self._hint,
        )
        self._subscriber: Subscriber | None = None
        self._receiving: Callable[[], Coroutine[None, None, None]] | None = None
        self._make_subscriber = partial(
            Subscriber, client=client, clock=clock, threads=threads, write=ledger.put
        )
        self._on_remark = on_remark
        if settings.push is not None:
            feeds = CrawlFeeds(crawl, reader)
            self._receiving = self._subscriber_of(settings.push, feeds, self._hint).keep
        outside = OutsideVisits(self.schedule, ledger.newest, versions.body)
        self.lender = Lender(outside, self.schedule, ledger, self._new_pages, threads)
        self.lender.wake = self._wake
        lists = ListFetcher(client, threads)
        self._listings = ListingSyncer(settings, lists, reader, clock, self._new_pages.synced)
        self._details = DetailTaker(settings, reader, clock, self._new_pages.taken)
        self._tasks: set[asyncio.Task[None]] = set()
        self._beside: list[asyncio.Task[None]] = []
        self.may_end: Callable[[], bool] = lambda: True
        self._stopping = False
        self._hurried = asyncio.Event()
        self._failure: BaseException | None = None
        robots.resume(reader.robots_read())

    @property
    def tally(self) -> Tally:
        """What was done since it began, in numbers."""
        return self._ledger.tally

    async def run(
        self,
        *,
        until: float = inf,
        once: bool = False,
        found: Callable[[str, Discovered], object] | None = None,
        synced: Callable[[ListingSynced], object] = bool,
    ) -> None:
        """Crawl until stopped, until an instant, or until all is done that can be done at once.

        Args:
            until: Instant at which to stop, in days after 1970.
            once: Whether to stop as soon as nothing more may be visited for now.
            found: Told what was found of each site; None where nobody looks for pages.
            synced: Told of each look at a listing once it is on disk.
        """
        if found is not None:
            find = self._finder.find_due if once else self._finder.keep_finding
            self._begin_beside(find(found))
        self._begin_beside(self._hints.take() if once else self._hints.keep_taking())
        if self._receiving is not None and found is not None and not once:
            self._begin_beside(self._receiving())
        self._begin_beside(self._details.take() if once else self._details.keep_taking())
        if self.crawl.settings.synced_listings:
            keep = self._listings.sync_due if once else self._listings.keep
            self._begin_beside(keep(synced))
        if once:
            self.crawl.agenda.end_with_orders()
        try:
            while not self._stopping and (now := self._clock.now()) < until:
                await self._writer.room()
                self.lender.give_due()
                due = self.schedule.due(_AT_ONCE - len(self._tasks))
                self._begin(due)
                if due:
                    await asyncio.sleep(0)
                    continue
                ready = self.crawl.agenda.ready(now)
                if once and self._is_done(now, ready):
                    break
                await self._wait(min(ready, until) - now)
        finally:
            await self._finish()
        if self._failure is not None:
            raise self._failure

    def receive_pushes(self, push: PushSettings, feeds: PushedFeeds) -> None:
        """Take what hubs push of feeds, of which some may be of other slots; before it runs.

        Args:
            push: Where hubs reach it.
            feeds: The feeds.
        """
        self._receiving = self._subscriber_of(push, feeds, self._pass_on).keep_trying

    def _subscriber_of(
        self,
        push: PushSettings,
        feeds: PushedFeeds,
        hint: Callable[[Sequence[str]], Awaitable[object]],
    ) -> Subscriber:
        self._subscriber = self._make_subscriber(push, feeds, hint=hint)
        self._subscriber.on_remark = self._on_remark
        return self._subscriber

    async def visit(self, page: int, until: float) -> float:
        """Visit one page out of its turn, once its host and the budget allow it.

        Args:
            page: Number of the page.
            until: Instant by which the visit must have begun, in days after 1970.

        Returns:
            When the page may be visited, where that is later than `until` and nothing was done;
            else 0.
        """
        while (ready := self.schedule.ready_for(page)) > self._clock.now():
            if ready > until:
                return ready
            await self._wait(ready - self._clock.now())
        self._begin([self.schedule.lease(page)])
        try:
            await asyncio.gather(*self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()
        if self._failure is not None:
            raise self._failure
        return 0.0

    async def visit_soon(self, page: int, until: float) -> float:
        """Visit one page out of its turn while the crawl runs; arguments and result as `visit`."""
        while (ready := self.schedule.ready_for(page)) > self._clock.now() or self._stopping:
            if ready > until or self._stopping:
                return ready
            seconds = self._clock.seconds(ready - self._clock.now())
            await asyncio.sleep(min(seconds, _LONGEST_SLEEP_SECONDS))
        await asyncio.wait(self._begin([self.schedule.lease(page)]))
        await self._writer.written()
        return 0.0

    def stop(self) -> None:
        """Give out no more leases, and end when visits under way have; again is at once."""
        if self._stopping:
            self._hurried.set()
        self._stopping = True
        self._wake()

    async def discover(self, rule: int, patience: float = inf) -> Discovered:
        """Look for the pages of a site now, in all its sitemaps and feeds, and add them.

        Args:
            rule: Number of its rule.
            patience: Days to wait for a turn at its host at most.
        """
        return await self._finder.find([rule], patience)

    async def trouble_at(self, rule: int) -> str:
        """Why nothing can be asked of a site's host now; empty where it can. Not remembered.

        Args:
            rule: Number of its rule.
        """
        asked = self.crawl.settings.rules[rule]
        origin = origin_of(asked.address)
        try:
            found = await self._client.permission(origin, local=asked.local, patience=PATIENCE)
        except HostBusy as busy:
            return busy.why or "its host asked to wait"
        if found.trouble:
            await self._ledger.put(RobotsRead(origin, at_seconds=0.0))  # long ago: asked anew
        return found.trouble

    async def find(
        self, rules: Iterable[int], on_found: Callable[[int, Discovered], object]
    ) -> None:
        """Look for the pages of some rules now; `on_found` is told of each origin, by a rule."""
        await self._finder.find_all(rules, on_found)

    def _visit_early(self, address: str) -> bool | None:
        """Visit a page out of its turn, if it may be now; None if it never will be any more."""
        (page,) = self._reader.find_pages([address])
        agenda, now = self.crawl.agenda, self._clock.now()
        if page is None or page >= len(agenda) or agenda.status(page) is not PageStatus.COPIED:
            return None
        if self._stopping or self.schedule.ready_for(page) > now:
            return False
        self._begin([self.schedule.lease(page)])
        return True

    def add(self, addresses: Iterable[str]) -> asyncio.Future[Receipt]:
        """Add pages by their canonical addresses; those already known stay as they are."""
        return self._new_pages.add(addresses, self._clock.now())

    def budget_changed(self) -> None:
        """Look again for what may be visited: a budget is another one now."""
        self._wake()

    def save(self) -> asyncio.Future[Receipt]:
        """Write a checkpoint, and let old versions go."""
        saved: asyncio.Future[Receipt] = self.schedule.save()
        return saved

    async def _hear(self, source: Source, dates: Mapping[str, float] | None) -> None:
        """Take in what a sitemap or feed says of changes."""
        for _ in hear(self.crawl, self._reader, source, dates, self._clock.now()):
            await asyncio.sleep(0)

    async def _hint(self, addresses: Sequence[str]) -> int:
        """Note hints that pages have changed; returns how much news to expect of them."""
        return await self._hints.give(addresses, self._clock.now() * SECONDS_A_DAY)

    async def _pass_on(self, addresses: Sequence[str]) -> None:
        """Leave hints for whoever crawls their pages, which looks for them every few seconds."""
        await self._ledger.put(HintsGiven(addresses, self._clock.now() * SECONDS_A_DAY))

    def figures(self) -> Figures:
        """How the crawl is doing; from the loop's own thread only."""
        status = self.schedule.status()
        return Figures(
            fresh=status.fresh,
            copies=status.copies,
            new=status.new,
            visits=self.tally.visits,
            changes=self.tally.changes,
            failed=self.tally.failed,
            wait=max(status.next_visit - self._clock.now(), 0.0),
            unknown=expected_unknown(self.crawl.sources, self._clock.now()),
        )

    def left_alone(self) -> tuple[int, int]:
        """How many hosts of the settings are left alone for now, and of how many."""
        crawl, now = self.crawl, self._clock.now()
        hosts = {crawl.hosts.row(host_of(rule.address)) for rule in crawl.settings.rules}
        return sum(crawl.hosts.is_left_alone(host, now) for host in hosts), len(hosts)

    # The loop's parts.

    def _begin_beside(self, work: Coroutine[None, None, None]) -> None:
        """Begin what goes on beside the visits."""
        task = asyncio.create_task(work)
        self._beside.append(task)
        task.add_done_callback(self._ended)

    def _is_done(self, now: float, ready: float) -> bool:
        """Whether nothing is under way, and nothing may be done soon."""
        if self._tasks or self._writer.queued:  # pages that are being written may be new
            return False
        if not self.may_end() or not all(task.done() for task in self._beside):
            return False
        return ready - now > PATIENCE or not self.crawl.agenda.waiting(now, now + PATIENCE)

    def _begin(self, due: Sequence[DuePage]) -> list[asyncio.Task[None]]:
        """Begin the visits of some pages."""
        if not due:
            return []
        begun, loop = [], asyncio.get_running_loop()
        numbers = [page.lease.page for page in due]
        known = zip(self._reader.copies(numbers), self._reader.masks(numbers), strict=True)
        for page, on_disk in zip(due, known, strict=True):
            newest = self._ledger.newest(page.lease.page, *on_disk)
            task = loop.create_task(self._visits.make(page, *newest))
            self._tasks.add(task)
            task.add_done_callback(self._ended)
            begun.append(task)
        return begun

    def _robots(self, origin: str) -> RobotsRead | None:
        """A robots.txt as it was read; None where it was not, or is damaged: it is read again."""
        try:
            return self._reader.robots(origin)
        except StoreCorrupt:
            return None

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    async def _wait(self, days: float) -> None:
        """Wait so long, or until something has happened."""
        longest = _WHILE_WRITING_SECONDS if self._writer.queued else _LONGEST_SLEEP_SECONDS
        seconds = min(max(self._clock.seconds(days), 0.0), longest)
        self._moved.clear()
        timer = asyncio.get_running_loop().call_later(seconds, self._moved.set)
        try:
            await self._moved.wait()
        finally:
            timer.cancel()

    async def _finish(self) -> None:
        """Wait a little for what is under way, give the rest up, and save what was learned."""
        for task in self._beside:
            task.cancel()
        if self._beside:
            await asyncio.wait(self._beside)
        if self._tasks and self._failure is None:
            hurried = asyncio.create_task(self._hurried.wait())
            visits = asyncio.gather(*self._tasks, return_exceptions=True)
            ends = (visits, hurried)
            await asyncio.wait(ends, timeout=GRACE_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            hurried.cancel()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._failure is None:
            await self.save()

    def _released(self, host: int) -> None:
        """A host may be asked again: whoever waits for leases may get one sooner."""
        self.crawl.agenda.freed(host)
        self._wake()

    def _hinted(self) -> None:
        """Hints were taken: other pages may be worth more now."""
        self.schedule.save_if_due()
        self._wake()

    def _wake(self) -> None:
        self._moved.set()

    def _fail(self, error: BaseException) -> None:
        while isinstance(error, BaseExceptionGroup):  # of tasks side by side: one is told
            error = error.exceptions[0]
        self._failure = self._failure or error
        self._stopping = True
        self._wake()
