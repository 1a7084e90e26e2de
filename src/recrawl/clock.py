"""Clocks: the current time of a crawl, and how it waits.

A crawl reads instants in days after 1970 and waits in days. On a *scaled* clock a day passes in a
second or whatever is wanted: politeness, intervals and budgets shrink with it, while the limits of
a request stay in real seconds.

Touches: the clock.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol

from recrawl.units import SECONDS_A_DAY

# Where the system has it, one that goes on while the machine sleeps.
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


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


class RealClock:
    """The clock on the wall; it never goes back, even where the wall's is set back."""

    def __init__(self) -> None:
        self._ahead = time.time() - time.clock_gettime(_STEADY)

    def now(self) -> float:
        """Days after 1970."""
        return (time.clock_gettime(_STEADY) + self._ahead) / SECONDS_A_DAY

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
