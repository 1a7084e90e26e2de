r"""Allocation of a budget: the visits per day of each page that lose least.

The best plan visits every page when a visit is worth one price, the same for all (the Lagrange
multiplier of the budget). A page's floor or cap replaces its frequency; a host that would spend
more than its cap has a price of its own, at which the host alone spends just the cap. So with
$S_h(p)$ the spending on host $h$ at price $p$ and $R_h$ its cap, the budget is spent where

$$ \sum_h \min(S_h(p), R_h) = B , $$

one search for one price, and then the prices of all full hosts at once: never one within the other.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.plan.limits import LimitColumns, Limits
from recrawl.plan.objectives import Harmonic
from recrawl.plan.plan import Plan
from recrawl.plan.rates import Rates, weight_and_cost
from recrawl.plan.solver.demand import KnownRateDemand, UncertainDemand
from recrawl.plan.solver.exact import allocate_budget
from recrawl.plan.solver.inverse_value import PERIODIC, RANDOMISED
from recrawl.plan.solver.spending import PricedPages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike

    from recrawl.arrays.types import Floats
    from recrawl.plan.objectives import Objective
    from recrawl.plan.solver.demand import Demand
    from recrawl.plan.solver.inverse_value import InverseValue

_NO_LIMITS = Limits()
_DEFAULT = Harmonic()


def allocate(
    rates: Rates | ArrayLike,
    budget: float,
    *,
    objective: Objective = _DEFAULT,
    weight: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    limits: Limits = _NO_LIMITS,
) -> Plan:
    r"""Best visits per day of each page within a budget, at equal intervals.

    Minimises $\sum_i w_i f_i \int_0^{1 / f_i} c_i$ over $f$ with $\sum_i k_i f_i = B$,
    within all limits. Every page that no limit binds is visited when $V_i(1 / f_i) / k_i$ equals
    the price; one that is never worth it is not visited. The budget is spent to the last visit,
    unless all that is worth a visit has reached its cap; then the price is 0.

    Args:
        rates: Changes per day, or `Rates`.
        budget: Visits per day for all pages together; if visits have costs, their sum.
        objective: The loss to minimise.
        weight: How much each page matters; 1 unless given.
        cost: What a visit to each page costs; 1 unless given.
        limits: Floors and caps.

    References:
        Cho and Garcia-Molina (2003). Effective page refresh policies for web crawlers.
        ACM Transactions on Database Systems 28(4), 390-426, table IV.

    Examples:
        Five pages that change once to five times a day, and five visits. One is left alone:

        >>> from recrawl.plan import Freshness
        >>> plan = allocate([1, 2, 3, 4, 5], budget=5, objective=Freshness())
        >>> plan.visits_per_day.round(2)
        array([1.15, 1.36, 1.35, 1.14, 0.  ])
        >>> round(plan.mean_freshness, 4)
        0.3739
    """
    return _plan(rates, budget, objective, (weight, cost), limits, PERIODIC)


def allocate_randomised(
    rates: Rates | ArrayLike,
    budget: float,
    *,
    objective: Objective = _DEFAULT,
    weight: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    limits: Limits = _NO_LIMITS,
) -> Plan:
    r"""Best visits per day of each page within a budget, at random instants.

    With visits as a Poisson process of rate $f$ the copy of a page is fresh for the share
    $f / (f + r)$ of time, and $f = \sqrt{w r / p} - r$ where that is positive. It loses more than
    equal intervals do; it is here because papers and crawlers use it. Rates must be known.

    Args:
        rates: Changes per day.
        budget: As for `allocate`.
        objective: As for `allocate`.
        weight: As for `allocate`.
        cost: As for `allocate`.
        limits: As for `allocate`.

    References:
        Azar, Horvitz, Lubetzky, Peres and Shahaf (2018). Tractable near-optimal policies for
        crawling. PNAS 115(32), 8099-8103.

    Examples:
        >>> from recrawl.plan import Freshness
        >>> plan = allocate_randomised([1, 2, 3, 4, 5], budget=5, objective=Freshness())
        >>> plan.visits_per_day.round(3)
        array([1.386, 1.374, 1.133, 0.772, 0.335])
    """
    if isinstance(rates, Rates) and rates.shape is not None:
        raise InvalidParameter("rates of a randomised plan must be known (got Gamma distributions)")
    return _plan(rates, budget, objective, (weight, cost), limits, RANDOMISED)


def pages_to_plan(
    rates: Rates, objective: Objective, limits: Limits, weight: ArrayLike | None = None
) -> PricedPages:
    """Pages of equal cost, as `allocate` reads them."""
    limited = LimitColumns.of(limits, len(rates))
    weights, _ = weight_and_cost((weight, None), len(rates))
    return PricedPages(_demand(rates, objective, weights, None, PERIODIC), None, limited)


def _plan(
    rates: Rates | ArrayLike,
    budget: float,
    objective: Objective,
    columns: tuple[ArrayLike | None, ArrayLike | None],
    limits: Limits,
    inverses: Mapping[str, InverseValue],
) -> Plan:
    if not 0 <= budget < np.inf:
        raise InvalidParameter(
            f"budget must be finite and at least 0 visits per day (got {budget})"
        )
    known = Rates.of(rates)
    weight, cost = weight_and_cost(columns, len(known))
    limited = LimitColumns.of(limits, len(known))
    demand = _demand(known, objective, weight, cost, inverses)
    visits, price, host_price = allocate_budget(PricedPages(demand, cost, limited), float(budget))
    randomised = inverses is RANDOMISED
    return Plan(
        known,
        objective,
        weight,
        cost,
        visits,
        price,
        float(budget),
        limited,
        host_price,
        randomised,
    )


def _demand(
    rates: Rates,
    objective: Objective,
    weight: Floats | None,
    cost: Floats | None,
    inverses: Mapping[str, InverseValue],
) -> Demand:
    """Pages in units in which the price is the same for all: cost rate^power / weight."""
    time = rates.rate if rates.exposure is None else 1 / rates.exposure
    scale = time if objective.power == 1 else time**objective.power
    dead = None
    if len(rates) and rates.rate.min() == 0:
        dead = rates.rate == 0
    if weight is not None:
        idle = weight == 0
        dead = idle if dead is None else dead | idle
        scale = scale / np.where(idle, 1.0, weight)
    if cost is not None:
        scale = scale * cost
    rate, exposure = rates.rate, rates.exposure
    if dead is not None:
        scale, rate = np.where(dead, 1.0, scale), np.where(dead, 0.0, rate)
        exposure = None if exposure is None else np.where(dead, np.inf, exposure)
    if rates.shape is None or exposure is None:
        return KnownRateDemand(rate, scale, inverses[objective.gain])
    return UncertainDemand.of(objective, rates.shape, exposure, scale)
