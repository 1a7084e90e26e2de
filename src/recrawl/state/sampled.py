"""Some copies of a large crawl, drawn at random, and what visits since have taught of them.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.beliefs import Beliefs, ExpectedFreshness, let_clocks_run
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.sampling import sampled
from recrawl.state.checkpoint import PAGES
from recrawl.state.replay import COMPARED, learn_slices
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.columns import OutcomeColumns
    from recrawl.entries.store import ReadStore
    from recrawl.policies.recrawl.sampling import Ratios
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.settings.settings import Settings
    from recrawl.state.false_changes import FalseChangeModel


@dataclass(slots=True, eq=False)
class SampledSnapshot:
    """Some copies of one pool.

    Args:
        store: Knows the hosts of pages.
        policy: What decides where visits are worth most.
        state: What it has learned of them.
        ratios: How fast their sections and kin are, by what all copies have taught.
        pages: Page in each row of the state, counted from 0, rising.
        drawn: Rows that were drawn at random; the others were asked for.
        of: How many copies they were drawn from.
    """

    store: ReadStore
    policy: Recrawl
    state: RecrawlState
    ratios: Ratios
    pages: Ints
    drawn: Ints
    of: int

    @classmethod
    def draw(
        cls,
        settings: Settings,
        store: ReadStore,
        parts: dict[str, Any],
        *,
        share: float,
        without: Ints,
        wanted: Ints,
    ) -> SampledSnapshot | None:
        """A share of the copies of a pool, drawn at random, at least one.

        Args:
            settings: What is asked of the crawl.
            store: Where it was written down.
            parts: What the checkpoint has of the pool.
            share: How many of its copies.
            without: Pages of which no copy counts.
            wanted: Pages whose copies are looked at in any case, if they are of this pool.
        """
        policy = Recrawl(objective=OBJECTIVES[settings.objective])
        everything = parts[PAGES].astype(np.int64)
        counted = np.flatnonzero(~np.isin(everything, without))
        pages = everything[counted]
        if not len(pages):
            return None
        # The same draw for the same crawl: who looks twice sees what has moved, not chance.
        random = np.random.default_rng(len(pages))
        count = min(max(round(share * len(pages)), 1), len(pages))
        drawn = random.choice(len(pages), count, replace=False, shuffle=False)
        rows = drawn
        if len(wanted):
            rows = np.union1d(drawn, np.flatnonzero(np.isin(pages, wanted)))
        rows = rows[np.argsort(pages[rows])]
        state, ratios = sampled(policy, parts, counted[rows])
        at_random = np.flatnonzero(np.isin(rows, drawn))
        return cls(store, policy, state, ratios, pages[rows], at_random, len(pages))

    def learn(self, visits: OutcomeColumns, false_changes: FalseChangeModel) -> None:
        """Learn from those visits that compared one of these copies with its page."""
        place = np.searchsorted(self.pages, visits.page)
        row = np.minimum(place, len(self.pages) - 1)
        ours = np.flatnonzero((self.pages[row] == visits.page) & COMPARED[visits.outcome])
        false = false_changes.chances(
            visits, ours, lambda pages: self.store.rules_and_hosts(pages)[1]
        )
        changed = visits.outcome[ours] == VisitOutcome.CHANGED
        outcomes = Outcomes(changed, visits.age[ours], false)
        for state in learn_slices(self.policy, self.state, row[ours], visits.at[ours], outcomes):
            self.state = state
            self.ratios.put(state)

    def run(self, now: float) -> None:
        """Let clocks run until an instant."""
        let_clocks_run(self.state, now)

    def freshness_of_young(self, last: Floats, now: float) -> ExpectedFreshness:
        """How fresh copies are of which nothing is known but when they were last seen."""
        count = len(last)
        relatives = self.state.relatives
        waited = np.maximum(now - last, 0.0)
        one = np.ones((1, count))
        elapsed = self.state.corrections.factor_of_new * waited
        beliefs = Beliefs(one, relatives.shape * one, relatives.exposure * one, elapsed, waited)
        fresh = beliefs.fresh
        return ExpectedFreshness(
            count, float(fresh.sum()), float((fresh * (1 - fresh)).sum()), float(beliefs.age.sum())
        )
