"""Looking for new pages of all sites, once a day each.

Touches: the network and the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from recrawl.entries.entries import SitesDiscovered
from recrawl.fetch.host_slots import PATIENCE
from recrawl.parse.addresses import origin_of
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from recrawl.clock import Clock
    from recrawl.crawl.discovery import Discovered, Discovery
    from recrawl.settings.rules import Rule

_EVERY = 1.0  # days
_LEAST = _EVERY / 1440
_RETRY = 1 / 24  # days, where a host could not be asked
_AT_ONCE = 32  # origins that are looked at: visits must not wait for thousands of them


class SiteFinder:
    """Looks for pages, site by site.

    Args:
        discovery: Looks at one site.
        rules: Sites and pages that are wanted.
        discovered: When each of their addresses was last looked at, in days after 1970; kept up to
            date here.
        clock: Source of the current time.
        add: Adds pages that were found.
        hear: Takes in where pages are dated, and when they changed last.
        write: Writes down which sites were looked at.
    """

    def __init__(  # noqa: PLR0913, PLR0917 - what it works with, and whom it calls back
        self,
        discovery: Discovery,
        rules: Sequence[Rule],
        discovered: dict[str, float],
        clock: Clock,
        add: Callable[[Sequence[str]], Awaitable[object]],
        hear: Callable[[Mapping[str, tuple[str, float]]], Awaitable[object]],
        write: Callable[[SitesDiscovered], object],
    ) -> None:
        self._discovery = discovery
        self._rules = rules
        self._discovered = discovered
        self._clock = clock
        self._add = add
        self._hear = hear
        self._write = write
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._origins: dict[str, list[int]] = {}
        for number, rule in enumerate(rules):
            if rule.listing:
                continue  # its pages are found by syncs
            self._origins.setdefault(origin_of(rule.address), []).append(number)

    async def find(self, numbers: Sequence[int], patience: float = inf) -> Discovered:
        """Look for the pages of some rules of one origin, and add them.

        Args:
            numbers: The rules.
            patience: Days to wait for a turn at its host at most.
        """
        found = await self._discovery.of(numbers, patience)
        await self._add(list(found.addresses))
        await self._hear(found.dates)
        discovered = self._clock.now() if found.reached else self._clock.now() - _EVERY + _RETRY
        addresses = [self._rules[number].address for number in numbers]
        self._discovered.update(dict.fromkeys(addresses, discovered))
        self._write(SitesDiscovered(addresses, discovered * SECONDS_A_DAY))
        return found

    async def find_due(
        self, on_found: Callable[[str, Discovered], object], patience: float = PATIENCE
    ) -> None:
        """Look at all sites at which nobody has looked for a day, some beside each other.

        Args:
            on_found: Called for each site, by its address.
            patience: Days to wait for a turn at a host at most.
        """
        async with asyncio.TaskGroup() as group:
            for numbers in self._origins.values():
                if min(self._due(number) for number in numbers) <= self._clock.now():
                    group.create_task(self._find_and_tell(numbers, on_found, patience))

    async def keep_finding(self, on_found: Callable[[str, Discovered], object]) -> None:
        """Look at each site once a day; `on_found` as in `find_due`."""
        while True:
            await self.find_due(on_found, inf)
            numbers = chain.from_iterable(self._origins.values())
            soonest = min(map(self._due, numbers), default=inf)
            await self._clock.sleep(min(max(soonest - self._clock.now(), _LEAST), _EVERY))

    def _due(self, number: int) -> float:
        return self._discovered.get(self._rules[number].address, -inf) + _EVERY

    async def _find_and_tell(
        self,
        numbers: Sequence[int],
        on_found: Callable[[str, Discovered], object],
        patience: float,
    ) -> None:
        async with self._turns:
            found = await self.find(numbers, patience)
        sites = [number for number in numbers if not self._rules[number].exact]
        on_found(self._rules[(sites or numbers)[0]].address, found)
