"""One budget of bytes for all bodies in memory: as they come, decoded, and until they are let go.

A body reserves what it needs as it grows, and waits where the budget is spent; what it reserved is
free again once nobody has its response any more. A part of the budget is for small bodies alone, so
that these never wait for large ones, and owners take turns where several wait. Large bodies that
have begun go before those that have not; these leave room to decode one, and one may exceed the
budget: so half-read bodies do not wait for each other. Nobody waits for ever: who has waited too
long is told so, and has done nothing wrong.

Touches: nothing but the event loop that it is used in.
"""

from __future__ import annotations

import asyncio
import weakref
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING

from recrawl.errors import FetchFailed
from recrawl.frontier.fair_shares import RoundRobin
from recrawl.parse.addresses import site_of

if TYPE_CHECKING:
    from recrawl.parse.messages import Response

SMALL = 1 << 19  # bytes of a body, as received and decoded together, that count as few
TOTAL = 96 << 20
_FOR_SMALL, _FOR_DECODING = 32 << 20, 32 << 20  # of the total
LONGEST_SECONDS = 60.0

_FEW, _BEGUN, _NEW = range(3)  # in the order in which they are served


class ByteBudget:
    """Bytes that all bodies share.

    Args:
        total: How many there are.
        for_small: How many of them large bodies must leave.
        for_decoding: How many more large bodies must leave that have not begun.
        longest_seconds: For which a body waits at most.
    """

    def __init__(
        self,
        total: int = TOTAL,
        for_small: int = _FOR_SMALL,
        for_decoding: int = _FOR_DECODING,
        longest_seconds: float = LONGEST_SECONDS,
    ) -> None:
        self._used = 0
        self._large = 0  # how many large bodies are there
        self._total = total
        self._for_large = total - for_small
        self._for_decoding = for_decoding
        self._longest_seconds = longest_seconds
        self._waiting = [RoundRobin[_Wish]() for _ in (_FEW, _BEGUN, _NEW)]
        self._wishes = 0  # that wait there
        self._exceeding: Reservation | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        # Of responses that somebody has, and of those that nobody has any more.
        self._held: dict[int, tuple[weakref.ref[Response], Reservation]] = {}
        self._let_go: deque[Reservation] = deque()

    @property
    def used(self) -> int:
        """Bytes that are reserved."""
        self._take_back()
        return self._used

    def grow_now(self, held: Reservation, size: int) -> bool:
        """Reserve as many bytes, if nobody has to wait for them; whether they are reserved."""
        if self._let_go:
            self._take_back()
        first = held is self._exceeding or not self._wishes
        fits = first and self._fits(held, size)
        if fits:
            self._set(held, size)
        return fits

    async def grow(self, held: Reservation, size: int) -> None:
        """Wait until a reservation may have so many bytes; `FetchFailed` where that takes long."""
        if self.grow_now(held, size):
            return
        self._loop = asyncio.get_running_loop()
        wish = _Wish(held, size, self._loop.create_future())
        kind = _FEW if size <= SMALL else _BEGUN if held.size > SMALL else _NEW
        self._waiting[kind].put(site_of(held.address), wish)
        self._wishes += 1
        self._take_back()
        self._serve()
        try:
            async with asyncio.timeout(self._longest_seconds):
                await wish.granted
        except TimeoutError:
            message = f"no memory was free for it within {self._longest_seconds:g} seconds"
            raise FetchFailed("overloaded", message) from None

    def shrink(self, held: Reservation, size: int) -> None:
        """Give back what is beyond so many bytes."""
        if held.size > size:
            self._set(held, size)
            if held is self._exceeding and self._used <= self._for_large:
                self._exceeding = None
            if self._wishes:
                self._serve()

    def keep_for(self, response: Response, held: Reservation) -> None:
        """Hold what a response's body takes until nobody has the response any more."""
        self.shrink(held, len(response.body))
        if held.size:
            kept = weakref.ref(response, self._note_end)
            self._held[id(kept)] = kept, held  # what it refers to may have no hash

    def _note_end(self, response: weakref.ref[Response]) -> None:
        """Note that nobody has a response: in whichever thread, in the midst of other work."""
        self._let_go.append(self._held.pop(id(response))[1])
        # Noted first: who begins to wait looks at what was noted.
        if self._wishes and self._loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._take_back)

    def _take_back(self) -> None:
        """Take back what was held for responses that nobody has any more."""
        while self._let_go:
            self.shrink(self._let_go.popleft(), 0)

    def _serve(self) -> None:
        """Grant what fits, to each in turn; who has not begun waits for those who have."""
        for kind, waiting in enumerate(self._waiting):
            while waiting:
                wish = waiting.peek()
                if not wish.granted.done():
                    if not self._fits(wish.held, wish.size):
                        break
                    self._set(wish.held, wish.size)
                    wish.granted.set_result(None)
                waiting.take()
                self._wishes -= 1
            if waiting and kind == _BEGUN:
                return

    def _fits(self, held: Reservation, size: int) -> bool:
        limit = self._total
        if size > SMALL:
            limit = self._for_large - (self._for_decoding if held.size <= SMALL else 0)
        if self._used + size - held.size <= limit or size <= held.size:
            return True
        if (held.size > SMALL or not self._large) and self._exceeding in (None, held):
            self._exceeding = held
            return True
        return False

    def _set(self, held: Reservation, size: int) -> None:
        self._used += size - held.size
        self._large += (size > SMALL) - (held.size > SMALL)
        held.size = size
        if not size and held is self._exceeding:
            self._exceeding = None


class Reservation:
    """Bytes that one body holds.

    Args:
        budget: The budget that they are of.
        address: Address of the body.
    """

    __slots__ = ("__weakref__", "_budget", "address", "size")

    def __init__(self, budget: ByteBudget, address: str) -> None:
        self.address = address
        self.size = 0
        self._budget = budget

    def grow_now(self, size: int) -> bool:
        """Reserve as many bytes, if there is no need to wait; whether they are reserved."""
        return self._budget.grow_now(self, size)

    async def grow(self, size: int) -> None:
        """Wait until so many bytes are held; `FetchFailed` where that takes too long."""
        await self._budget.grow(self, size)

    def release(self) -> None:
        """Give all back. Idempotent."""
        self._budget.shrink(self, 0)

    def keep_for(self, response: Response) -> None:
        """Hold what a response's body takes until nobody has the response any more."""
        self._budget.keep_for(response, self)


class _Wish:
    """Somebody waits to hold so many bytes."""

    __slots__ = ("granted", "held", "size")

    def __init__(self, held: Reservation, size: int, granted: asyncio.Future[None]) -> None:
        self.held = held
        self.size = size
        self.granted = granted
