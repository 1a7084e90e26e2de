"""Room in memory for large bodies: few at a time, whoever sends them.

A body is read within a small share of memory. One that turns out to be larger waits for one of a
few places, and keeps it for as long as its response is in memory: until the visit is over, however
long the work on it takes. So memory is bounded by places, not by how many hosts send large pages,
and small pages wait for nobody.

Touches: nothing but the event loop that it is used in.
"""

from __future__ import annotations

import asyncio
import weakref
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recrawl.parse.messages import Response

SMALL = 1 << 20  # bytes, as received and unpacked, that need no place
PLACES = 8


class LargeBodies:
    """Places for large bodies.

    Args:
        places: How many there are.
    """

    def __init__(self, places: int = PLACES) -> None:
        self._free = asyncio.Semaphore(places)
        self._loop: asyncio.AbstractEventLoop | None = None

    async def take(self) -> None:
        """Wait for a place."""
        self._loop = asyncio.get_running_loop()
        await self._free.acquire()

    def give_back(self) -> None:
        """Give a place back."""
        self._free.release()

    def keep_for(self, response: Response) -> None:
        """Give a place back once nobody has a response any more, in whichever thread that is."""
        weakref.finalize(response, self._give_back_from_anywhere).atexit = False

    def _give_back_from_anywhere(self) -> None:
        if self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self.give_back)
