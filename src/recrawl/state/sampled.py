"""Some copies of a large crawl, drawn by lot, and what visits since have taught of them.

Touches: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.plan.objectives.methods import OBJECTIVES
from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.beliefs import Beliefs, ExpectedFreshness, let_clocks_run
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.sampling import sampled
from recrawl.state.snapshot import COMPARED, PART_OF_GAP, time_slices
from recrawl.units import epoch_days, instants_after_epoch
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.columns import OutcomeColumns
    from recrawl.policies.recrawl.sampling import Ratios
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.settings.settings import Settings
    from recrawl.state.doubts import FalseChangeModel


@dataclass(slots=True, eq=False)
class SampledSnapshot:
    """Some copies of one pool.

    Args:
        policy: What decides where visits are worth most.
        state: What it has learnt of them.
        ratios: How fast their sections and kin are, by what all copies have taught.
        pages: Page in each row of the state, counted from 0, rising.
        lot: Rows that were drawn by lot; the others were asked for.
        of: How many copies they were drawn from.
    """

    policy: Recrawl
    state: RecrawlState
    ratios: Ratios
    pages: Ints
    lot: Ints
    of: int

    @classmethod
    def at(
        cls,
        settings: Settings,
        parts: dict[str, Any],
        share: float,
        without: Ints,
        wanted: Ints,
    ) -> SampledSnapshot | None:
        """A share of the copies of which this was saved, drawn by lot, at least one.

        Args:
            settings: What is asked of the crawl.
            parts: What was saved of the pool.
            share: How many of its copies.
            without: Pages of which no copy counts.
            wanted: Pages whose copies are looked at in any case, if they are of this pool.
        """
        policy = Recrawl(objective=OBJECTIVES[settings.objective])
        everything = parts["pages"].astype(np.int64)
        counted = np.flatnonzero(~np.isin(everything, without))
        pages = everything[counted]
        if not len(pages):
            return None
        # The same lot for the same crawl: who looks twice sees what has moved, not his luck.
        random = np.random.default_rng(len(pages))
        count = min(max(round(share * len(pages)), 1), len(pages))
        drawn = random.choice(len(pages), count, replace=False, shuffle=False)
        rows = drawn
        if len(wanted):
            rows = np.union1d(drawn, np.flatnonzero(np.isin(pages, wanted)))
        rows = rows[np.argsort(pages[rows])]
        state, ratios = sampled(policy, parts, counted[rows])
        lot = np.flatnonzero(np.isin(rows, drawn))
        return cls(policy, state, ratios, pages[rows], lot, len(pages))

    def learn(self, visits: OutcomeColumns, doubts: FalseChangeModel) -> None:
        """Learn from those visits that compared one of these copies with its page."""
        place = np.searchsorted(self.pages, visits.page)
        row = np.minimum(place, len(self.pages) - 1)
        compared = (self.pages[row] == visits.page) & COMPARED[visits.outcome]
        ours = np.flatnonzero(compared)
        row, changed = row[ours], visits.outcome[ours] == VisitOutcome.CHANGED
        at, age = epoch_days(visits.at[ours]), visits.age[ours]
        false = doubts.chances(visits, ours)
        for stretch, rounds in time_slices(at, row, lambda: PART_OF_GAP * self.state.gap):
            for each in rounds:
                places = each + stretch.start
                outcomes = Outcomes(changed[places], age[places], false[places])
                when = instants_after_epoch(at[places])
                self.state = self.policy.seen(self.state, row[places], when, outcomes)
                self.ratios.put(self.state)

    def run(self, now: float) -> None:
        """Let clocks run until an instant."""
        let_clocks_run(self.state, now)

    def freshness_of_young(self, last: Floats, now: float) -> ExpectedFreshness:
        """How fresh copies are of which nothing is known but when they were last seen."""
        count = len(last)
        relatives = self.state.relatives
        waited = np.maximum(now - last, 0.0)
        one = np.ones((1, count))
        beliefs = Beliefs(one, relatives.shape * one, relatives.exposure * one, waited, waited)
        fresh = beliefs.fresh
        return ExpectedFreshness(
            count, float(fresh.sum()), float((fresh * (1 - fresh)).sum()), float(beliefs.age.sum())
        )
