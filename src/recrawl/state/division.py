"""A crawl that workers share, looked at as a whole: what they believe of their slots, put together.

Each slot is a crawl of its own, with its own checkpoint, and what is looked at goes on from that by
the visits since, as a worker does that opens the slot. So both believe the same. The common budget
is divided as the slots have said what they would spend.

Where a single process has learned more since, or the settings have another number of slots, or a
rule of theirs holds in several slots, the store is looked at as that of one process.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.frontier.frontier import Frontier
from recrawl.plan.budget import Budget
from recrawl.plan.shared_price import SlotDemand, SpendingCurve, budget_per_page, budget_shares
from recrawl.settings.pools import NOTHING, budgets, policy_of, terms
from recrawl.settings.rules import ANYWHERE
from recrawl.settings.slots import SlotScope, slots_of_listing
from recrawl.state.hints import HeardHints, Hints
from recrawl.state.pages import ruled
from recrawl.state.snapshot import PoolSnapshot, Snapshot, load_snapshot, pool_addresses
from recrawl.state.weights import Factors

if TYPE_CHECKING:
    from recrawl.entries.records import SavedSlots
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings


_LEAST_SHARE = 1e-3  # visits per day, of a slot that has said nothing yet


def as_divided(settings: Settings, store: ReadStore) -> Settings:
    """Settings of a crawl as its workers have divided it; as they are where they have not."""
    saved = store.saved_slots()
    if saved is None or saved.slots != settings.slots:
        return settings
    if not saved.visits or not saved.demands:  # nobody has crawled yet
        return settings
    if any(rule.address == ANYWHERE for rule in settings.rules):
        return settings
    if any(len(slots_of_listing(each, settings.slots)) > 1 for each in settings.listings):
        return settings
    alone = store.checkpoint(())
    if alone is not None and alone.visit >= max(saved.visits.values()):
        return settings
    return replace(settings, divided=_shares(settings, saved))


def _shares(settings: Settings, saved: SavedSlots) -> tuple[Budget, ...]:
    """What each slot may spend of the common budget; next to nothing before it has asked."""
    _, shares = budget_shares(_demands(saved), settings.budget)
    found = (shares[slot].visits_a_day if slot in shares else 0.0 for slot in range(saved.slots))
    return tuple(Budget(max(each, _LEAST_SHARE)) for each in found)


def _demands(saved: SavedSlots) -> dict[int, SlotDemand]:
    return {
        slot: SlotDemand(SpendingCurve(np.array(prices), np.array(visits)), pages, spent)
        for slot, (prices, visits, pages, spent, *_) in saved.demands.items()
    }


def load_divided(settings: Settings, store: ReadStore, now: float) -> Snapshot:
    """Look at a crawl as its workers have divided it, at an instant in days after 1970."""
    every, policy = terms(settings), policy_of(settings)
    random = np.random.default_rng(0)
    pools = [
        PoolSnapshot(address, budget, Frontier(policy, NOTHING, random), np.empty(0, np.int64))
        for address, budget in zip(pool_addresses(settings), budgets(settings), strict=True)
    ]
    parts, saved = [], store.saved_slots()
    # The mean gap of all pages, whatever shares their slots have: as workers open them.
    each_page = budget_per_page(_demands(saved) if saved else {}, settings.budget)
    for scope in SlotScope.all_of(replace(settings, divided=()), len(settings.divided)):
        if scope.settings.rules:
            own, numbers = store.slot(scope)
            part = load_snapshot(replace(scope.settings, budget=each_page), own, now)
            parts.append((scope, part, numbers))
    columns = store.pages()  # afterwards: it has all pages that any of them has
    rule = ruled(settings, columns.rule)
    last, replayed = np.full(len(rule), np.nan), np.zeros(len(rule), np.bool_)
    weight = np.array([each.weight for each in every])[rule]
    factor, named, hints = np.ones(len(rule)), 0, list[Hints]()
    for scope, part, numbers in parts:
        rules = np.array([*scope.rules, len(settings.rules)], np.int64)
        rule[numbers] = rules[part.rule]
        last[numbers], replayed[numbers] = part.last, part.replayed
        weight[numbers], factor[numbers] = part.weight, part.factors.factor
        named += part.factors.named
        hints += [replace(each, pages=numbers[each.pages]) for each in part.hints.batches]
        pool_in = [scope.slot, *(every[each].pool for each in _with_budget(settings, scope))]
        for number, pool in zip(pool_in, part.pools, strict=True):
            pools[number] = replace(pool, budget=pools[number].budget, pages=numbers[pool.pages])
    visit = max((part.visit for _, part, _ in parts), default=0)
    since = sum(part.since for _, part, _ in parts)
    return Snapshot(
        *(settings, policy, now, columns, rule, pools, last, visit, replayed, since),
        weight=weight,
        factors=Factors(factor, named),
        hints=HeardHints(hints),
    )


def _with_budget(settings: Settings, scope: SlotScope) -> list[int]:
    """Rules of a slot that have a budget of their own, by their numbers in the crawl."""
    return [each for each in scope.rules if settings.rules[each].budget is not None]
