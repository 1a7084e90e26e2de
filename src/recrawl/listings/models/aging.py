r"""Whether age matters: deaths by age against days lived by age.

Objects that vanish at one rate whatever their age die in proportion to the days they live. With
$O(a)$ the deaths up to age $a$ and $E(a)$ the days lived up to it, the distance of the shares

$$ \max_a \left| \frac{O(a)}{O(\infty)} - \frac{E(a)}{E(\infty)} \right| $$

exceeds $1.36 / \sqrt D$ by chance one time in twenty at most, for $D$ deaths. Days before the
first sight and after the last do not count, so that neither objects which died unseen nor those
still listed mislead it. The distance of Kaplan and Meier's curve from an exponential one would
be misled by crawls days apart, whose deaths fall on few ages.

A death between two ages is shared over them as it would be without memory.

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
    """How far deaths are from coming in proportion to days lived.

    Args:
        distance: Largest distance of the two shares; nan where nothing died.
        limit: What it exceeds by chance one time in twenty at most; nan where nothing died.
    """

    distance: float
    limit: float

    @property
    def matters(self) -> bool:
        """Whether age matters."""
        return self.distance > self.limit


def aging(lives: Lifetimes) -> Aging:
    """Compare deaths with days lived, age by age; objects of unknown age are left out.

    Args:
        lives: Ages; call `Lifetimes.binned` first where there are very many.

    References:
        Barlow, Bartholomew, Bremner and Brunk (1972). Statistical inference under order
        restrictions, chapter 6: total time on test. Wiley.

    Examples:
        Of ten objects five die at age 1 and five at age 9. By age 1 half of the deaths have been
        seen, but only 10 of 50 days lived:

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> found = aging(Lifetimes.of([1.0, 9.0], [1.0, 9.0], count=5))
        >>> round(found.distance, 4), round(found.limit, 4), found.matters
        (0.3, 0.4301, False)
    """
    known = lives.with_known_age()
    rate = exponential(known).rate
    if not known.deaths or not np.isfinite(rate):
        return Aging(float("nan"), float("nan"))
    ages = _ages(known)
    deaths, days = np.empty(len(ages)), np.empty(len(ages))
    for row, age in enumerate(ages.tolist()):
        chance, lived = _by_age(known, age, rate)
        deaths[row] = np.sum((known.count * chance)[known.died])
        days[row] = np.sum(known.count * lived)
    distance = float(np.max(np.abs(deaths / deaths[-1] - days / days[-1])))
    return Aging(distance, _KOLMOGOROV / sqrt(known.deaths))


def _ages(lives: Lifetimes) -> Floats:
    """Ages at which to compare, the last of all among them."""
    ages = np.unique(np.concatenate([lives.low, lives.high[lives.died]]))
    rows = np.linspace(0, len(ages) - 1, min(len(ages), _MOST_AGES)).astype(np.int64)
    return ages[rows]


def _by_age(lives: Lifetimes, age: float, rate: float) -> tuple[Floats, Floats]:
    """Chance that each row's objects had died by an age, given what is known, and days lived."""
    seen = np.clip(age, lives.entry, lives.low) - lives.entry
    width = np.where(lives.died, lives.high - lives.low, 0.0)
    past = np.clip(age - lives.low, 0.0, width)
    whole = -np.expm1(-rate * width)
    some = whole > 0
    chance = np.divide(-np.expm1(-rate * past), whole, out=(age >= lives.low) + 0.0, where=some)
    # Alive at u with chance 1 - F(u): the integral up to `past`.
    ended = np.divide(past + np.expm1(-rate * past) / rate, whole, out=past.copy(), where=some)
    return chance, seen + past - ended
