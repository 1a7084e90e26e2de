"""A crawl that is divided into slots: each has an agenda of its own, and all share a budget.

Slots do what workers do with theirs, by the same functions and without a network: each says what it
would spend (`recrawl.state.demand`) and goes on with its share (`recrawl.plan.shared_price`).

Pure.
"""

from __future__ import annotations

from dataclasses import fields, replace
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.ranges import expand_ranges
from recrawl.plan.budget import Budget
from recrawl.plan.shared_price import budget_shares
from recrawl.simulate.live import DELAY, LiveSimulation
from recrawl.simulate.scores import SimulationRun
from recrawl.state.demand import demand_of, learn_from_others
from recrawl.units import epoch_days

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.policy import Policy
    from recrawl.simulate.world import World


class SlotSimulation:
    """A run of many slots.

    Args:
        world: What happens.
        policy: What decides which pages to visit.
        budget: How many visits may be made.
        slot: Slot of each page.
        every: Days from one sharing of the budget to the next; infinite where each slot has a fixed
            share, in proportion to its pages.
        random: Breaks ties.
    """

    def __init__(
        self,
        world: World,
        policy: Policy[Any],
        budget: Budget,
        *,
        slot: Ints,
        every: float,
        random: np.random.Generator,
    ) -> None:
        self._world, self._policy, self._every = world, policy, every
        self._budget = world.budget(budget)
        each_page = Budget(self._budget.visits_a_day(len(world)) / len(world), "page")
        self._rows = [np.flatnonzero(slot == each) for each in np.unique(slot)]
        self._slots = [
            LiveSimulation(pages_of(world, rows), policy, each_page, random=each, delay=DELAY)
            for rows, each in zip(self._rows, random.spawn(len(self._rows)), strict=True)
        ]

    def steps(self) -> Iterator[float]:
        """Make the visits, some at a time; yields the share of time that is over."""
        start, end = (float(epoch_days(each)) for each in (self._world.start, self._world.end))
        now = start
        while now < end:
            if self._every < inf:
                self._share(now)
            now = min(now + self._every, end)
            for slot in self._slots:
                for _ in slot.advance(now):
                    pass
            yield (now - start) / (end - start)

    def result(self) -> SimulationRun:
        """Scores of the whole run."""
        parts = [slot.result() for slot in self._slots]
        order = np.argsort(np.concatenate(self._rows))
        columns = [each.name for each in fields(SimulationRun) if each.name != "world"]
        whole = {
            name: np.concatenate([getattr(each, name) for each in parts])[order] for name in columns
        }
        return SimulationRun(self._world, **whole)

    @property
    def leased(self) -> Floats:
        """When each visit was made, in days after 1970, rising."""
        return np.sort(np.concatenate([np.array(slot.leased) for slot in self._slots]))

    def _share(self, now: float) -> None:
        """Let all slots say what they would spend, and go on with their shares."""
        for slot in self._slots:
            slot.take_in(now)
            slot.agenda.budget_pool(0).end_tick(now)
        demands = {
            number: demand_of(slot.agenda, self._policy, now)
            for number, slot in enumerate(self._slots)
        }
        _, shares = budget_shares(demands, self._budget)
        for number, share in shares.items():
            agenda = self._slots[number].agenda
            agenda.budget_pool(0).share_budget(share)
            learn_from_others(agenda, demands, number)


def pages_of(world: World, rows: Ints) -> World:
    """The part of a world that some of its pages are, in rising order."""
    counts = world.change_counts[rows]
    return replace(
        world,
        address=tuple(world.address[row] for row in rows.tolist()),
        first_seen=world.first_seen[rows],
        removed_at=world.removed_at[rows],
        weight=world.weight[rows],
        changes=world.changes[expand_ranges(world.offsets[rows], counts)],
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        first_age=world.first_age[rows],
    )
