r"""A level that drifts, followed by memories of several lengths that compete on their forecasts.

Each memory $k$ has a half-life; after a cycle of $d$ days that showed the level
$\theta_{obs}$ with the weight $\mu$ (the events expected at level 1)

$$ a \leftarrow \rho a + \theta_{obs}\,\mu, \qquad b \leftarrow \rho b + \mu, \qquad
   \theta_k = \frac{a + c}{b + c / \theta_0}, \qquad \rho = 2^{-d / HL_k} . $$

Their mean is weighted by $e^{-\ell_k}$, where $\ell_k$ is a fading sum of squared forecast errors
over their typical size. They compete on forecasts and not on likelihood because the noise is far
larger than counting alone would make it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

# Chosen on four listings, one set for all of them.
HALF_LIVES = np.array([10.0, 20.0, 40.0, 80.0, 160.0, np.inf])
_LOSS_HALF_LIFE = 120.0
_FIRST_VARIANCE = 1e-3
_USUAL = 4  # the memory that tells what is usual
_CAP = 9.0
_UNCAPPED = 5


@dataclass(frozen=True, slots=True, eq=False)
class DriftingLevel:
    """Six memories of a level.

    Args:
        events: Sum of level times weight in each memory.
        weight: Sum of weights.
        loss: How badly each has forecast lately.
        shares: Weight of each in their mean, from the loss.
        variance: Typical squared error of their mean.
        records: How many cycles have been learned.
        days: Days that one of the longer memories still knows of.

    Examples:
        >>> bank = DriftingLevel.empty()
        >>> for days, level, weight in [(7, 1.2, 25.0), (7, 0.8, 30.0), (3, 2.0, 9.0)]:
        ...     bank = bank.add(days, level * weight, weight)
        >>> bank.levels(prior=20.0).round(6)
        array([1.100603, 1.096697, 1.095646, 1.09536 , 1.095278, 1.095238])
    """

    events: Floats
    weight: Floats
    loss: Floats
    shares: Floats
    variance: float = _FIRST_VARIANCE
    records: int = 0
    days: float = 0.0

    @classmethod
    def empty(cls) -> DriftingLevel:
        """Nothing learned yet: all memories alike."""
        events, weight, loss = np.zeros((3, len(HALF_LIVES)))
        return cls(events, weight, loss, shares_of(loss))

    def levels(self, prior: float, guess: float = 1.0) -> Floats:
        """Level of each memory, drawn to `guess` by `prior` events' worth."""
        return (self.events + prior) / (self.weight + prior / guess)

    def level(self, prior: float, guess: float = 1.0) -> float:
        """Mean of the memories."""
        return float(self.shares @ self.levels(prior, guess))

    def add(self, days: float, events: float, weight: float) -> DriftingLevel:
        """Learn what a cycle showed."""
        keep = 0.5 ** (days / HALF_LIVES)
        return replace(
            self,
            events=self.events * keep + events,
            weight=self.weight * keep + weight,
            days=self.days * float(keep[_USUAL]) + days,
        )

    def usual(self, days: float) -> float:
        """Weight that a cycle of so many days has had lately; infinite before the first."""
        return float(self.weight[_USUAL]) / self.days * days if self.days else np.inf

    def judge(self, days: float, errors: Floats, error: float) -> DriftingLevel:
        """Learn how well each memory, and their mean, had forecast it."""
        cap = _CAP * self.variance if self.records >= _UNCAPPED else np.inf
        squares = np.minimum(errors**2, cap) / (2 * self.variance)
        loss = self.loss * 0.5 ** (days / _LOSS_HALF_LIFE) + squares
        variance = 0.9 * self.variance + 0.1 * min(error**2, cap)
        shares, records = shares_of(loss), self.records + 1
        return DriftingLevel(self.events, self.weight, loss, shares, variance, records, self.days)


def shares_of(loss: Floats) -> Floats:
    """Weights proportional to e^-loss, 1 together."""
    likelihood = np.exp(np.min(loss) - loss)
    shares: Floats = likelihood / np.sum(likelihood)
    return shares
