"""Keeping the copies of all listings as good as is wanted, beside the visits of a crawl.

Detail pages in slots of other workers are handed over to them in the transaction of the sync; each
slot looks every few seconds for what was handed over to it.

Touches: the network, the clock and a store, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from recrawl.entries.entries import DetailPages, DetailsTaken, PagesFound
from recrawl.errors import InvalidInput
from recrawl.fetch.host_slots import PATIENCE, HostBusy
from recrawl.listings.live.details import allowed_details
from recrawl.listings.live.judging import RETRY, ListingFacts, judge_sync, live_forecast, next_due
from recrawl.parse.addresses import host_of
from recrawl.settings.rules import NO_RULE
from recrawl.state.events import told_event
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import FeedKind, RemovalReason

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.clock import Clock
    from recrawl.crawl.listing_fetch import ListFetcher
    from recrawl.entries.entries import PageEvent, Receipt
    from recrawl.entries.listings import ListingSynced
    from recrawl.entries.store import ReadStore
    from recrawl.listings.live.forecast import LiveForecast
    from recrawl.listings.live.rules import ListingRule
    from recrawl.settings.settings import Settings

_LONGEST_SLEEP = 1 / 24
_EVERY_SECONDS = 2.0
_HANDED_AT_ONCE = 1000


class ListingSyncer:
    """Syncs listings when they are due.

    Args:
        settings: What is asked of the crawl, with its listings.
        fetcher: Reads a list.
        reader: The store; threads read from clones of it.
        clock: Source of the current time.
        put: Writes a sync; the future holds its receipt once it is on disk.
    """

    def __init__(
        self,
        settings: Settings,
        fetcher: ListFetcher,
        reader: ReadStore,
        clock: Clock,
        put: Callable[[ListingSynced], asyncio.Future[Receipt]],
    ) -> None:
        self._settings = settings
        self._rules = settings.synced_listings
        self._fetcher = fetcher
        self._reader = reader
        self._clock = clock
        self._put = put
        # What is known after the last sync: to work it out again takes a while.
        self._forecasts: dict[str, LiveForecast | None] = {}

    async def sync(self, rule: ListingRule, patience: float = inf) -> ListingSynced:
        """Sync a listing now, and write what came of it.

        `HostBusy` where a host must be left alone for longer than `patience`, in days; then nothing
        is written.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        read = await self._fetcher.read(rule, patience)
        took_seconds = loop.time() - began
        read.details = allowed_details(rule, read.details, self._has_block)
        known = await asyncio.to_thread(self._known, rule)
        now = self._clock.now()
        synced, forecast = await asyncio.to_thread(judge_sync, rule, known, read, now)
        details = None
        if rule.layout.detail and synced.outcome.accepted:
            details = self._details(rule, known.other_details(read), now * SECONDS_A_DAY)
        synced = replace(synced, took_seconds=took_seconds, details=details)
        await self._put(synced)
        self._forecasts[rule.name] = forecast
        return synced

    async def sync_due(
        self, on_sync: Callable[[ListingSynced], object], patience: float = PATIENCE
    ) -> None:
        """Sync all listings that are due, beside each other.

        Args:
            on_sync: Called with each sync once it is on disk.
            patience: Days to wait for a turn at a host at most.
        """
        async with asyncio.TaskGroup() as group:
            for rule in self._rules:
                group.create_task(self._sync_if_due(rule, on_sync, patience))

    async def keep(self, on_sync: Callable[[ListingSynced], object]) -> None:
        """Sync each listing whenever it is due; `on_sync` as in `sync_due`."""
        async with asyncio.TaskGroup() as group:
            for rule in self._rules:
                group.create_task(self._keep(rule, on_sync))

    async def _keep(self, rule: ListingRule, on_sync: Callable[[ListingSynced], object]) -> None:
        due = await self._due(rule)
        while True:
            while (now := self._clock.now()) < due:
                await self._clock.sleep(min(due - now, _LONGEST_SLEEP))
            try:
                synced = await self.sync(rule)
            except HostBusy as busy:
                due = min(busy.until, self._clock.now() + RETRY)
                continue
            except InvalidInput:  # refused by the store for its own sake: the crawl goes on
                due = self._clock.now() + RETRY
                continue
            due = synced.next_at_seconds / SECONDS_A_DAY
            on_sync(synced)

    async def _sync_if_due(
        self, rule: ListingRule, on_sync: Callable[[ListingSynced], object], patience: float
    ) -> None:
        if await self._due(rule) > self._clock.now():
            return
        try:
            on_sync(await self.sync(rule, patience))
        except (HostBusy, InvalidInput):  # the next crawl syncs it
            return

    async def _due(self, rule: ListingRule) -> float:
        known = await asyncio.to_thread(self._known, rule)
        return await asyncio.to_thread(next_due, rule, known, self._clock.now())

    def _has_block(self, address: str) -> bool:
        return (self._settings.whole or self._settings).rule_of(address) != NO_RULE

    def _details(self, rule: ListingRule, addresses: dict[str, str], at: float) -> DetailPages:
        """Detail pages that are other ones now; those of other slots are handed over to them."""
        settings = self._settings
        pages = filter(settings.has_in_slot, filter(None, addresses.values()))
        found = _found(settings, dict.fromkeys(pages, rule.name), at)
        return DetailPages(addresses, found, settings.detail_rules[rule.name], *_told(at))

    def _known(self, rule: ListingRule) -> ListingFacts:
        """What the store knows; in a thread, with a reader of its own."""
        with self._reader.clone() as reader:
            history = reader.listing_history(rule.name)
            listed = reader.listed_objects(rule.name)
            details = reader.detail_addresses(rule.name) if rule.layout.detail else {}
        if rule.name not in self._forecasts:
            self._forecasts[rule.name] = live_forecast(history)
        return ListingFacts(history, listed, self._forecasts[rule.name], details)


