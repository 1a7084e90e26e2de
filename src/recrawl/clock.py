"""Clocks: the current time of a crawl, and how it waits.

A crawl reads instants in days after 1970 and waits in days. On a *scaled* clock a day passes in a
second or whatever is wanted: politeness, intervals and budgets shrink with it, while the limits of
a request stay in real seconds.

Touches: the clock.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

# Where the system has it, one that goes on while the machine sleeps.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
_LEAST_STEP_SECONDS = 2.0  # a leap second, or what came between two readings, is none


class Clock(Protocol):
    """Source of the current time, and a way to wait."""

    def now(self) -> float:
        """Days after 1970."""
        ...

    def seconds(self, days: float) -> float:
        """Real seconds that so many days take."""
        ...

    async def sleep(self, days: float) -> None:
        """Wait so long."""
        ...


def _steady() -> float:
    return time.clock_gettime(_STEADY)


class RealClock:
    """The time of day as it was at first, and the time that has passed since.

    It goes at one pace, whatever the system's clock is set to meanwhile: nothing is done sooner, or
    dated back, for that. `stepped` says by how much it was set.

    Args:
        wall: Epoch seconds by the system's clock.
        steady: Seconds by one that nobody can set.
    """

    def __init__(
        self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = _steady
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._ahead = self._seen_ahead = wall() - steady()

    def now(self) -> float:
        """Days after 1970."""
        return (self._steady() + self._ahead) / SECONDS_A_DAY

    def stepped(self) -> float:
        """Seconds by which the system's clock was set since this was last asked; 0 for hardly."""
        ahead = self._wall() - self._steady()
        step = ahead - self._seen_ahead
        if abs(step) < _LEAST_STEP_SECONDS:
            return 0.0
        self._seen_ahead = ahead
        return step

    def seconds(self, days: float) -> float:
        """Real seconds that so many days take."""
        return days * SECONDS_A_DAY

    async def sleep(self, days: float) -> None:
        """Wait so long."""
        await asyncio.sleep(days * SECONDS_A_DAY)


class ScaledClock:
    """A clock that runs fast.

    Args:
        seconds_a_day: Real seconds in which a day passes.
        start: What it shows at first, in days after 1970.
    """

    def __init__(self, seconds_a_day: float, start: float) -> None:
        self._seconds = seconds_a_day
        self._start = start
        self._began = time.monotonic()

    def now(self) -> float:
        """Days after 1970."""
        return self._start + (time.monotonic() - self._began) / self._seconds

    def seconds(self, days: float) -> float:
        """Real seconds that so many days take."""
        return days * self._seconds

    async def sleep(self, days: float) -> None:
        """Wait so long, on this clock."""
        await asyncio.sleep(days * self._seconds)
