"""How long the event loop was held up: time that counts for no host.

While a thread reads a large page, or others use the machine, the loop hears of a response late. A
host that seems slow for that reason would be asked less often.

Touches: the clock of the event loop.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_TICK_SECONDS = 0.05


class LoopLag:
    """Knows by how much the running loop was late just now, while anybody wants to know.

    It watches the loop as long as a block of anybody's is under way: `with lag: ...`.

    Args:
        on_tick: Called twenty times a second meanwhile, with the loop's time: one timer for all
            that are waited for.
    """

    def __init__(self, on_tick: Callable[[float], object] = bool) -> None:
        self._on_tick = on_tick
        self._watching = 0
        self._late = 0.0
        self._ticked = 0.0

    def __enter__(self) -> None:
        self._watching += 1
        if self._watching == 1:
            self._loop = asyncio.get_running_loop()
            self._next_tick()

    def __exit__(self, *_: object) -> None:
        self._watching -= 1
        if not self._watching:
            self._timer.cancel()

    def newest(self) -> float:
        """Seconds for which the loop was held up until a moment ago; 0 where it was not.

        To be asked while a block is under way.
        """
        return self._late if self._loop.time() - self._ticked < _TICK_SECONDS else 0.0

    def _next_tick(self) -> None:
        self._timer = self._loop.call_later(_TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self._ticked = self._loop.time()
        self._late = max(self._ticked - self._timer.when(), 0.0)
        self._next_tick()
        self._on_tick(self._ticked)
