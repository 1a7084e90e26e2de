"""LambdaCrawl: visits that keep the harmonic staleness least, with rates learned on the way.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.rivals.allocating import AllocatingPolicy
from recrawl.policies.rivals.censored import CensoredLearner

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.policies.rivals.censored import Likely

_MOST_STEPS = 60
_SETTLED = 1e-12


@dataclass(frozen=True, slots=True)
class HarmonicDivision:
    r"""Visits a day at which one more is worth the same everywhere, for visits at random times.

    A page of rate $D$ and weight $\mu$ that is visited $\rho$ times a day at random costs
    $\mu \ln(1 + D / \rho)$. The least total cost of a budget has

    $$ \rho = \frac{-D + \sqrt{D^2 + 4 \mu D / L}}{2} $$

    with the one price $L$ at which all visits add up to the budget. It is found by Newton's
    method on the logarithms, between which the slope is $-1$ to $-\frac12$.

    References:
        Kolobov, Peres, Lu and Horvitz (2019). Staying up to date with online content changes
        using reinforcement learning for scheduling. NeurIPS.

    Examples:
        Pages that change equally often are visited equally often; none is given up:

        >>> HarmonicDivision().frequencies(np.array([1.0, 1.0]), np.ones(2), 4.0)
        array([2., 2.])
        >>> HarmonicDivision().frequencies(np.array([1.0, 99.0]), np.ones(2), 2.0).round(3)
        array([0.737, 1.263])
    """

    def frequencies(self, rates: Floats, weight: Floats, budget: float) -> Floats:
        """Visits a day of each page."""
        worth = weight * rates
        mean = budget / len(rates)
        price = worth.mean() / (mean * (mean + rates.mean()))  # right where pages are alike
        for _ in range(_MOST_STEPS):
            root = np.sqrt(rates * rates + 4 * worth / price)
            # (root - D) / 2 without the difference of two close numbers.
            visits = 2 * worth / price / (root + rates)
            total = visits.sum()
            slope = -(worth / price / root).sum() / total
            step = np.log(budget / total) / slope
            price *= np.exp(step)
            if abs(step) < _SETTLED:
                break
        frequencies: Floats = visits * (budget / total)
        return frequencies


def lambdacrawl(
    *, randomised: bool = False, guess: float = 1.0, seed: int = 0
) -> AllocatingPolicy[Likely]:
    """LambdaCrawl with learned rates, its visits at equal intervals unless randomised.

    Published with visits at random times (`randomised`); at equal intervals of the same mean it is
    fresher. Rates are estimated again once a day at most.
    """
    learner, division = CensoredLearner(guess), HarmonicDivision()
    return AllocatingPolicy(learner, division, randomised=randomised, seed=seed, least_days=1.0)
