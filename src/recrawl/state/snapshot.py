"""A crawl as someone sees it who only looks: nothing is written and nothing is held.

What the crawl has learnt is taken as it was saved, and visits made since are learnt again, a
stretch of time at once. So what is seen is what the crawl itself believes, within a little.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.equal_keys import nth_occurrences
from recrawl.frontier.frontier import Frontier, PolicyCheckpoint
from recrawl.plan.objectives.methods import OBJECTIVES
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.beliefs import let_clocks_run
from recrawl.policies.recrawl.checkpoint import resumed
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.pools import budgets, fingerprint, terms
from recrawl.state.doubts import FalseChangeModel
from recrawl.units import SECONDS_A_DAY, epoch_days, instants_after_epoch
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.columns import OutcomeColumns, PageColumns
    from recrawl.entries.records import SavedCheckpoint
    from recrawl.entries.store import ReadStore
    from recrawl.plan.budget import Budget
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.settings.settings import Settings

# Visits are learnt this part of a mean gap at once: as fine as the clocks of sections are.
PART_OF_GAP = 1 / 16
SHORTEST_STRETCH = 60 / SECONDS_A_DAY
COMPARED: Bools = np.array([outcome.compared for outcome in VisitOutcome])


@dataclass(frozen=True, slots=True, eq=False)
class PoolSnapshot:
    """Pages that share a budget.

    Args:
        address: Site or page whose own budget it is; empty for the common one.
        budget: What all of them may cost.
        state: What the policy has learnt of those with a copy; None where there is none.
        pages: Page in each row of the state, counted from 0.
    """

    address: str
    budget: Budget
    state: RecrawlState | None
    pages: Ints


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """A crawl as it stands.

    Args:
        settings: What a person asks of it.
        policy: What decides where visits are worth most.
        now: When it was looked at, in days after 1970.
        columns: Its pages.
        rule: Number of each page's rule; that of no rule where none holds.
        pools: Its pages by budget.
        last: When each page was last compared with its copy, in days after 1970; nan if never.
    """

    settings: Settings
    policy: Recrawl
    now: float
    columns: PageColumns
    rule: Ints
    pools: list[PoolSnapshot]
    last: Floats


def load_snapshot(settings: Settings, reader: ReadStore, now: float) -> Snapshot:
    """Look at the crawl of a store at an instant, in days after 1970."""
    columns = reader.pages()
    learnt = saved(settings, reader)
    rule = columns.rule if learnt else rules_anew(settings, reader, len(columns.rule))
    rule = np.where((rule >= 0) & (rule < len(settings.rules)), rule, len(settings.rules))
    every = terms(settings)
    weight = np.array([each.weight for each in every])[rule]
    pool_of = np.array([each.pool for each in every])[rule]
    policy = Recrawl(objective=OBJECTIVES[settings.objective])
    parts, visit = learnt or ({}, 0)
    learners = [
        _Learner.of(policy, budget, pool_parts(parts, number), weight, reader)
        for number, budget in enumerate(budgets(settings))
    ]
    doubts = FalseChangeModel.of(reader)
    for visits in reader.outcomes(after=visit):
        # Pages that came after the columns were read are for the next look.
        known = visits.page < len(rule)
        pool = np.where(known, pool_of[np.where(known, visits.page, 0)], -1)
        for number, learner in enumerate(learners):
            learner.learn(visits, np.flatnonzero(pool == number), doubts)
    last = np.full(len(rule), np.nan)
    pools = []
    for address, budget, learner in zip(
        pool_addresses(settings), budgets(settings), learners, strict=True
    ):
        state = learner.state
        pools.append(PoolSnapshot(address, budget, state, learner.pages))
        if state is not None:
            let_clocks_run(state, now)
            last[learner.pages] = state.last
    return Snapshot(settings, policy, now, columns, rule, pools, last)


def saved(settings: Settings, reader: ReadStore) -> SavedCheckpoint | None:
    """What the crawl had saved and the last visit it knew of, if that still fits the settings."""
    learnt = reader.checkpoint()
    if learnt is None or learnt[0].get("rules") != fingerprint(settings):
        return None
    return learnt


def pool_parts(parts: dict[str, Any], number: int) -> dict[str, Any]:
    """What was saved of one pool, by the policy's own names."""
    start = f"{number}."
    names = [name for name in parts if name.startswith(start)]
    return {name.removeprefix(start): parts[name] for name in names}


def pool_addresses(settings: Settings) -> list[str]:
    """Whose each budget is: nobody's, then those of rules that have their own."""
    return ["", *(rule.address for rule in settings.rules if rule.budget is not None)]


