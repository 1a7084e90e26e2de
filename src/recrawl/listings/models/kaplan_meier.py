r"""Survival without a model: the share of objects that reach each age, from those still watched.

$$ \hat S(t) = \prod_{t_i \le t} \Bigl(1 - \frac{d_i}{n_i}\Bigr), \qquad
   \widehat{\text{Var}} = \hat S(t)^2 \sum_{t_i \le t} \frac{d_i}{n_i (n_i - d_i)} , $$

with $d_i$ removals at age $t_i$ and $n_i$ objects at risk just before.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.data.lifetimes import Lifetimes

# A removal among 3 sqrt(m) moves the curve by 1 / (3 sqrt(m)), less than counting m leaves open.
_ENOUGH = 3.0


@dataclass(frozen=True, slots=True, eq=False)
class SurvivalCurve:
    """A survival curve in steps.

    Args:
        age: Ages at which objects were removed, rising.
        survival: Share that outlives each.
        deviation: Standard error by Greenwood's formula; nan where a method has none.
        start: Age from which the shares are counted: of the objects that reach it.
    """

    age: Floats
    survival: Floats
    deviation: Floats
    start: float = 0.0

    @property
    def median(self) -> float:
        """Age that half of the objects reach; nan where the curve does not fall so far."""
        row = np.searchsorted(-self.survival, -0.5)
        return float(self.age[row]) if row < len(self.age) else float("nan")

    def at(self, ages: Floats) -> Floats:
        """Share that outlives given ages, of those that reach the start."""
        row = np.searchsorted(self.age, ages, side="right")
        return np.concatenate([[1.0], self.survival])[row]

    def band(self, level: float) -> tuple[Floats, Floats]:
        """Band of the survival after each step, within 0 and 1."""
        wide = NormalDist().inv_cdf((1 + level) / 2) * self.deviation
        return np.clip(self.survival - wide, 0, 1), np.clip(self.survival + wide, 0, 1)


def kaplan_meier(lifetimes: Lifetimes) -> SurvivalCurve:
    r"""Kaplan and Meier's curve, with removals in the middle of their intervals.

    An object is at risk from the age at which it was first seen (`Lifetimes.entry`) and not
    before; those of unknown age are left out. How many were removed unseen is unknown, so the curve
    is that of objects which reach its `start`.

    Few may be at risk at the youngest ages: those arrived between two crawls that lay close
    together. The removal of one of them would pull down all that follows. So the curve starts at
    the age from which on, until most are at risk, there are always at least $3 \sqrt m$ of them,
    m being the most; for m below 36, at least half of m.

    References:
        Kaplan and Meier (1958). Nonparametric estimation from incomplete observations.
        Journal of the American Statistical Association 53, 457-481.
        Greenwood (1926). The natural duration of cancer.
        Lai and Ying (1991). Estimating a distribution function with truncated and censored data.
        Annals of Statistics 19, 417-442.

    Examples:
        Removals at 1 and 3, one object still listed at 2: 2/3, then 2/3 * 0.

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> curve = kaplan_meier(Lifetimes.of([1.0, 2.0, 3.0], [1.0, np.inf, 3.0]))
        >>> curve.age, curve.survival.round(4)
        (array([1., 3.]), array([0.6667, 0.    ]))

        The same, had the last one been seen from age 2 on: 1/2, then 1/2 * 0.

        >>> late = Lifetimes.of([1.0, 2.0, 3.0], [1.0, np.inf, 3.0], entry=[0.0, 0.0, 2.0])
        >>> kaplan_meier(late).survival
        array([0.5, 0. ])
    """
    known = lifetimes.with_known_age()
    age, removed = known.age, known.removed
    ages, row = np.unique(age[removed], return_inverse=True)
    removals = np.bincount(row, known.count[removed], len(ages))
    # At risk just before an age: those who entered before it, less those who left before it.
    at_risk = _below(known.entry, known.count, ages) - _below(age, known.count, ages)
    first, start = _beginning(known, ages, at_risk)
    ages, removals, at_risk = ages[first:], removals[first:], at_risk[first:]
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.minimum(removals / at_risk, 1))
        terms = removals / (at_risk * (at_risk - removals))
    survival = np.exp(np.cumsum(logs))
    with np.errstate(invalid="ignore"):
        deviation = np.where(survival > 0, survival * np.sqrt(np.cumsum(terms)), 0.0)
    return SurvivalCurve(ages, survival, deviation, start)


def _beginning(lifetimes: Lifetimes, ages: Floats, at_risk: Floats) -> tuple[int, float]:
    """First removal that counts, and the age from which on enough are at risk."""
    if not len(lifetimes):
        return 0, 0.0
    if not len(ages):
        return 0, float(np.min(lifetimes.entry))
    most = float(np.max(at_risk))
    enough = min(_ENOUGH * sqrt(most), most / 2)
    few = np.flatnonzero(at_risk[: int(np.argmax(at_risk))] < enough)
    first = int(few[-1]) + 1 if len(few) else 0
    since = float(ages[first - 1]) if first else 0.0

    entries = np.unique(lifetimes.entry)
    entries = entries[(entries >= since) & (entries < ages[first])]
    after = np.nextafter(entries, np.inf)
    there = _below(lifetimes.entry, lifetimes.count, after) - _below(
        lifetimes.age, lifetimes.count, after
    )
    return first, float(entries[np.argmax(there >= enough)])


def _below(values: Floats, count: Floats, ages: Floats) -> Floats:
    """How many objects have a value below each age."""
    order = np.argsort(values, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(count[order])])
    return sums[np.searchsorted(values[order], ages, side="left")]
