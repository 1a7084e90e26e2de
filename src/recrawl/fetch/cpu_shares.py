"""Shares of CPU time by registered domain: who takes more than a fair one is asked later.

Whoever owns a domain owns all names below it, so that a domain is what shares. What decoding and
reading its pages took is charged to it. Where all domains together take most of what one core has,
or large pages most of what there is for them, those above their share are asked again once theirs
has faded; that is no fault of theirs that counts, and the others go on.

Touches: the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from recrawl.frontier.fair_shares import FairShares

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock

MUCH_CPU = "reading its pages has taken more than its share of CPU time; it is visited less often"

_WINDOW_SECONDS = 60.0
# CPU seconds a minute of all domains together, the rest being for the event loop; and of large
# pages, somewhat less than worker threads may spend on them, so that these do not pile up.
CAPACITY_SECONDS, LARGE_SECONDS = 45.0, 5.0


class CpuShares:
    """Who has used how much CPU of late.

    Args:
        clock: Source of the current time.
        on_wait: Called with a sentence on a domain that must wait, each time it is looked at.
        capacity: CPU seconds a minute that all domains may use together.
        large: How many of them for large pages.
    """

    def __init__(
        self,
        clock: Clock,
        on_wait: Callable[[str], object] = bool,
        *,
        capacity: float = CAPACITY_SECONDS,
        large: float = LARGE_SECONDS,
    ) -> None:
        self._clock = clock
        self._on_wait = on_wait
        self._all = FairShares(capacity, _WINDOW_SECONDS)
        self._large = FairShares(large, _WINDOW_SECONDS)

    def charge(self, domain: str, seconds: float, *, large: bool = False) -> None:
        """Count CPU seconds that were spent on a page of a domain."""
        now = time.monotonic()
        self._all.charge(domain, seconds, now)
        if large:
            self._large.charge(domain, seconds, now)

    def wait(self, domain: str) -> float:
        """Days for which a domain is not to be asked; 0 where it may be."""
        now = time.monotonic()
        seconds = max(self._all.wait(domain, now), self._large.wait(domain, now))
        if not seconds:
            return 0.0
        self._on_wait(f"{domain}: {MUCH_CPU}")
        return seconds / self._clock.seconds(1.0)
