"""Cho and Garcia-Molina's crawls: five visits to get to know a page, then visits by its rate.

As published, a rate is estimated once, after five visits, and holds from then on; a page that did
not change in them has rate 0 and is never visited again. The adaptive forms go on estimating, and
visit every page now and then.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_at_least
from recrawl.errors import InvalidParameter
from recrawl.policies.rivals.allocating import AllocatingPolicy
from recrawl.policies.rivals.counts import Counts
from recrawl.rates.published.cho import Cho
from recrawl.rates.published.ratio import Ratio

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows
    from recrawl.rates.existence_accuracy import Counting

_FLOOR = 0.1  # of the adaptive forms, as a share of the mean frequency


@dataclass(frozen=True, slots=True)
class CountingLearner:
    """Rates by an estimator of regular access, as if a page's gaps had all been of mean length.

    Args:
        method: The estimator.
        warm_up: Gaps before a page has a rate.
        adaptive: Whether later gaps count as well; otherwise the first rate stays.
    """

    method: Counting
    warm_up: int = 5
    adaptive: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_at_least(1, warm_up=self.warm_up)

    def begin(self, pages: int) -> Counts:
        """Nothing counted."""
        return Counts.none(pages)

    def learn(self, memory: Counts, rows: Ints, visits: VisitRows) -> None:
        """Count visits."""
        if self.adaptive:
            memory.add(rows, visits)
            return
        early = np.flatnonzero(memory.gaps[rows] < self.warm_up)
        memory.add(rows[early], visits.take(early))

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
    $p = 1$ is the best if rates are known; the root makes up for their errors. Without a floor, as
    published, a page that never changed in its first visits is not visited again.

    Args:
        exponent: p.
        floor: Share of the mean frequency that every page gets, before all are brought to the
            budget.

    Examples:
        >>> PowerDivision().frequencies(np.array([1.0, 4.0]), np.ones(2), 6.0)
        array([2., 4.])
    """

    exponent: float = 0.5
    floor: float = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 0 <= self.exponent < np.inf:
            raise InvalidParameter(f"exponent must be at least 0 (got {self.exponent})")
        if not 0 <= self.floor < 1:
            raise InvalidParameter(f"floor must be between 0 and 1 (got {self.floor})")

    def frequencies(self, rates: Floats, weight: Floats, budget: float) -> Floats:
        """Visits a day of each page; all alike where no rate is above 0."""
        del weight
        power = rates**self.exponent
        mean = power.mean()
        share = np.maximum(power / mean, self.floor) if mean > 0 else np.ones(len(rates))
        frequencies: Floats = budget * share / share.sum()
        return frequencies


def cho_naive(*, adaptive: bool = False) -> AllocatingPolicy[Counts]:
    """The naive policy: rates are changes over visits.

    Args:
        adaptive: Whether to go on estimating, with visits for every page.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Section 6.4.
    """
    return _policy(Ratio(), adaptive=adaptive)


def cho(*, adaptive: bool = False) -> AllocatingPolicy[Counts]:
    """The paper's own policy: rates by its bias-reduced estimator.

    Args:
        adaptive: Whether to go on estimating, with visits for every page.

    References:
        Cho and Garcia-Molina (2003), sections 4.2 and 6.4.
    """
    return _policy(Cho(), adaptive=adaptive)


def _policy(method: Counting, *, adaptive: bool) -> AllocatingPolicy[Counts]:
    division = PowerDivision(floor=_FLOOR if adaptive else 0.0)
    return AllocatingPolicy(CountingLearner(method, adaptive=adaptive), division)
