"""The loop: leases out, visits made, until it is enough.

All decisions are the agenda's. A crawl that is asked to stop gives out no more leases, waits a
little for the visits under way, gives the rest back, and saves what it has learnt.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from math import inf, nan
from typing import TYPE_CHECKING

from recrawl.crawl.asking import Asker
from recrawl.crawl.discovery import Discovery
from recrawl.crawl.finding import Finder
from recrawl.crawl.gate import PATIENCE, Gate
from recrawl.crawl.ledger import Ledger
from recrawl.crawl.newcomers import Newcomers
from recrawl.crawl.opening import expected_fresh, learnt_parts
from recrawl.crawl.permissions import Permissions
from recrawl.crawl.progress import Figures
from recrawl.crawl.trips import Trips
from recrawl.crawl.visiting import Visits
from recrawl.frontier.rules import NO_RULE
from recrawl.store.entries import Learnt, Prune, RobotsRead
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.crawl.clock import Clock
    from recrawl.crawl.discovery import Discovered
    from recrawl.crawl.ledger import Told
    from recrawl.crawl.opening import Crawl
    from recrawl.crawl.tally import Tally
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.frontier.agenda import Lease
    from recrawl.store.entries import Receipt
    from recrawl.store.reader import Reader
    from recrawl.store.writer import Writer

_AT_ONCE = 100
GRACE_SECONDS = 5.0
_WHILE_WRITING_SECONDS = 0.05
_LONGEST_SLEEP_SECONDS = 60.0  # a machine that slept wakes up late, but not by more
# What is learnt is saved after so many visits, or after a visit to one page in ten.
_FEWEST_TO_SAVE, _PART_TO_SAVE = 5_000, 10


class Crawler:
    """Makes the visits of a crawl.

    Args:
        crawl: The crawl as it stands.
        reader: Its store, for reading.
        writer: The same, for writing.
        fetcher: Makes requests.
        clock: What time it is.
        told: Told of each visit once it is on disk.
    """

    def __init__(
        self,
        crawl: Crawl,
        reader: Reader,
        writer: Writer,
        fetcher: Fetcher,
        clock: Clock,
        told: Callable[[Told], object],
    ) -> None:
        self.crawl = crawl
        self._reader = reader
        self._writer = writer
        self._clock = clock
        self._moved = asyncio.Event()
        settings, book = crawl.settings, crawl.book
        ledger = self._ledger = Ledger(writer, told, self._fail)
        gate = Gate(crawl.agenda, clock, self._wake)
        asker = Asker(fetcher, book, clock, ledger.put)
        agent = settings.agent.split()[0].partition("/")[0]
        permissions = Permissions(asker, gate, book, clock, agent, ledger.put)
        has_rule = lambda address: settings.rule_of(address) != NO_RULE  # noqa: E731 - passed on
        trips = Trips(asker, gate, permissions, book, has_rule)
        self._newcomers = Newcomers(crawl, reader, ledger, permissions, self._wake)
        self._visits = Visits(crawl, trips, ledger, self._newcomers, clock)
        discovery = Discovery(asker, gate, permissions, book, settings)
        self._finder = Finder(discovery, settings.rules, crawl.looked, clock, self.add)
        self._tasks: set[asyncio.Task[None]] = set()
        self._finding: asyncio.Task[None] | None = None
        self._stopping = False
        self._hurried = asyncio.Event()
        self._failure: BaseException | None = None
        self._saved = ledger.last_visit = crawl.visit
        for host in reader.hosts():
            at = host.robots_at_seconds
            if at is not None:
                read = RobotsRead(host.name, at, host.robots_http, host.robots)
                permissions.resume(book.row(host.name), read)

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
    ) -> None:
        """Crawl until stopped, until an instant, or until all is done that can be done at once.

        Args:
            until: Instant at which to stop, in days after 1970.
            once: Whether to stop as soon as nothing more may be visited for now.
            found: Told what was found of each site; None where nobody looks for pages.
        """
        if found is not None:
            self._look_for_pages(found, once=once)
        try:
            while not self._stopping and (now := self._clock.now()) < until:
                await self._writer.room()
                leases = self.crawl.agenda.take(now, _AT_ONCE - len(self._tasks))
                self._begin(leases)
                self._save_now_and_then()
                if leases:
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

    def stop(self) -> None:
        """Give out no more leases, and end when visits under way have; again is at once."""
        if self._stopping:
            self._hurried.set()
        self._stopping = True
        self._wake()

    async def discover(self, rule: int, patience: float = inf) -> Discovered:
        """Look for the pages of a site, and add them.

        Args:
            rule: Number of its rule.
            patience: Days to wait for a turn at its host at most.
        """
        return await self._finder.find([rule], patience)

    def add(self, addresses: Iterable[str]) -> asyncio.Future[Receipt]:
        """Add pages by their canonical addresses; those already known stay as they are."""
        return self._newcomers.add(addresses, self._clock.now())

    def save(self) -> asyncio.Future[Receipt]:
        """Save what was learnt, and let old versions go.

        Every visit is learnt and put in one go, so what is learnt now is what the visits say that
        were put before this.
        """
        self._saved = self._ledger.last_visit
        self._ledger.put(Prune(self._clock.now() * SECONDS_A_DAY))
        return self._ledger.put(Learnt(learnt_parts(self.crawl)))

    def figures(self) -> Figures:
        """How the crawl is doing; from the loop's own thread only."""
        now, agenda = self._clock.now(), self.crawl.agenda
        fresh, copies = expected_fresh(self.crawl, now)
        return Figures(
            fresh=fresh / copies if copies else nan,
            copies=copies,
            new=agenda.count(PageStatus.NEW),
            visits=self.tally.visits,
            changes=self.tally.changes,
            failed=self.tally.failed,
            wait=max(agenda.ready(now) - now, 0.0),
        )

    # The loop's parts.

    def _look_for_pages(self, found: Callable[[str, Discovered], object], *, once: bool) -> None:
        find = self._finder.find_due if once else self._finder.keep_finding
        self._finding = asyncio.create_task(find(found))
        self._finding.add_done_callback(self._ended)

    def _is_done(self, now: float, ready: float) -> bool:
        """Whether nothing is under way, and nothing may be done soon."""
        if self._tasks or self._writer.queued:  # pages that are being written may be new
            return False
        if self._finding is not None and not self._finding.done():
            return False
        return ready - now > PATIENCE or not self.crawl.agenda.waiting(now)

    def _begin(self, leases: Sequence[Lease]) -> None:
        """Begin the visits of some leases."""
        if not leases:
            return
        numbers = [lease.page + 1 for lease in leases]
        addresses = self._reader.addresses(numbers)
        copies = self._reader.copies(numbers)
        for lease, address, on_disk in zip(leases, addresses, copies, strict=True):
            copy = self._ledger.copy(lease.page, on_disk)
            task = asyncio.create_task(self._visits.make(lease, address, copy))
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._wake()
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail(error)

    def _save_now_and_then(self) -> None:
        enough = max(_FEWEST_TO_SAVE, len(self.crawl.agenda) // _PART_TO_SAVE)
        if self._ledger.last_visit - self._saved >= enough:
            self.save()

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
        """Wait a little for what is under way, give the rest up, and save what was learnt."""
        if self._finding is not None:
            self._finding.cancel()
            await asyncio.wait([self._finding])
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

    def _wake(self) -> None:
        self._moved.set()

    def _fail(self, error: BaseException) -> None:
        self._failure = self._failure or error
        self._stopping = True
        self._wake()
