"""Cho and Garcia-Molina's crawls: by estimated rates after five visits, or in two tiers.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_at_least, check_order, check_positive
from recrawl.errors import InvalidParameter
from recrawl.policies.rivals.allocating import AllocatingPolicy
from recrawl.policies.rivals.estimating import Counts
from recrawl.rates.published.cho import Cho
from recrawl.rates.published.ratio import Ratio

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows
    from recrawl.rates.accuracy import Counting


@dataclass(frozen=True, slots=True)
class CountingLearner:
    """Rates by an estimator of regular access, as if a page's gaps had all been of mean length.

    Args:
        method: The estimator.
        warm_up: Gaps before a page has a rate.
    """

    method: Counting
    warm_up: int = 5

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_at_least(1, warm_up=self.warm_up)

    def begin(self, pages: int) -> Counts:
        """Nothing counted."""
        return Counts.none(pages)

    def learn(self, memory: Counts, rows: Ints, visits: VisitRows) -> None:
        """Count visits."""
        memory.add(rows, visits)

    def rates(self, memory: Counts) -> Floats:
        """Changes a day of every page; nan where it is still warming up."""
        rates = np.full(len(memory.gaps), np.nan)
        warm = np.flatnonzero(memory.gaps >= self.warm_up)
        gaps = memory.gaps[warm]
        changes = self.method.changes_a_gap(memory.changes[warm], gaps)
        rates[warm] = changes * gaps / memory.days[warm]
        return rates


@dataclass(frozen=True, slots=True)
class PowerDivision:
    r"""Visits a day in proportion to a power of the rate.

    $$ f_i \propto \max(\text{rate}_i^p , \; \text{floor} \cdot \text{mean of rate}^p) . $$

    The paper takes the square root, $p = \frac12$, for close to the best. To find most changes
    $p = 1$ is the best if rates are known; the root makes up for their errors. Without a floor a
    page that never changed in its first visits would not be visited again.

    Args:
        exponent: p.
        floor: Share of the mean frequency that every page gets, before all are brought to the
            budget.

    Examples:
        >>> PowerDivision().frequencies(np.array([1.0, 4.0]), np.ones(2), 6.0)
        array([2., 4.])
    """

    exponent: float = 0.5
    floor: float = 0.1

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 0 <= self.exponent < np.inf:
            raise InvalidParameter(f"exponent must be at least 0 (got {self.exponent})")
        if not 0 <= self.floor < 1:
            raise InvalidParameter(f"floor must lie between 0 and 1 (got {self.floor})")

    def frequencies(self, rates: Floats, weight: Floats, budget: float) -> Floats:
        """Visits a day of each page; all alike where no rate is above 0."""
        del weight
        power = rates**self.exponent
        mean = power.mean()
        share = np.maximum(power / mean, self.floor) if mean > 0 else np.ones(len(rates))
        frequencies: Floats = budget * share / share.sum()
        return frequencies


def cho_naive(
    warm_up: int = 5, *, exponent: float = 0.5, floor: float = 0.1
) -> AllocatingPolicy[Counts]:
    """The naive policy: rates are changes over visits.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Section 6.4.
    """
    return AllocatingPolicy(CountingLearner(Ratio(), warm_up), PowerDivision(exponent, floor))


def cho(warm_up: int = 5, *, exponent: float = 0.5, floor: float = 0.1) -> AllocatingPolicy[Counts]:
    """The paper's own policy: rates by its bias-reduced estimator.

    References:
        Cho and Garcia-Molina (2003), sections 4.2 and 6.4.
    """
    return AllocatingPolicy(CountingLearner(Cho(), warm_up), PowerDivision(exponent, floor))


@dataclass(slots=True)
class TierMemory:
    """Logarithm of the odds that each page is of the fast class."""

    odds: Floats


@dataclass(frozen=True, slots=True)
class TwoTier:
    r"""Visit pages every week or every three months, by which class they more probably are of.

    A page changes at the rate $r_1$ (weekly) or $r_2$ (monthly). Each gap $g$ multiplies the
    odds of the first by

    | gap | factor |
    |---|---|
    | unchanged | $e^{-(r_1 - r_2) g}$ |
    | changed, no telling when | $(1 - e^{-r_1 g}) / (1 - e^{-r_2 g})$ |
    | changed, the last time $t$ days before its end | $(r_1 / r_2) \, e^{-(r_1 - r_2) t}$ |

    Args:
        fast: Changes a day of pages in the small crawl.
        slow: Changes a day of the others.
        often: Days between small crawls.
        rarely: Days between complete crawls.
        odds: Of being fast, before anything is seen; above 1 a page begins in the small crawl.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Section 2, where it is sketched; `Classes` of
        `recrawl.rates` has the same probabilities for any number of classes.

    Examples:
        A month without a change: the odds of a weekly page fall to $e^{-30/7 + 1} = 0.037$.

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, month = TwoTier(), np.array([0]), np.array([30.0])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> unknown = np.array([np.nan])
        >>> rule.after(memory, row, VisitRows(month, month, month, np.array([False]), unknown, 7.0))
        array([91.])
        >>> np.exp(memory.odds).round(3)
        array([0.037])
    """

    fast: float = 1 / 7
    slow: float = 1 / 30
    often: float = 7.0
    rarely: float = 91.0
    odds: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(odds=self.odds)
        check_order(slow=self.slow, fast=self.fast)
        check_order(often=self.often, rarely=self.rarely)

    def begin(self, found: Floats) -> tuple[Floats, TierMemory]:
        """The crawl of the class that is more probable before anything is seen."""
        odds = np.full(len(found), np.log(self.odds))
        return self._interval(odds), TierMemory(odds)

    def after(self, memory: TierMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.odds[rows] += np.where(visits.gaps > 0, self._told(visits), 0.0)
        return self._interval(memory.odds[rows])

    def _told(self, visits: VisitRows) -> Floats:
        """What each visit adds to the logarithm of the odds."""
        apart = self.fast - self.slow
        gaps = np.where(visits.gaps > 0, visits.gaps, 1.0)
        hidden = np.log(np.expm1(-self.fast * gaps) / np.expm1(-self.slow * gaps))
        dated = np.log(self.fast / self.slow) - apart * visits.age
        changed = np.where(np.isnan(visits.age), hidden, dated)
        return np.where(visits.changed, changed, -apart * gaps)

    def _interval(self, odds: Floats) -> Floats:
        return np.where(odds >= 0, self.often, self.rarely)
