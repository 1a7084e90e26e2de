"""Waiting one's turn at a host.

A lease comes with its host's turn. Whatever else a visit has to ask, robots.txt before it and
redirects after it, waits for turns of its own. A turn that is not far is taken at once and waited
for: nobody is overtaken for ever. One that is too far is refused, so that no visit waits for hours.

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
    from recrawl.frontier.agenda import Agenda

# Days that a visit waits for a turn at most; a host may ask for more between requests.
PATIENCE = 5 / 1440
# Requests under way at a host end within their own limits; a long line of others may not.
_LONGEST_LINE_SECONDS = 120.0


class TooFar(Exception):
    """A host whose turn is too far off.

    Args:
        until: Instant from which it may be asked.
    """

    def __init__(self, until: float) -> None:
        super().__init__(until)
        self.until = until


@dataclass(slots=True)
class Turn:
    """Leave to ask a host.

    Attributes:
        host: The host.
        held: Whether it is still ours.
    """

    host: int
    held: bool = True


class Gate:
    """Turns at hosts.

    Args:
        agenda: Knows when each host may be asked.
        clock: What time it is.
        left: Called whenever a turn has ended: whoever waits for leases may get one sooner.
    """

    def __init__(self, agenda: Agenda, clock: Clock, left: Callable[[], object]) -> None:
        self._agenda = agenda
        self._clock = clock
        self._left = left
        self._waiting: dict[int, list[asyncio.Future[None]]] = {}

    async def enter(self, host: int, patience: float = PATIENCE) -> Turn:
        """Wait until a host may be asked, and ask it; `TooFar` where that takes too long."""
        turn = Turn(host, held=False)
        await self.again(turn, None, patience)
        return turn

    async def again(self, turn: Turn, wait: float | None, patience: float = PATIENCE) -> None:
        """Wait for the next turn at a host; where one is held, it ends and nobody comes between.

        Where that takes too long, `TooFar` is raised and no turn is held.

        Args:
            turn: The turn, held or not.
            wait: Days that the answer of the one that ends took to begin.
            patience: Days to wait at most.
        """
        hosts = self._agenda.hosts
        if turn.held:
            hosts.answered(turn.host, self._clock.now(), wait)
            turn.held = False
        began = asyncio.get_running_loop().time()
        while hosts.ready(turn.host) == inf:
            await self._line(turn.host, began, patience)
        await self._take(turn, patience)

    def leave(self, turn: Turn, wait: float | None = None) -> None:
        """End a turn, and say how long the answer took to begin, in days; again is nothing."""
        if not turn.held:
            return
        turn.held = False
        self._agenda.freed(turn.host, self._clock.now(), wait)
        for left in self._waiting.pop(turn.host, ()):
            if not left.done():
                left.set_result(None)
        self._left()

    async def _take(self, turn: Turn, patience: float) -> None:
        """Take the next turn of a host that has one, before anybody else, and wait for it."""
        hosts, host = self._agenda.hosts, turn.host
        ready, now = hosts.ready(host), self._clock.now()
        if ready - now > patience:
            raise TooFar(ready)
        hosts.ask(host, max(ready, now))
        turn.held = True
        try:
            while (now := self._clock.now()) < ready:
                await self._clock.sleep(ready - now)
        except BaseException:
            self.leave(turn)
            raise
        hosts.begun(host, now)

    async def _line(self, host: int, began: float, patience: float) -> None:
        """Wait until somebody has left a host at which enough requests are under way."""
        loop = asyncio.get_running_loop()
        left = loop.create_future()
        self._waiting.setdefault(host, []).append(left)
        limit = None if patience == inf else began + _LONGEST_LINE_SECONDS - loop.time()
        try:
            await asyncio.wait_for(left, limit)
        except TimeoutError:
            raise TooFar(self._clock.now() + patience) from None
