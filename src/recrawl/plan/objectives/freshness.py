"""Freshness: the share of time in which the copy is up to date.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recrawl.plan.objectives.harmonic import Harmonic
from recrawl.plan.objectives.terms import (
    FOR_EVER,
    NOT_ZERO,
    SMALL_LOG,
    fresh_gain,
    fresh_series,
    harmonic_gain,
    terms,
)

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

_FEW_EVENTS = 2.0  # shape below which one form keeps its digits, and above which the other


@dataclass(frozen=True, slots=True)
class Freshness:
    r"""Share of time in which the copy is up to date.

    A copy costs 1 while it is out of date, so the expected cost is $1 - e^{-rt}$ and

    $$ V(\tau) = \frac{1 - (1 + r \tau) e^{-r \tau}}{r}, \qquad
       E V(\tau) = b \frac{1 - \rho^a (1 + a u)}{a - 1} . $$

    A page can be worth no more than $1 / r$: those that change faster than the price allows are
    left alone altogether.

    References:
        Cho and Garcia-Molina (2003). Effective page refresh policies for web crawlers.
        ACM Transactions on Database Systems 28(4), 390-426.

    Examples:
        >>> Freshness().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0468, 0.2642, 0.1   ])
        >>> Freshness().expected_value(np.array([1.7]), np.array([2.0]), np.array([1.0])).round(4)
        array([0.2041])
    """

    power: ClassVar[int] = 1
    gain: ClassVar[str] = "fresh"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """(1 - (1 + x) e^-x) / rate with x = rate * elapsed."""
        x = rate * elapsed
        return elapsed * (fresh_gain(x) / np.maximum(x, np.finfo(np.float64).tiny))

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """G - elapsed rho^a, in the one of three forms that keeps its digits."""
        u, log, lasting, changed, unchanged, expected = terms(shape, exposure, elapsed)
        few = shape * lasting - changed
        many = (changed - shape * u * unchanged) / (shape - 1 + NOT_ZERO)
        value = np.where(shape < _FEW_EVENTS, few, many)
        small = log * expected * fresh_series(log, expected)
        value = np.where(np.maximum(log, expected) < SMALL_LOG, small, value)
        value *= exposure
        return value

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Share of time out of date, 1 - (1 - e^-x) / x; 1 for pages never visited."""
        x = rate * np.minimum(interval, FOR_EVER)
        return harmonic_gain(x) / np.maximum(x, np.finfo(np.float64).tiny)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """1 - G / interval."""
        # For ever in the units of each page as well, where `terms` ends.
        interval = np.minimum(interval, FOR_EVER * np.minimum(exposure, 1.0))
        return Harmonic().expected_value(shape, exposure, interval) / interval

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate / (visits + rate)."""
        x = rate * np.minimum(interval, FOR_EVER)
        return x / (1 + x)

    def expected_wear(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Elapsed a / (b + elapsed) rho^a."""
        found = terms(shape, exposure, elapsed)
        return shape * found.u / (1 + found.u) * found.unchanged
