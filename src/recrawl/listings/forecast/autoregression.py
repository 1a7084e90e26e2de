r"""Daily decay of a copy as a series in which each day leans on the days before it.

The decay of a day is $d(t) = \ln q(t-1, t) \le 0$, with $q$ the precision or the recall, and

$$ q(t_0, t) = \exp \sum_{i = t_0 + 1}^t d(i), \qquad
   d(t) = a + \sum_i \beta_i\, d(t - i) + \varepsilon . $$

For precision the product is exact; for recall only if old and new objects vanish alike.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_at_least

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

WEEK = 7
_MOST_LAGS = 10
_DAYS_A_LAG = 4  # of history, at least
_SPARE = 3  # days that must remain beyond the lags, or the mean has to do


@dataclass(frozen=True, slots=True, eq=False)
class Autoregression:
    r"""A fitted series of daily decays.

    Args:
        constant: $a$.
        slopes: $\beta_i$, one per lag.
        lags: How many days back each slope looks; 1 to k, and 7 where a week matters.
        variance: Of the noise $\varepsilon$.

    References:
        Box, Jenkins and Reinsel (1994). Time series analysis. Chapters 3 and 5.

    Examples:
        Yesterday's decay was 0.06; tomorrow's is -0.02 - 0.6 * 0.06:

        >>> series = Autoregression(-0.02, np.array([0.6]), (1,))
        >>> series.forecast(np.array([-0.06]), days=2)
        array([-0.056 , -0.0536])
        >>> round(series.mean_decay, 6)
        -0.05
    """

    constant: float
    slopes: Floats
    lags: tuple[int, ...]
    variance: float = 0.0

    @property
    def reach(self) -> int:
        """How many days back the series looks."""
        return max(self.lags, default=0)

    @property
    def mean_decay(self) -> float:
        """Decay a day in the long run; never above 0."""
        left = 1 - float(np.sum(self.slopes))
        return min(self.constant / left, 0.0) if left > 0 else 0.0

    def forecast(self, past: Floats, days: int) -> Floats:
        """Decay of each of the `days` days ahead, never above 0.

        Where `past` is too short the mean decay stands in for the days before it.
        """
        series = self.filled(past, days)
        reach = self.reach
        for day in range(reach, reach + days):
            leaning = sum(
                slope * series[day - lag] for slope, lag in zip(self.slopes, self.lags, strict=True)
            )
            series[day] = min(self.constant + leaning, 0.0)
        return series[reach:]

    def filled(self, past: Floats, days: int) -> Floats:
        """The last days as far as the series reaches back, and room for `days` more."""
        reach = self.reach
        series = np.full(reach + days, self.mean_decay)
        known = np.asarray(past, np.float64)[max(len(past) - reach, 0) :]
        series[reach - len(known) : reach] = known
        return series

    def variance_of_sum(self, days: int) -> Floats:
        r"""Variance of the sum of the next 1, 2, ... `days` decays.

        $$ \sigma^2 \sum_{j=0}^{h-1} \Bigl(\sum_{i=0}^j \psi_i\Bigr)^2, \qquad
           \psi_0 = 1, \quad \psi_j = \sum_i \beta_i \psi_{j-i} . $$

        >>> Autoregression(0.0, np.array([0.5]), (1,), variance=1.0).variance_of_sum(2)
        array([1.  , 3.25])
        """
        weights = np.zeros(days)
        for day in range(days):
            weights[day] = (
                1.0
                if day == 0
                else sum(
                    slope * weights[day - lag]
                    for slope, lag in zip(self.slopes, self.lags, strict=True)
                    if lag <= day
                )
            )
        return self.variance * np.cumsum(np.cumsum(weights) ** 2)

    def quality(self, past: Floats, days: int) -> Floats:
        """Precision or recall to expect on each of the `days` days ahead."""
        return np.exp(np.cumsum(self.forecast(past, days)))

    def band(self, past: Floats, days: int, quantile: float) -> tuple[Floats, Floats]:
        """Quality so many deviations below and above the forecast's logarithm, at most 1."""
        middle = np.cumsum(self.forecast(past, days))
        wide = quantile * np.sqrt(self.variance_of_sum(days))
        return np.exp(middle - wide), np.exp(np.minimum(middle + wide, 0))

    def with_slopes_within(self, most: float) -> Autoregression:
        r"""Slopes shrunk to $\sum |\beta| \le$ `most`, and a mean decay not above 0."""
        total = float(np.sum(np.abs(self.slopes)))
        slopes = self.slopes * (most / total) if total > most else self.slopes
        return replace(self, slopes=slopes, constant=min(self.constant, 0.0))


