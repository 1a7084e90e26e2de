"""Visits in, what the policy has learned out: the one way from a store to beliefs.

A crawl that is opened, and everybody who only looks at it, learns from the same visits in the same
way: from where the checkpoint ends, in the order of time, a slice of time at once. A slice is a
sixteenth of the mean gap between visits, as fine as the clocks of sections are: what sections do is
learned from visits of about the same time.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.equal_keys import nth_occurrences
from recrawl.frontier.frontier import Frontier, PolicyCheckpoint
from recrawl.policies.checkpoint import load_state
from recrawl.policies.pages import TELLS_NOTHING, Outcomes, Pages
from recrawl.state.checkpoint import PAGES
from recrawl.state.false_changes import FalseChangeModel
from recrawl.units import SECONDS_A_DAY, epoch_days, instants_after_epoch
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.entries.columns import OutcomeColumns
    from recrawl.entries.store import ReadStore
    from recrawl.plan.budget import Budget
    from recrawl.policies.policy import Policy
    from recrawl.policies.recrawl.policy import Recrawl
    from recrawl.policies.recrawl.state import RecrawlState

COMPARED: Bools = np.array([outcome.compared for outcome in VisitOutcome])
_SLICES_PER_GAP = 16
_SHORTEST_SLICE = 60 / SECONDS_A_DAY


@dataclass(frozen=True, slots=True, eq=False)
class ReplayedPages:
    """What the pools of a crawl know together.

    Args:
        policy: Learns.
        random: Breaks ties.
        store: Knows addresses.
        weight: How much each page of the crawl matters.
        row: Row of each page in the frontier of its pool; -1 where it has none.
    """

    policy: Policy[Any]
    random: np.random.Generator
    store: ReadStore
    weight: Floats
    row: Ints


class PoolReplay:
    """What the policy has learned of the pages that share a budget.

    Args:
        frontier: Their frontier.
        pages: Page in each row of the frontier.
        crawl: What all pools know together.

    Attributes:
        frontier: Their frontier.
        pages: Page in each row of the frontier.
    """

    def __init__(self, frontier: Frontier, pages: Ints, crawl: ReplayedPages) -> None:
        self.frontier = frontier
        self.pages = pages
        self._crawl = crawl
        crawl.row[pages] = np.arange(len(pages))

    @classmethod
    def begin(
        cls, crawl: ReplayedPages, budget: Budget, parts: Mapping[str, Any], new_pages: int
    ) -> PoolReplay:
        """Go on from a checkpoint.

        Args:
            crawl: What all pools know together.
            budget: Of this pool.
            parts: What the checkpoint has of the pool; empty where it has nothing.
            new_pages: How many pages of the pool have no copy yet: they share the budget, too.
        """
        policy, random = crawl.policy, crawl.random
        if not parts:
            frontier = Frontier(policy, budget, random)
            frontier.expect(new_pages)
            return cls(frontier, np.empty(0, np.int64), crawl)
        pages = parts[PAGES].astype(np.int64)
        known = {**parts, "worth": crawl.weight[pages]}  # ours saves it in single precision
        state = load_state(policy, known, lambda: crawl.store.addresses(pages.tolist()))
        learned = PolicyCheckpoint(state, len(pages), state.gap, new_pages)
        return cls(Frontier.resumed(policy, budget, random, learned), pages, crawl)

    @property
    def learned(self) -> Any:  # noqa: ANN401 - the policy's own
        """What the policy knows now; None where it knows no page."""
        return self.frontier.state

    def learn(self, visits: OutcomeColumns, ours: Ints, false_changes: Floats) -> None:
        """Learn from visits.

        Args:
            visits: Visits.
            ours: Those to pages of this pool.
            false_changes: Chance for each of these that it would find the unchanged page changed.
        """
        page, outcome = visits.page[ours], visits.outcome[ours]
        at = epoch_days(visits.at[ours])
        again = outcome == VisitOutcome.FIRST
        again[self._enter(page, at, visits.age[ours], again)] = False
        rows = self._crawl.row[page]
        # A page whose first visit lies before the checkpoint and is not in it has lost its rule.
        compared = np.flatnonzero((COMPARED[outcome] | again) & (rows >= 0))
        again = again[compared]  # the first copy of a page that others visited before tells nothing
        outcomes = Outcomes(
            again | (outcome[compared] == VisitOutcome.CHANGED),
            np.where(again, np.nan, visits.age[ours[compared]]),
            np.where(again, TELLS_NOTHING, false_changes[compared]),
        )
        rows, at = rows[compared], at[compared]
        for some in time_slices(at, rows, lambda: self.frontier.gap):
            self.frontier.seen(rows[some], instants_after_epoch(at[some]), outcomes.take(some))
            _ = self.frontier.state  # has learned from them: a page is seen once at a time

    def _enter(self, page: Ints, at: Floats, age: Floats, first: Bools) -> Ints:
        """Let the policy know of pages that were seen for the first time; returns these visits."""
        places = np.flatnonzero(first & (self._crawl.row[page] < 0))
        if not len(places):
            return places
        _, once = np.unique(page[places], return_index=True)
        places = places[np.sort(once)]
        pages, when = page[places], instants_after_epoch(at[places])
        addresses = self._crawl.store.addresses(pages.tolist())
        weight = self._crawl.weight[pages]
        found = Pages.of(addresses, when, weight=weight, first_age=age[places])
        self._crawl.row[pages] = self.frontier.add(found, when.max())
        self.pages = np.append(self.pages, pages)
        return places


def learn_since(
    store: ReadStore,
    after: int,
    pools: Sequence[PoolReplay],
    pool_of: Ints,
    hosts_of: Callable[[Ints], Ints],
) -> Iterator[OutcomeColumns]:
    """Let pools learn from all visits with numbers above `after`; yields each batch once learned.

    Args:
        store: Holds the visits.
        after: Number of the last visit that is known.
        pools: Those who learn.
        pool_of: Number of each page's pool; pages that came meanwhile are for the next look.
        hosts_of: Gives the hosts of pages.
    """
    false_changes = FalseChangeModel.load(store)
    for visits in store.outcomes(after=after):
        known = visits.page < len(pool_of)
        pool = np.where(known, pool_of[np.where(known, visits.page, 0)], -1)
        for number, each in enumerate(pools):
            ours = np.flatnonzero(pool == number)
            each.learn(visits, ours, false_changes.chances(visits, ours, hosts_of))
        yield visits


def learn_slices(
    policy: Recrawl,
    state: RecrawlState,
    rows: Ints,
    at: Instants,
    outcomes: Outcomes,
) -> Iterator[RecrawlState]:
    """Learn from visits in the same slices without a frontier; yields the state after each."""
    gap = state.gap
    for some in time_slices(epoch_days(at), rows, lambda: gap):
        state = policy.seen(state, rows[some], at[some], outcomes.take(some))
        yield state


def time_slices(at: Floats, page: Ints, gap: Callable[[], float]) -> Iterator[Ints]:
    """Visits that may be learned at once: of one slice of time, no page twice.

    Args:
        at: When each visit was, nearly in order.
        page: Whose it was.
        gap: Gives the mean days between visits to a page, as they are now.

    Yields:
        Places of the visits: of each slice first those that are the first to their page, then those
        that are the second, and so on.

    Examples:
        Slices of a day:

        >>> at, page = np.array([0.0, 0.1, 0.2, 5.0]), np.array([7, 8, 7, 7])
        >>> [some.tolist() for some in time_slices(at, page, lambda: 16.0)]
        [[0, 1], [2], [3]]
    """
    risen = np.maximum.accumulate(at) if len(at) else at
    start = 0
    while start < len(at):
        days = max(gap() / _SLICES_PER_GAP, _SHORTEST_SLICE)
        ends = (np.floor(risen[start] / days) + 1) * days
        end = max(int(np.searchsorted(risen, ends)), start + 1)
        for places in nth_occurrences(page[start:end]):
            yield start + places
        start = end
