"""Age: how long the copy has been out of date.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recrawl.plan.objectives.harmonic import Harmonic
from recrawl.plan.objectives.terms import FOR_EVER, age_gain, fresh_gain, harmonic_gain, terms

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

_NODES = 8
_FEW_LEFT = 1e-5  # of all digits, where terms cancel: 11 of 16
_SMALL_LOG = 1e-4
_TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, slots=True)
class Age:
    r"""Days since the copy went out of date.

    A copy costs as much as the days since the first change it missed, and 0 while it is fresh:

    $$ c(t) = t - \frac{1 - e^{-rt}}{r}, \qquad V(\tau) = \frac{1}{r^2} \left( \frac{x^2}{2} - 1 +
       (1 + x) e^{-x} \right), \quad x = r \tau . $$

    With an uncertain rate $E V = \int_0^\tau t (1 - \rho^a) dt$. No page is left alone.

    References:
        Cho and Garcia-Molina (2003). Effective page refresh policies for web crawlers.
        ACM Transactions on Database Systems 28(4), 390-426.

    Examples:
        >>> Age().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0321, 0.2358, 0.49  ])
    """

    power: ClassVar[int] = 2
    gain: ClassVar[str] = "age"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """(x^2 / 2 - 1 + (1 + x) e^-x) / rate^2 with x = rate * elapsed."""
        x = rate * elapsed
        return elapsed * elapsed * (age_gain(x) / np.maximum(x * x, _TINY))

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Integral of t (1 - rho^a), in the one of three forms that keeps its digits."""
        u, log, lasting, _, _, expected = terms(shape, exposure, elapsed)
        power = (shape - 2) * log + 1e-300
        plain = u * u / 2 + log * np.expm1(-power) / power + lasting
        cancels = np.minimum(log, 1) * np.minimum(expected, 1) < _FEW_LEFT
        certain = (log < _SMALL_LOG) & (expected > 1 / 2)
        least = np.where(certain, _certain(shape, expected), _by_nodes(shape, log))
        return exposure * exposure * np.where(cancels | certain, least, plain)

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Mean age; infinite for pages that change and are never visited."""
        at = np.minimum(interval, FOR_EVER)
        x = np.maximum(rate * at, _TINY)
        age = at * (harmonic_gain(x) / x - age_gain(x) / x / x)
        return np.where((at < FOR_EVER) | (rate == 0), age, np.inf)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """EV of harmonic staleness, which is the cost at the end, less EV / interval."""
        finite = np.minimum(interval, FOR_EVER)
        now = Harmonic().expected_value(shape, exposure, finite)
        return now - self.expected_value(shape, exposure, finite) / finite

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate / (visits (visits + rate))."""
        x = rate * interval
        with np.errstate(invalid="ignore"):
            age = interval * (x / (1 + x))
        return np.where(rate > 0, np.where(np.isinf(x), interval, age), 0.0)

    def expected_wear(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Elapsed (1 - rho^a)."""
        return elapsed * terms(shape, exposure, elapsed).changed


def _by_nodes(shape: Floats, log: Floats) -> Floats:
    """Integral of (e^s - 1)(1 - e^-as) e^s from 0 to L, by quadrature where all is small."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    end = np.minimum(log, 1.0)
    total = np.zeros_like(end)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        s = end * node
        rise = np.expm1(s)
        total -= weight * rise * np.expm1(-shape * s) * (1 + rise)
    return end * total


def _certain(shape: Floats, z: Floats) -> Floats:
    """The same for small L and any z = aL, in powers of 1 / a."""
    decay = np.exp(-z)
    second = fresh_gain(z)
    third = second - z * z / 2 * decay
    fourth = third - z * z * z / 6 * decay
    most = np.minimum(z, 1e60)
    first = most * most / 2 - second
    more = most**3 / 2 - 3 * third
    last = 7 / 6 * (most**4 / 4 - 6 * fourth)
    return (first + (more + last / shape) / shape) / shape / shape
