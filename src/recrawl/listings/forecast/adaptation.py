r"""How an autoregressive decay learns from a sync, as published and guarded.

At a sync only the sum of the decays since the last one is seen, $\ell_{obs}$. The
forecast was $\ell(a, \beta)$, which near the current parameters is a plane with the slopes

$$ A_j = 1 + \sum_i \beta_i A_{j-i}, \qquad
   B^{(i)}_j = \hat d_{j-i} + \sum_m \beta_m B^{(i)}_{j-m}, \qquad
   A(a) = \sum_j A_j, \quad A(\beta_i) = \sum_j B^{(i)}_j . $$

With the gap $\Delta = \ell_{obs} - \ell$ the paper moves first $a$ and then $\beta$:

$$ (6)\ a_1 = a_0 + \tau \frac{\Delta}{A(a_0)}, \qquad
   (7)\ \beta_1 = \beta_0 + \tau \frac{\Delta - A(a_0) (a_1 - a_0)}{A(\beta_0)} . $$

As printed, $\tau$ in (7) multiplies $\Delta$ alone; then the numerator is 0 and $\beta$ never
moves. Read as here, the two steps close a share $1 - (1 - \tau)^2$ of the gap.

(7) divides by a number that is near 0 where decay is slow, and one mass event is learned for
good: on small sources the squared error grows tenfold. `adapt_guarded` moves $a$ alone and
believes no gap larger than the forecast itself.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.autoregression import Autoregression

LEARNING = 0.2  # the paper: 0.1 or 0.2
_LEAST_SLOPE = 1e-9
STATIONARY = 0.99
_LEAST_DECAY = 0.001


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """The forecast sum of decays and how it moves with the parameters.

    Args:
        total: Forecast of the sum.
        by_constant: Slope in the constant, A(a).
        by_slope: Slope in each slope, A(beta).
    """

    total: float
    by_constant: float
    by_slope: Floats


def expand(series: Autoregression, past: Floats, days: int) -> Expansion:
    """Forecast the sum of the next decays, with its derivatives.

    A day whose decay is held at 0 does not move with the parameters.

    >>> from recrawl.listings.forecast.autoregression import Autoregression
    >>> found = expand(Autoregression(-0.02, np.array([0.6]), (1,)), np.array([-0.06]), 12)
    >>> round(found.total, 6), round(found.by_constant, 6)
    (-0.614967, 26.258163)
    """
    reach, count = series.reach, len(series.lags)
    decays = series.filled(past, days)
    by_constant, by_slope = np.zeros(len(decays)), np.zeros((len(decays), count))
    for day in range(reach, reach + days):
        before = [day - lag for lag in series.lags]
        decay = (
            series.constant + float(series.slopes @ decays[before]) if count else series.constant
        )
        decays[day] = min(decay, 0.0)
        if decay > 0:
            continue
        by_constant[day] = 1.0
        if count:
            by_constant[day] += float(series.slopes @ by_constant[before])
            by_slope[day] = decays[before] + series.slopes @ by_slope[before]
    return Expansion(
        float(np.sum(decays[reach:])), float(np.sum(by_constant)), np.sum(by_slope, axis=0)
    )


def adapt_as_published(
    series: Autoregression, past: Floats, days: int, observed: float, *, learning: float = LEARNING
) -> Autoregression:
    """Equations (6) and (7); with several slopes (7) takes each in turn, with the gap that is left.

    A parameter whose derivative is below 1e-9 stays. Slopes stay stationary, and the mean decay
    at or below 0.

    >>> from recrawl.listings.forecast.autoregression import Autoregression
    >>> moved = adapt_as_published(
    ...     Autoregression(-0.02, np.array([0.6]), (1,)), np.array([-0.06]), 12, observed=-0.9
    ... )
    >>> round(moved.constant, 7), moved.slopes.round(7)
    (-0.022171, array([0.6331766]))
    """
    now = expand(series, past, days)
    gap, constant, slopes = observed - now.total, series.constant, series.slopes.copy()
    if abs(now.by_constant) >= _LEAST_SLOPE:
        step = learning * gap / now.by_constant
        constant += step
        gap -= now.by_constant * step
    for row, slope in enumerate(now.by_slope):
        if abs(slope) >= _LEAST_SLOPE:
            step = learning * gap / slope
            slopes[row] += step
            gap -= slope * step
    return replace(series, constant=constant, slopes=slopes).with_slopes_within(STATIONARY)


def adapt_guarded(
    series: Autoregression, past: Floats, days: int, observed: float, *, learning: float = LEARNING
) -> Autoregression:
    """Equation (6) alone, with the gap clipped to the size of the forecast and a bit.

    >>> from recrawl.listings.forecast.autoregression import Autoregression
    >>> series, past = Autoregression(-0.02, np.array([0.6]), (1,)), np.array([-0.06])
    >>> [round(adapt_guarded(series, past, 12, seen).constant, 6) for seen in (-0.9, -3.0)]
    [-0.022171, -0.024692]
    """
    now = expand(series, past, days)
    if abs(now.by_constant) < _LEAST_SLOPE:
        return series
    most = abs(now.total) + _LEAST_DECAY
    gap = float(np.clip(observed - now.total, -most, most))
    constant = series.constant + learning * gap / now.by_constant
    return replace(series, constant=min(constant, 0.0))


def believable(total: float, forecast: float) -> float:
    """A cycle's decay as far as the guarded series remembers it: at most twice the forecast.

    >>> believable(-3.0, forecast=-0.5)
    -1.002
    """
    return max(total, -2 * (abs(forecast) + _LEAST_DECAY))
