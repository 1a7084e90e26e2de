"""Digamma, trigamma and Gamma quantiles for whole columns, several times faster than scalar loops.

All three are accurate to at least nine digits where the estimators use them. A value depends on
its own row alone, whatever the column's length, so a page's estimate never depends on how many
pages are estimated with it.

Pure.
"""

from __future__ import annotations

from functools import cache
from io import BytesIO
from math import exp, inf, lgamma, log, log1p
from pkgutil import get_data
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats

_SHIFT = 6  # from here on the series below are good to ten digits

# Nodes of the quantile table lie evenly in the logarithm of the shape.
_LEAST_LOG_SHAPE = -10.0
_MOST_LOG_SHAPE = 25.0
_NODES_A_UNIT = 40
_TINY = 1e-290
# Both ends of a band of 90 %: their scores come with the package, written by scripts/quantiles.py.
KEPT = (1 - 0.9) / 2, 1 - (1 - 0.9) / 2
SCORES = "gamma_scores.npy"


def digamma(x: Floats) -> Floats:
    """Logarithmic derivative of the Gamma function, for positive numbers.

    >>> digamma(np.array([1.0])).round(8)
    array([-0.57721566])
    """
    lifted = x + _SHIFT
    inverse = 1 / lifted
    square = inverse * inverse
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    result = np.log(lifted) - inverse / 2 - series
    part = np.empty_like(result)
    for step in range(_SHIFT):
        np.add(x, step, out=part)
        result -= np.divide(1, part, out=part)
    return result


def trigamma(x: Floats) -> Floats:
    """Derivative of `digamma`, for positive numbers.

    >>> trigamma(np.array([1.0])).round(8)  # pi^2 / 6
    array([1.64493407])
    """
    inverse = 1 / (x + _SHIFT)
    square = inverse * inverse
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    result = inverse * (1 + inverse / 2 + square * series)
    for step in range(_SHIFT):
        result += 1 / (x + step) ** 2
    return result


