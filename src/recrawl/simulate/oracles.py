"""Policies that know what none can know: how often pages will change, or when.

They are for comparison. What `OptimalKnown` reaches could be reached with constant rates known
exactly; what `Clairvoyant` reaches, by being told of every change as it happens.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recrawl.plan.objectives import Age, Detected, Freshness, Harmonic, Missed
from recrawl.policies.due import due_at_price
from recrawl.simulate.world import Timeline
from recrawl.units import days_between, epoch_days

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.policies.pages import Outcomes, Pages
    from recrawl.simulate.world import World


@dataclass(slots=True)
class KnownRates:
    """When each page was last visited, in days after 1970, and its weight / cost."""

    last: Floats
    weight: Floats


@dataclass(frozen=True, slots=True, eq=False)
class OptimalKnown:
    """The optimum for pages whose average rates are known: the most valuable visit goes first.

    A page that never changes is worth no visit.

    Args:
        rate: True rate of each page, in the order in which pages are found.
        objective: What a fresh copy is for.
    """

    rate: Floats
    objective: Objective

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> KnownRates:
        """State of a crawl that begins now with these pages."""
        del now, gap
        return KnownRates(epoch_days(pages.first_seen), pages.weight / pages.cost)

    def found(self, state: KnownRates, pages: Pages) -> KnownRates:
        """State with more pages."""
        state.last = np.concatenate([state.last, epoch_days(pages.first_seen)])
        state.weight = np.concatenate([state.weight, pages.weight / pages.cost])
        return state

    def with_mean_gap(self, state: KnownRates, gap: float) -> KnownRates:
        """The same state: rates are known, whatever the budget."""
        del gap
        return state

    def seen(self, state: KnownRates, rows: Ints, now: Instants, outcomes: Outcomes) -> KnownRates:
        """State after visits, whatever they showed."""
        del outcomes
        state.last[rows] = epoch_days(now)
        return state

    def value(self, state: KnownRates, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now, per unit of cost."""
        return self._value(state, rows, epoch_days(now) - state.last[rows])

    def due(self, state: KnownRates, rows: Ints, price: float) -> Instants:
        """When the value of each page reaches the price."""
        last = state.last[rows]
        return due_at_price(
            lambda now, some: self._value(state, rows[some], now - last[some]), last, price
        )

    def _value(self, state: KnownRates, rows: Ints, elapsed: Floats) -> Floats:
        rate = self.rate[rows]
        changing = rate > 0
        value = self.objective.value(np.where(changing, rate, 1.0), elapsed)
        return np.where(changing, state.weight[rows] * value, 0.0)


@dataclass(slots=True)
class Foreseen:
    """How far the world has come, and what of it the copies have.

    Attributes:
        unfolding: The world as of the last look.
        copied: Where the first change of each page stands that its copy does not have.
        weight: Weight / cost of each page known so far.
        rate: True rate of each page.
    """

    unfolding: Timeline
    copied: Ints
    weight: Floats
    rate: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Clairvoyant:
    """Sees every change as it happens; the visit that is worth most goes first.

    A copy that lacks n changes of a page with rate r is worth a visit, for pages of weight 1:
    1/r for freshness, n/r for harmonic, n(n+1)/(2r) for missed, 1 for detected changes, and
    s/r + s^2/2 for age, where s is the days since the oldest change that it lacks.

    Args:
        world: What happens.
        objective: What a fresh copy is for.
    """

    world: World
    objective: Objective

    every_step: ClassVar[bool] = True  # what it sees is new at every moment

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> Foreseen:
        """State of a crawl that begins now with these pages."""
        del now, gap
        weight = pages.weight / pages.cost
        copied = self.world.offsets[:-1].copy()
        return Foreseen(Timeline(self.world), copied, weight, self.world.rates)

    def found(self, state: Foreseen, pages: Pages) -> Foreseen:
        """State with more pages."""
        state.weight = np.concatenate([state.weight, pages.weight / pages.cost])
        return state

    def with_mean_gap(self, state: Foreseen, gap: float) -> Foreseen:
        """The same state."""
        del gap
        return state

    def seen(self, state: Foreseen, rows: Ints, now: Instants, outcomes: Outcomes) -> Foreseen:
        """State after visits: copies that were renewed lack nothing."""
        for moment in np.unique(now):
            state.unfolding.advance(moment)
            some = rows[(now == moment) & outcomes.changed]
            state.copied[some] = state.unfolding.reached[some]
        return state

    def value(self, state: Foreseen, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now, per unit of cost."""
        state.unfolding.advance(now)
        value = np.zeros(len(rows))
        now_there, in_copy = (
            self.world.versions(rows, each[rows])
            for each in (state.unfolding.reached, state.copied)
        )
        lacking = np.flatnonzero(now_there != in_copy)
        some = rows[lacking]
        if len(some):
            copied = state.copied[some]
            unseen = _Unseen(
                count=(state.unfolding.reached[some] - copied).astype(np.float64),
                days=days_between(self.world.changes[copied], now),
                rate=state.rate[some],
            )
            value[lacking] = state.weight[some] * _WORTH[type(self.objective)](unseen)
        return value

    def due(self, state: Foreseen, rows: Ints, price: float) -> Instants:
        """When the oldest change that each copy lacks happened, or will happen."""
        del price
        copied = state.copied[rows]
        more = copied < self.world.offsets[rows + 1]
        due = np.full(len(rows), "NaT", "datetime64[us]")
        due[more] = self.world.changes[copied[more]]
        return due


@dataclass(frozen=True, slots=True, eq=False)
class _Unseen:
    """What copies lack: how many changes, for how long, and how often their pages change."""

    count: Floats
    days: Floats
    rate: Floats


_WORTH: dict[type[Objective], Callable[[_Unseen], Floats]] = {
    Freshness: lambda unseen: 1 / unseen.rate,
    Harmonic: lambda unseen: unseen.count / unseen.rate,
    Missed: lambda unseen: unseen.count * (unseen.count + 1) / (2 * unseen.rate),
    Detected: lambda unseen: np.ones(len(unseen.rate)),
    Age: lambda unseen: unseen.days / unseen.rate + unseen.days**2 / 2,
}
