"""A crawl at an instant: its pages, and what its policy has learned of them.

A snapshot is what a store says of a crawl. Who opens the crawl goes on from it
(`recrawl.state.opening`); who only looks at it reads it. So both believe the same.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.parse.address_shapes import shape_of
from recrawl.policies.recrawl.beliefs import let_clocks_run
from recrawl.policies.recrawl.state import RecrawlState
from recrawl.settings.pools import budgets, policy_of, terms
from recrawl.settings.rules import NO_RULE
from recrawl.state.checkpoint import fitting, pool_parts
from recrawl.state.hints import HeardHints, heard_in, read_hints, saved_heard
from recrawl.state.pages import ruled
from recrawl.state.refitting import refitted
from recrawl.state.replay import COMPARED, PoolReplay, ReplayedPages, learn_since
from recrawl.state.shapes import is_trap
from recrawl.state.weights import all_factors
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.columns import PageColumns
    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore
    from recrawl.frontier.frontier import Frontier
    from recrawl.plan.budget import Budget
    from recrawl.policies.policy import Policy
    from recrawl.settings.settings import Settings
    from recrawl.state.weights import Factors


_TAKEN_OUT = (PageStatus.REMOVED, PageStatus.ERASED)
_MOST_LOOKS = 3  # until no checkpoint is saved meanwhile


@dataclass(frozen=True, slots=True, eq=False)
class PoolSnapshot:
    """Pages that share a budget.

    Args:
        address: Site or page whose own budget it is; empty for the common one.
        budget: What all of them may cost.
        frontier: Orders those with a copy.
        pages: Page in each row of the frontier, counted from 0.
    """

    address: str
    budget: Budget
    frontier: Frontier
    pages: Ints

    @property
    def learned(self) -> Any:  # noqa: ANN401 - the policy's own
        """What the policy has learned of the pages with a copy; None where there is none."""
        return self.frontier.state

    @property
    def state(self) -> RecrawlState | None:
        """What our policy has learned; None where it is nothing, or another policy decides."""
        return self.learned if isinstance(self.learned, RecrawlState) else None


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A crawl as it stands.

    Args:
        settings: What a person asks of it.
        policy: What decides when pages are visited.
        now: The instant, in days after 1970.
        columns: Its pages.
        rule: Number of each page's rule; that of no rule where none holds.
        pools: Its pages by budget.
        last: When each page was last compared with its copy, in days after 1970; nan if never.
        visit: Number of the last visit that the policy knows of.
        replayed: Pages that were compared since the checkpoint.
        since: How many visits were made since the checkpoint.
        weight: How much a fresh copy of each page matters.
        factors: What the weights of blocks were multiplied by for that.
        hints: Hints that stand and that the checkpoint did not know of.
    """

    settings: Settings
    policy: Policy[Any]
    now: float
    columns: PageColumns
    rule: Ints
    pools: list[PoolSnapshot]
    last: Floats
    visit: int
    replayed: Bools
    since: int
    weight: Floats
    factors: Factors
    hints: HeardHints

    @property
    def pool_of(self) -> Ints:
        """Number of each page's pool; one beyond the last where nothing pays for it."""
        return np.array([each.pool for each in terms(self.settings)])[self.rule]


def load_snapshot(settings: Settings, store: ReadStore, now: float) -> Snapshot:
    """Look at the crawl of a store at an instant, in days after 1970."""
    if settings.divided:
        from recrawl.state.division import load_divided  # which looks at each part

        return load_divided(settings, store, now)
    saved = saved_heard(store)
    for _ in range(_MOST_LOOKS):
        before, snapshot = saved, _look(settings, store, now)
        saved = saved_heard(store)
        if saved == before:  # else the hints between are in a newer checkpoint, and here no more
            break
    return snapshot


def _look(settings: Settings, store: ReadStore, now: float) -> Snapshot:
    columns, checkpoint = store.pages(), fitting(settings, store)
    if checkpoint is None:
        before, now_ruled = columns.rule, rules_anew(settings, store, columns)
        checkpoint = refitted(settings, store, before, now_ruled)
        columns = replace(columns, rule=now_ruled)
    random = np.random.default_rng(0)  # ties: the same for everybody who looks
    return replay(settings, store, now, columns=columns, checkpoint=checkpoint, random=random)


def needs_replay(settings: Settings, store: ReadStore) -> bool:
    """Whether a crawl of these settings must learn from all visits of a store again."""
    if not store.last_visit() or fitting(settings, store) is not None:
        return False
    columns = store.pages()
    rules = rules_anew(settings, store, columns)
    return refitted(settings, store, columns.rule, rules) is None


