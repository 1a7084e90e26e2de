r"""Arrivals a day as whole numbers: Poisson around a rate that is itself Gamma distributed.

$$ \text{mean } m, \qquad \text{variance } m + m^2 / k . $$

A day without arrivals is nothing special. Days ahead are either independent, each with a rate of
its own, or share one rate that is not known; the truth lies in between, and the second is wider.
A weekday may bring more or less than the mean.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

WEEK = 7
# Arrivals that every weekday's factor is shrunk by towards 1.
_SHRINK = 10.0


def _flat() -> Floats:
    return np.ones(WEEK)


@dataclass(frozen=True, slots=True, eq=False)
class NegativeBinomialArrivals:
    r"""Arrivals a day with mean $m$ and dispersion $k$.

    Args:
        mean: Objects a day, over the week; nan where no day was seen.
        dispersion: $k$; infinite for Poisson arrivals.
        weekdays: Factor of each weekday, Monday first, 1 on average.

    References:
        Greenwood and Yule (1920). An inquiry into the nature of frequency distributions.
        Journal of the Royal Statistical Society 83, 255-279.

    Examples:
        Mean 3, variance 9: $k = m^2 / (s^2 - m) = 9/6$.

        >>> found = NegativeBinomialArrivals.fit(np.array([0.0, 3.0, 6.0]))
        >>> found.mean, found.dispersion, found.variance
        (3.0, 1.5, 9.0)
    """

    mean: float
    dispersion: float = float("inf")
    weekdays: Floats = field(default_factory=_flat)

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.dispersion <= 0:
            raise InvalidParameter(f"dispersion must be positive (got {self.dispersion})")

    @classmethod
    def fit(cls, counts: Floats) -> NegativeBinomialArrivals:
        """Match mean and variance; Poisson where the variance is not above the mean."""
        counts = np.asarray(counts, np.float64)
        return _by_moments(counts, np.ones(len(counts)), _flat())

    @classmethod
    def fit_by_weekday(cls, counts: Floats, weekday: Ints) -> NegativeBinomialArrivals:
        r"""The same, with a factor a weekday.

        With $A_w$ arrivals in $n_w$ days of weekday $w$ the factor is
        $(A_w + 10) / (n_w \bar x + 10)$, scaled to 1 on average.

        >>> week = np.array([12.0, 12, 12, 12, 12, 3, 0] * 8)
        >>> found = NegativeBinomialArrivals.fit_by_weekday(week, np.arange(56) % 7)
        >>> found.weekdays.round(2)
        array([1.29, 1.29, 1.29, 1.29, 1.29, 0.41, 0.12])
        """
        counts = np.asarray(counts, np.float64)
        if not len(counts):
            return cls(float("nan"))
        days = np.bincount(weekday, minlength=WEEK)
        arrived = np.bincount(weekday, counts, WEEK)
        factors = (arrived + _SHRINK) / (days * np.mean(counts) + _SHRINK)
        factors /= np.mean(factors)
        return _by_moments(counts, factors[weekday], factors)

    @property
    def variance(self) -> float:
        """Variance of one ordinary day's arrivals."""
        return self.mean + self.mean**2 / self.dispersion

    def expected(self, days: int, weekday: int = 0) -> float:
        """Arrivals to expect in the `days` days that begin on a weekday."""
        return float(np.sum(self._means(days, weekday)))

    def quantile_of_independent_days(
        self, days: int, probability: float, weekday: int = 0
    ) -> float:
        """Arrivals of `days` independent days not exceeded with a probability.

        Equal days give a negative binomial with dispersion dk; unequal ones the one with the
        same mean and variance.

        >>> NegativeBinomialArrivals(3.0, 1.5).quantile_of_independent_days(7, 0.95)
        35.0
        """
        means = self._means(days, weekday)
        total, squares = float(np.sum(means)), float(np.sum(means**2))
        return _quantile(total, self.dispersion * total**2 / max(squares, 1e-300), probability)

    def quantile_of_one_rate(self, days: int, probability: float, weekday: int = 0) -> float:
        """Arrivals of `days` days that share one unknown rate not exceeded with a probability.

        >>> NegativeBinomialArrivals(3.0, 1.5).quantile_of_one_rate(7, 0.95)
        56.0
        """
        return _quantile(self.expected(days, weekday), self.dispersion, probability)

    def _means(self, days: int, weekday: int) -> Floats:
        return self.mean * self.weekdays[(weekday + np.arange(days)) % WEEK]


def _by_moments(counts: Floats, factor: Floats, weekdays: Floats) -> NegativeBinomialArrivals:
    """Mean and dispersion where day i is expected to bring the mean times factor i."""
    if not len(counts):
        return NegativeBinomialArrivals(float("nan"))
    mean = float(np.sum(counts) / np.sum(factor))
    expected = mean * factor
    free = len(counts) / max(len(counts) - 1, 1)
    excess = float(np.sum((counts - expected) ** 2)) * free - float(np.sum(expected))
    dispersion = float(np.sum(expected**2)) / excess if excess > 0 else float("inf")
    return NegativeBinomialArrivals(mean, dispersion, weekdays)


def _quantile(mean: float, dispersion: float, probability: float) -> float:
    """Least whole number x with P(X <= x) >= probability, by bisection."""
    if mean == 0:
        return 0.0
    low, high = -1.0, max(mean, 1.0)
    while _chance_up_to(high, mean, dispersion) < probability:
        low, high = high, 2 * high
    high = float(np.ceil(high))
    low = float(np.floor(low))
    while high - low > 1:
        middle = np.floor((low + high) / 2)
        if _chance_up_to(middle, mean, dispersion) >= probability:
            high = middle
        else:
            low = middle
    return float(high)


def _chance_up_to(count: float, mean: float, dispersion: float) -> float:
    from scipy.special import betainc, gammaincc  # slow to load: only where they are needed

    whole = float(np.floor(count))
    if np.isinf(dispersion):
        return float(gammaincc(whole + 1, mean))
    return float(betainc(dispersion, whole + 1, dispersion / (dispersion + mean)))
