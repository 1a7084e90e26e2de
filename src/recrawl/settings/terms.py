"""The terms on which pages are visited: how often at least and at most, and at which hours.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, inf

# Intervals are cut by up to this share, so that pages copied together part.
JITTER = 0.05
_HOURS_A_DAY = 24
_ROUNDING = 1e-6  # hours: the instant at which hours begin is inside them


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms that a group of pages shares.

    Args:
        pool: Which of the crawl's budgets pays for them.
        weight: How much a fresh copy matters.
        minimum: Least days between visits.
        maximum: Most days between visits.
        interval: Days between visits, whatever the pages do; 0 where the policy decides.
        hours: First hour of the day in which they may be visited, and the hour at which that ends,
            in UTC; None where they may be visited all day.

    Examples:
        From ten in the evening to six in the morning:

        >>> night = Terms(hours=(22, 6))
        >>> [round(night.opens(100 + hour / 24) % 1 * 24, 6) for hour in (23, 5, 7)]
        [23.0, 5.0, 22.0]
    """

    pool: int = 0
    weight: float = 1.0
    minimum: float = 0.0
    maximum: float = inf
    interval: float = 0.0
    hours: tuple[int, int] | None = None

    def opens(self, at: float) -> float:
        """The first instant from `at` on at which a visit is allowed, in days after 1970."""
        if self.hours is None:
            return at
        first, end = self.hours
        hour = (at - floor(at)) * _HOURS_A_DAY + _ROUNDING
        # The same hour twice is a whole day, as from 0 to 24.
        length = (end - first) % _HOURS_A_DAY or _HOURS_A_DAY
        return at if (hour - first) % _HOURS_A_DAY < length else self.begins(at)

    def begins(self, at: float) -> float:
        """The first instant after `at` at which the hours begin; infinite where there are none."""
        if self.hours is None:
            return inf
        day, first = floor(at), self.hours[0]
        hour = (at - day) * _HOURS_A_DAY + _ROUNDING
        return day + first / _HOURS_A_DAY + (1 if hour >= first else 0)
