"""Remarks on what holds a crawl up: each once an hour, and few.

Touches: the clock, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock

_AGAIN = 1 / 24  # days after which a sentence is news again
_MOST = 20  # in that time: a thousand hosts may have the same to say


class Remarks:
    """Hands remarks on, unless they were made of late.

    Args:
        on_remark: Called with each.
        clock: Source of the current time.
    """

    def __init__(self, on_remark: Callable[[str], object], clock: Clock) -> None:
        self._on_remark = on_remark
        self._clock = clock
        self._made: dict[str, float] = {}  # in the order of time

    def __call__(self, sentence: str) -> None:
        """Make a remark, if it is news."""
        now = self._clock.now()
        self._made = {each: at for each, at in self._made.items() if now - at < _AGAIN}
        if sentence not in self._made and len(self._made) < _MOST:
            self._made[sentence] = now
            self._on_remark(sentence)
