"""The price of a budget for very many pages, in as few passes over them as possible.

What most pages spend changes smoothly with the price: two passes, one of them with the slope, say
what they spend at any price nearby to ten digits. The few pages near their cut-off do not change
smoothly, so they are asked again at every price.

Pure.
"""

from __future__ import annotations

from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from recrawl.plan.solver.search import Spending, find_prices

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.plan.solver.spending import PricedPages

_APART = 1e-6  # prices nearer to each other tell nothing about the slope between them


def quick_price(pages: PricedPages, budget: float, start: float) -> float:
    """Price at which the budget is spent to about ten digits, from one that is nearly right."""
    edge = pages.take(pages.demand.edge(start))
    whole, part = pages.spending(start), edge.spending(start)
    rest = float(whole.total[0] - part.total[0])
    slope = float(whole.slope[0] - part.slope[0])
    if rest <= 0 or slope <= 0:
        return start
    steep = slope / rest
    price = _solved(edge, budget, start, (rest, steep))
    moved = log(price / start)
    again = pages.total(price) - edge.total(price)
    if again <= 0:
        return price
    if abs(moved) > _APART:
        steep = 2 * log(rest / again) / moved - steep  # at the end of the step, not in its middle
    return _solved(edge, budget, price, (again, steep))


def _solved(edge: PricedPages, budget: float, price: float, rest: tuple[float, float]) -> float:
    """Price where pages near their cut-off and the rest, extrapolated, spend the budget."""
    spent, steep = rest

    def spend(at: Floats, rows: Ints) -> Spending:
        del rows
        others = spent * exp(-steep * log(float(at[0]) / price))
        some = edge.spending(float(at[0]))
        return Spending(some.total + others, some.slope + others * steep, some.free + others)

    found = find_prices(spend, np.array([budget]), np.array([price]), near=1e-13)
    at = float(found.high[0])
    return at if 0 < at < np.inf else price