def log_moments(shape: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of the logarithm of a Gamma variable: digamma less a logarithm, trigamma.

    Both together take half the time: they share their inverses, and one logarithm serves.

    >>> mean, variance = log_moments(np.array([1.0]), np.array([2.0]))
    >>> mean.round(8), variance.round(8)  # -0.57721566 - ln 2, pi^2 / 6
    (array([-1.27036285]), array([1.64493407]))
    """
    lifted = shape + _SHIFT
    mean = lifted / exposure
    np.log(mean, out=mean)
    inverse = np.divide(1, lifted, out=lifted)
    square = inverse * inverse
    mean -= square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    variance = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    variance *= square
    half = inverse / 2
    mean -= half
    variance += half
    variance += 1
    variance *= inverse
    for step in range(_SHIFT):
        np.add(shape, step, out=half)
        np.divide(1, half, out=half)
        mean -= half
        half *= half
        variance += half
    return mean, variance


def digamma_of(x: float) -> float:
    """`digamma` of one number, to the last bit, in a tenth of the time.

    >>> bool(digamma_of(0.3) == digamma(np.array([0.3]))[0])
    True
    """
    lifted = x + _SHIFT
    inverse = 1 / lifted
    square = inverse * inverse
    series = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square / 240)))
    result = float(np.log(lifted)) - inverse / 2 - series
    for step in range(_SHIFT):
        result -= 1 / (x + step)
    return result


def trigamma_of(x: float) -> float:
    """`trigamma` of one number, to the last bit, in a tenth of the time.

    >>> bool(trigamma_of(0.3) == trigamma(np.array([0.3]))[0])
    True
    """
    inverse = 1 / (x + _SHIFT)
    square = inverse * inverse
    series = 1 / 6 - square * (1 / 30 - square * (1 / 42 - square * (1 / 30 - square * 5 / 66)))
    result = inverse * (1 + inverse / 2 + square * series)
    for step in range(_SHIFT):
        result += 1 / ((x + step) * (x + step))
    return result


def gamma_quantile(shape: Floats, probability: float) -> Floats:
    """Quantile of the Gamma distribution with exposure 1, one per shape.

    >>> gamma_quantile(np.array([1.0]), 0.5).round(6)  # an exponential's median is ln 2
    array([0.693147])
    """
    coefficients = _quantile_table(probability)
    place = (np.log(shape) - _LEAST_LOG_SHAPE) * _NODES_A_UNIT
    np.clip(place, 0, coefficients.shape[1] - 1e-9, out=place)
    node = place.astype(np.int64)
    place -= node
    c0, c1, c2, c3 = (row[node] for row in coefficients)
    score = c0 + place * (c1 + place * (c2 + place * c3))
    quantile: Floats = shape * np.exp(score * np.sqrt(1 + shape) / shape)
    return quantile


@cache
def _quantile_table(probability: float) -> Floats:
    """Cubic pieces of the quantile's score over the logarithm of the shape.

    The score `ln(quantile / shape) * shape / sqrt(1 + shape)` is smooth and bounded: it tends to
    the logarithm of the probability for small shapes and to a normal quantile for large ones.
    """
    kept = get_data("recrawl.arrays", SCORES) if probability in KEPT else None
    score = np.load(BytesIO(kept))[KEPT.index(probability)] if kept else scores(probability)
    before, left, right, after = score[:-3], score[1:-2], score[2:-1], score[3:]
    return np.stack(
        [
            left,
            -before / 3 - left / 2 + right - after / 6,
            before / 2 - left + right / 2,
            -before / 6 + left / 2 - right / 2 + after / 6,
        ]
    )


def scores(probability: float) -> Floats:
    """The score of the quantile at each node of the table."""
    from scipy.special import gammaincinv  # slow to load: only where it is needed

    ends = (_LEAST_LOG_SHAPE * _NODES_A_UNIT - 1, _MOST_LOG_SHAPE * _NODES_A_UNIT + 2)
    shape = np.exp(np.arange(*ends) / _NODES_A_UNIT)
    quantile = gammaincinv(shape, probability)
    # Below this the quantile is too small for a float; its leading term is exact by then.
    tiny = quantile < _TINY
    with np.errstate(divide="ignore"):
        log_ratio = np.log(quantile / shape)
    log_ratio[tiny] = np.log(probability) / shape[tiny] - np.euler_gamma - np.log(shape[tiny])
    return np.asarray(log_ratio * shape / np.sqrt(1 + shape))


_STEPS, _NEAR = 200, 1e-14
_FRACTIONS = 10_000  # of a continued fraction, which takes about the root of the larger count
_LEAST = 1e-300


def beta_quantile(first: float, second: float, probability: float) -> float:
    """Quantile of one Beta distribution, by Newton's method in the logarithm of the odds.

    >>> round(beta_quantile(1.0, 2.0, 0.75), 6)  # 1 - sqrt(1 - 0.75)
    0.5
    """
    odds, low, high = log(first / second), -inf, inf
    for _ in range(_STEPS):
        below, density = _beta_below(first, second, odds)
        if below < probability:
            low = odds
        else:
            high = odds
        step = (probability - below) / density if density > _LEAST else inf
        after = odds + step
        if not low < after < high:  # outside of what is known: halve that, or go a long way
            far = 2 * abs(odds) + 1
            after = (max(low, odds - far) + min(high, odds + far)) / 2
        if abs(after - odds) <= _NEAR * max(abs(odds), 1.0):
            break
        odds = after
    return 1 / (1 + exp(-odds)) if odds > 0 else exp(odds) / (1 + exp(odds))


def _beta_below(first: float, second: float, odds: float) -> tuple[float, float]:
    """Chance of lower odds, by Lentz's continued fraction, and its slope; odds as logarithms."""
    log_x, log_rest = -log1p(exp(-odds)), -log1p(exp(odds))
    whole = lgamma(first + second) - lgamma(first) - lgamma(second)
    density = exp(whole + first * log_x + second * log_rest)
    if odds > log((first + 1) / (second + 1)):  # it converges fast on the other side
        return 1 - density * _fraction(second, first, exp(log_rest)) / second, density
    return density * _fraction(first, second, exp(log_x)) / first, density


def _fraction(a: float, b: float, x: float) -> float:
    """Continued fraction of the incomplete Beta function, without what stands before it."""
    c, d = 1.0, 1 / _not_zero(1 - (a + b) * x / (a + 1))
    found = d
    for m in range(1, _FRACTIONS):
        for factor in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / _not_zero(1 + factor * d)
            c = _not_zero(1 + factor / c)
            found *= c * d
        if abs(c * d - 1) < _NEAR:
            break
    return found


def _not_zero(value: float) -> float:
    return value if abs(value) > _LEAST else _LEAST
