"""Detected changes: how many visits find something new.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recrawl.plan.objectives.terms import (
    FOR_EVER,
    SMALL_LOG,
    fresh_gain,
    fresh_series,
    harmonic_gain,
    terms,
)

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats


@dataclass(frozen=True, slots=True)
class Detected:
    r"""Visits that find a change.

    A visit finds one with chance $1 - e^{-r \tau}$. What counts as lost are changes a day that no
    visit tells apart, $r - (1 - e^{-r \tau}) / \tau$, and

    $$ V(\tau) = 1 - (1 + r \tau) e^{-r \tau}, \qquad
       E V(\tau) = 1 - \rho^a \left( 1 + a \frac{u}{1 + u} \right) . $$

    Pages of equal weight and cost are visited in proportion to their rates.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change.
        ACM Transactions on Internet Technology 3(3), 256-290, table I.

    Examples:
        >>> Detected().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0047, 0.2642, 0.9995])
    """

    power: ClassVar[int] = 0
    gain: ClassVar[str] = "fresh"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """1 - (1 + x) e^-x with x = rate * elapsed."""
        return fresh_gain(rate * elapsed)

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """1 - rho^a (1 + a u / (1 + u))."""
        u, log, _, changed, unchanged, expected = terms(shape, exposure, elapsed)
        plain = changed - unchanged * shape * (u / (1 + u))
        small = (shape + 1) * log * expected * fresh_series(-log, expected)
        return np.where(np.maximum(log, expected) < SMALL_LOG, small, plain)

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Changes a day that no visit tells apart, rate - (1 - e^-x) / interval."""
        x = rate * np.minimum(interval, FOR_EVER)
        return rate * (harmonic_gain(x) / np.maximum(x, np.finfo(np.float64).tiny))

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """Shape / exposure - (1 - rho^a) / interval."""
        return shape / exposure - terms(shape, exposure, interval).changed / interval

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate^2 / (visits + rate)."""
        x = rate * np.minimum(interval, FOR_EVER)
        return rate * (x / (1 + x))

    def expected_wear(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Chance of a change times what is left of the mean rate; see `recrawl.plan.random`."""
        u, _, _, _, unchanged, _ = terms(shape, exposure, elapsed)
        return shape / exposure * (shape + 1) * u / (1 + u) ** 2 * unchanged
