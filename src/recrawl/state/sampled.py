"""Some copies of a large crawl, drawn at random, and what visits since have taught of them.

They are drawn when the crawl is saved, and kept in its checkpoint beside the whole, so that whoever
wants to know how the crawl stands need not read what was learned of a million pages.

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
from recrawl.policies.recrawl.sampling import dump_sample, load_sample, sampled
from recrawl.state.checkpoint import DRAWN, PAGES
from recrawl.state.hints import stand
from recrawl.state.replay import COMPARED, learn_slices
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.entries.columns import OutcomeColumns
    from recrawl.entries.store import ReadStore
    from recrawl.policies.recrawl.sampling import Ratios
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.settings.settings import Settings
    from recrawl.state.false_changes import FalseChangeModel
    from recrawl.state.hints import Hints

# Copies looked at closely. Twenty thousand leave a share unsure by 0.6 points in nine cases of
# ten at worst, and take a tenth of a second.
LOOKED_AT = 20_000
# Copies of all rules with a target that are looked at, whatever the sample says.
_FOR_TARGETS, _MOST_A_TARGET, _FEWEST_A_TARGET = 10_000, 500, 20


def draw_samples(
    settings: Settings,
    pools: Mapping[int, Mapping[str, Any]],
    has_copy: Callable[[Ints], Bools],
    rule_of: Callable[[Ints], Ints],
) -> dict[int, dict[str, Any]]:
    """Some copies of each pool, drawn at random, and more of rules that have a target.

    Args:
        settings: What is asked of the crawl.
        pools: What the policy has learned, by pool.
        has_copy: Tells which of some pages have a copy that counts.
        rule_of: Gives the rules of some pages.

    Returns:
        What is kept of those copies, by pool.
    """
    policy = Recrawl(objective=OBJECTIVES[settings.objective])
    counted = {number: np.flatnonzero(has_copy(parts[PAGES])) for number, parts in pools.items()}
    share = min(LOOKED_AT / max(sum(map(len, counted.values())), 1), 1.0)
    targets = with_target(settings)
    found = {}
    for number, parts in pools.items():
        rows = counted[number]
        if not len(rows):
            continue
        pages = parts[PAGES][rows].astype(np.int64)
        drawn = _some(len(pages), max(round(share * len(pages)), 1))
        chosen = drawn
        if targets:
            chosen = np.union1d(drawn, _of_targets(targets, rule_of(pages)))
        chosen = chosen[np.argsort(pages[chosen])]
        kept = dump_sample(*sampled(policy, parts, rows[chosen]))
        kept |= {PAGES: pages[chosen].astype(np.int32), DRAWN: np.isin(chosen, drawn)}
        found[number] = kept
    return found


def _some(count: int, most: int) -> Ints:
    """Some of so many rows: the same for the same crawl, so that what moves is not chance."""
    random = np.random.default_rng(count)
    return random.choice(count, min(most, count), replace=False, shuffle=False)


def _of_targets(targets: list[int], rule: Ints) -> Ints:
    """Rows of some copies of each rule that has a target."""
    most = min(max(_FOR_TARGETS // len(targets), _FEWEST_A_TARGET), _MOST_A_TARGET)
    order = np.argsort(rule, kind="stable")
    ordered, found = rule[order], [np.empty(0, np.int64)]
    for each in targets:
        ours = order[slice(*np.searchsorted(ordered, (each, each + 1)))]
        found.append(ours[_some(len(ours), most)])
    return np.concatenate(found)


def with_target(settings: Settings) -> list[int]:
    """Numbers of the rules that have a target."""
    return [number for number, rule in enumerate(settings.rules) if rule.target is not None]


@dataclass(slots=True, eq=False)
class SampledSnapshot:
    """Some copies of one pool.

    Args:
        store: Knows the hosts of pages.
        policy: What decides where visits are worth most.
        state: What it has learned of them.
        ratios: How fast their sections and kin are, by what all copies have taught.
        pages: Page in each row of the state, counted from 0, rising.
        drawn: Rows that were drawn at random; the others were chosen for the target of their rule.
    """

    store: ReadStore
    policy: Recrawl
    state: RecrawlState
    ratios: Ratios
    pages: Ints
    drawn: Ints

    @classmethod
    def load(
        cls, settings: Settings, store: ReadStore, parts: Mapping[str, Any]
    ) -> SampledSnapshot:
        """Copies of a pool as `draw_samples` gave them."""
        policy = Recrawl(objective=OBJECTIVES[settings.objective])
        drawn = np.flatnonzero(parts[DRAWN])
        pages = np.asarray(parts[PAGES]).astype(np.int64)
        return cls(store, policy, *load_sample(policy, parts), pages, drawn)

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

    def hear(self, hints: Hints) -> None:
        """Take in hints, as far as they are of these copies and stand."""
        place = np.searchsorted(self.pages, hints.pages)
        row = np.minimum(place, len(self.pages) - 1)
        ours = np.flatnonzero(self.pages[row] == hints.pages)
        ours = ours[stand(hints.at[ours], self.state.last[row[ours]])]
        self.state = self.policy.hinted(self.state, row[ours], hints.right[ours])

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
