"""Hints that pages have changed, heard while a crawl runs.

Those that lists of changed pages and pushes bring are put into the store first, as those of others
are, and stay there until a checkpoint knows of them: a crawl that is killed has them still.

Touches: a store and the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from recrawl.detect.reliability import HINT, precision
from recrawl.entries.entries import HintsGiven
from recrawl.parse.addresses import host_of
from recrawl.scheduler.waiting_hints import hear_waiting, taken_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recrawl.entries.entries import Entry, Receipt
    from recrawl.entries.store import ReadStore
    from recrawl.state.opening import Crawl

_EVERY_SECONDS = 2.0


class HintTaker:
    """Takes hints.

    Args:
        crawl: The crawl as it stands.
        reader: Its store.
        add: Adds pages that were not known, by their addresses.
        write: Writes an entry down.
        on_hints: Called when some were taken.
    """

    def __init__(
        self,
        crawl: Crawl,
        reader: ReadStore,
        add: Callable[[Iterable[str]], object],
        write: Callable[[Entry], asyncio.Future[Receipt]],
        on_hints: Callable[[], object],
    ) -> None:
        self._crawl = crawl
        self._reader = reader
        self._add = add
        self._write = write
        self._on_hints = on_hints

    async def give(self, addresses: Sequence[str], at_seconds: float) -> int:
        """Note hints and take them; returns how many changes and new pages to expect of them.

        Args:
            addresses: Addresses of pages that are taken in.
            at_seconds: When, in epoch seconds.
        """
        await self._write(HintsGiven(addresses, at_seconds))
        crawl, pages = self._crawl, self._reader.find_pages(addresses)
        expected = 0.0
        for address, page in zip(addresses, pages, strict=True):
            host = crawl.hosts.row(host_of(address))
            expected += 1.0 if page is None else precision(crawl.trust.record(host, HINT))
        await self.take()
        return round(expected)

    async def take(self) -> None:
        """Take the hints that wait: known pages may have changed, others are new pages."""
        while (new := hear_waiting(self._crawl, self._reader)) is not None:
            if new:
                self._add(new)
            if (taken := taken_by(self._crawl)) is not None:
                self._write(taken)
            self._on_hints()
            await asyncio.sleep(0)

    async def keep_taking(self) -> None:
        """Look for hints every few seconds."""
        while True:
            await self.take()
            await asyncio.sleep(_EVERY_SECONDS)