class DetailTaker:
    """Takes in detail pages that other slots have handed over.

    What waits in a store without slots was left by workers that crawled it before.

    Args:
        settings: What is asked of the crawl, or of its slot.
        reader: Its store.
        clock: Source of the current time.
        put: Writes down what was taken.
    """

    def __init__(
        self,
        settings: Settings,
        reader: ReadStore,
        clock: Clock,
        put: Callable[[DetailsTaken], asyncio.Future[Receipt]],
    ) -> None:
        self._settings = settings
        self._reader = reader
        self._clock = clock
        self._put = put
        self._last = 0

    async def take(self) -> None:
        """Take what waits."""
        rules = tuple(self._settings.detail_rules.values())
        while some := self._reader.handed_details(self._last, _HANDED_AT_ONCE):
            at = self._clock.now() * SECONDS_A_DAY
            found = _found(self._settings, {each: listing for _, listing, each in some}, at)
            self._last = some[-1][0]
            await self._put(DetailsTaken(found, rules, *_told(at)))

    async def keep_taking(self) -> None:
        """Look for more every few seconds, where there are other slots."""
        await self.take()
        while self._settings.whole is not None:
            await asyncio.sleep(_EVERY_SECONDS)
            await self.take()


def _found(settings: Settings, listings: Mapping[str, str], at: float) -> PagesFound:
    """Detail pages by the listings of their addresses, whose rules they have where no block holds.

    Args:
        settings: What is asked of the crawl.
        listings: Name of the listing of each address.
        at: When they were found, in epoch seconds.
    """
    pages, own = list(listings), settings.detail_rules
    rules = [
        own.get(name, NO_RULE) if rule == NO_RULE else rule
        for rule, name in zip(settings.rules_of(pages), listings.values(), strict=True)
    ]
    return PagesFound(pages, [host_of(each) for each in pages], rules, at)


def _told(at: float) -> tuple[PageEvent, PageEvent]:
    """What readers are told of a page that is not listed any more, and of one that is again."""
    unlisted = told_event(FeedKind.REMOVED, at, RemovalReason.UNLISTED)
    return unlisted, told_event(FeedKind.BACK, at)
