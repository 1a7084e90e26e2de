"""What a crawl would spend of the common budget at a few prices, for those who share it.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.frontier.frontier import tick_of
from recrawl.plan.shared_price import SlotDemand, curve_of_values
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.shared_learning import SharedLearning
from recrawl.policies.recrawl.state import RecrawlState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats
    from recrawl.frontier.agenda import Agenda
    from recrawl.frontier.pool import Pool
    from recrawl.policies.policy import Policy

_COMMON = 0  # number of the budget that rules without their own share


def demand_of(agenda: Agenda, policy: Policy[Any], now: float) -> SlotDemand:
    """What the common budget of a crawl would be spent on in the next tick, by price.

    Pages that will be worth the price by its end are visited in it, as one process would: those
    that are worth more go first, wherever they are. Pages without a copy are worth a visit a day at
    any price. A policy that does not say what visits are worth wants as many as there are pages.
    Values are by what was learned in the last tick: asking changes nothing.

    Args:
        agenda: Pages of the crawl, and what to visit next.
        policy: What decides that.
        now: The instant, in days after 1970.
    """
    pool = agenda.budget_pool(_COMMON)
    state, at_any_price = pool.copies.frontier.state_of_tick, float(pool.new_pages)
    values, days, learned = np.empty(0), 1.0, SharedLearning()
    if not isinstance(policy, Recrawl):
        at_any_price += pool.pages
    elif isinstance(state, RecrawlState):  # there is a copy
        days = tick_of(pool.copies.frontier.gap)
        values = _values(pool, policy, state, (now, now + days))
        learned = SharedLearning.of(state)
    curve = curve_of_values(values, days, at_any_price)
    spent = pool.bucket.spent(now)
    return SlotDemand(curve, pool.pages, spent, learned=learned.numbers)


def learn_from_others(agenda: Agenda, demands: Mapping[int, SlotDemand], slot: int) -> None:
    """Let the policy of a slot know what those of all others have learned."""
    state = agenda.budget_pool(_COMMON).copies.frontier.state_of_tick
    if isinstance(state, RecrawlState):
        others = (each.learned for number, each in demands.items() if number != slot)
        sum(map(SharedLearning.read, others), SharedLearning()).teach(state)


def _values(pool: Pool, policy: Recrawl, state: RecrawlState, days: tuple[float, float]) -> Floats:
    """What visits to pages will be worth that may be visited between two instants, best first."""
    now, until = days
    rows = pool.copies.waiting(until)
    rows = rows[rows < len(state.last)]
    values = policy.value_ahead(state, rows, until)
    best = np.argsort(-values)
    fits = pool.fits(pool.copies.page[rows[best]], now, until - now)
    return values[best][fits]