def rules_anew(settings: Settings, reader: ReadStore, pages: int) -> Ints:
    """Number of each page's rule by settings that the store does not know yet."""
    found: list[int] = []
    for addresses in reader.all_addresses():
        found += settings.rules_of(addresses)
    return np.array(found[:pages], np.int64)


def time_slices(
    at: Floats, page: Ints, width: Callable[[], float]
) -> Iterator[tuple[slice, list[Ints]]]:
    """Visits that may be learnt at once: stretches of time, each with its rounds.

    Args:
        at: When each visit was, nearly in order.
        page: Whose it was.
        width: Gives the days of the next stretch.

    Yields:
        A stretch, and the visits in it, as places in the stretch: first those that are the first
        to their page, then those that are the second, and so on.

    Examples:
        >>> at, page = np.array([0.0, 0.1, 0.2, 5.0]), np.array([7, 8, 7, 7])
        >>> for stretch, nth_occurrences in time_slices(at, page, lambda: 1.0):
        ...     print(stretch, [each.tolist() for each in nth_occurrences])
        slice(0, 3, None) [[0, 1], [2]]
        slice(3, 4, None) [[0]]
    """
    risen = np.maximum.accumulate(at) if len(at) else at
    start = 0
    while start < len(at):
        days = max(width(), SHORTEST_STRETCH)
        ends = (np.floor(risen[start] / days) + 1) * days
        end = max(int(np.searchsorted(risen, ends)), start + 1)
        yield slice(start, end), nth_occurrences(page[start:end])
        start = end


class _Learner:
    """Learns again what visits to the pages of one pool have shown.

    Args:
        frontier: Its frontier.
        pages: Page in each row of the frontier.
        weight: How much each page of the crawl matters.
        reader: Knows addresses.
    """

    def __init__(self, frontier: Frontier, pages: Ints, weight: Floats, reader: ReadStore) -> None:
        self.pages = pages
        self._frontier = frontier
        self._weight = weight
        self._reader = reader
        self._row: Ints = np.full(len(weight), -1)
        self._row[pages] = np.arange(len(pages))

    @classmethod
    def of(
        cls,
        policy: Recrawl,
        budget: Budget,
        parts: dict[str, Any],
        weight: Floats,
        reader: ReadStore,
    ) -> _Learner:
        """One that goes on from what was saved of its pool."""
        random = np.random.default_rng(0)  # breaks no ties here
        if not parts:
            return cls(Frontier(policy, budget, random), np.empty(0, np.int64), weight, reader)
        pages = parts["pages"].astype(np.int64)
        # Kin are as they were when saved: they are looked for again when pages are added. Weights
        # are those of the settings.
        parts = parts | {"sections.related": len(parts["sections.leaf"]), "worth": weight[pages]}
        state = resumed(policy, parts, lambda: reader.addresses(pages.tolist()))
        learnt = PolicyCheckpoint(state, len(pages), state.gap)
        return cls(Frontier.resumed(policy, budget, random, learnt), pages, weight, reader)

    @property
    def state(self) -> RecrawlState | None:
        """What the policy knows now; None where it knows no page."""
        state: RecrawlState | None = self._frontier.state  # type: ignore[assignment] # our own
        return state

    def learn(self, visits: OutcomeColumns, ours: Ints, doubts: FalseChangeModel) -> None:
        """Learn from some of the visits."""
        page, outcome = visits.page[ours], visits.outcome[ours]
        at, age = epoch_days(visits.at[ours]), visits.age[ours]
        changed, false = outcome == VisitOutcome.CHANGED, doubts.chances(visits, ours)
        self._enter(page, at, outcome == VisitOutcome.FIRST)
        for stretch, turns in time_slices(at, page, self._width):
            for each in turns:
                places = each + stretch.start
                rows = self._row[page[places]]
                places = places[COMPARED[outcome[places]] & (rows >= 0)]
                if not len(places):
                    continue
                outcomes = Outcomes(changed[places], age[places], false[places])
                when = instants_after_epoch(at[places])
                self._frontier.seen(self._row[page[places]], when, outcomes)
                _ = self._frontier.state  # has learnt from them: a page is seen once at a time

    def _width(self) -> float:
        return PART_OF_GAP * self._frontier.gap

    def _enter(self, page: Ints, at: Floats, first: Bools) -> None:
        """Let the policy know of pages that were copied for the first time."""
        places = np.flatnonzero(first & (self._row[page] < 0))
        if not len(places):
            return
        _, once = np.unique(page[places], return_index=True)
        places = places[np.sort(once)]
        pages, when = page[places], instants_after_epoch(at[places])
        addresses = self._reader.addresses(pages.tolist())
        found = Pages.of(addresses, when, weight=self._weight[pages])
        self._row[pages] = self._frontier.add(found, when.max())
        self.pages = np.append(self.pages, pages)
