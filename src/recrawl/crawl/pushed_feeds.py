"""Feeds that may be subscribed to at hubs: those of a crawl, or of all slots of one.

Touches: a store, through what it is given.
"""

from __future__ import annotations

import asyncio
import time
from math import inf
from typing import TYPE_CHECKING, Protocol

from recrawl.frontier.sources import SourceTable
from recrawl.parse.addresses import origin_of
from recrawl.state.sources import wanted_sources

if TYPE_CHECKING:
    from recrawl.entries.pushes import Subscription
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings
    from recrawl.state.opening import Crawl

_READ_SECONDS = 15.0  # between two looks at what other workers have found


class PushedFeeds(Protocol):
    """Feeds, and the settings of the crawl that they are of."""

    @property
    def settings(self) -> Settings:
        """What is asked of the crawl."""

    @property
    def sources(self) -> SourceTable:
        """Its sitemaps, feeds and lists."""

    def subscriptions(self) -> list[Subscription]:
        """Subscriptions of earlier crawls."""

    async def refresh(self) -> None:
        """Take in what is known by now."""

    def pay(self, origin: str, now: float) -> None:
        """Pay for a request to a hub as for a look at the feed of an origin."""


class CrawlFeeds:
    """Feeds of a crawl; see `PushedFeeds` for its methods.

    Args:
        crawl: The crawl as it stands.
        reader: Its store.
    """

    def __init__(self, crawl: Crawl, reader: ReadStore) -> None:
        self._crawl = crawl
        self._reader = reader

    @property
    def settings(self) -> Settings:
        """What is asked of the crawl."""
        return self._crawl.settings

    @property
    def sources(self) -> SourceTable:
        """Its sitemaps, feeds and lists."""
        return self._crawl.sources

    def subscriptions(self) -> list[Subscription]:
        """Subscriptions of earlier crawls."""
        return self._reader.subscriptions()

    async def refresh(self) -> None:
        """Nothing: a crawl knows its own."""

    def pay(self, origin: str, now: float) -> None:
        """Pay for a request to a hub as for a look at the feed of an origin."""
        rules = self._crawl.settings.rules
        numbers = (row for row, rule in enumerate(rules) if origin_of(rule.address) == origin)
        self._crawl.agenda.pool(next(numbers)).look(now)


class StoreFeeds:
    """Feeds of all slots of a store; see `PushedFeeds` for its methods.

    Args:
        settings: Settings of the whole crawl.
        reader: The whole store; nobody else uses this reader.
        payer: The slot that pays for requests to hubs.
    """

    def __init__(self, settings: Settings, reader: ReadStore, payer: Crawl) -> None:
        self.settings = settings
        self.sources = SourceTable(())
        self._reader = reader
        self._payer = payer
        self._read_at = -inf

    def subscriptions(self) -> list[Subscription]:
        """Subscriptions of earlier crawls."""
        return self._reader.subscriptions()

    async def refresh(self) -> None:
        """Read what other workers have found, now and then."""
        now = time.monotonic()
        if now >= self._read_at + _READ_SECONDS:
            self._read_at = now
            found = await asyncio.to_thread(wanted_sources, self.settings, self._reader)
            self.sources = SourceTable(found)

    def pay(self, origin: str, now: float) -> None:  # noqa: ARG002 - of another slot, perhaps
        """Pay for a request to a hub from the slot's share of the budget."""
        self._payer.agenda.budget_pool(0).look(now)
