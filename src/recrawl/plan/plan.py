"""A plan: how often each page is visited, what that keeps fresh, what one more visit would buy.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.plan.objectives import Freshness
from recrawl.plan.solver.demand import most_value
from recrawl.plan.solver.inverse_value import random_value
from recrawl.plan.terms import FOR_EVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Bools, Floats
    from recrawl.plan.limits import LimitColumns
    from recrawl.plan.objectives import Objective
    from recrawl.plan.rates import Rates

_BLOCK = 65536


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How often to visit each page, one row per page.

    What follows from the visits is computed when it is asked for.

    Attributes:
        rates: Rates that the plan was made for.
        objective: The loss that it minimises.
        weight: How much each page matters; None if all matter alike.
        cost: What a visit to each page costs; None if all cost 1.
        visits_per_day: Visits per day to each page; 0 where it is never visited.
        price: What a visit must be worth per unit of cost, the same for all pages that no limit
            binds; 0 if the budget is more than can be spent.
        budget: What may be spent per day.
        limits: The limits, as columns.
        host_price: The price at each host: higher than `price` where the host has reached its cap.
            None without hosts.
        randomised: Whether visits are at random instants instead of at equal intervals.
    """

    rates: Rates
    objective: Objective
    weight: Floats | None
    cost: Floats | None
    visits_per_day: Floats
    price: float
    budget: float
    limits: LimitColumns
    host_price: Floats | None = None
    randomised: bool = False

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.visits_per_day)

    @property
    def interval(self) -> Floats:
        """Days from one visit to the next; infinite where there is none."""
        return self.interval_of(slice(None))

    @property
    def spent(self) -> float:
        """Cost of the visits per day."""
        visits = self.visits_per_day
        return float(visits.sum() if self.cost is None else visits @ self.cost)

    @property
    def starved(self) -> Bools:
        """Which pages are never visited."""
        starved: Bools = self.visits_per_day == 0
        return starved

    @property
    def freshness(self) -> Floats:
        """Expected share of time in which each copy is up to date."""
        return 1 - self._loss(Freshness())

    @property
    def mean_freshness(self) -> float:
        """The same over all pages, by weight; nan without pages."""
        return self._mean(self.freshness)

    @property
    def loss(self) -> Floats:
        """Loss per day of each page by the plan's objective, unweighted."""
        return self._loss(self.objective)

    @property
    def mean_loss(self) -> float:
        """The same over all pages, by weight; nan without pages."""
        return self._mean(self.loss)

    @property
    def value(self) -> Floats:
        """What one more visit per day to each page would save, weighted, per unit of cost.

        Equal to the price where no limit binds, at most the price where a page is never visited.
        """
        value = self._by_blocks(self._value)
        if self.weight is not None:
            value = value * self.weight
        return value if self.cost is None else value / self.cost

    def _value(self, rows: slice) -> Floats:
        rates, interval = self.rates.take(rows), np.minimum(self.interval_of(rows), FOR_EVER)
        if self.randomised:
            return random_value(self.objective, rates.rate, interval)
        if rates.shape is None or rates.exposure is None:
            return self.objective.value(rates.rate, interval)
        value = self.objective.expected_value(rates.shape, rates.exposure, interval)
        most = most_value(self.objective, rates.shape) * rates.exposure**self.objective.power
        return np.where(interval < FOR_EVER, value, most)

    def _loss(self, objective: Objective) -> Floats:
        def work(rows: slice) -> Floats:
            rates, interval = self.rates.take(rows), self.interval_of(rows)
            if self.randomised:
                return objective.random_loss(rates.rate, interval)
            return rates.loss(objective, interval)

        return self._by_blocks(work)

    def interval_of(self, rows: slice) -> Floats:
        """Days from one visit to the next, for some pages."""
        with np.errstate(divide="ignore", over="ignore"):
            return 1 / self.visits_per_day[rows]

    def _by_blocks(self, work: Callable[[slice], Floats]) -> Floats:
        into = np.empty(len(self))

        def block(rows: slice) -> None:
            into[rows] = work(rows)

        over_blocks(block, len(self), _BLOCK)
        return into

    def _mean(self, figures: Floats) -> float:
        if not len(figures):
            return np.nan
        if self.weight is None:
            return float(figures.mean())
        total = float(self.weight.sum())
        with np.errstate(invalid="ignore"):  # an infinite loss of a page of weight 0
            weighted = np.where(self.weight > 0, figures * self.weight, 0.0)
        return float(weighted.sum()) / total if total > 0 else np.nan