def fit(decays: Floats, lags: tuple[int, ...]) -> Autoregression:
    """Conditional least squares, which is the most likely fit given the first days.

    Too few days for so many lags leave the mean.

    >>> fit(np.array([-0.02, -0.04, -0.05, -0.055, -0.0575]), (1,)).slopes.round(6)
    array([0.5])
    >>> fit(np.array([-0.02, -0.04]), (1,)).lags
    ()
    """
    decays = np.asarray(decays, np.float64)
    if len(decays) < max(lags, default=0) + _SPARE:
        lags = ()
    if not len(decays):
        return Autoregression(0.0, np.empty(0), ())
    found, squares, rows = _least_squares(decays, lags, max(lags, default=0))
    free = max(rows - len(lags) - 1, 1)
    return Autoregression(float(found[0]), found[1:], lags, squares / free)


def choose(decays: Floats, *, weekly: bool = False) -> Autoregression:
    r"""The fit with the least corrected Akaike criterion among 0 to min(10, n/4) lags.

    $$ AICc = n \ln(RSS / n) + 2p + \frac{2p(p+1)}{n - p - 1}, \qquad p = \text{lags} + 2, $$

    all over the same days. With `weekly` each is tried with lag 7 added, too.

    References:
        Hurvich and Tsai (1989). Regression and time series model selection in small samples.
        Biometrika 76, 297-307.

    Examples:
        >>> noise = np.random.default_rng(1).normal(0, 0.01, 400)
        >>> series = [-0.05]
        >>> for shock in noise:
        ...     series.append(-0.02 + 0.6 * series[-1] + shock)
        >>> choose(np.array(series)).lags
        (1,)
    """
    decays = np.asarray(decays, np.float64)
    most = min(_MOST_LAGS, len(decays) // _DAYS_A_LAG)
    plain = [tuple(range(1, count + 1)) for count in range(most + 1)]
    tried = list(plain)
    if weekly and len(decays) // _DAYS_A_LAG >= WEEK:
        tried += [(*lags, WEEK) for lags in plain if WEEK not in lags]
    start = max(max(lags, default=0) for lags in tried)
    best = min(tried, key=lambda lags: _criterion(decays, tuple(sorted(lags)), start))
    return fit(decays, tuple(sorted(best)))


def interpolated(total: float, days: int) -> Floats:
    """Decays of the days of a cycle of which only the sum is known: all alike.

    >>> interpolated(-0.6, 3)
    array([-0.2, -0.2, -0.2])
    """
    check_at_least(1, days=days)
    return np.full(days, total / days)


def interpolated_by_model(total: float, forecast: Floats) -> Floats:
    """Decays as forecast, moved alike to meet the sum, and none above 0.

    >>> interpolated_by_model(-0.6, np.array([-0.3, -0.2, -0.25])).round(2)
    array([-0.25, -0.15, -0.2 ])
    """
    check_at_least(1, days=len(forecast))
    return np.minimum(forecast + (total - np.sum(forecast)) / len(forecast), 0.0)


def _criterion(decays: Floats, lags: tuple[int, ...], start: int) -> float:
    """Corrected Akaike criterion over the days from `start` on."""
    _, squares, rows = _least_squares(decays, lags, start)
    parameters = len(lags) + 2
    spare = rows - parameters - 1
    if spare <= 0:
        return float("inf") if lags else -float("inf")
    # Decays that are all alike leave no rest at all; the fewest lags then win.
    rest = max(squares / rows, 1e-20)
    return rows * float(np.log(rest)) + 2 * parameters * (1 + (parameters + 1) / spare)


def _least_squares(decays: Floats, lags: tuple[int, ...], start: int) -> tuple[Floats, float, int]:
    """Constant and slopes, sum of squares left, number of days fitted."""
    rows = len(decays) - start
    columns = [np.ones(rows), *(decays[start - lag : len(decays) - lag] for lag in lags)]
    design, goal = np.stack(columns, axis=1), decays[start:]
    found = np.linalg.lstsq(design, goal, rcond=None)[0]
    rest = float(np.sum((goal - design @ found) ** 2))
    return np.asarray(found, np.float64), rest, rows
