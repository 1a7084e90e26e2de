r"""Survival without a model: the share of objects that reach each age, from those still watched.

$$ \hat S(t) = \prod_{t_i \le t} \Bigl(1 - \frac{d_i}{n_i}\Bigr), \qquad
   \widehat{\text{Var}} = \hat S(t)^2 \sum_{t_i \le t} \frac{d_i}{n_i (n_i - d_i)} , $$

with $d_i$ removals at age $t_i$ and $n_i$ objects at risk just before.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.lifetimes import Lifetimes

# A removal among 3 sqrt(m) moves the curve by 1 / (3 sqrt(m)), less than counting m leaves open.
_ENOUGH = 3.0
_HALF = 0.5
_CELL = 0.25  # days: ages of entry this close are one


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
        return self._first_age(self.survival <= _HALF)

    def median_band(self, level: float) -> tuple[float, float]:
        r"""Ages between which the median lies, after Brookmeyer and Crowley.

        They are those at which the band of $\ln(-\ln S)$ holds $\ln \ln 2$; nan where the curve
        is not known so far.

        References:
            Brookmeyer and Crowley (1982). A confidence interval for the median survival time.
            Biometrics 38, 29-41.

        Examples:
            A hundred removals, one per day: half are left on day 50, with a deviation of 5 days.

            >>> from recrawl.listings.data.lifetimes import Lifetimes
            >>> ages = np.arange(1.0, 101.0)
            >>> kaplan_meier(Lifetimes.of(ages, ages)).median_band(0.9)
            (42.0, 58.0)
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.survival)
            wide = NormalDist().inv_cdf((1 + level) / 2) * self.deviation / -(self.survival * logs)
            low, high = (self.survival ** np.exp(sign * wide) for sign in (1.0, -1.0))
        # All or nothing left: the band is the share itself.
        sure = (self.survival <= 0) | (self.survival >= 1)
        low, high = np.where(sure, self.survival, low), np.where(sure, self.survival, high)
        return self._first_age(low <= _HALF), self._first_age(high < _HALF)

    def _first_age(self, holds: Bools) -> float:
        row = int(np.argmax(holds)) if holds.any() else len(self.age)
        return float(self.age[row]) if row < len(self.age) else float("nan")

    def at(self, ages: Floats) -> Floats:
        """Share that outlives given ages, of those that reach the start."""
        row = np.searchsorted(self.age, ages, side="right")
        return np.concatenate([[1.0], self.survival])[row]

    def band(self, level: float) -> tuple[Floats, Floats]:
        """Band of the survival after each step, within 0 and 1."""
        wide = NormalDist().inv_cdf((1 + level) / 2) * self.deviation
        return np.clip(self.survival - wide, 0, 1), np.clip(self.survival + wide, 0, 1)


def kaplan_meier(lifetimes: Lifetimes, *, start: float = 0.0) -> SurvivalCurve:
    r"""Kaplan and Meier's curve, with removals in the middle of their intervals.

    An object is at risk from the age at which it was first seen (`Lifetimes.entry`) and not
    before; those of unknown age are left out. How many were removed unseen is unknown, so the curve
    is that of objects which reach its `start`.

    Few may be at risk at the youngest ages: those arrived between two crawls that lay close
    together. The removal of one of them would pull down all that follows. So the curve starts at
    the age from which on, until most are at risk, there are always at least $3 \sqrt m$ of them,
    m being the most; for m below 36, at least half of m. That is of independent objects; of those
    that crawls bring together `supported_start` knows.

    Args:
        lifetimes: Ages between which objects were removed.
        start: Least age at which the curve may start.

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
    known = _from_age(lifetimes.with_known_age(), start)
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


def supported_start(lifetimes: Lifetimes, crawl: Ints) -> float:
    r"""Age from which on enough *crawls* have brought the objects at risk.

    Objects that one crawl brought share their fate: a bulk load, a change of keys, postings that
    are withdrawn together. Two crawls an hour apart that brought 74 objects are two witnesses of
    what happens in the first hours and not 74. With $n_c$ objects at risk from crawl $c$ there are

    $$ \frac{(\sum_c n_c)^2}{\sum_c n_c^2} $$

    of them, and the curve starts at the age from which on, until they are most, there are as many
    as `kaplan_meier` asks for of objects.

    Args:
        lifetimes: Ages, one row per object: not binned.
        crawl: Crawl that first saw each.

    References:
        Kish (1965). Survey sampling. Section 8.2. Wiley.

    Examples:
        Two crawls soon after others bring 20 objects each; fifty daily ones bring two each, first
        seen at half a day:

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> entry = np.repeat([0.0, 0.5], [40, 100])
        >>> crawl = np.concatenate([np.repeat([0, 1], 20), np.repeat(np.arange(2, 52), 2)])
        >>> supported_start(Lifetimes.of(np.full(140, 9.0), np.inf, entry=entry), crawl)
        0.5
    """
    known = lifetimes.known
    entry, age, crawl = (
        np.rint(lifetimes.entry[known] / _CELL) * _CELL,
        lifetimes.age[known],
        crawl[known],
    )
    ages = np.unique(entry)
    if len(ages) < 2:  # noqa: PLR2004 - one age is where all begin
        return float(ages[0]) if len(ages) else 0.0
    # Those that are left just before the next enter are fewer, and count.
    ends = np.append(ages[1:], ages[-1])
    numbers = np.array(
        [
            min(_effective(crawl[(entry <= first) & (age >= last)]) for last in (first, end))
            for first, end in zip(ages.tolist(), ends.tolist(), strict=True)
        ]
    )
    most = int(np.argmax(numbers))
    few = np.flatnonzero(numbers[:most] < min(_ENOUGH * sqrt(numbers[most]), numbers[most] / 2))
    return float(ages[few[-1] + 1 if len(few) else 0])


def _effective(crawl: Ints) -> float:
    """Kish's effective number of crawls that brought some objects."""
    count = np.bincount(crawl).astype(np.float64) if len(crawl) else np.zeros(1)
    return float(np.sum(count) ** 2 / max(np.sum(count**2), 1.0))


def _from_age(lifetimes: Lifetimes, start: float) -> Lifetimes:
    """Only what was seen of objects beyond an age."""
    if start <= 0 or not len(lifetimes):
        return lifetimes
    left = lifetimes.take(lifetimes.age > start)
    return replace(left, entry=np.maximum(left.entry, start))


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
