r"""Bands that hold the share of outcomes they claim, on sources that are not binomial.

On the scale $u = \ln(-\ln q)$ the error of a forecast $\hat y = -\ln \hat q$ is a Student t with 5
degrees of freedom and the variance $\kappa A d^{-b}$: the law $A d^{-b}$ comes from training, the
scale $\kappa$ is learned afterwards, and so is the level itself. Bounds are
$\exp(-\hat y\, e^{\pm T \sigma})$, rounded outwards to counts. Floors, below which outcomes fall
with a given probability, have one end and learn by what fell below them.

Bands from binomial counting alone hold 21 to 57 % of outcomes at a nominal 90 % on job postings,
so there are none.

References:
    Gibbs and Candes (2021). Adaptive conformal inference under distribution shift.
    Advances in Neural Information Processing Systems 34.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import cos, exp, log, pi, sin, sqrt, tan
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

Law: TypeAlias = tuple[float, float]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.data.cycles import Cycle, Stock

WINDOWS = (1, 2, 3, 5, 7, 10, 14)
# Chosen on four listings, one set for all of them.
_LEAST_VARIANCE, _LEAST_SIGMA = 0.01, 0.005
_FOLLOW = 0.5 ** (1 / 40)
_FIRST_WEIGHT = 5.0
_CAP = 16.0
_STEP, _LOWEST, _HIGHEST = 0.1, 0.005, 0.4
_TAIL = 0.2  # of the floor by which `reach` is learned: that of the default confidence
# With 0.1 floors of 80 % held 75 to 79 % on made sources, with 0.2 78 to 80 %, and on four real
# ones 75 to 89 %, where fixed ones held 72 to 93 %; re-run benchmarks/listing_bands.py.
_REACH_STEP, _SHORTEST, _FARTHEST = 0.2, 0.5, 4.0
_ROUNDING = 1e-9
_STEPS, _NEAR = 100, 1e-15
_LEAST_DECAY = 0.3
WEAK_SCALE, WEAK_POWER = 0.5, 0.3
_LEAST_WINDOWS = 2  # for a variance, and for a slope


class ForecastBand(Protocol):
    """Band of one metric around its forecast."""

    @property
    def miss(self) -> float:
        """Share of outcomes the band is to miss."""
        ...

    def raw(self, quality: Floats, size: Floats | float, days: Floats, tail: float) -> Floats:
        """Quality that only a share `tail` of outcomes falls below."""
        ...

    def bounds(self, quality: Floats, size: Floats | float, days: Floats) -> tuple[Floats, Floats]:
        """Low and high ends of the band."""
        ...


@dataclass(frozen=True, slots=True)
class Window:
    """What was left of a stock after some days, in training.

    Args:
        days: How many days.
        there: Objects that were still listed.
        size: Objects at the start (precision) or at the end (recall).
    """

    days: int
    there: float
    size: float


def variance_law(variances: Sequence[float], days: Sequence[int], trained: float) -> Law:
    r"""Scale and power of $v = A d^{-b}$ by least squares of logs, b kept within 0 and 1.

    The variances come from windows that overlap, so there are fewer of them than it seems:
    $v_d = \max(\mathrm{Var}\,(1 + 2 d / T), .01)$.

    Args:
        variances: Variance of the logs of decays, for each length of windows.
        days: Lengths of the windows.
        trained: Days of training, T.

    Examples:
        >>> law = variance_law([0.30, 0.22, 0.18, 0.13, 0.11, 0.10, 0.09], WINDOWS, 80)
        >>> [round(number, 6) for number in law]
        [0.293734, 0.375874]
    """
    length = np.asarray(days, dtype=np.float64)
    wider = np.maximum(np.asarray(variances) * (1 + 2 * length / trained), _LEAST_VARIANCE)
    x, y = np.log(length), np.log(wider)
    centred = x - np.mean(x)
    power = min(max(-float(np.sum(centred * y) / np.sum(centred**2)), 0.0), 1.0)
    return float(np.exp(np.mean(y + power * x))), power


def observed_decay(there: float, size: float) -> float:
    """Log decay of a count, finite and above 0 whatever the count.

    >>> round(observed_decay(150, 200), 6)
    0.289342
    """
    return -log((there + 0.5) / (size + 1.0))


def training_windows(
    training: Sequence[Cycle], rekeys: Sequence[int]
) -> tuple[list[Window], list[Window]]:
    """Windows for precision and for recall, all that overlap, without changes of keys.

    A cohort is known by the day it was first seen, so what is left on day t + d of the stock of
    day t is all that was first seen by t. (Objects that left and came back in between have a new
    first day and are missed.)

    Args:
        training: Cycles in order.
        rekeys: Days at which a change of keys was found.
    """
    stocks = {cycle.start: cycle.stock for cycle in training}
    seen_by = {day: _seen_by(stock) for day, stock in stocks.items()}
    kept, found = [], []
    for day, now in seen_by.items():
        listed = now[-1]
        for days in WINDOWS:
            later = seen_by.get(day + days)
            broken = any(day < change <= day + days for change in rekeys)
            if later is None or broken or not listed:
                continue
            kept.append(Window(days, later[day], listed))
            found.append(Window(days, later[day], later[-1]))
    return kept, found


def _seen_by(stock: Stock) -> list[float]:
    """Objects of a stock first seen by each day; by the last all are."""
    first_seen = np.bincount(stock.seen, stock.count, stock.day + 1)
    counts: list[float] = np.cumsum(first_seen).tolist()
    return counts


def training_law(windows: Sequence[Window], trained: float) -> Law:
    """Variance law of the windows of training; the weak one where there are too few.

    Args:
        windows: All windows of 1, 2, 3, 5, 7, 10 and 14 days, without changes of keys.
        trained: Days of training.
    """
    days, variances = [], []
    for length in WINDOWS:
        decay = [observed_decay(each.there, each.size) for each in windows if each.days == length]
        if len(decay) >= _LEAST_WINDOWS:
            days.append(length)
            variances.append(float(np.var(np.log(decay))))
    if len(days) < _LEAST_WINDOWS:
        return WEAK_SCALE, WEAK_POWER
    return variance_law(variances, days, trained)


@dataclass(frozen=True, slots=True)
class QualityBand:
    r"""Band of one metric.

    Args:
        scale: A of the variance law.
        power: b of the variance law.
        kappa: What the variance is multiplied by, learned.
        weight: Cycles' worth behind it.
        miss: Share of outcomes the band is to miss.
        aim: Share of outcomes it aims to miss now, so that it misses `miss` in the long run.
        reach: What floors are stretched by, learned, so that outcomes fall below them as often as
            they may in the long run: errors may lean to one side, as where decay speeds up.

    Examples:
        >>> band = QualityBand(0.12, 0.5, kappa=1.3)
        >>> days, quality = np.array([7.0]), np.array([0.8])
        >>> low, high = band.bounds(quality, 200, days)
        >>> low.round(3), high.round(3)
        (array([0.72]), array([0.865]))
        >>> after = band.learn(0.8, Window(7, 150, 200), 200)
        >>> round(after.kappa, 6), round(after.weight, 6), round(after.aim, 2)
        (1.331801, 5.914103, 0.11)
    """

    scale: float = WEAK_SCALE
    power: float = WEAK_POWER
    kappa: float = 1.0
    weight: float = _FIRST_WEIGHT
    miss: float = 0.1
    aim: float = 0.1
    reach: float = 1.0

    def sigma(self, days: Floats) -> Floats:
        """Standard deviation of the error after each number of days."""
        return np.sqrt(np.maximum(self.kappa * self.scale * days**-self.power, _LEAST_SIGMA))

    def raw(self, quality: Floats, size: Floats | float, days: Floats, tail: float) -> Floats:
        """Quality that only a share `tail` of outcomes falls below, not rounded."""
        stretch = self.reach * student(1.0 - tail) * self.sigma(days)
        return np.exp(-_decay(quality, size) * np.exp(stretch))

    def bounds(self, quality: Floats, size: Floats | float, days: Floats) -> tuple[Floats, Floats]:
        """Low and high ends of the band, outwards to whole objects.

        Args:
            quality: Forecast after each number of days.
            size: Objects at the start (precision) or expected at the end (recall).
            days: How many days.
        """
        stretch = student(1.0 - self.aim / 2) * self.sigma(days)
        decay = _decay(quality, size)
        low, high = np.exp(-decay * np.exp(stretch)), np.exp(-decay * np.exp(-stretch))
        whole = np.maximum(size, 1.0)
        low = np.floor(low * (size + 1.0) - 0.5) / whole
        high = np.ceil(high * (size + 1.0) - 0.5) / whole
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)

    def learn(self, quality: float, seen: Window, size: float) -> QualityBand:
        """Learn from an outcome how wide to be.

        Args:
            quality: What had been forecast.
            seen: What was seen.
            size: Objects the forecast counted on.
        """
        days = np.array([float(seen.days)])
        low, high = self.bounds(np.array([quality]), size, days)
        true = seen.there / seen.size if seen.size else 1.0
        missed = not (low[0] - _ROUNDING <= true <= high[0] + _ROUNDING)
        aim = min(max(self.aim + _STEP * (self.miss - missed), _LOWEST), _HIGHEST)
        floor = float(self.raw(np.array([quality]), size, days, _TAIL)[0])
        below = true < floor - _ROUNDING
        reach = min(max(self.reach * exp(_REACH_STEP * (below - _TAIL)), _SHORTEST), _FARTHEST)

        expected = float(_decay(np.array([quality]), size)[0])
        error = log(observed_decay(seen.there, seen.size)) - log(expected)
        square = min(error**2 / (self.scale * seen.days**-self.power), _CAP * self.kappa)
        weight = self.weight * _FOLLOW
        kappa = (self.kappa * weight + square) / (weight + 1)
        return replace(self, kappa=kappa, weight=weight + 1, aim=aim, reach=reach)


def student(probability: float) -> float:
    r"""Quantile of a Student t with 5 degrees of freedom and variance 1.

    It is $\sqrt 3 \tan \theta$ where the chance of less, $\frac{1}{2} + \frac{1}{\pi} (\theta +
    \sin \theta \cos \theta (1 + \frac{2}{3} \cos^2 \theta))$, is the probability. Found by Newton's
    method: scipy's takes a tenth of a second to load. Between $10^{-9}$ and $1 - 10^{-9}$ eight
    digits are right.

    >>> round(student(0.95), 6)
    1.56085
    """
    angle, area = 0.0, pi * (probability - 0.5)
    for _ in range(_STEPS):
        cosine = cos(angle)
        found = angle + sin(angle) * cosine * (1 + 2 / 3 * cosine**2)
        step = (area - found) / (8 / 3 * cosine**4)
        angle += step
        if abs(step) < _NEAR:
            break
    return sqrt(3) * tan(angle)


def _decay(quality: Floats, size: Floats | float) -> Floats:
    """Log decay forecast, never less than a fraction of one object."""
    with np.errstate(divide="ignore"):  # a forecast of 0 decays without end
        decay: Floats = np.maximum(-np.log(quality), _LEAST_DECAY / (size + 1.0))
    return decay
