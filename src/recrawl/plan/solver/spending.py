"""Spending of pages at a price: in total, or by host.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import gathered, over_blocks
from recrawl.plan.solver.search import Spending

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints
    from recrawl.plan.limits import LimitColumns
    from recrawl.plan.solver.demand import Demand

# Pages at a time: few enough for the cache, enough to keep threads from waiting for each other.
# Chosen with benchmarks/plan.py (a quarter of it takes half as long again).
_BLOCK = 65536


@dataclass(frozen=True, slots=True, eq=False)
class PricedPages:
    """Pages with their costs and limits."""

    demand: Demand
    cost: Floats | None
    limits: LimitColumns

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.demand)

    def take(self, rows: Ints) -> PricedPages:
        """Some of the pages."""
        cost = None if self.cost is None else self.cost[rows]
        return PricedPages(self.demand.take(rows), cost, self.limits.take(rows))

    def roughly(self) -> PricedPages:
        """The same pages, asked for six digits."""
        return replace(self, demand=self.demand.roughly())

    def visits(self, price: Floats | float) -> Floats:
        """Visits a day at one price for all, or at one per page."""
        return self._visits(self.demand.visits, price)

    def visits_nearby(self, price: float) -> Floats:
        """The same, to ten digits, at a price next to the one that was asked last."""
        return self._visits(self.demand.visits_nearby, price)

    def _visits(
        self, visits: Callable[[slice, Floats | float], Floats], price: Floats | float
    ) -> Floats:
        into = np.empty(len(self))

        def work(rows: slice) -> None:
            at = price if isinstance(price, float) else price[rows]
            into[rows] = self._limited(rows, visits(rows, at))

        over_blocks(work, len(self), _BLOCK)
        return into

    def spending(self, price: float) -> Spending:
        """What all pages spend at one price."""
        sums = np.zeros((3, -(-len(self) // _BLOCK)))

        def work(rows: slice) -> None:
            spent, slope, free = self._spending(rows, price)
            sums[:, rows.start // _BLOCK] = spent.sum(), slope.sum(), free.sum()

        over_blocks(work, len(self), _BLOCK)
        total, slope, free = sums.sum(axis=1)
        return Spending(np.array([total]), np.array([slope]), np.array([free]))

    def spending_by(self, group: Ints, groups: int, price: Floats | float) -> Spending:
        """What the pages of each group spend, at one price for all or at one per group."""
        spent, slope = np.empty(len(self)), np.empty(len(self))
        free = spent if self.limits.is_free else np.empty(len(self))

        def work(rows: slice) -> None:
            at = price if isinstance(price, float) else price[group[rows]]
            spent[rows], slope[rows], free[rows] = self._spending(rows, at)

        over_blocks(work, len(self), _BLOCK)
        total = _sums(group, spent, groups)
        within = total if free is spent else _sums(group, free, groups)
        return Spending(total, _sums(group, slope, groups), within)

    def costs(self, visits: Floats) -> float:
        """What so many visits cost."""
        return float(visits.sum() if self.cost is None else visits @ self.cost)

    def costs_by(self, group: Ints, groups: int, visits: Floats) -> Floats:
        """What so many visits cost in each group."""
        return _sums(group, visits if self.cost is None else visits * self.cost, groups)

    def free(self, visits: Floats) -> Floats:
        """Visits that no floor or cap holds, 0 for the others."""
        limits = self.limits
        if limits.least is not None:
            visits = np.where(visits > limits.least, visits, 0.0)
        if limits.most is not None:
            visits = np.where(visits < limits.most, visits, 0.0)
        return visits

    def _limited(self, rows: slice, visits: Floats) -> Floats:
        if self.limits.least is not None:
            np.maximum(visits, self.limits.least[rows], out=visits)
        if self.limits.most is not None:
            np.minimum(visits, self.limits.most[rows], out=visits)
        return visits

    def _spending(self, rows: slice, price: Floats | float) -> tuple[Floats, Floats, Floats]:
        wanted, slope = self.demand.visits_and_slope(rows, price)
        spent = free = wanted
        if not self.limits.is_free:
            spent = self._limited(rows, wanted.copy())
            inside = spent == wanted
            free, slope = wanted * inside, slope * inside
        if self.cost is not None:
            cost = self.cost[rows]
            spent, slope, free = spent * cost, slope * cost, free * cost
        return spent, slope, free


def _sums(group: Ints, figures: Floats, groups: int) -> Floats:
    return np.bincount(group, figures, groups).astype(np.float64, copy=False)


def by_group(prices: Floats, group: Ints) -> Floats:
    """Price of each page's group."""
    return gathered(prices, group)
