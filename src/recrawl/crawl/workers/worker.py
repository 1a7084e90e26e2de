"""A worker: leases slots of a crawl, crawls them, and shares the budget with the others.

    renew the leases -> let go what is lost -> take or give back, for balance -> share the budget

Each slot is a crawl of its own: its own checkpoint, hosts and schedule. A slot whose store has
failed is opened again while its lease lasts.

Touches: the network, a store, the clock.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from typing import TYPE_CHECKING

from recrawl.clock import RealClock
from recrawl.crawl.progress import Figures
from recrawl.crawl.pushed_feeds import StoreFeeds
from recrawl.crawl.running import running
from recrawl.crawl.tally import Tally
from recrawl.crawl.workers.balance import slots_to_release, slots_to_take
from recrawl.crawl.workers.gate import LeasedFetcher
from recrawl.entries.deliveries import DestinationsNamed
from recrawl.errors import StoreError, StoreLocked
from recrawl.plan.shared_price import budget_per_page, budget_shares
from recrawl.settings.slots import SlotScope, slot_of, slots_of_listing
from recrawl.state.demand import demand_of, learn_from_others
from recrawl.store.slots.leases import SlotLease

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from contextlib import AbstractContextManager

    from recrawl.clock import Clock
    from recrawl.crawl.crawler import Crawler
    from recrawl.crawl.finding import Discovered
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.entries.listings import ListingSynced
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.fetch.access import AccessTable
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.plan.budget import Budget
    from recrawl.plan.shared_price import BudgetShare, SlotDemand
    from recrawl.publish.tasks import Hooks
    from recrawl.settings.settings import Settings
    from recrawl.store.retention import Retention
    from recrawl.store.slots.leases import LeaseState, SlotLeases

_RENEWALS = 4  # of a lease, before it is over
_LONGEST_PAUSE = 2.0  # seconds; whoever joins is not to wait for its slots
_AGAIN_SECONDS = 0.5
_FEW_REPLAYED = 1000  # visits since a checkpoint; more keep the processor from other slots
_OPENED_SECONDS = 5.0  # that a slot waits for others to be opened, before it is crawled
_SHARE_TIMES = 20.0  # times what it takes to share the budget, before it is shared again


@dataclass(frozen=True, slots=True)
class WorkerEvents:
    """Who is told of what a worker does.

    Args:
        on_visit: Called with each visit once it is on disk.
        on_remark: Called with a sentence on what happens to slots and what holds a crawl up.
        found: Told what was found of each site.
        synced: Told of each look at a listing once it is on disk.
    """

    on_visit: Callable[[PageVisit], object] = bool
    on_remark: Callable[[str], object] = bool
    found: Callable[[str, Discovered], object] = lambda *_: None
    synced: Callable[[ListingSynced], object] = bool


@dataclass(slots=True, eq=False)
class _Held:
    """A slot that is held.

    Attributes:
        lease: Until when.
        crawler: What crawls it, once it is open.
        leaving: Whether it is given back.
        said: Pages that it had found when its share was set; -1 before it has one.
        work: Crawls it.
    """

    lease: SlotLease
    crawler: Crawler | None = None
    leaving: bool = False
    said: int = -1
    work: asyncio.Task[None] | None = field(default=None, repr=False)

    def has_share(self) -> bool:
        """Whether its share of the budget is for all pages that it has found."""
        return self.crawler is None or self.said >= self.crawler.tally.found

    def stop(self) -> None:
        """Let its crawler stop, and not begin again."""
        self.leaving = True
        if self.crawler is not None:
            self.crawler.stop()


class Worker:
    """Crawls slots of a store that others crawl other slots of.

    Args:
        settings: What is asked of the whole crawl.
        leases: Leases slots.
        open_slot: Opens one.
        events: Who is told.
        access: How addresses are asked for.
        feed: The whole store and who is told of its events, by whoever holds the first slot.

    Attributes:
        clock_at: Makes a clock that shows an instant now, in seconds after 1970.
        record: Wraps the fetcher of a slot in one that also writes down what was fetched.
        visits: How many visits were made.
    """

    def __init__(
        self,
        settings: Settings,
        leases: SlotLeases,
        open_slot: Callable[
            [SlotScope, SlotLease, Retention],
            AbstractContextManager[tuple[WriteStore, ReadStore]],
        ],
        events: WorkerEvents | None = None,
        access: AccessTable | None = None,
        feed: tuple[Callable[[], ReadStore], Hooks] | None = None,
    ) -> None:
        self._settings = settings
        self._feed = feed
        self._leases = leases
        self._open_slot = open_slot
        self._events = events or WorkerEvents()
        self._access = access
        scopes = SlotScope.all_of(settings, settings.slots)
        self._scopes = {
            each.slot: each for each in scopes if each.settings.rules or each.settings.listings
        }
        self._held: dict[int, _Held] = {}
        self._done: set[int] = set()
        self._handed: set[int] = set()  # slots that something was handed over to since they began
        self._shares: dict[int, BudgetShare] = {}
        self._share_next = -inf
        self._each_page: Budget | None = None  # what the whole budget is for a page
        self._stopping = False
        self._moved = asyncio.Event()
        self._opening = asyncio.Semaphore(1)
        self._two_at_once = False
        self._failure: BaseException | None = None
        self._once = False
        self._left = Tally()  # of slots that were given back
        self._clock: Clock = RealClock()
        self.clock_at: Callable[[float], Clock] = _real_clock
        self.record: Callable[[Fetcher], Fetcher] = _as_it_is
        self.visits = 0

    @property
    def crawling(self) -> int:
        """How many slots are being crawled."""
        return len(self._crawlers())

    @property
    def tally(self) -> Tally:
        """What was done in all slots since it began, in numbers."""
        total = Tally()
        for each in (self._left, *(crawler.tally for crawler in self._crawlers())):
            total.add(each)
        return total

    def figures(self) -> Figures:
        """How its slots are doing; from the loop's own thread only."""
        return Figures.of_parts([each.figures() for each in self._crawlers()], self.tally)

    def _crawlers(self) -> list[Crawler]:
        return [each.crawler for each in self._held.values() if each.crawler is not None]

    def stop(self) -> None:
        """Stop soon, and give all slots back."""
        self._stopping = True
        for each in self._held.values():
            each.stop()
        self._moved.set()

    async def run(self, *, seconds: float = inf, once: bool = False) -> None:
        """Crawl until stopped, for some seconds, or until nothing is due in any slot.

        Args:
            seconds: How long.
            once: Whether to end as soon as nothing more may be visited for now.
        """
        self._once = once
        end = SlotLease.now() + seconds
        try:
            while not self._stopping and SlotLease.now() < end:
                if once and self._done >= self._scopes.keys():
                    break
                await self._step()
                left = end - SlotLease.now()
                pause = min(self._leases.seconds / _RENEWALS, _LONGEST_PAUSE, max(left, 0.0))
                self._moved.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._moved.wait(), pause)
        finally:
            await self._finish()
        if self._failure is not None:
            raise self._failure

    async def _step(self) -> None:
        """Renew the leases, take and give back slots, and share the budget."""
        asked = SlotLease.now()
        fences = {slot: each.lease.fence for slot, each in self._held.items()}
        try:
            state = await asyncio.to_thread(self._leases.renew, fences)
            if not self._held:  # no crawl runs by the clock as it was
                self._clock = self.clock_at(state.now_seconds)
            for slot in state.held & self._held.keys():
                self._held[slot].lease.renewed(asked)
            for slot in self._held.keys() - state.held:
                self._lose(slot)
            await self._balance(state)
            waits = any(
                each.crawler and (slot not in self._shares or (self._once and not each.has_share()))
                for slot, each in self._held.items()
            )
            if waits or SlotLease.now() >= self._share_next:
                began = SlotLease.now()
                await self._share_budget()
                every = self._leases.seconds / _RENEWALS
                self._share_next = began + max(every, _SHARE_TIMES * (SlotLease.now() - began))
        except StoreError as error:  # the server is away: go on at the last price while we may
            self._events.on_remark(f"{error}; going on without it")
            for slot, each in self._held.items():
                if each.lease.is_over():
                    self._lose(slot)

    async def _balance(self, state: LeaseState) -> None:
        wanted = self._scopes.keys() - self._done
        free = [slot for slot in state.free if slot in wanted and slot not in self._held]
        mine = sorted(slot for slot, each in self._held.items() if not each.leaving)
        for slot in slots_to_release(mine, state.fewest):
            self._held[slot].stop()
        fair = -(-len(wanted) // max(state.workers, 1))
        taken = slots_to_take(len(mine), free, fair, state.fewest)
        if taken and self._each_page is None:
            self._set_each_page(await asyncio.to_thread(self._leases.demands))
        for slot in taken:
            asked = SlotLease.now()
            fence = await asyncio.to_thread(self._leases.take, slot)
            if fence is not None:
                self._shares.pop(slot, None)  # as another worker had it
                seconds = self._leases.seconds
                held = self._held[slot] = _Held(SlotLease(fence, seconds, asked + seconds))
                held.work = asyncio.create_task(self._crawl(slot, held))
                self._events.on_remark(f"Took slot {slot}.")

    def _lose(self, slot: int) -> None:
        held = self._held[slot]
        held.lease.lose()
        held.stop()

    # One slot.

    async def _crawl(self, slot: int, held: _Held) -> None:
        """Crawl a slot until it is lost, given back or done."""
        try:
            while not held.leaving and not held.lease.is_over():
                self._handed.discard(slot)
                try:
                    await self._crawl_once(slot, held)
                except StoreLocked:
                    held.lease.lose()
                    continue
                except StoreError as error:
                    self._events.on_remark(f"{error}; slot {slot} is opened again")
                    await asyncio.sleep(_AGAIN_SECONDS)
                    continue
                if self._once and slot not in self._handed and not held.leaving:
                    self._done.add(slot)
                    break
        except Exception as error:  # noqa: BLE001 - whoever runs the worker hears of it
            self._failure = self._failure or error
            self._stopping = True
        finally:
            is_over = held.lease.is_over()
            self._events.on_remark(f"Lost slot {slot}." if is_over else f"Gave slot {slot} back.")
            if not is_over:
                with suppress(StoreError):  # then it is over by itself
                    await asyncio.to_thread(self._leases.release, slot, held.lease.fence)
            del self._held[slot]
            self._shares.pop(slot, None)
            self._moved.set()

    async def _crawl_once(self, slot: int, held: _Held) -> None:
        scope = self._scopes[slot]
        # Its pages have the mean gap of the whole crawl, whatever share the slot has.
        settings = replace(scope.settings, budget=self._each_page or scope.settings.budget)

        def gated(fetcher: Fetcher) -> Fetcher:
            return LeasedFetcher(self.record(fetcher), held.lease.is_over, f"slot {slot}")

        async with AsyncExitStack() as stack:
            hooks = feed = None
            if self._feed is not None and slot == min(self._scopes):
                open_whole, hooks = self._feed
                feed = stack.enter_context(open_whole())
            crawl = running(
                settings,
                "",
                self._clock,
                on_visit=self._visited,
                on_remark=self._events.on_remark,
                access=self._access,
                record=gated,
                hooks=hooks,
                opened=partial(self._opened, scope, held.lease),
                feed=feed,
            )
            async with self._opening:  # one after the other: the first is crawled soon
                if held.leaving:
                    return
                crawler = await stack.enter_async_context(crawl)
            if crawler.crawl.unsaved <= _FEW_REPLAYED and not self._two_at_once:
                self._two_at_once = True  # the server reads for one, we make the other ready
                self._opening.release()
            if feed is not None and self._settings.push is not None:
                everywhere = StoreFeeds(self._settings, feed, crawler.crawl)
                crawler.receive_pushes(self._settings.push, everywhere)
            with suppress(TimeoutError):  # crawls keep the processor from those that still open
                async with asyncio.timeout(_OPENED_SECONDS), self._opening:
                    pass  # in turn, after all that wait now
            await self._run(slot, held, crawler)

    @contextmanager
    def _opened(
        self, scope: SlotScope, lease: SlotLease, retention: Retention
    ) -> Iterator[tuple[WriteStore, ReadStore]]:
        """A slot of which whoever is told of events is told of all that come."""
        with self._open_slot(scope, lease, retention) as (written, reader):
            if self._feed is not None and (names := self._feed[1].names):
                written.write([DestinationsNamed(names)])
            yield written, reader

    async def _run(self, slot: int, held: _Held, crawler: Crawler) -> None:
        held.crawler, held.said = crawler, -1
        crawler.may_end = held.has_share  # what was found last may be worth a visit now
        self._set_budget(slot, crawler)
        if held.leaving:
            crawler.stop()
        self._moved.set()  # it wants its share
        try:
            synced = partial(self._synced, slot)
            await crawler.run(once=self._once, found=self._events.found, synced=synced)
        finally:
            self._left.add(crawler.tally)
            held.crawler = None

    def _synced(self, slot: int, synced: ListingSynced) -> None:
        """Note which slots a sync may have handed detail pages over to: these have work again."""
        if synced.details is not None and (synced.details.addresses or synced.deleted):
            slots, addresses = self._settings.slots, synced.details.addresses.values()
            handed = {slot_of(each, slots) for each in addresses if each}
            for listing in self._settings.listings:
                if listing.name == synced.listing:
                    handed.update(slots_of_listing(listing, slots))
            handed.discard(slot)  # it has what is its own
            self._handed |= handed
            self._done -= handed
        self._events.synced(synced)

    def _visited(self, visit: PageVisit) -> None:
        self.visits += 1
        self._events.on_visit(visit)

    # The budget.

    async def _share_budget(self) -> None:
        """Say what our slots would spend and know; take their shares at the price of all."""
        crawlers = {slot: each for slot, each in self._held.items() if each.crawler is not None}
        said: dict[int, tuple[int, SlotDemand]] = {}
        found = dict[int, int]()
        for slot, each in crawlers.items():
            if each.crawler is not None:
                crawl, now = each.crawler.crawl, self._clock.now()
                crawl.agenda.budget_pool(0).end_tick(now)
                demand = demand_of(crawl.agenda, crawl.policy, now)
                said[slot] = each.lease.fence, demand
                found[slot] = each.crawler.tally.found
        await asyncio.to_thread(self._leases.publish, said)
        demands = await asyncio.to_thread(self._leases.demands)
        if not any(each.live for each in demands.values()):
            return
        _, self._shares = budget_shares(demands, self._settings.budget)
        self._set_each_page(demands)
        for slot, each in self._held.items():
            if each.crawler is not None:
                each.said = found.get(slot, -1) if slot in self._shares else -1
                self._set_budget(slot, each.crawler)
                learn_from_others(each.crawler.crawl.agenda, demands, slot)

    def _set_each_page(self, demands: Mapping[int, SlotDemand]) -> None:
        self._each_page = budget_per_page(demands, self._settings.budget)

    def _set_budget(self, slot: int, crawler: Crawler) -> None:
        """Let a slot spend its share; nothing before it has one."""
        pool, share = crawler.crawl.agenda.budget_pool(0), self._shares.get(slot)
        if share is None:
            pool.await_share()
        else:
            pool.share_budget(share)
        crawler.budget_changed()

    async def _finish(self) -> None:
        """Stop all crawlers, renewing their leases until they have stopped, and leave."""
        for each in self._held.values():
            each.stop()
        while self._held:
            self._moved.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._moved.wait(), self._leases.seconds / _RENEWALS)
            fences = {slot: each.lease.fence for slot, each in self._held.items()}
            asked = SlotLease.now()
            with suppress(StoreError):
                state = await asyncio.to_thread(self._leases.renew, fences)
                for slot in state.held & self._held.keys():
                    self._held[slot].lease.renewed(asked)
        with suppress(StoreError):
            await asyncio.to_thread(self._leases.leave)
        await asyncio.to_thread(self._leases.close)


def _as_it_is(fetcher: Fetcher) -> Fetcher:
    return fetcher


def _real_clock(now_seconds: float) -> Clock:
    """A clock of this machine, put right by one that all workers share."""
    ahead = now_seconds - time.time()
    return RealClock(wall=lambda: time.time() + ahead)
