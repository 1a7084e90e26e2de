"""Slots at hosts: whoever asks a host holds one while its request is under way.

A lease of a page comes with a slot. Whatever else a visit has to ask, robots.txt before it and
redirects after it, acquires slots of its own. A slot that is near is taken at once and waited for,
so that nobody is overtaken for ever. One that is too far off raises `HostBusy`, so that no visit
waits for hours. Whoever has a slot may have to wait for a connection, too; so `send` asks once more
at the very instant at which a request goes out.

Touches: the clock, through what it is given.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.frontier.host_table import HostTable

# Days that a visit waits for a slot at most; a host may ask for more between requests.
PATIENCE = 5 / 1440
# Requests under way at a host end within their own limits; a long queue of others may not.
_LONGEST_QUEUE_SECONDS = 120.0


class HostBusy(Exception):
    """The next slot at a host is too far off.

    Args:
        until: Instant from which the host may be asked, in days after 1970.
        why: A sentence where that is not the host's wish; else empty.
    """

    def __init__(self, until: float, why: str = "") -> None:
        super().__init__(until, why)
        self.until = until
        self.why = why


@dataclass(slots=True)
class HostSlot:
    """Permission to ask a host.

    Attributes:
        host: Row of the host.
        held: Whether the slot is still ours.
    """

    host: int
    held: bool = True


class HostSlots:
    """Hands out slots at hosts.

    Args:
        hosts: Knows when each host may be asked.
        clock: Source of the current time.
        on_release: Called with the host whose slot was released.
    """

    def __init__(self, hosts: HostTable, clock: Clock, on_release: Callable[[int], object]) -> None:
        self._hosts = hosts
        self._clock = clock
        self._on_release = on_release
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}

    async def acquire(self, host: int, patience: float = PATIENCE) -> HostSlot:
        """Wait for a slot at a host; `HostBusy` where that takes longer than `patience` days."""
        slot = HostSlot(host, held=False)
        await self.reacquire(slot, None, patience)
        return slot

    async def reacquire(
        self, slot: HostSlot, latency: float | None, patience: float = PATIENCE
    ) -> None:
        """Wait for the next slot at the same host; nobody comes between where one is held.

        Where that takes too long, `HostBusy` is raised and no slot is held.

        Args:
            slot: The slot, held or not.
            latency: Days that the response to the last request took to begin.
            patience: Days to wait at most.
        """
        if slot.held:
            self._hosts.end(slot.host, self._clock.now(), latency)
            slot.held = False
        began = asyncio.get_running_loop().time()
        while self._hosts.ready(slot.host) == inf:
            await self._queue(slot.host, began, patience)
        await self._take(slot, patience)

    def send(self, slot: HostSlot, now: float) -> None:
        """Note that the request of a slot is sent now; `HostBusy` where its host must wait.

        Since the slot was taken others may have been sent, later than theirs, and the host may have
        asked for a longer delay, or to be left alone.
        """
        ready = self._hosts.may_send(slot.host)
        if ready > now:
            raise HostBusy(ready)
        self._hosts.sent(slot.host, now)

    def release(self, slot: HostSlot, latency: float | None = None) -> None:
        """Give a slot back, and say how many days the response took to begin. Idempotent."""
        if not slot.held:
            return
        slot.held = False
        self._hosts.end(slot.host, self._clock.now(), latency)
        for waiting in self._waiting.pop(slot.host, ()):
            if not waiting.done():
                waiting.set_result(None)
        self._on_release(slot.host)

    async def _take(self, slot: HostSlot, patience: float) -> None:
        """Take the next slot of a host that has one, before anybody else, and wait for it."""
        hosts, host = self._hosts, slot.host
        ready, now = hosts.ready(host), self._clock.now()
        if ready - now > patience:
            raise HostBusy(ready)
        hosts.begin(host, max(ready, now))
        slot.held = True
        try:
            while (now := self._clock.now()) < ready:
                await self._clock.sleep(ready - now)
        except BaseException:
            self.release(slot)
            raise

    async def _queue(self, host: int, began: float, patience: float) -> None:
        """Wait until somebody has released a slot at a host at which all are taken."""
        loop = asyncio.get_running_loop()
        released = loop.create_future()
        self._waiting.setdefault(host, []).append(released)
        limit = None if patience == inf else began + _LONGEST_QUEUE_SECONDS - loop.time()
        try:
            # Not wait_for: before Python 3.12 it forgets a cancellation that comes together with
            # the slot, and whoever has asked a crawl to stop waits for ever.
            async with asyncio.timeout(limit):
                await released
        except TimeoutError:
            raise HostBusy(self._clock.now() + patience) from None
