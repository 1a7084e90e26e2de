r"""Bias, spread and chance of being close for estimators that read dates, under regular visits.

Time is counted in gaps, so a page changes $x = rI$ times per unit. The way in is
`recrawl.rates.existence_accuracy`.

**Events over quiet days.** Given $k$ changed gaps of $n$, the quiet time $T$ is $n - k$ and the sum
of $k$ ages, each exponential and cut off at 1. Its Laplace transform is known,

$$ \mathrm{E} e^{-sT} = e^{-s (n-k)} \varphi(s)^k , \qquad
   \varphi(s) = \frac{x}{x + s} \, \frac{1 - e^{-(x+s)}}{1 - e^{-x}} . $$

**Mean age.** The ages at $N$ visits are a chain: one more than before, or after a change an age
cut off at 1. Visits between two changes are a *run*; $l$ of them that begin with the age $a$ add up
to $la + l(l-1)/2$. Runs are independent, so the transform of the sum of all ages follows from those
of fewer visits, run by run. The first run begins with an age that is not cut off.

From a transform $F$ of a sum $T$ come the means $\mathrm{E}\, 1/T = \int_0^\infty F(s)\, ds$ and
$\mathrm{E}\, 1/T^2 = \int_0^\infty s F(s)\, ds$, and by numerical inversion the probability that
$T$ lies below a value.

Pure.

References:
    Abate and Whitt (1995). Numerical inversion of Laplace transforms of probability
    distributions. ORSA Journal on Computing 7(1), 36-43.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates.last_change import last_change_share
from recrawl.rates.published.malcolm_age import variance_of_mean_age

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints

    Transform = Callable[[np.ndarray], np.ndarray]

# Integrals over s are sums over the logarithm of s / x, evenly spaced: exact to ten digits.
_STEP = 0.05
_PLACES = np.arange(-30.0, 45.0, _STEP)

_NOTHING_LOG = -300.0  # of a density: also times the square of the largest s it is nothing
_NEGLIGIBLE = 1e-16  # probability of a count that need not be looked at
_FINITE_MEAN = 2  # ages from which on the inverse of their sum has a mean
_FINITE_VARIANCE = 3  # and a variance
_LONGEST_RUN = 40.0  # changes that a run should have had: longer ones do not happen

# Of the inversion: how far the line of integration lies to the right, and the terms of the
# alternating series: as they are, then averaged with binomial weights.
_RIGHT = 18.4
_PLAIN_TERMS = 60
_AVERAGED_TERMS = 12


@dataclass(frozen=True, slots=True, eq=False)
class EventsOverDays:
    """An estimator that divides some number of events by the quiet days.

    Args:
        events: Events that it counts after 0, 1, ... gaps changed.
        expected: Changes per gap, $x$.
        chance: Probability of 0, 1, ... changed gaps.
    """

    events: Floats
    expected: float
    chance: Floats

    @property
    def gaps(self) -> int:
        """Gaps of a history."""
        return len(self.events) - 1

    def rate_moments(self) -> tuple[float, float]:
        """Mean of estimate / rate and of its square."""
        x, some = self.expected, self._possible(self.chance > _NEGLIGIBLE)
        inverse, inverse_square = self._inverse_moments(some)
        events = self.chance[some] * self.events[some]
        mean = (events * inverse).sum() / x
        square = (events * self.events[some] * inverse_square).sum() / x**2
        return (
            float(mean) if self.gaps >= _FINITE_MEAN else np.inf,
            float(square) if self.gaps >= _FINITE_VARIANCE else np.inf,
        )

    def interval_moments(self) -> tuple[float, float, float]:
        """Mean of estimate / mean interval, of its square, and the chance that there is none."""
        x, k = self.expected, self._possible(self.events > 0)
        chance, events = self.chance[k], self.events[k]
        age = last_change_share(x)
        age_variance = 1 / x**2 - np.exp(-x) / np.expm1(-x) ** 2
        days = self.gaps - k + k * age
        defined = chance.sum()
        mean = (chance * days / events).sum() * x / defined
        square = (chance * (days**2 + k * age_variance) / events**2).sum() * x**2 / defined
        return float(mean), float(square), float(1 - defined)

    def chance_within(self, low: float, high: float) -> float:
        """Probability that estimate / rate lies between two values."""
        x, total = self.expected, 0.0
        for k in self._possible((self.chance > _NEGLIGIBLE) & (self.events > 0)).tolist():
            least, most = (self.events[k] / (x * end) - (self.gaps - k) for end in (high, low))
            share = self._ages_below(k, most) - self._ages_below(k, least)
            total += self.chance[k] * share
        return total

    def _possible(self, which: np.ndarray) -> Ints:
        """Those of 1, 2, ... changed gaps."""
        return 1 + np.flatnonzero(which[1:])

    def _ages_below(self, k: int, value: float) -> float:
        """Probability that the sum of k ages, each cut off at 1, lies below a value."""
        if value <= 0 or value >= k:
            return float(value > 0)
        if k == 1:
            return float(np.expm1(-self.expected * value) / np.expm1(-self.expected))
        return _below(lambda s: np.exp(k * _log_age(s, self.expected)), value)

    def _inverse_moments(self, changes: Ints) -> tuple[Floats, Floats]:
        """Means of 1 / T and 1 / T^2 for each number of changes."""
        if not len(changes):
            return np.empty(0), np.empty(0)
        s = np.exp(_PLACES) * self.expected
        age = _log_age(s, self.expected)
        # Far out there is nothing, for the fewest changes and the most, so for all between them.
        ends = changes[[0, -1], np.newaxis]
        seen = (ends * age - (self.gaps - ends) * s > _NOTHING_LOG).any(axis=0)
        s, age = s[seen], age[seen]
        logs = changes[:, np.newaxis] * age
        logs -= (self.gaps - changes)[:, np.newaxis] * s
        density = np.exp(logs, out=logs)
        return density @ (s * _STEP), density @ (s * s * _STEP)


@dataclass(frozen=True, slots=True)
class MeanAge:
    """The mean of the ages at all visits, the first included, and its inverse as a rate.

    Args:
        visits: All of them.
        expected: Changes per gap, $x$.
    """

    visits: int
    expected: float

    def rate_moments(self) -> tuple[float, float]:
        """Mean of estimate / rate and of its square."""
        s = np.exp(_PLACES) * self.expected
        density = self._transform(s) * s * _STEP
        scale = self.visits / self.expected
        return (
            float(scale * density.sum()) if self.visits >= _FINITE_MEAN else np.inf,
            float(scale**2 * (density * s).sum()) if self.visits >= _FINITE_VARIANCE else np.inf,
        )

    def interval_moments(self) -> tuple[float, float, float]:
        """Mean of estimate / mean interval, of its square, and the chance that there is none."""
        variance = variance_of_mean_age(np.array([self.expected]), np.array([self.visits]))
        return 1.0, 1.0 + float(variance[0]), 0.0

    def chance_within(self, low: float, high: float) -> float:
        """Probability that estimate / rate lies between two values."""
        least, most = (self.visits / (self.expected * end) for end in (high, low))
        return _below(self._transform, most) - _below(self._transform, least)

    def _transform(self, s: np.ndarray) -> np.ndarray:
        """Laplace transform of the sum of all ages."""
        x, visits = self.expected, self.visits
        longest = min(visits, 1 + int(_LONGEST_RUN / x))
        length = np.arange(1, longest + 1)[:, np.newaxis]
        # Runs of each length with no change inside, after a change and at the very first.
        inside = -x * (length - 1) - s * (length * (length - 1) / 2)
        run = np.exp(inside + _log_age(length * s, x))
        first = np.exp(inside) * x / (x + length * s)
        # What follows a run: a change and the other visits, or the end.
        change = -np.expm1(-x)
        rest = np.empty((visits, len(s)), run.dtype)
        for some in range(1, visits):
            rest[some] = self._joined(run, rest, some, change)
        return self._joined(first, rest, visits, change)

    @staticmethod
    def _joined(run: np.ndarray, rest: np.ndarray, visits: int, change: float) -> np.ndarray:
        """Transform for some visits: those of a run of each length, and what follows it."""
        longest = min(len(run), visits - 1)
        following = rest[visits - longest : visits][::-1]
        joined: np.ndarray = change * np.einsum("ls,ls->s", run[:longest], following)
        return joined + run[visits - 1] if visits <= len(run) else joined


def _log_age(s: np.ndarray, expected: float) -> np.ndarray:
    """Logarithm of the transform of an age that is cut off at 1."""
    logs: np.ndarray = np.log(expected / (expected + s)) + np.log(
        np.expm1(-(expected + s)) / np.expm1(-expected)
    )
    return logs


def _below(transform: Transform, value: float) -> float:
    """Probability that a positive variable with a continuous distribution lies below a value.

    >>> round(_below(lambda s: 1 / (1 + s), 2.0), 6)  # exponential: 1 - e^-2
    0.864665
    """
    terms = np.arange(_PLAIN_TERMS + _AVERAGED_TERMS + 1)
    s = (_RIGHT + 2j * np.pi * terms) / (2 * value)
    series = (-1.0) ** terms * (transform(s) / s).real
    series[0] /= 2
    sums = np.cumsum(series)[_PLAIN_TERMS:]
    for _ in range(_AVERAGED_TERMS):  # Euler's summation: averages of neighbours, again and again
        sums = (sums[1:] + sums[:-1]) / 2
    return float(np.clip(np.exp(_RIGHT / 2) / value * sums[0], 0, 1))
