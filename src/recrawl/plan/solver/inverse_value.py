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

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

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


class Pace(Protocol):
    """Changes to be expected between visits, x, that make g(x) = scale * price."""

    @property
    def bounded(self) -> bool:
        """Whether visits end at a cut-off, and end steeply."""
        ...

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        """X of each page; infinite where no x will do."""
        ...

    def yielding(self, x: Floats, y: Floats) -> Floats:
        """How fast visits fall as the price rises: -d ln(1 / x) / d ln y."""
        ...


# X over its place, z / step, as cubics in steps of z from 0 on: a column a power, a row a step.
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
    """X with gain(x) = y, by secants on logarithms from a guess and a point just above it."""
    before, x = np.log(guess), np.log(guess) + 1e-3
    want = np.log(y)
    height = np.log(gain(np.exp(before))) - want
    for _ in range(_STEPS):
        now = np.log(gain(np.exp(x))) - want
        slope = (now - height) / np.where(x == before, 1.0, x - before)
        before, height = x, now
        x = x - np.where(slope > 0, now / np.where(slope > 0, slope, 1.0), 0.0)
    return np.exp(x)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """G = 1 - (1 + x) e^-x, which is below 1: a page worth less than the price is left alone."""

    bounded: ClassVar[bool] = True

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        y = scale * -price
        np.maximum(y, -1.0, out=y)
        with np.errstate(divide="ignore"):  # -inf for pages left alone
            np.log1p(y, out=y)
        y *= -(_FRESH_STEP**-2)
        np.minimum(y, (_PIECES + 1) ** 2, out=y)
        np.sqrt(y, out=y)
        return _times(y, _fresh_cubics())

    def yielding(self, x: Floats, y: Floats) -> Floats:
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


@dataclass(frozen=True, slots=True)
class _Harmonic:
    """G = x - 1 + e^-x, which soon becomes a straight line."""

    bounded: ClassVar[bool] = False

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        y = scale * price
        near = np.minimum(y, _FAR)
        y -= near
        near *= _HARMONIC_STEP**-2
        np.sqrt(near, out=near)
        y += _times(near, _harmonic_cubics())
        return y

    def yielding(self, x: Floats, y: Floats) -> Floats:
        slope = x - y  # 1 - e^-x, but for rounding where both are large
        np.maximum(slope, np.minimum(x, 1.0) / 2, out=slope)
        slope *= x
        np.maximum(slope, _TINY, out=slope)
        return np.divide(y, slope, out=slope)


@cache
def _harmonic_cubics() -> _Cubics:
    def x_of(z: Floats) -> Floats:
        return _root(harmonic_gain, z * z, np.sqrt(2) * z + z * z)

    return _cubics(x_of, _HARMONIC_STEP)


@dataclass(frozen=True, slots=True)
class _Age:
    """G = x^2 / 2 - 1 + (1 + x) e^-x, which soon becomes a parabola."""

    bounded: ClassVar[bool] = False

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        y = scale * price
        near = np.minimum(y, _FAR_AGE)
        y -= near
        near *= _AGE_STEP**-3
        x = _times(np.cbrt(near, out=near), _age_cubics())
        y *= 2
        x *= x
        x += y
        return np.sqrt(x, out=x)

    def yielding(self, x: Floats, y: Floats) -> Floats:
        decay = (y + 1 - x * x / 2) / (1 + x)
        changed = np.maximum(1 - decay, np.minimum(x, 1.0) / 2)  # but for rounding
        return y / np.maximum(x * x * np.minimum(changed, 1.0), _TINY)


@cache
def _age_cubics() -> _Cubics:
    def x_of(z: Floats) -> Floats:
        return _root(age_gain, z**3, np.cbrt(3) * z + z**1.5)

    return _cubics(x_of, _AGE_STEP)


@dataclass(frozen=True, slots=True)
class _Missed:
    """G = x^2 / 2."""

    bounded: ClassVar[bool] = False

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        return np.sqrt(scale * (2 * price))

    def yielding(self, x: Floats, y: Floats) -> Floats:
        del y
        return np.full_like(x, 0.5)


@dataclass(frozen=True, slots=True)
class _RandomFresh:
    """Y = (1 + 1/x)^-2 with visits / rate = 1 / x: the loss is x / (1 + x)."""

    bounded: ClassVar[bool] = False

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        root = np.sqrt(np.minimum(scale * price, 1.0))
        with np.errstate(divide="ignore"):  # infinite for pages left alone
            changes: Floats = root / (1 - root)
        return changes

    def yielding(self, x: Floats, y: Floats) -> Floats:
        del y
        return np.minimum((1 + x) / 2, _STEEPEST)


@dataclass(frozen=True, slots=True)
class _RandomHarmonic:
    """Y = x^2 / (1 + x): the loss is ln(1 + x)."""

    bounded: ClassVar[bool] = False

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        y = scale * price
        changes: Floats = (y + np.sqrt(y) * np.sqrt(y + 4)) / 2
        return changes

    def yielding(self, x: Floats, y: Floats) -> Floats:
        del y
        yielding: Floats = (1 + x) / (2 + x)
        return yielding


@dataclass(frozen=True, slots=True)
class _RandomAge:
    """Y = x^3 (2 + x) / (1 + x)^2: the loss is x / (1 + x) times the interval."""

    bounded: ClassVar[bool] = False

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        y = np.clip(scale * price, _TINY, _MOST)
        log = np.log(y)
        x = np.cbrt(y / 2) + np.sqrt(y)
        for _ in range(6):
            x *= np.exp((log - np.log(self._gain(x))) * self.yielding(x, y))
        return x

    def _gain(self, x: Floats) -> Floats:
        share: Floats = x / (1 + x)
        return share * share * x * (2 + x)

    def yielding(self, x: Floats, y: Floats) -> Floats:
        del y
        yielding: Floats = 1 / (3 + x / (2 + x) - 2 * (x / (1 + x)))
        return yielding


@dataclass(frozen=True, slots=True)
class _RandomMissed:
    """Y = x^2: the loss is x."""

    bounded: ClassVar[bool] = False

    def changes(self, scale: Floats, price: Floats | float) -> Floats:
        return np.sqrt(scale * price)

    def yielding(self, x: Floats, y: Floats) -> Floats:
        del y
        return np.full_like(x, 0.5)


# By the name of an objective's gain.
PERIODIC: Mapping[str, Pace] = {
    "fresh": _Fresh(),
    "harmonic": _Harmonic(),
    "age": _Age(),
    "missed": _Missed(),
}
RANDOMISED: Mapping[str, Pace] = {
    "fresh": _RandomFresh(),
    "harmonic": _RandomHarmonic(),
    "age": _RandomAge(),
    "missed": _RandomMissed(),
}


def random_value(objective: Objective, rate: Floats, interval: Floats) -> Floats:
    """What one more visit a day saves where visits are at random instants.

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
