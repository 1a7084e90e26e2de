"""Rates of the pages of a store, whatever its settings: what its crawl believes of them.

Touches: a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.tables.rates import RateTable
from recrawl.errors import InvalidTable
from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.beliefs import for_each_block, let_clocks_run
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.state.checkpoint import PAGES, is_ours, pool_numbers, pool_parts, sound
from recrawl.state.replay import PoolReplay, ReplayedPages, learn_since
from recrawl.store import open_store
from recrawl.units import epoch_days
from recrawl.visits.status import WITH_A_COPY

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.store import ReadStore
    from recrawl.policies.recrawl.beliefs import Beliefs
    from recrawl.policies.recrawl.state import RecrawlState


def rates_of_store(path: Path) -> RateTable:
    """Rates of all pages that have a copy and are not gone."""
    with open_store(path) as store:
        status = store.pages().status
        page, beliefs = _beliefs(store)
        there = np.flatnonzero(np.isin(status[page], WITH_A_COPY))
        there = there[np.argsort(page[there])]
        if not len(there):
            raise InvalidTable(
                f"{path}: no visits to existing pages yet; run `recrawl crawl` first"
            )
        names = store.addresses(page[there].tolist())
    columns = zip(*(each for each in beliefs if len(each[0])), strict=True)
    rate, low, shape, exposure = (np.concatenate(column)[there] for column in columns)
    figures = {"rate_per_day": rate, "low": low, "shape": shape, "exposure_days": exposure}
    return RateTable(pages=names, figures=figures)


def _beliefs(store: ReadStore) -> tuple[Ints, list[Any]]:
    """Pages with a copy, and what is believed of their rates, pool by pool."""
    saved = sound(store)
    # What another policy has learned says nothing of rates: then all visits are replayed.
    parts, visit = saved if saved is not None and is_ours(saved.parts) else ({}, 0)
    count = store.page_count()
    together = ReplayedPages(
        Recrawl(), np.random.default_rng(0), store, np.ones(count), np.full(count, -1)
    )
    pools = []
    for number in pool_numbers(parts):
        known = pool_parts(parts, number)
        budget = Budget(len(known[PAGES]) / float(known["gap"]))
        pools.append(PoolReplay.begin(together, budget, known, 0))
    if not pools:
        pools = [PoolReplay.begin(together, Budget(_visits_a_day(store)), {}, 0)]
    pool_of, last = np.zeros(count, np.int64), 0.0  # pages that came since are of the common pool
    for number, each in enumerate(pools):
        pool_of[each.pages] = number
    hosts = store.pages().host
    for visits in learn_since(store, visit, pools, pool_of, lambda pages: hosts[pages]):
        last = float(epoch_days(visits.at).max())
    found = []
    for each in pools:
        state = each.learned
        if state is not None:
            now = max(last, float(state.last.max()))
            let_clocks_run(state, now)
            found.append(_figures(state, now))
    return np.concatenate([each.pages for each in pools]), found


def _figures(state: RecrawlState, now: float) -> tuple[Floats, Floats, Floats, Floats]:
    """Rate of each page, the lower end of its band, shape and exposure."""
    rate, low, shape, exposure = np.empty((4, len(state.last)))

    def work(some: slice, beliefs: Beliefs) -> None:
        rate[some], low[some] = beliefs.rate, beliefs.rate_band()[0]
        shape[some], exposure[some] = beliefs.as_one

    for_each_block(state, now, work)
    return rate, low, shape, exposure


def _visits_a_day(store: ReadStore) -> float:
    """Visits a day that a store without a checkpoint has."""
    first = last = np.nan
    for visits in store.outcomes():
        at = epoch_days(visits.at)
        first = at[0] if np.isnan(first) else first
        last = at[-1]
    return store.last_visit() / max(float(last - first), 1.0) if store.last_visit() else 1.0
