"""The price of a budget where pages lie in parts, each known only to who has it.

Whoever searches is told what all parts together spend at a price, and nothing else. Sums suffice:
the price, and how what is left of the budget is spread, are those of all pages together.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.plan.solver.exact import LITTLE, NEXT_TO_NOTHING, ROUNDING, reported
from recrawl.plan.solver.search import Spending, find_prices

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints
    from recrawl.plan.solver.spending import PricedPages


class PartSpending(NamedTuple):
    """What the pages of a part, or of all, spend at a price; see `Spending`."""

    total: float
    slope: float
    free: float

    @classmethod
    def of(cls, pages: PricedPages, price: float) -> PartSpending:
        """Spending of some pages."""
        return cls(*(float(each[0]) for each in pages.spending(price)))


class PartPrice(NamedTuple):
    """How the pages of every part find their visits.

    Attributes:
        low: A price that is too low, or the right one.
        high: One that is too high, or the right one.
        mix: Share of the visits at the low price, where no price between them is right.
        spread: Share of its visits by which a page that nothing limits gets more.
    """

    low: float
    high: float
    mix: float = 0.0
    spread: float = 0.0

    @property
    def price(self) -> float:
        """What a visit must be worth; 0 if the budget is more than can be spent."""
        return reported(self.high)

    def visits(self, pages: PricedPages) -> Floats:
        """Visits per day of the pages of a part."""
        visits = pages.visits(self.high)
        if self.mix:
            visits += (pages.visits(self.low) - visits) * self.mix
        elif self.spread:
            visits += pages.free(visits) * self.spread
        return visits


def price_of_parts(
    spend: Callable[[float], PartSpending],
    budget: float,
    *,
    start: float,
    floors: float,
    most: float,
) -> PartPrice:
    """Price at which all parts together spend a budget.

    Args:
        spend: What they spend at a price; asked a few times.
        budget: What is to be spent per day.
        start: A first guess, such as the price of a sample.
        floors: What the least visits of all pages cost.
        most: What would be spent if visits were free.
    """
    if floors > budget * ROUNDING:
        message = f"budget must pay for the least visits of all pages, {floors:g} (got {budget:g})"
        raise InvalidParameter(message)
    if most <= budget * ROUNDING:
        return PartPrice(NEXT_TO_NOTHING, NEXT_TO_NOTHING)
    if budget <= floors:
        return PartPrice(np.inf, np.inf)
    asked: dict[float, PartSpending] = {}

    def ask(price: float) -> PartSpending:
        if price not in asked:
            asked[price] = spend(price)
        return asked[price]

    def search(price: Floats, rows: Ints) -> Spending:
        del rows
        return Spending(*(np.array([each]) for each in ask(float(price[0]))))

    found = find_prices(search, np.array([budget]), np.array([start]))
    low, high = float(found.low[0]), float(found.high[0])
    at = ask(high)
    if low < high:
        return PartPrice(low, high, mix=(budget - at.total) / (ask(low).total - at.total))
    rest = budget - at.total
    little = at.free > 0 and abs(rest) <= LITTLE * at.free
    return PartPrice(low, high, spread=rest / at.free if little else 0.0)
