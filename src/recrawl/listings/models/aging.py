r"""Whether age matters: removals by age against days listed by age.

Objects that vanish at one rate whatever their age are removed in proportion to days listed. With
$O(a)$ the removals up to age $a$ and $E(a)$ the days listed up to it, the distance of the shares

$$ \max_a \left| \frac{O(a)}{O(\infty)} - \frac{E(a)}{E(\infty)} \right| $$

exceeds $1.36 / \sqrt D$ by chance one time in twenty at most, for $D$ removals. Days before the
first sight and after the last do not count, so that neither objects removed unseen nor those still
listed bias it. The distance of Kaplan and Meier's curve from an exponential one would
be misled by crawls days apart, whose removals fall on few ages.

A removal between two ages is shared over them as it would be without memory.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.models.exponential import exponential

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.data.lifetimes import Lifetimes

_KOLMOGOROV = 1.36  # exceeded with probability 0.05
_MOST_AGES = 200  # more would find no larger distance to speak of


@dataclass(frozen=True, slots=True)
class Aging:
    """How far removals are from coming in proportion to days listed.

    Args:
        distance: Largest distance of the two shares; nan where nothing was removed.
        limit: What it exceeds by chance one time in twenty at most; nan where nothing was removed.
    """

    distance: float
    limit: float

    @property
    def matters(self) -> bool:
        """Whether age matters."""
        return self.distance > self.limit


def aging(lifetimes: Lifetimes) -> Aging:
    """Compare removals with days listed, age by age; objects of unknown age are left out.

    Args:
        lifetimes: Ages; call `Lifetimes.binned` first where there are very many.

    References:
        Barlow, Bartholomew, Bremner and Brunk (1972). Statistical inference under order
        restrictions, chapter 6: total time on test. Wiley.

    Examples:
        Of ten objects five are removed at age 1 and five at age 9. By age 1 half of the removals
        have been seen, but only 10 of 50 days listed:

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> found = aging(Lifetimes.of([1.0, 9.0], [1.0, 9.0], count=5))
        >>> round(found.distance, 4), round(found.limit, 4), found.matters
        (0.3, 0.4301, False)
    """
    known = lifetimes.with_known_age()
    rate = exponential(known).rate
    if not known.removals or not np.isfinite(rate):
        return Aging(float("nan"), float("nan"))
    ages = _ages(known)
    removals, days = np.empty(len(ages)), np.empty(len(ages))
    for row, age in enumerate(ages.tolist()):
        chance, lived = _by_age(known, age, rate)
        removals[row] = np.sum((known.count * chance)[known.removed])
        days[row] = np.sum(known.count * lived)
    distance = float(np.max(np.abs(removals / removals[-1] - days / days[-1])))
    return Aging(distance, _KOLMOGOROV / sqrt(known.removals))


def _ages(lifetimes: Lifetimes) -> Floats:
    """Ages at which to compare, the last of all among them."""
    ages = np.unique(np.concatenate([lifetimes.low, lifetimes.high[lifetimes.removed]]))
    rows = np.linspace(0, len(ages) - 1, min(len(ages), _MOST_AGES)).astype(np.int64)
    return ages[rows]


def _by_age(lifetimes: Lifetimes, age: float, rate: float) -> tuple[Floats, Floats]:
    """Chance that the objects of each row were removed by an age, and days listed until then."""
    seen = np.clip(age, lifetimes.entry, lifetimes.low) - lifetimes.entry
    width = np.where(lifetimes.removed, lifetimes.high - lifetimes.low, 0.0)
    past = np.clip(age - lifetimes.low, 0.0, width)
    whole = -np.expm1(-rate * width)
    some = whole > 0
    chance = np.divide(-np.expm1(-rate * past), whole, out=(age >= lifetimes.low) + 0.0, where=some)
    # Alive at u with chance 1 - F(u): the integral up to `past`.
    ended = np.divide(past + np.expm1(-rate * past) / rate, whole, out=past.copy(), where=some)
    return chance, seen + past - ended
