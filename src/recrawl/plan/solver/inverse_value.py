r"""How many changes to wait for before a visit, given what the visit must be worth.

All objectives value a visit at $w r^{-p} g(x)$, $x$ being the changes to be expected since the last
one. Where that equals the price times the cost of a visit, $g(x) = y$ with
$y = price \cdot cost \cdot r^p / w$; so the plan of a page follows from one function of one
number, the inverse of $g$. It is tabulated once, as a cubic in each of 2048 pieces: in
$z = \sqrt{y}$ and the like $x / z$ is smooth from end to end, so that few pieces give 12 digits,
and no page needs a search of its own.

A randomised plan visits at random instants (a Poisson process). There the share of time lost
depends on $rate / visits$ in another way, and most inverses have a closed form.

Pure.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.plan.terms import age_gain, harmonic_gain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.arrays.types import Floats
    from recrawl.plan.objectives import Objective

_PIECES = 2048
_MOST_DEPTH = 37.5  # -ln of half the last bit of 1: no y lies between 1 - e^-37.5 and 1
_FAR = 45.0  # from here on e^-x counts for nothing
_FAR_AGE = _FAR**2 / 2
_STEEPEST = 1e6  # at a page's cut-off visits fall infinitely fast; a slope must be a number
_ABOUT_ONE = 1 + 1 / _STEEPEST
_MOST = 1e300
_STEPS = 30
_TINY = np.finfo(np.float64).tiny

# Steps of z: the square root of -ln(1 - y), the square root of y, the cube root of y.
_FRESH_STEP = _MOST_DEPTH ** (1 / 2) / _PIECES
_HARMONIC_STEP = _FAR ** (1 / 2) / _PIECES * (1 + 1e-9)
_AGE_STEP = _FAR_AGE ** (1 / 3) / _PIECES * (1 + 1e-9)


class InverseValue(NamedTuple):
    """The inverse of one gain g: the changes x to wait for so that g(x) = y = scale * price.

    Attributes:
        changes: From scales and a price, or one price per page, to x; infinite where no x will do.
        elasticity: From x and y to how fast visits fall as the price rises, -d ln(1 / x) / d ln y.
        bounded: Whether g is bounded: visits end at a cut-off, and end steeply.
    """

    changes: Callable[[Floats, Floats | float], Floats]
    elasticity: Callable[[Floats, Floats], Floats]
    bounded: bool = False


# X over its place, z / step, as cubics in steps of z from 0 on: an array per power, a row per step.
_Cubics = tuple["Floats", "Floats", "Floats", "Floats"]


def _times(place: Floats, cubics: _Cubics) -> Floats:
    """X at each place: the tabulated quotient times the place."""
    piece = np.floor(place)
    rest = place - piece
    row = piece.astype(np.intp)
    first, second, third, fourth = cubics
    quotient = fourth.take(row, mode="clip", out=piece)
    quotient *= rest
    quotient += third.take(row, mode="clip")
    quotient *= rest
    quotient += second.take(row, mode="clip")
    quotient *= rest
    quotient += first.take(row, mode="clip")
    quotient *= place
    return quotient


def _cubics(x_of: Callable[[Floats], Floats], step: float, beyond: float | None = None) -> _Cubics:
    """Cubics through the Chebyshev points of each step; `beyond` is what follows the last."""
    points = (1 - np.cos((np.arange(4) + 0.5) * np.pi / 4)) / 2
    place = np.arange(_PIECES)[:, np.newaxis] + points
    quotient = x_of(place.ravel() * step).reshape(place.shape) / place
    cubics = np.linalg.solve(np.vander(points, increasing=True), quotient.T)
    if beyond is not None:
        cubics = np.column_stack([cubics, [beyond, 0, 0, 0]])
    first, second, third, fourth = (np.ascontiguousarray(row) for row in cubics)
    return first, second, third, fourth


def _root(gain: Callable[[Floats], Floats], y: Floats, guess: Floats) -> Floats:
    """X with gain(x) = y, by the secant method on logarithms, from a guess and just above it."""
    before, x = np.log(guess), np.log(guess) + 1e-3
    want = np.log(y)
    height = np.log(gain(np.exp(before))) - want
    for _ in range(_STEPS):
        now = np.log(gain(np.exp(x))) - want
        slope = (now - height) / np.where(x == before, 1.0, x - before)
        before, height = x, now
        x = x - np.where(slope > 0, now / np.where(slope > 0, slope, 1.0), 0.0)
    return np.exp(x)


def _fresh_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of 1 - (1 + x) e^-x = y; infinite from y = 1 on: a page worth less is left alone."""
    y = scale * -price
    np.maximum(y, -1.0, out=y)
    with np.errstate(divide="ignore"):  # -inf for pages left alone
        np.log1p(y, out=y)
    y *= -(_FRESH_STEP**-2)
    np.minimum(y, (_PIECES + 1) ** 2, out=y)
    np.sqrt(y, out=y)
    return _times(y, _fresh_cubics())


def _fresh_elasticity(x: Floats, y: Floats) -> Floats:
    x = np.minimum(x, _FAR)  # pages left alone spend nothing, whatever stands here
    slope = _ABOUT_ONE - np.minimum(y, 1.0)
    slope *= x
    slope *= x
    x += 1
    slope /= x
    return np.divide(y, slope, out=slope)


