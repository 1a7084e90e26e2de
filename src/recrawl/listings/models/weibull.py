r"""Survival that ages: objects vanish ever faster, or ever slower, by a power of their age.

$$ S(t) = e^{-(at)^b} $$

With $b = 1$ it is the exponential one. On the clock $t^b$ every Weibull is exponential, so for
each shape $b$ the rate $a^b$ is found as there, and only the shape is searched for: one number,
on the ages put together into a histogram, however many objects there are.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.models.exponential import most_likely
from recrawl.listings.models.golden_section import golden_section_minimum

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.data.lifetimes import Lifetimes

_LOG_SHAPES = (-2.5, 2.5)  # shapes from 0.08 to 12
_STEP = 1e-3  # in the logarithm of the shape, to measure how sharp the maximum is
_LEAST_AGE = 1e-3  # a minute and a half: a removal at age 0 would make any shape below 1 certain


@dataclass(frozen=True, slots=True)
class WeibullSurvival:
    r"""Rate and shape of a survival by a power of age.

    Args:
        rate: $a$, one over the age that a share $1/e$ reaches.
        shape: $b$; below 1 the old are safer than the young.
        removals: Objects that vanished.
        height: Log-likelihood.
        shape_deviation: Standard error of $\ln b$.

    Examples:
        >>> found = WeibullSurvival(rate=0.1, shape=0.5)
        >>> found.survival(np.array([10.0, 40.0])).round(4)  # exp(-1), exp(-2)
        array([0.3679, 0.1353])

        An object met at a random moment is an old one as a rule, and safer:

        >>> found.equilibrium_survival(np.array([10.0, 40.0])).round(4)  # 2/e, 3/e^2
        array([0.7358, 0.406 ])
    """

    rate: float
    shape: float
    removals: float = 0.0
    height: float = float("nan")
    shape_deviation: float = float("nan")

    def cumulative_hazard(self, age: Floats) -> Floats:
        """Minus the logarithm of the survival."""
        return (self.rate * np.asarray(age, np.float64)) ** self.shape

    def survival(self, age: Floats) -> Floats:
        """Chance to reach an age."""
        return np.exp(-self.cumulative_hazard(age))

    def equilibrium_survival(self, days: Floats) -> Floats:
        r"""Chance that an object met at a random moment stays so many days.

        For a stationary stock it is $\int_d^\infty S / \int_0^\infty S$, here the upper
        incomplete Gamma function $Q(1/b, (ad)^b)$.
        """
        from scipy.special import gammaincc  # slow to load: only where it is needed

        return np.asarray(gammaincc(1 / self.shape, self.cumulative_hazard(days)), np.float64)


def weibull(lifetimes: Lifetimes) -> WeibullSurvival:
    r"""Most likely Weibull survival of objects known to be removed between two ages.

    Objects still listed, removals between two crawls and left truncation all count for what they
    tell:

    $$ \ln L = \sum_{\text{removed}} \ln\bigl(S(l) - S(u)\bigr) + \sum_{\text{listed}} \ln S(l)
             - \sum \ln S(\text{entry}) . $$

    Objects of unknown age are left out.

    Args:
        lifetimes: Ages; call `Lifetimes.binned` first where there are very many.

    References:
        Lawless (2003). Statistical models and methods for lifetime data. Section 5.2.

    Examples:
        Of 100 objects a share 1/e reaches age 10 and a share 1/e^2 age 40: rate 0.1, shape 1/2.

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> shares = 100 * np.array([1 - np.exp(-1), np.exp(-1) - np.exp(-2), np.exp(-2)])
        >>> lifetimes = Lifetimes.of([0.0, 10.0, 40.0], [10.0, 40.0, np.inf], count=shares)
        >>> found = weibull(lifetimes)
        >>> round(found.rate, 5), round(found.shape, 5)
        (0.1, 0.5)
    """
    known = lifetimes.with_known_age()
    if not known.removals:
        return WeibullSurvival(0.0, 1.0)

    def loss(log_shape: float) -> float:
        return -profile(known, float(np.exp(log_shape)))[1]

    best = golden_section_minimum(loss, *_LOG_SHAPES)
    shape = float(np.exp(best))
    power, height = profile(known, shape)
    sharpness = (loss(best + _STEP) + loss(best - _STEP) + 2 * height) / _STEP**2
    return WeibullSurvival(
        rate=power ** (1 / shape),
        shape=shape,
        removals=known.removals,
        height=height,
        shape_deviation=float(sharpness**-0.5) if sharpness > 0 else float("inf"),
    )


def profile(lifetimes: Lifetimes, shape: float) -> tuple[float, float]:
    r"""The best $a^b$ for a given shape $b$, and the log-likelihood there."""
    # A typical age as the unit keeps powers within range; a removal at a known age pays b t^b / t.
    unit = lifetimes.exposure / max(lifetimes.objects, 1.0) or 1.0
    low, high = np.maximum(lifetimes.low, 0) / unit, lifetimes.high / unit
    exact = low == high
    low = np.where(exact, np.maximum(low, _LEAST_AGE / unit), low)
    power, height = most_likely(
        low**shape,
        np.where(exact, low, high) ** shape,
        (lifetimes.entry / unit) ** shape,
        lifetimes.count,
    )
    stretch = np.log(shape * low[exact] ** (shape - 1) / unit)
    return power / unit**shape, height + float(np.sum(lifetimes.count[exact] * stretch))
