"""How fresh a crawl expected its copies to be, hour by hour.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FreshnessNoted:
    """Expected share of fresh copies at an instant, noted once an hour while a crawl makes visits.

    Args:
        at_seconds: The instant, in epoch seconds.
        copies: How many copies there were.
        fresh: Share of them that was expected to be fresh.
        low: Lower end of its 90 % band.
        high: Upper end.
    """

    at_seconds: float
    copies: int
    fresh: float
    low: float
    high: float
