"""Azar's division: visits that keep most copies fresh, if they are made at random times.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.policies.rivals.allocating import AllocatingPolicy
from recrawl.policies.rivals.censored import CensoredLearner

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.policies.rivals.censored import Likely


@dataclass(frozen=True, slots=True)
class BinaryDivision:
    r"""Visits a day for the most freshness, with a floor for every page.

    A page of rate $D$ and weight $\mu$ that is visited $\rho$ times a day at random is stale for
    a share $D / (\rho + D)$ of the time. The least total has

    $$ \rho = \max\left(\sqrt{\mu D / L} - D , \; \text{floor} \cdot \frac{R}{N}\right) . $$

    Sorted by $\mu D / (D + \text{floor})^2$, the pages that keep to the floor come first.

    Args:
        floor: Share of the mean frequency that every page gets. With 0, pages that change too
            fast are given up.

    References:
        Azar, Horvitz, Lubetzky, Peres and Shahaf (2018). Tractable near-optimal policies for
        crawling. PNAS 115(32), 8099-8103. With a floor: Kolobov and others (2019), binary
        LambdaCrawl.

    Examples:
        Five pages that change once to five times a day, five visits a day:

        >>> rates = np.arange(1.0, 6.0)
        >>> BinaryDivision().frequencies(rates, np.ones(5), 5.0).round(3)
        array([1.386, 1.374, 1.133, 0.772, 0.335])
    """

    floor: float = 0.0

    def __post_init__(self) -> None:
        """Check the floor."""
        if not 0 <= self.floor < 1:
            raise InvalidParameter(f"floor must be between 0 and 1 (got {self.floor})")

    def frequencies(self, rates: Floats, weight: Floats, budget: float) -> Floats:
        """Visits a day of each page."""
        floor = self.floor * budget / len(rates)
        gain = weight * rates / (rates + floor) ** 2
        order = np.argsort(gain)
        roots = np.sqrt(weight * rates)
        # Of each page and all that gain more: roots, rates, and what is left for them.
        root_sum = np.cumsum(roots[order][::-1])[::-1]
        rate_sum = np.cumsum(rates[order][::-1])[::-1]
        left = budget - floor * np.arange(len(rates))
        above = gain[order] > (root_sum / (left + rate_sum)) ** 2
        # Equal pages lie on the edge, where rounding decides: the last always gets visits.
        first = int(np.argmax(above)) if above.any() else len(rates) - 1
        frequencies = np.full(len(rates), floor)
        best = order[first:]
        scale = (left[first] + rate_sum[first]) / root_sum[first]
        frequencies[best] = np.maximum(roots[best] * scale - rates[best], floor)
        return frequencies


def azar(
    floor: float = 0.0, *, randomised: bool = False, guess: float = 1.0
) -> AllocatingPolicy[Likely]:
    """Azar's division with learned rates, its visits at equal intervals unless randomised."""
    learner = CensoredLearner(guess)
    return AllocatingPolicy(learner, BinaryDivision(floor), randomised=randomised, least_days=1.0)
