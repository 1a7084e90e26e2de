r"""The Duane plot: mean time between changes over time, both as logarithms, and its straight line.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats
    from recrawl.trends.windows import WindowTimes


@dataclass(frozen=True, slots=True, eq=False)
class Duane:
    r"""Straight lines through the Duane plots of windows, one row per window.

    After $i$ changes in $s_i$ days the mean time between changes is $s_i / i$. If it grows as a
    power of time, $\ln(s_i / i)$ lies on a line over $\ln s_i$,

    $$ \ln \frac{s_i}{i} = a + \gamma \ln s_i , $$

    found by least squares. The cumulative mean time between changes is then
    $e^a t^\gamma$, the cumulative rate $e^{-a} t^{-\gamma}$ and the rate at the instant
    $(1 - \gamma) e^{-a} t^{-\gamma}$, the Weibull process with $\beta = 1 - \gamma$. For
    $\gamma \ge 1$ there is no such rate and the cumulative one stands in.

    Args:
        slope: gamma; 0 where there is one point or all have the same time.
        intercept: a, the logarithm of the papers' alpha.

    References:
        Duane (1964). Learning curve approach to reliability monitoring. IEEE Transactions on
        Aerospace 2, 563-566.
        Singh (2007). Estimating the rate of web page updates. IJCAI.

    Examples:
        >>> from recrawl.trends.points import Points
        >>> from recrawl.trends.windows import WindowTimes
        >>> from recrawl.trends.windows import Windows
        >>> points = Points(np.array([1.0, 3, 6, 10, 15]), np.array([0, 5]), np.array([15.0]))
        >>> one = Windows(np.array([0, 5]), np.array([0]), np.array([2]))
        >>> fit = Duane.of(WindowTimes.of(points, one))
        >>> fit.slope.round(6), fit.intercept.round(6)
        (array([0.405542]), array([-0.018135]))
    """

    slope: Floats
    intercept: Floats

    @classmethod
    def of(cls, times: WindowTimes) -> Duane:
        """Fit every window."""
        x, n = times.logs, times.count
        y = x - np.log(times.number)
        mean_x, mean_y = times.total(x) / n, times.total(y) / n
        off = x - times.spread(mean_x)
        square = times.total(off * off)
        some: Bools = (n > 1) & (square > 0)
        slope = np.where(some, times.total(off * y), 0.0) / np.where(some, square, 1.0)
        return cls(slope, mean_y - slope * mean_x)

    def mean_interval(self, since: Floats) -> Floats:
        """Mean time between changes over the whole window up to then."""
        with np.errstate(over="ignore"):  # a line as good as vertical: never, or at once
            return np.exp(self.intercept + self.slope * np.log(since))

    def rate(self, since: Floats) -> Floats:
        """Changes a day at that instant; the cumulative rate where the line is too steep."""
        share = np.where(self.slope < 1, 1 - self.slope, 1.0)
        with np.errstate(divide="ignore"):
            return share / self.mean_interval(since)
