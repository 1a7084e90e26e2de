"""Budget curves: freshness over budgets, and the value of one more visit.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.plan.allocation import allocate
from recrawl.plan.baselines import uniform
from recrawl.plan.limits import Limits
from recrawl.plan.objectives import Harmonic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from recrawl.arrays.types import Floats, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.plan.rates import Rates

_NO_LIMITS = Limits()
_DEFAULT = Harmonic()


class BudgetCurve(NamedTuple):
    """Best plans for several budgets, one row per budget.

    Attributes:
        budget: Visits a day that may be spent.
        spent: Visits a day that are; less where all pages have reached their caps.
        freshness: Expected freshness of the best plan, by weight.
        uniform: Expected freshness if all pages were visited equally often.
        loss: What the best plan loses by its objective, by weight.
        price: What one more visit a day saves by the objective, of the sum over all pages.
        starved: Pages that are never visited.
    """

    budget: Floats
    spent: Floats
    freshness: Floats
    uniform: Floats
    loss: Floats
    price: Floats
    starved: Ints


def budget_curve(
    rates: Rates | ArrayLike,
    budgets: Sequence[float] | Floats,
    *,
    objective: Objective = _DEFAULT,
    weight: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    limits: Limits = _NO_LIMITS,
) -> BudgetCurve:
    """Best plans for several budgets.

    Args:
        rates: As for `allocate`.
        budgets: Visits a day.
        objective: As for `allocate`.
        weight: As for `allocate`.
        cost: As for `allocate`.
        limits: As for `allocate`.

    Examples:
        >>> curve = budget_curve([1, 2, 3, 4, 5], [5, 10, 20])
        >>> curve.freshness.round(3), curve.price.round(3)
        (array([0.357, 0.548, 0.722]), array([0.643, 0.226, 0.069]))
    """
    rows = []
    for budget in budgets:
        plan = allocate(rates, budget, objective=objective, weight=weight, cost=cost, limits=limits)
        even = uniform(plan.rates, plan.spent, weight=weight, cost=cost)
        freshness = (plan.mean_freshness, even.mean_freshness)
        rows.append((plan.spent, *freshness, plan.mean_loss, plan.price, plan.starved.sum()))
    spent, fresh, evenly, loss, price, starved = np.array(rows, np.float64).reshape(-1, 6).T
    at = np.asarray(budgets, np.float64)
    return BudgetCurve(at, spent, fresh, evenly, loss, price, starved.astype(np.int64))