def replay(  # noqa: PLR0913 - all that decides on what is learned
    settings: Settings,
    store: ReadStore,
    now: float,
    *,
    columns: PageColumns,
    checkpoint: SavedCheckpoint | None,
    random: np.random.Generator,
    on_replay: Callable[[int], object] = int,
) -> Snapshot:
    """Go on from a checkpoint, or from nothing, by the visits that a store holds.

    Args:
        settings: What a person asks of the crawl.
        store: Where it was written down.
        now: The instant, in days after 1970.
        columns: Pages, with the rules that these settings give them.
        checkpoint: What was learned before; None where it does not fit.
        random: Breaks ties.
        on_replay: Called now and then with how many visits have been replayed.
    """
    rule, every = ruled(settings, columns.rule), terms(settings)
    pool_of = np.array([each.pool for each in every])[rule]
    policy = policy_of(settings)
    parts, visit = checkpoint or ({}, 0)
    factors = all_factors(settings, store, parts, len(rule))
    weight = np.array([each.weight for each in every])[rule] * factors.factor
    together = ReplayedPages(policy, random, store, weight, np.full(len(rule), -1))
    is_new = (columns.status == PageStatus.NEW) & np.isnat(columns.next_at)
    new_pages = np.bincount(pool_of[is_new], minlength=len(every))
    pools = [
        PoolReplay.begin(together, budget, pool_parts(parts, number), int(new_pages[number]))
        for number, budget in enumerate(budgets(settings))
    ]
    replayed, done = np.zeros(len(rule), np.bool_), 0
    for visits in learn_since(store, visit, pools, pool_of, lambda pages: columns.host[pages]):
        seen = COMPARED[visits.outcome] | (visits.outcome == VisitOutcome.FIRST)
        replayed[visits.page[seen & (visits.page < len(rule))]] = True
        visit = int(visits.visit[-1])
        done += len(visits.visit)
        on_replay(done)
    last = np.full(len(rule), np.nan)
    for each in pools:
        learned = each.learned
        if isinstance(learned, RecrawlState):
            let_clocks_run(learned, now)
        if learned is not None:
            last[each.pages] = learned.last
    hints = HeardHints(
        [each.standing(last) for each in read_hints(settings, store, heard_in(parts))],
        saved=heard_in(parts),
    )
    for some in hints.batches:
        for number, each in enumerate(pools):
            ours = some.take(pool_of[some.pages] == number)
            each.frontier.hinted(together.row[ours.pages], ours.right)
    snapshots = [
        PoolSnapshot(address, budget, each.frontier, each.pages)
        for address, budget, each in zip(
            pool_addresses(settings), budgets(settings), pools, strict=True
        )
    ]
    return Snapshot(
        *(settings, policy, now, columns, rule, snapshots, last, visit, replayed, done),
        weight=weight,
        factors=factors,
        hints=hints,
    )


def pool_addresses(settings: Settings) -> list[str]:
    """Whose each budget is: nobody's, then those of rules that have their own."""
    common = [""] * max(len(settings.divided), 1)
    return [*common, *(rule.address for rule in settings.rules if rule.budget is not None)]


def rules_anew(settings: Settings, store: ReadStore, columns: PageColumns) -> Ints:
    """Number of each page's rule by settings that the store does not know yet.

    Detail pages that no block covers have the rule of the first listing that lists them. Pages
    that were taken out have none, whatever the settings say.
    """
    rule = rules_by_address(settings, store, len(columns.rule))
    return np.where(np.isin(columns.status, _TAKEN_OUT), NO_RULE, rule)


def rules_by_address(settings: Settings, store: ReadStore, pages: int) -> Ints:
    """The same of the first so many pages, also of those that were taken out."""
    found: list[int] = []
    for addresses in store.all_addresses():
        found += settings.rules_of(addresses)
    rule = np.array(found[:pages], np.int64)
    rule[_trapped(settings, store, len(rule))] = NO_RULE
    for listing, number in settings.detail_rules.items():
        details = store.detail_pages(listing)
        details = details[details < len(rule)]
        rule[details[rule[details] == NO_RULE]] = number
    return rule


def _trapped(settings: Settings, store: ReadStore, pages: int) -> list[int]:
    """Pages that were never visited, that links led to, and whose addresses are those of traps."""
    traps: dict[str, set[str]] = {}
    for each in store.address_shapes():
        if is_trap(each.judged, each.barren):
            traps.setdefault(each.host, set()).add(each.shape)
    found = []
    for name, shapes in traps.items():
        host = store.host(name)
        for page, address in store.waiting_pages(host.number) if host else ():
            rule = settings.rule_for(address)
            if page < pages and rule and rule.filters.traps and shape_of(address) in shapes:
                found.append(page)
    return found
