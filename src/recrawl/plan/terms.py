r"""Terms that all objectives share, computed without cancellation.

With $x = rate \cdot elapsed$, the changes to be expected since the last visit, a visit is worth

$$ g_f = 1 - (1 + x) e^{-x}, \qquad g_h = x - 1 + e^{-x}, \qquad g_a = x^2 / 2 - g_f $$

in the units of each objective. Where $x$ is small their terms cancel, and a series takes over.
For a rate that follows a Gamma distribution $x$ gives way to $u = elapsed / exposure$ and
$L = \ln(1 + u)$: a page stays as it is with chance $\rho^a = e^{-aL}$, $a$ being the shape.

Pure.
"""

from __future__ import annotations

from math import factorial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats

# Below this the series are good to 15 digits, above it the plain terms are good to 14.
_SMALL = 0.2
_TERMS = 12
SMALL_LOG = 3e-4  # the same for the short series over L and aL, and 11 digits
NOT_ZERO = 1e-300  # added to what may be 0 and stands below: 0 / 0 becomes its limit

_FRESH = [(-1) ** k * (k - 1) / factorial(k) for k in range(2, 2 + _TERMS)]
_HARMONIC = [(-1) ** k / factorial(k) for k in range(2, 2 + _TERMS)]
_AGE = [(-1) ** (k + 1) * (k - 1) / factorial(k) for k in range(3, 3 + _TERMS)]

FOR_EVER = 1e100  # days, and what stands for no visit at all: its square is still a number


def fresh_gain(x: Floats) -> Floats:
    """1 - (1 + x) e^-x, to 13 digits.

    >>> fresh_gain(np.array([1e-9]))  # as good as x^2 / 2
    array([5.e-19])
    """
    low = np.minimum(x, _SMALL)
    small = low * low * _series(_FRESH, low)
    # An infinite x times e^-x is nan: far out the exponential is 0 in any case.
    plain = -np.expm1(-x) - np.minimum(x, 1e3) * np.exp(-x)
    return np.where(x < _SMALL, small, plain)


def harmonic_gain(x: Floats) -> Floats:
    """X - 1 + e^-x, to 13 digits."""
    low = np.minimum(x, _SMALL)
    small = low * low * _series(_HARMONIC, low)
    return np.where(x < _SMALL, small, x + np.expm1(-x))


def age_gain(x: Floats) -> Floats:
    """X^2 / 2 - 1 + (1 + x) e^-x, to 13 digits."""
    low = np.minimum(x, _SMALL)
    small = low * low * low * _series(_AGE, low)
    return np.where(x < _SMALL, small, x * x / 2 - fresh_gain(x))


def _series(coefficients: Sequence[float], x: Floats) -> Floats:
    total = np.full_like(x, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total *= x
        total += coefficient
    return total


def still_fresh(x: Floats) -> Floats:
    """Time average of e^-x: (1 - e^-x) / x, and 1 at 0."""
    x = x + NOT_ZERO
    return -np.expm1(-x) / x


class ValueTerms(NamedTuple):
    """Terms of expected values, one row per page.

    Attributes:
        u: Elapsed / exposure.
        log: L = ln(1 + u).
        lasting: G / exposure: expected days that stayed fresh, (1 - e^-(a-1)L) / (a - 1).
        changed: Chance of a change so far, 1 - rho^a.
        unchanged: Chance of none, rho^a.
        expected: aL, which is about the changes to be expected where u is small.
    """

    u: Floats
    log: Floats
    lasting: Floats
    changed: Floats
    unchanged: Floats
    expected: Floats


def terms(shape: Floats, exposure: Floats | float, elapsed: Floats) -> ValueTerms:
    """Terms of each page, by one logarithm and one exponential."""
    u = np.minimum(elapsed / exposure, FOR_EVER)
    log = np.log1p(u)
    power = (shape - 1) * log + NOT_ZERO
    less = np.expm1(-power)
    # rho^a is rho^(a-1) / (1 + u); from this side no digits are lost but for tiny shapes.
    above = 1 + u
    changed, unchanged = (u - less) / above, (1 + less) / above
    return ValueTerms(u, log, -log * less / power, changed, unchanged, shape * log)


def fresh_series(log: Floats, expected: Floats) -> Floats:
    """Integral of (e^s - 1) e^-as from 0 to L over L^2, for small L and aL."""
    z = expected
    return 0.5 + log * (1 / 6 + log / 24) - z * (1 / 3 + (log - z) / 8)


def harmonic_series(log: Floats, expected: Floats) -> Floats:
    """Integral of (1 - e^-as) e^s from 0 to L over a L^2, for small L and aL."""
    z = expected
    return 0.5 + log * (1 / 3 + log / 8) - z * (1 / 6 + log / 8 - z / 24)
