r"""Factors of the seven weekdays, for removals and for arrivals.

$$ w_k = \frac{D_k + c}{E_k + c / r}, \qquad r = \frac{\sum D}{\sum E}, $$

scaled to mean 1. What a cycle of several days saw is shared over its days in proportion to the
factors so far.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

WEEK = 7
# Chosen on four listings, one set for all of them. The half-life is that
# of ages and groups.
REMOVALS_PRIOR, ARRIVALS_PRIOR = 20.0, 10.0
_HALF_LIFE = 400.0


@dataclass(frozen=True, slots=True, eq=False)
class Week:
    """Events by weekday, and how many there were to be expected.

    Args:
        prior: Events' worth that draws the factors to 1.
        events: Events on each weekday, Monday first.
        expected: Events expected on each, were all weekdays alike.
        factors: Factor of each weekday, their mean 1; from the others.

    Examples:
        >>> removals = np.array([30.0, 60, 55, 55, 50, 40, 20])
        >>> Week(20.0, removals, np.full(7, 44.0)).factors.round(4)
        array([0.7778, 1.2444, 1.1667, 1.1667, 1.0889, 0.9333, 0.6222])
    """

    prior: float
    events: Floats
    expected: Floats
    factors: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Work out factors once for all that is asked of them."""
        object.__setattr__(self, "factors", _factors(self.prior, self.events, self.expected))

    @classmethod
    def empty(cls, prior: float) -> Week:
        """Nothing learned yet: all weekdays alike."""
        return cls(prior, *np.zeros((2, WEEK)))

    @property
    def half(self) -> Week:
        """Half of everything."""
        return Week(self.prior, self.events / 2, self.expected / 2)

    def ahead(self, weekday: int, days: int) -> Floats:
        """Factors of the coming days, the first of them on `weekday`."""
        return self.factors[coming(weekday, days)]

    def add(self, weekday: int, days: int, events: float, expected_a_day: float) -> Week:
        """Learn the events of a cycle."""
        day = coming(weekday, days)
        share = self.factors[day]
        keep = 0.5 ** (days / _HALF_LIFE)
        found = np.bincount(day, share * (events / np.sum(share)), WEEK)
        hoped = np.bincount(day, np.full(days, expected_a_day), WEEK)
        return Week(self.prior, self.events * keep + found, self.expected * keep + hoped)


def _factors(prior: float, events: Floats, expected: Floats) -> Floats:
    found, hoped = float(np.sum(events)), float(np.sum(expected))
    if found <= 0 or hoped <= 0:
        return np.ones(WEEK)
    factors = (events + prior) / (expected + prior * hoped / found)
    return factors / np.mean(factors)


def coming(weekday: int, days: int) -> Ints:
    """Weekdays of the coming days, the first of them `weekday`.

    >>> coming(5, 4)
    array([5, 6, 0, 1])
    """
    return (weekday + np.arange(days)) % WEEK


def running_mean(factors: Floats) -> Floats:
    """Mean of the first 1, 2, ... factors.

    >>> running_mean(np.array([1.0, 0.5, 0.0]))
    array([1.  , 0.75, 0.5 ])
    """
    return np.cumsum(factors) / np.arange(1, len(factors) + 1)
