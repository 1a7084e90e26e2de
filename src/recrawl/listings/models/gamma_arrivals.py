r"""Arrivals a day as a Gamma distribution: the published model.

$$ f(x) = \frac{x^{k-1} e^{-x/\theta}}{\Gamma(k)\, \theta^k}, \qquad
   \text{mean } k\theta, \qquad \text{sum of } d \text{ days} \sim \Gamma(dk, \theta) . $$

Counts are whole numbers and may be 0, which a Gamma density cannot be; the negative binomial
(`recrawl.listings.models.negative_binomial`) is the better model and the default.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import digamma, gamma_quantile, trigamma

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

_MOST_STEPS = 50
_SETTLED = 1e-13


@dataclass(frozen=True, slots=True)
class GammaArrivals:
    r"""Arrivals a day, Gamma distributed and independent from day to day.

    Args:
        mean: Objects a day, $k\theta$; nan where no day was seen.
        shape: $k$; infinite where every day brings the same.

    References:
        Minka (2002). Estimating a Gamma distribution. Technical report.

    Examples:
        >>> found = GammaArrivals.fit(np.array([2.0, 4.0, 9.0]))
        >>> found.mean, round(found.shape, 4)
        (5.0, 2.875)
        >>> found.variance == found.mean * found.scale
        True

        With a day without arrivals the moments decide: mean 3, variance 9.

        >>> GammaArrivals.fit(np.array([0.0, 3.0, 6.0])).shape
        1.0
    """

    mean: float
    shape: float

    @classmethod
    def fit(cls, counts: Floats) -> GammaArrivals:
        r"""Most likely shape by Newton's method; the moments where a day brought nothing.

        The shape solves $\ln k - \psi(k) = \ln \bar x - \overline{\ln x} = s$, starting from
        $(3 - s + \sqrt{(s-3)^2 + 24 s}) / 12 s$. With zeros $\ln x$ is minus infinity, and
        $k = \bar x^2 / s^2$ is taken, with the sample variance.
        """
        counts = np.asarray(counts, np.float64)
        if not len(counts):
            return cls(float("nan"), float("nan"))
        mean = float(np.mean(counts))
        if mean == 0 or np.all(counts == counts[0]):
            return cls(mean, float("inf"))
        if np.any(counts <= 0):
            return cls(mean, mean * mean / float(np.var(counts, ddof=1)))
        return cls(mean, _most_likely_shape(float(np.log(mean) - np.mean(np.log(counts)))))

    @property
    def scale(self) -> float:
        r"""$\theta$."""
        return self.mean / self.shape

    @property
    def variance(self) -> float:
        """Variance of one day's arrivals."""
        return self.mean * self.scale

    def density(self, counts: Floats) -> Floats:
        """Density at some numbers above 0; the shape must be finite.

        >>> GammaArrivals(mean=2.0, shape=1.0).density(np.array([2.0])).round(4)  # 1/2 e^-1
        array([0.1839])
        """
        counts = np.asarray(counts, np.float64)
        logs = (self.shape - 1) * np.log(counts) - counts / self.scale
        return np.exp(logs - lgamma(self.shape) - self.shape * log(self.scale))

    def quantile(self, days: int, probability: float) -> float:
        """Arrivals of `days` days together that are not exceeded with a probability.

        >>> GammaArrivals(mean=5.0, shape=float("inf")).quantile(3, 0.9)
        15.0
        """
        if not np.isfinite(self.shape):
            return self.mean * days
        return self.scale * float(gamma_quantile(np.array([self.shape * days]), probability)[0])


def _most_likely_shape(gap: float) -> float:
    """Solve ln k - digamma(k) = gap."""
    shape = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
    for _ in range(_MOST_STEPS):
        now = np.array([shape])
        step = (np.log(shape) - digamma(now)[0] - gap) / (1 / shape - trigamma(now)[0])
        # In the logarithm of the shape, so that it stays positive.
        shape *= float(np.exp(-step / shape))
        if abs(step) < _SETTLED * shape:
            break
    return float(shape)
