"""Work that takes long, done beside the loop.

Each piece of work has a thread that does not keep the program from ending: whatever a page holds,
a crawl that is asked to stop stops. Few are worked on at a time, since each may need memory for a
large page many times over.

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
_LONGEST_SECONDS = 60.0


class Aside:
    """Does work beside the loop that it is made in.

    Args:
        longest_seconds: After which nobody waits for a piece of work any more.
    """

    def __init__(self, longest_seconds: float = _LONGEST_SECONDS) -> None:
        self._few = asyncio.Semaphore(_AT_ONCE)
        self._longest_seconds = longest_seconds

    async def do(self, work: Callable[[], Made]) -> Made:
        """What some work makes; `TimeoutError` where it takes too long."""
        async with self._few:
            loop = asyncio.get_running_loop()
            made: asyncio.Future[Made] = loop.create_future()
            thread = threading.Thread(target=_run, args=(work, made, loop), daemon=True)
            thread.start()
            async with asyncio.timeout(self._longest_seconds):
                return await made


def _run(
    work: Callable[[], Made], made: asyncio.Future[Made], loop: asyncio.AbstractEventLoop
) -> None:
    """Do some work, and tell the loop; in a thread."""
    result: Made | None = None
    error: BaseException | None = None
    try:
        result = work()
    except BaseException as raised:  # noqa: BLE001 - whoever waits must hear of it, whatever it is
        error = raised

    def tell() -> None:
        if made.done():
            return  # nobody waits any more
        if error is not None:
            made.set_exception(error)
        else:
            made.set_result(result)  # type: ignore[arg-type] # what the work made

    with suppress(RuntimeError):  # the loop is closed: nobody waits any more
        loop.call_soon_threadsafe(tell)
