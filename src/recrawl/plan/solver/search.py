"""The price at which spending meets a budget, for one budget or for many at once.

Spending falls as the price rises: smoothly, but for pages near their cut-off, where it drops from
about a fortieth of their rate to nothing between one float and the next. So a price is searched
within a bracket, by inverse cubic interpolation safeguarded by bisection, and where the bracket
closes before the budget is met both of its ends are returned, to be mixed.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Bools, Floats, Ints

# What is left of a budget is spread over all pages in proportion: so little that the value of a
# visit stays within 1e-9 of the price.
NEAR = 1e-10
_MOST_STEPS = 400
_PATIENCE = 3  # steps that may fail to halve a bracket
_WIDE = 8.0  # factor by which to look further where no end of a bracket is known
_MOST_STEP = 5.0


class Spending(NamedTuple):
    """Spending at a price, one row per budget.

    Attributes:
        total: Visits a day, times their costs.
        slope: How much less is spent, per unit of the logarithm of the price.
        free: The part of it that no floor or cap holds.
    """

    total: Floats
    slope: Floats
    free: Floats


class Bracket(NamedTuple):
    """Prices on both sides of the right one, or twice the same: too low, and too high."""

    low: Floats
    high: Floats


def find_prices(
    spend: Callable[[Floats, Ints], Spending], budgets: Floats, start: Floats, near: float = NEAR
) -> Bracket:
    """Prices at which each budget is spent.

    Args:
        spend: Spending at the prices given, for the budgets whose numbers are given.
        budgets: What is to be spent; more than is spent at an infinite price, and less than at 0.
        start: First guesses.
        near: Share of the free spending by which a budget may be missed.
    """
    search = _Search(budgets, start.astype(np.float64))
    rows = np.arange(len(budgets))
    for _ in range(_MOST_STEPS):
        if not len(rows):
            break
        spent = spend(search.price[rows], rows)
        rows = search.learn(rows, spent, near)
    return Bracket(search.low, search.high)


class _Search:
    """Brackets so far, one row per budget, and the point before the last one."""

    def __init__(self, budgets: Floats, start: Floats) -> None:
        count = len(budgets)
        self.budgets, self.price = budgets, start
        self.low, self.high = np.zeros(count), np.full(count, np.inf)
        self.width, self.waited = np.full(count, np.inf), np.zeros(count, np.int64)
        self.before = np.full((3, count), np.nan)  # logarithms of price and spending; 1 / slope

    def learn(self, rows: Ints, spent: Spending, near: float) -> Ints:
        """Narrow the brackets by what was spent, choose the next prices; return rows still open."""
        price, budget = self.price[rows], self.budgets[rows]
        over = spent.total - budget
        met = np.abs(over) <= near * spent.free
        met |= over == 0
        self.low[rows] = np.where(met | (over > 0), price, self.low[rows])
        self.high[rows] = np.where(met | (over < 0), price, self.high[rows])
        low, high = self.low[rows], self.high[rows]
        middle = _between(low, high)
        left = ~met & (middle > low) & (middle < high)
        step = self._step(rows, spent)
        self.price[rows] = np.where(self._trusted(rows, step, left), step, middle)
        return rows[left]

    def _step(self, rows: Ints, spent: Spending) -> Floats:
        """Next price by inverse cubic interpolation, or a Newton step from the last point alone."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            here = np.log(self.price[rows])
            height = np.log(spent.total / self.budgets[rows])
            inverse = -spent.total / spent.slope  # d ln price / d ln spending
            newton = -height * inverse
            place, past, slope = self.before[:, rows]
            cubic = _inverse_cubic((height, past), (here, place), (inverse, slope)) - here
            good = np.isfinite(cubic) & (np.abs(cubic - newton) <= np.abs(newton))
            moved = np.clip(np.where(good, cubic, newton), -_MOST_STEP, _MOST_STEP)
            self.before[:, rows] = here, height, inverse
            step: Floats = self.price[rows] * np.exp(moved)
        return step

    def _trusted(self, rows: Ints, step: Floats, left: Bools) -> Bools:
        """Whether to take a step or bisect: it is in the bracket, and brackets close well."""
        low, high = self.low[rows], self.high[rows]
        with np.errstate(divide="ignore", invalid="ignore"):
            width = np.log(high) - np.log(low)
        is_open = np.isinf(width)
        halved = ~(width > self.width[rows] / 2) & ~is_open
        waited = np.where(halved, 0, self.waited[rows] + 1)
        self.width[rows] = np.where(halved, width, self.width[rows])
        patient = waited < np.where(is_open, 2 * _PATIENCE, _PATIENCE)
        self.waited[rows] = np.where(patient, waited, 0)
        return left & patient & (step > low) & (step < high)


def _between(low: Floats, high: Floats) -> Floats:
    """Geometric middle of a bracket, or the plain one; further out if an end is open."""
    with np.errstate(invalid="ignore", over="ignore"):
        middle = np.sqrt(low) * np.sqrt(high)
    plain = low + (np.minimum(high, np.finfo(np.float64).max) - low) / 2
    middle = np.where((middle > low) & (middle < high), middle, plain)
    middle = np.where(np.isinf(high), np.maximum(low, np.finfo(np.float64).tiny) * _WIDE, middle)
    return np.where(low == 0, high / _WIDE, middle)


def _inverse_cubic(
    heights: tuple[Floats, Floats], places: tuple[Floats, Floats], slopes: tuple[Floats, Floats]
) -> Floats:
    """Place at height 0 of the cubic through two points with their slopes."""
    run = heights[1] - heights[0]
    t = -heights[0] / run
    whole = places[0] * (1 + 2 * t) * (1 - t) ** 2 + places[1] * t * t * (3 - 2 * t)
    return whole + run * (slopes[0] * t * (1 - t) ** 2 - slopes[1] * t * t * (1 - t))
