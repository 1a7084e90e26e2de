"""Worker threads: work that takes long, done beside the event loop.

Each piece of work has a thread that does not keep the program from ending: whatever a page holds,
a crawl that is asked to stop stops. Few are worked on at a time, since each may need memory for a
large page many times over, and of large pages one: however many there are, small ones go on beside
them. A thread cannot be ended from outside, so work that nobody waits for any
more goes on; where that has happened too often, nothing is begun before some of it has ended.

Touches: threads.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")

_AT_ONCE = 2
_MOST_THREADS = 4  # with those that nobody waits for any more
_LONGEST_SECONDS = 60.0
_LARGE = 1 << 20  # bytes of a page


class WorkerThreads:
    """Does work beside the loop that it is made in.

    Args:
        longest_seconds: After which nobody waits for a piece of work any more.
    """

    def __init__(self, longest_seconds: float = _LONGEST_SECONDS) -> None:
        self._few = asyncio.Semaphore(_AT_ONCE)
        self._large = asyncio.Semaphore(_AT_ONCE - 1)
        self._longest_seconds = longest_seconds
        self._threads = 0

    async def run(self, work: Callable[[], Made], size: int = 0) -> Made:
        """What some work makes; `TimeoutError` where that, or other work, takes too long.

        Args:
            work: What to do.
            size: Bytes of the page that it is done on.
        """
        if size <= _LARGE:
            return await self._in_turn(work)
        async with self._large:
            return await self._in_turn(work)

    async def _in_turn(self, work: Callable[[], Made]) -> Made:
        async with self._few:
            if self._threads >= _MOST_THREADS:
                message = (
                    f"{self._threads} other pieces of work must end first (they take too long)"
                )
                raise TimeoutError(message)
            loop = asyncio.get_running_loop()
            made: asyncio.Future[Made] = loop.create_future()
            thread = threading.Thread(target=self._run, args=(work, made, loop), daemon=True)
            thread.start()
            self._threads += 1
            async with asyncio.timeout(self._longest_seconds):
                return await made

    def _run(
        self, work: Callable[[], Made], made: asyncio.Future[Made], loop: asyncio.AbstractEventLoop
    ) -> None:
        """Do some work, and tell the loop; in a thread."""
        result: Made | None = None
        error: BaseException | None = None
        try:
            result = work()
        except BaseException as raised:  # noqa: BLE001 - who waits must hear of it, whatever it is
            error = raised

        def tell() -> None:  # in the loop, so that one thread counts all
            self._threads -= 1
            if made.done():
                return  # nobody waits any more
            if error is not None:
                made.set_exception(error)
            else:
                made.set_result(result)  # type: ignore[arg-type] # what the work made

        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(tell)
