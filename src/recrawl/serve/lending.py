"""Pages lent to other crawlers for a while: nobody gets a page that somebody else has.

A lease ends by itself, so that the pages of a crawler that is gone come back. It is known by a
number that cannot be guessed, and is only in memory: those of a server that was killed are free.

Touches: the clock, threads.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from recrawl.errors import Busy, Conflict, InvalidParameter
from recrawl.scheduler.outside_visits import outcomes_in

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from recrawl.crawl.crawler import Crawler
    from recrawl.entries.reports import AnsweredReport
    from recrawl.scheduler.crawl_schedule import DuePage
    from recrawl.scheduler.reports import Report
    from recrawl.scheduler.scheduler import Scheduler
    from recrawl.visits.status import VisitOutcome

T = TypeVar("T")
_MOST_OUT = 10_000
_LEASE_BYTES = 12
_SHORTEST_WAIT_SECONDS, _LONGEST_WAIT_SECONDS = 0.01, 0.25  # between two looks


class ScheduleOwner(Protocol):
    """Whoever holds the store for writing, and decides what is due.

    Attributes:
        fetches: Whether it visits pages itself.
    """

    fetches: bool

    async def due(self, most: int, wait_seconds: float) -> list[DuePage]:
        """Pages that are most worth a visit now; waits for one so long."""

    async def due_in(self) -> float:
        """Seconds until a page may be due, as far as is known."""

    async def release(self, page: DuePage) -> None:
        """Take back a page that was not visited."""

    async def seen_all(
        self, visits: Sequence[tuple[DuePage, Report]], batch: tuple[str, bytes] | None
    ) -> list[VisitOutcome | None]:
        """Learn what visits found; as `recrawl.Scheduler.seen_all`."""

    async def reported(self, key: str) -> AnsweredReport | None:
        """A batch that was taken, by its key."""

    async def take_hints(self) -> None:
        """Take the hints that wait in the store."""

    async def visit(self, page: int, seconds: float) -> bool:
        """Visit a page out of its turn, if it fetches, and may within some seconds."""


class SchedulerOwner:
    """A schedule without a crawl of its own: others make all visits.

    Args:
        scheduler: The schedule.
    """

    fetches = False

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    async def due(self, most: int, wait_seconds: float) -> list[DuePage]:
        """As `ScheduleOwner` has it."""
        until = time.monotonic() + wait_seconds
        while True:
            pages = await asyncio.to_thread(self._scheduler.due, most)
            left = until - time.monotonic()
            if pages or left <= 0:
                return pages
            seconds = max(await self.due_in(), _SHORTEST_WAIT_SECONDS)
            await asyncio.sleep(min(seconds, left, _LONGEST_WAIT_SECONDS))

    async def due_in(self) -> float:
        """As `ScheduleOwner` has it."""
        return await asyncio.to_thread(self._scheduler.due_in)

    async def release(self, page: DuePage) -> None:
        """As `ScheduleOwner` has it."""
        await asyncio.to_thread(self._scheduler.release, page)

    async def seen_all(
        self, visits: Sequence[tuple[DuePage, Report]], batch: tuple[str, bytes] | None
    ) -> list[VisitOutcome | None]:
        """As `ScheduleOwner` has it."""
        return await asyncio.to_thread(self._scheduler.seen_all, visits, batch)

    async def reported(self, key: str) -> AnsweredReport | None:
        """As `ScheduleOwner` has it."""
        return await asyncio.to_thread(self._scheduler.reported, key)

    async def take_hints(self) -> None:
        """As `ScheduleOwner` has it."""
        await asyncio.to_thread(self._scheduler.take_hints)

    async def visit(self, page: int, seconds: float) -> bool:
        """Visit nothing."""
        del page, seconds
        return False


class CrawlOwner:
    """A crawl that runs in the same event loop, and lends pages.

    Args:
        crawler: The crawl.
    """

    fetches = True

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        lender = crawler.lender
        self.due, self.due_in, self.release = lender.due, lender.due_in, lender.release
        self.seen_all, self.reported = lender.seen_all, lender.reported

    async def take_hints(self) -> None:
        """Do nothing: the crawl takes them by itself."""

    async def visit(self, page: int, seconds: float) -> bool:
        """As `ScheduleOwner` has it."""
        clock = self._crawler.schedule.clock
        until = clock.now() + seconds / clock.seconds(1.0)
        return not await self._crawler.visit_soon(page, until)


@dataclass(frozen=True, slots=True)
class LentPage:
    """A page that somebody may visit now.

    Args:
        lease: Name of the lease.
        page: The page.
        until: When the lease ends, on a steady clock.
    """

    lease: str
    page: DuePage
    until: float


class Lending:
    """Leases of a schedule; used by one event loop.

    Args:
        owner: Decides what is due.
        steady: A clock that nobody can set, in seconds.
    """

    def __init__(self, owner: ScheduleOwner, steady: Callable[[], float] = time.monotonic) -> None:
        self.owner = owner
        self._steady = steady
        self._lent: dict[str, LentPage] = {}
        self._keys: set[str] = set()  # of batches that are being taken
        self._working: set[asyncio.Task[Any]] = set()

    async def due(self, most: int, seconds: float, wait_seconds: float = 0.0) -> list[LentPage]:
        """Pages that are most worth a visit now, each leased for some seconds.

        Args:
            most: How many.
            seconds: How long they are leased.
            wait_seconds: How long to wait for one.
        """
        return await self._whole(self._due(most, seconds, wait_seconds))

    async def _due(self, most: int, seconds: float, wait_seconds: float) -> list[LentPage]:
        await self.take_back_expired()
        if len(self._lent) + most > _MOST_OUT:
            raise Busy(f"{len(self._lent):,} pages are leased already; report or release some")
        pages = await self.owner.due(most, wait_seconds)
        until = self._steady() + seconds
        lent = [LentPage(secrets.token_hex(_LEASE_BYTES), page, until) for page in pages]
        self._lent.update({each.lease: each for each in lent})
        return lent

    def page_of(self, lease: str) -> DuePage | None:
        """The page of a lease; None where it has ended, or never was."""
        lent = self._lent.get(lease)
        return None if lent is None or lent.until <= self._steady() else lent.page

    async def release(self, leases: Sequence[str]) -> int:
        """Give leases back; returns how many still were."""
        lent = [self._lent.pop(lease, None) for lease in leases]
        return sum([await self._give_back(each) for each in lent if each is not None])

    async def seen_all(
        self, visits: Sequence[tuple[str, Report | None]], batch: tuple[str, bytes] | None
    ) -> list[VisitOutcome | None]:
        """Learn what visits found, by their leases.

        Args:
            visits: Lease of each, and what is said of it; None for a lease that is no more.
            batch: Key of the batch, and what tells it from others; None where it has no key.

        Returns:
            What became of each page; None where the lease had ended.

        Raises:
            Conflict: Such a batch is being taken right now.
            InvalidParameter: The key is that of another batch, or a report is not clear.
        """
        if batch is None:
            return await self._whole(self._seen_all(visits, None))
        if batch[0] in self._keys:
            raise Conflict("a batch with this Idempotency-Key is being taken; ask again")
        return await self._whole(self._seen_once(visits, *batch))

    async def _seen_once(
        self, visits: Sequence[tuple[str, Report | None]], key: str, digest: bytes
    ) -> list[VisitOutcome | None]:
        """Take a batch, or tell what became of it where it was taken before."""
        self._keys.add(key)
        try:
            known = await self.owner.reported(key)
            if known is None:
                return await self._seen_all(visits, (key, digest))
        finally:
            self._keys.discard(key)
        if known.digest != digest:
            raise InvalidParameter(
                "this Idempotency-Key was used for another batch; choose a new key for each batch"
            )
        return outcomes_in(known)

    async def _seen_all(
        self, visits: Sequence[tuple[str, Report | None]], batch: tuple[str, bytes] | None
    ) -> list[VisitOutcome | None]:
        # Out of the table while they are worked on: nobody takes them back, or reports them again.
        lent = [self._lent.pop(lease, None) for lease, _ in visits]
        pairs = [
            (each.page, report)
            for each, (_, report) in zip(lent, visits, strict=True)
            if each is not None and report is not None
        ]
        try:
            found = iter(await self.owner.seen_all(pairs, batch))
        except BaseException:  # they may be reported again, or end by themselves
            self._lent.update({each.lease: each for each in lent if each is not None})
            raise
        return [
            next(found) if each is not None and report is not None else None
            for each, (_, report) in zip(lent, visits, strict=True)
        ]

    async def take_back_expired(self) -> None:
        """Give the pages back whose leases have ended."""
        now = self._steady()
        for lent in [each for each in self._lent.values() if each.until <= now]:
            if self._lent.pop(lent.lease, None) is not None:
                await self._give_back(lent)

    async def _whole(self, work: Coroutine[object, object, T]) -> T:
        """Do something to its end, though whoever asked for it has left.

        Else a page could be out that nobody has, and a batch be on its way twice.
        """
        task = asyncio.create_task(work)
        self._working.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._working.discard(task)
        if not task.cancelled():
            task.exception()  # told to whoever has asked, if anybody is left

    async def _give_back(self, lent: LentPage) -> bool:
        try:
            await self.owner.release(lent.page)
        except InvalidParameter:  # it is out no more
            return False
        return True
