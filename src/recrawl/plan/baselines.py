"""Plans by rules of thumb, as baselines: uniform, proportional, square root.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.plan.limits import LimitColumns
from recrawl.plan.objectives import Harmonic
from recrawl.plan.plan import Plan
from recrawl.plan.rates import Rates, weight_and_cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from recrawl.arrays.types import Floats
    from recrawl.plan.objectives import Objective

_DEFAULT = Harmonic()


def uniform(
    rates: Rates | ArrayLike,
    budget: float,
    *,
    objective: Objective = _DEFAULT,
    weight: ArrayLike | None = None,
    cost: ArrayLike | None = None,
) -> Plan:
    """Every page equally often.

    Plans by a rule have no price: it is nan.

    Examples:
        >>> from recrawl.plan import Freshness
        >>> plan = uniform([1, 2, 3, 4, 5], budget=5, objective=Freshness())
        >>> round(plan.mean_freshness, 4)
        0.3651
    """
    return _by_rule(np.ones_like, rates, budget, objective, (weight, cost))


def proportional(
    rates: Rates | ArrayLike,
    budget: float,
    *,
    objective: Objective = _DEFAULT,
    weight: ArrayLike | None = None,
    cost: ArrayLike | None = None,
) -> Plan:
    """Every page in proportion to its rate.

    Examples:
        >>> round(proportional([1, 2, 3, 4, 5], budget=5).mean_freshness, 4)
        0.3167
    """
    return _by_rule(lambda rate: rate, rates, budget, objective, (weight, cost))


def square_root(
    rates: Rates | ArrayLike,
    budget: float,
    *,
    objective: Objective = _DEFAULT,
    weight: ArrayLike | None = None,
    cost: ArrayLike | None = None,
) -> Plan:
    """Every page in proportion to the square root of its rate: close to optimal for ample budgets.

    Examples:
        >>> square_root([1, 4], budget=3).visits_per_day
        array([1., 2.])
    """
    return _by_rule(np.sqrt, rates, budget, objective, (weight, cost))


def _by_rule(
    rule: Callable[[Floats], Floats],
    rates: Rates | ArrayLike,
    budget: float,
    objective: Objective,
    columns: tuple[ArrayLike | None, ArrayLike | None],
) -> Plan:
    known = Rates.of(rates)
    weight, cost = weight_and_cost(columns, len(known))
    wanted = rule(known.rate)
    total = float(wanted.sum() if cost is None else wanted @ cost)
    visits = wanted * (budget / total) if total > 0 else wanted
    unlimited = LimitColumns(None, None, None, None)
    return Plan(known, objective, weight, cost, visits, np.nan, float(budget), unlimited)