@cache
def _fresh_cubics() -> _Cubics:
    """In z = sqrt(-ln(1 - y)), where x - ln(1 + x) = z^2."""

    def x_of(z: Floats) -> Floats:
        # In long doubles where there are such: x - ln(1 + x) loses digits for small x.
        depth: Any = z.astype(np.longdouble) ** 2
        guess = np.sqrt(2 * depth) + depth
        return _root(lambda x: x - np.log1p(x), depth, guess).astype(np.float64)

    return _cubics(x_of, _FRESH_STEP, beyond=np.inf)


def _harmonic_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of x - 1 + e^-x = y, which soon becomes a straight line."""
    y = scale * price
    near = np.minimum(y, _FAR)
    y -= near
    near *= _HARMONIC_STEP**-2
    np.sqrt(near, out=near)
    y += _times(near, _harmonic_cubics())
    return y


def _harmonic_elasticity(x: Floats, y: Floats) -> Floats:
    slope = x - y  # 1 - e^-x, but for rounding where both are large
    np.maximum(slope, np.minimum(x, 1.0) / 2, out=slope)
    slope *= x
    np.maximum(slope, _TINY, out=slope)
    return np.divide(y, slope, out=slope)


@cache
def _harmonic_cubics() -> _Cubics:
    return _cubics(lambda z: _root(harmonic_gain, z * z, np.sqrt(2) * z + z * z), _HARMONIC_STEP)


def _age_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of x^2 / 2 - 1 + (1 + x) e^-x = y, which soon becomes a parabola."""
    y = scale * price
    near = np.minimum(y, _FAR_AGE)
    y -= near
    near *= _AGE_STEP**-3
    x = _times(np.cbrt(near, out=near), _age_cubics())
    y *= 2
    x *= x
    x += y
    return np.sqrt(x, out=x)


def _age_elasticity(x: Floats, y: Floats) -> Floats:
    decay = (y + 1 - x * x / 2) / (1 + x)
    changed = np.maximum(1 - decay, np.minimum(x, 1.0) / 2)  # but for rounding
    return y / np.maximum(x * x * np.minimum(changed, 1.0), _TINY)


@cache
def _age_cubics() -> _Cubics:
    return _cubics(lambda z: _root(age_gain, z**3, np.cbrt(3) * z + z**1.5), _AGE_STEP)


def _missed_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of x^2 / 2 = y."""
    return np.sqrt(scale * (2 * price))


def _half(x: Floats, y: Floats) -> Floats:
    """Elasticity of a square root."""
    del y
    return np.full_like(x, 0.5)


def _random_fresh_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of (1 + 1/x)^-2 = y: the loss is x / (1 + x)."""
    root = np.sqrt(np.minimum(scale * price, 1.0))
    with np.errstate(divide="ignore"):  # infinite for pages left alone
        changes: Floats = root / (1 - root)
    return changes


def _random_fresh_elasticity(x: Floats, y: Floats) -> Floats:
    del y
    return np.minimum((1 + x) / 2, _STEEPEST)


def _random_harmonic_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of x^2 / (1 + x) = y: the loss is ln(1 + x)."""
    y = scale * price
    changes: Floats = (y + np.sqrt(y) * np.sqrt(y + 4)) / 2
    return changes


def _random_harmonic_elasticity(x: Floats, y: Floats) -> Floats:
    del y
    return 1 - 1 / (2 + x)


def _random_age_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of x^3 (2 + x) / (1 + x)^2 = y, by Newton steps: the loss is x / (1 + x) intervals."""
    y = np.clip(scale * price, _TINY, _MOST)
    log = np.log(y)
    x = np.cbrt(y / 2) + np.sqrt(y)
    for _ in range(6):
        share = x / (1 + x)
        gain = share * share * x * (2 + x)
        x *= np.exp((log - np.log(gain)) * _random_age_elasticity(x, y))
    return x


def _random_age_elasticity(x: Floats, y: Floats) -> Floats:
    del y
    return 1 / (3 + x / (2 + x) - 2 * (x / (1 + x)))


def _random_missed_changes(scale: Floats, price: Floats | float) -> Floats:
    """Root of x^2 = y: the loss is x."""
    return np.sqrt(scale * price)


# By the name of an objective's gain.
PERIODIC: Mapping[str, InverseValue] = {
    "fresh": InverseValue(_fresh_changes, _fresh_elasticity, bounded=True),
    "harmonic": InverseValue(_harmonic_changes, _harmonic_elasticity),
    "age": InverseValue(_age_changes, _age_elasticity),
    "missed": InverseValue(_missed_changes, _half),
}
RANDOMISED: Mapping[str, InverseValue] = {
    "fresh": InverseValue(_random_fresh_changes, _random_fresh_elasticity),
    "harmonic": InverseValue(_random_harmonic_changes, _random_harmonic_elasticity),
    "age": InverseValue(_random_age_changes, _random_age_elasticity),
    "missed": InverseValue(_random_missed_changes, _half),
}


def random_value(objective: Objective, rate: Floats, interval: Floats) -> Floats:
    """Value of one more visit per day where visits are made at random instants.

    >>> from recrawl.plan import Freshness
    >>> random_value(Freshness(), np.array([1.0]), np.array([1.0]))  # rate / (visits + rate)^2
    array([0.25])
    """
    x = rate * interval
    share: Floats = x / (1 + x)
    if objective.gain == "fresh":
        value: Floats = share * share * np.maximum(rate, _TINY) ** -objective.power
        return value
    if objective.gain == "harmonic":
        return share * interval
    if objective.gain == "age":
        return interval * interval * share * (1 + 1 / (1 + x))
    return x * interval
