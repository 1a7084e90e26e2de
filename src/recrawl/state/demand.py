"""What a crawl would spend of the common budget at a few prices, for those who share it.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.plan.allocation import pages_to_plan
from recrawl.plan.limits import Limits
from recrawl.plan.objectives import OBJECTIVES
from recrawl.plan.rates import Rates
from recrawl.plan.shared_price import SlotDemand, SpendingCurve, prices_around
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.state import RecrawlState

if TYPE_CHECKING:
    from recrawl.state.opening import Crawl

_COMMON = 0  # number of the budget that rules without their own share
_LEAST = 1e-6  # visits per day, so that a part that wants next to nothing still has a curve


def demand_of(crawl: Crawl, price: float, now: float) -> SlotDemand:
    """What the common budget of a crawl would be spent on, around a price.

    Pages without a copy are worth a visit at any price. A policy that knows no rates wants as many
    visits as there are pages, whatever they cost.

    Args:
        crawl: The crawl as it stands.
        price: What a visit must be worth, about.
        now: The instant, in days after 1970.
    """
    pool, prices = crawl.agenda.budget_pool(_COMMON), prices_around(price)
    wanted = np.full(len(prices), float(pool.new_pages) + _LEAST)
    state = crawl.agenda.frontier(_COMMON).state
    if isinstance(state, RecrawlState) and isinstance(crawl.policy, Recrawl):
        if len(state.last):
            rates = Rates.known(crawl.policy.rates(state, np.arange(len(state.last))))
            objective = OBJECTIVES[crawl.settings.objective]
            pages = pages_to_plan(rates, objective, Limits(), state.worth)
            wanted += [pages.total(each) for each in prices.tolist()]
    else:
        wanted += pool.pages
    curve = SpendingCurve(prices, np.minimum.accumulate(wanted))
    return SlotDemand(curve, pool.pages, pool.bucket.spent(now))
