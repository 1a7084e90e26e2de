r"""Survival without a model: the share of objects that reach each age, from those still watched.

$$ \hat S(t) = \prod_{t_i \le t} \Bigl(1 - \frac{d_i}{n_i}\Bigr), \qquad
   \widehat{\text{Var}} = \hat S(t)^2 \sum_{t_i \le t} \frac{d_i}{n_i (n_i - d_i)} , $$

with $d_i$ deaths at age $t_i$ and $n_i$ objects watched just before. A check on the fitted
curves: where it departs from the exponential one by more than $1.36 / \sqrt n$, age matters.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.listings.exponential import Exponential
    from recrawl.listings.lifetimes import Lifetimes
    from recrawl.visits.arrays import Floats

_KOLMOGOROV = 1.36  # exceeded with probability 0.05


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """A survival curve in steps.

    Args:
        age: Ages at which objects died, rising.
        survival: Share that outlives each.
        deviation: Standard error by Greenwood's formula; nan where a method has none.
        start: Age from which the shares are counted.
    """

    age: Floats
    survival: Floats
    deviation: Floats
    start: float = 0.0

    def at(self, ages: Floats) -> Floats:
        """Share that outlives given ages."""
        row = np.searchsorted(self.age, ages, side="right")
        return np.concatenate([[1.0], self.survival])[row]

    def band(self, level: float) -> tuple[Floats, Floats]:
        """Band of the survival after each step, within 0 and 1."""
        wide = NormalDist().inv_cdf((1 + level) / 2) * self.deviation
        return np.clip(self.survival - wide, 0, 1), np.clip(self.survival + wide, 0, 1)


def kaplan_meier(lives: Lifetimes) -> Curve:
    """Kaplan and Meier's curve, with deaths in the middle of their intervals.

    Objects watched from a later age on count from there; those of unknown age are left out. The
    curve starts at the age at which half as many are watched as ever are: before it, the death
    of one of the few would pull down all that follows.

    References:
        Kaplan and Meier (1958). Nonparametric estimation from incomplete observations.
        Journal of the American Statistical Association 53, 457-481.
        Greenwood (1926). The natural duration of cancer.

    Examples:
        Deaths at 1 and 3, one object still listed at 2: 2/3, then 2/3 * 0.

        >>> from recrawl.listings.lifetimes import Lifetimes
        >>> curve = kaplan_meier(Lifetimes.of([1.0, 2.0, 3.0], [1.0, np.inf, 3.0]))
        >>> curve.age, curve.survival.round(4)
        (array([1., 3.]), array([0.6667, 0.    ]))
    """
    known = lives.with_known_age()
    age, died = known.age, known.died
    ages, row = np.unique(age[died], return_inverse=True)
    deaths = np.bincount(row, known.count[died], len(ages))
    # Watched just before an age: those who entered before it, less those who left before it.
    watched = _up_to(known.entry, known.count, ages) - _up_to(age, known.count, ages)
    start = _reached(known.entry, known.count, float(np.max(watched, initial=0)) / 2)
    kept = ages > start
    ages, deaths, watched = ages[kept], deaths[kept], watched[kept]
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(deaths / watched, 1))
        terms = deaths / (watched * (watched - deaths))
    survival = np.exp(np.cumsum(logs))
    with np.errstate(invalid="ignore"):
        deviation = np.where(survival > 0, survival * np.sqrt(np.cumsum(terms)), 0.0)
    return Curve(ages, survival, deviation, start)


def largest_departure(curve: Curve, survival: Exponential) -> float:
    """Largest distance of the middle of a curve's steps from an exponential curve.

    Not of their ends: where crawls are days apart, a step is as high as the curve falls in days,
    and any smooth curve is half a step away from one of its ends.
    """
    if not len(curve.age):
        return 0.0
    fitted = survival.survival(curve.age - curve.start)  # without memory, from any age alike
    before = np.concatenate([[1.0], curve.survival[:-1]])
    return float(np.max(np.abs((curve.survival + before) / 2 - fitted)))


def departs_from_exponential(curve: Curve, survival: Exponential, objects: float) -> bool:
    r"""Whether age matters: $\max |\hat S - e^{-\alpha t}| > 1.36 / \sqrt n$."""
    return largest_departure(curve, survival) > _KOLMOGOROV / sqrt(max(objects, 1.0))


def _up_to(values: Floats, count: Floats, ages: Floats) -> Floats:
    """How many objects have a value below each age."""
    order = np.argsort(values, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(count[order])])
    return sums[np.searchsorted(values[order], ages, side="left")]


def _reached(values: Floats, count: Floats, wanted: float) -> float:
    """Least value that so many objects are at or below; 0 where there are none."""
    order = np.argsort(values, kind="stable")
    row = np.searchsorted(np.cumsum(count[order]), wanted)
    return float(values[order][row]) if row < len(values) else 0.0
