"""Harmonic staleness: each further change that a copy misses hurts less.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recrawl.plan.objectives.terms import (
    SMALL_LOG,
    harmonic_gain,
    harmonic_series,
    still_fresh,
    terms,
)

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

_NODES = 32  # of a quadrature that is good to 11 digits for shapes up to 1e6
_DEEP = 40.0  # e^-40 counts for nothing
_SMALL = 1e-2


@dataclass(frozen=True, slots=True)
class Harmonic:
    r"""Sum of 1/k over the changes missed: each further one hurts less.

    A copy that misses $N$ changes costs $H_N = 1 + 1/2 + \dots + 1/N$. On average that is
    $\int_0^{rt} (1 - e^{-s}) / s \, ds$, and

    $$ V(\tau) = \tau - \frac{1 - e^{-r \tau}}{r}, \qquad E V(\tau) = \tau - G, \qquad
       G = \frac{b}{a - 1} (1 - \rho^{a-1}) . $$

    The value grows for ever, so no page is left alone: hence the default.

    References:
        Kolobov, Peres, Lu and Horvitz (2019). Staying up to date with online content changes using
        reinforcement learning for scheduling. NeurIPS 32.

    Examples:
        >>> Harmonic().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0484, 0.3679, 0.9   ])
        >>> Harmonic().expected_value(np.array([1.7]), np.array([2.0]), np.array([1.0])).round(4)
        array([0.294])
    """

    power: ClassVar[int] = 1
    gain: ClassVar[str] = "harmonic"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Elapsed - (1 - e^-x) / rate with x = rate * elapsed."""
        x = rate * elapsed
        return elapsed * (harmonic_gain(x) / np.maximum(x, np.finfo(np.float64).tiny))

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Elapsed - G."""
        u, log, lasting, _, _, expected = terms(shape, exposure, elapsed)
        small = log * expected * harmonic_series(log, expected)
        is_small = np.maximum(log, expected) < SMALL_LOG
        return exposure * np.where(is_small, small, u - lasting)

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Cost at x, less 1, plus (1 - e^-x) / x; infinite for pages never visited."""
        x = rate * interval
        return _exponential_integral(x) - 1 + still_fresh(x)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """Expected cost at the end, less EV / interval."""
        loss = _expected_integral(shape, interval / exposure)
        finite = np.minimum(interval, np.finfo(np.float64).max)
        return loss - self.expected_value(shape, exposure, finite) / finite

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """ln(1 + rate / visits)."""
        return np.log1p(rate * interval)

    def expected_wear(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """1 - rho^a."""
        return terms(shape, exposure, elapsed).changed


def _exponential_integral(x: Floats) -> Floats:
    """Integral of (1 - e^-t) / t from 0 to x."""
    from scipy.special import exp1  # slow to load: only where it is needed

    small = x * (1 - x / 4 * (1 - x * 2 / 9 * (1 - x * 3 / 16 * (1 - x * 4 / 25))))
    at = np.maximum(x, _SMALL)
    return np.where(x < _SMALL, small, np.euler_gamma + np.log(at) + exp1(at))


def _expected_integral(shape: Floats, u: Floats) -> Floats:
    r"""Expected cost after a while, the integral of (1 - e^-as) / (1 - e^-s) from 0 to L.

    The factor that varies fast, e^-as, is integrated by itself where the other one is smooth:
    1 / (1 - e^-s) = 1 + 1/s + k(s) with k between -1/2 and 0.
    """
    log = np.log1p(u)
    whole = np.minimum(log, 700.0)
    smooth = np.log(still_fresh(whole))  # integral of k
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    end = np.minimum(whole, _DEEP / shape)
    total = np.zeros_like(log)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        s = end * node + 1e-12
        total += weight * np.exp(-shape * s) * (1 / np.expm1(s) - 1 / s)
    total *= -end
    total += log - log * still_fresh(shape * whole)
    total += _exponential_integral(shape * log) + smooth
    return total
