"""The terms on which pages are visited: how often at least and at most, and at which hours.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from recrawl.visits.hours import next_open, next_start

if TYPE_CHECKING:
    from recrawl.visits.hours import Hours

# Intervals are cut by up to this share, so that pages copied together part.
JITTER = 0.05


@dataclass(frozen=True, slots=True)
class VisitTerms:
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

        >>> night = VisitTerms(hours=(22, 6))
        >>> [round(night.opens(100 + hour / 24) % 1 * 24, 6) for hour in (23, 5, 7)]
        [23.0, 5.0, 22.0]
    """

    pool: int = 0
    weight: float = 1.0
    minimum: float = 0.0
    maximum: float = inf
    interval: float = 0.0
    hours: Hours | None = None

    def opens(self, at: float) -> float:
        """Return the first instant from `at` on at which a visit is allowed, in days after 1970."""
        return at if self.hours is None else next_open(self.hours, at)

    def begins(self, at: float) -> float:
        """Return the first instant after `at` at which the hours begin; infinite without hours."""
        return next_start(self.hours, at)
