"""An event loop on virtual time: it waits for nothing, and goes at once to the next timer.

Time stands still while anything can be done. Where the loop was told that a thread is at work, all
else waits for it, and what it calls back comes next: every run of the same script is the same.

Touches: threads that it is told of.
"""

from __future__ import annotations

import asyncio
import selectors
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Made = TypeVar("Made")

# Turns of the loop at one instant: no crawl of ours takes as many, and one that spins does.
_MOST_TURNS = 100_000


class Stuck(AssertionError):
    """Nothing will ever happen, or the same for ever."""


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose seconds take no time.

    Attributes:
        now: Seconds since it began.
        step: Seconds by which the system's clock was set since then.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.step = 0.0
        self._expected = 0
        self._calls: SimpleQueue[Callable[[], object]] = SimpleQueue()
        super().__init__(_Jumps(self))
        self._clock_resolution = 1e-9

    def time(self) -> float:
        """Seconds since it began."""
        return self.now

    def wall(self) -> float:
        """Epoch seconds by the system's clock."""
        return NOON + self.now + self.step

    def expect_thread(self) -> None:
        """Let everything wait until a thread calls back."""
        self._expected += 1

    def call_soon_threadsafe(  # type: ignore[override] # its types are asyncio's own
        self, callback: Callable[..., object], *args: Any, **more: Any
    ) -> None:
        """Call back from a thread."""
        self._calls.put(partial(self.call_soon, callback, *args, **more))

    def hear_threads(self) -> None:
        """Wait for threads that are at work, and take in what they call back."""
        while self._expected or not self._calls.empty():
            self._calls.get()()
            self._expected = max(self._expected - 1, 0)

    @property
    def has_work(self) -> bool:
        """Whether something can be done at this instant."""
        return bool(self._ready)  # type: ignore[attr-defined] # asyncio's own

    def run_in_executor(self, *args: Any) -> Any:  # type: ignore[override] # the same
        """Work in a thread, for which time stands still."""
        self.expect_thread()
        return super().run_in_executor(*args)

    async def shutdown_default_executor(self, *args: Any) -> None:
        """End the threads of the executor."""
        if self._default_executor is not None:  # type: ignore[attr-defined] # asyncio's own
            self.expect_thread()
        await super().shutdown_default_executor(*args)


NOON = 20_000.5 * 86_400  # epoch seconds at which every script begins


class _Jumps(selectors.DefaultSelector):
    """Waits for threads alone: the time until the next timer passes at once."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop
        self._turns = 0

    def select(self, timeout: float | None = None) -> Any:
        self._loop.hear_threads()
        self._turns += 1
        if self._turns > _MOST_TURNS:
            raise Stuck(f"the loop turns for ever {self._loop.now} seconds after the start")
        if self._loop.has_work or (timeout is not None and timeout <= 0):
            return []
        if timeout is None:
            raise Stuck(f"nothing happens any more {self._loop.now} seconds after the start")
        self._loop.now += timeout
        self._turns = 0
        return []


def run(work: Callable[[VirtualLoop], Coroutine[Any, Any, Made]]) -> Made:
    """Run a coroutine on a loop of its own."""
    loop = VirtualLoop()
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work(loop))
