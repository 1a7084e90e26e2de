"""Policies that estimate rates and from time to time divide the budget by them.

A *learner* counts what visits showed and gives one rate per page; a *division* turns the rates into
visits per day that add up to the budget. Both are repeated after an eighth of the mean gap; in
between the last division holds. A page whose rate is not known yet (nan) waits for the
mean gap.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

import numpy as np

from recrawl.arrays.growing import with_rows
from recrawl.arrays.uniforms import hash_uniform
from recrawl.errors import InvalidParameter
from recrawl.policies.rivals.interval import VisitRows
from recrawl.units import epoch_days, instants_after_epoch

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.policies.pages import Outcomes, Pages

Memory = TypeVar("Memory")

_DIVISIONS_A_GAP = 8


class Learner(Protocol[Memory]):
    """Learns rates from visits."""

    def begin(self, pages: int) -> Memory:
        """Memory of pages before their second visit."""
        ...

    def learn(self, memory: Memory, rows: Ints, visits: VisitRows) -> None:
        """Remember what visits to some pages showed."""
        ...

    def rates(self, memory: Memory) -> Floats:
        """Changes a day of every page; nan where it was visited too rarely."""
        ...


class Division(Protocol):
    """Divides a budget."""

    def frequencies(self, rates: Floats, weight: Floats, budget: float) -> Floats:
        """Visits a day of each page of a rate above 0, `budget` together."""
        ...


@dataclass(slots=True)
class AllocatingState(Generic[Memory]):
    """State of each page, and the last division.

    Args:
        last: When each page was last visited, in days after 1970.
        frequency: Visits a day by the last division; nan for one per gap.
        patience: Mean intervals to wait: 1, or drawn at random.
        visits: Visits so far.
        weight: How much each page matters.
        memory: What the learner remembers.
        gap: Mean days between visits to a page.
        divided: When the budget was last divided, in days after 1970.
    """

    last: Floats
    frequency: Floats
    patience: Floats
    visits: Ints
    weight: Floats
    memory: Memory
    gap: float
    divided: float


@dataclass(frozen=True, slots=True)
class AllocatingPolicy(Generic[Memory]):
    """Visit each page at a frequency that follows from its estimated rate.

    Args:
        learner: Where rates come from.
        division: What turns them into visits a day.
        randomised: Whether intervals are drawn from exponential distributions (Poisson visits)
            instead of being equal.
        seed: Seed of the random intervals.
        least_days: Fewest days between divisions.

    Examples:
        After one change of the first page in five visits and three of the second, all ten days
        apart, visits go by the square roots of their rates:

        >>> from recrawl.policies.rivals.cho import cho
        >>> from recrawl.policies.pages import Outcomes, Pages
        >>> policy, rows = cho(), np.arange(2)
        >>> days = np.arange("2026-01-01", "2026-03-01", 10, "datetime64[D]").astype("M8[us]")
        >>> state = policy.start(Pages.of(["a", "b"], days[[0, 0]]), days[0], gap=10.0)
        >>> for number, day in enumerate(days[1:6]):
        ...     seen = Outcomes.existence(np.array([number < 1, number < 3]))
        ...     state = policy.seen(state, rows, np.array([day, day]), seen)
        >>> state.frequency.round(4)
        array([0.0671, 0.1329])
    """

    learner: Learner[Memory]
    division: Division
    randomised: bool = False
    seed: int = 0
    least_days: float = 0.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if not 0 <= self.least_days < np.inf:
            raise InvalidParameter(f"least_days must be at least 0, finite (got {self.least_days})")

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> AllocatingState[Memory]:
        """State of a crawl that begins now with these pages."""
        return self._unseen(pages, 0, gap, float(epoch_days(now)))

    def found(self, state: AllocatingState[Memory], pages: Pages) -> AllocatingState[Memory]:
        """State with more pages."""
        more = self._unseen(pages, len(state.last), state.gap, state.divided)
        return with_rows(state, more)

    def with_mean_gap(self, state: AllocatingState[Memory], gap: float) -> AllocatingState[Memory]:
        """State of a crawl whose mean gap has moved, with frequencies to match."""
        state.frequency *= state.gap / gap
        state.gap = gap
        return state

    def seen(
        self, state: AllocatingState[Memory], rows: Ints, now: Instants, outcomes: Outcomes
    ) -> AllocatingState[Memory]:
        """State after visits."""
        at = epoch_days(now)
        gaps = at - state.last[rows]
        wait = _wait(state, rows)
        visits = VisitRows(at, gaps, wait, outcomes.changed, outcomes.age, state.gap)
        self.learner.learn(state.memory, rows, visits)
        state.last[rows] = at
        state.visits[rows] += 1
        if self.randomised:
            state.patience[rows] = -np.log(hash_uniform(self.seed, rows, state.visits[rows]))
        latest = float(at.max(initial=-np.inf))
        if latest >= state.divided + max(state.gap / _DIVISIONS_A_GAP, self.least_days):
            self._divide(state)
            state.divided = latest
        return state

    def due(self, state: AllocatingState[Memory], rows: Ints, price: float) -> Instants:
        """An interval after the last visit; NaT where the division gives a page no visits."""
        del price
        return instants_after_epoch(state.last[rows] + _wait(state, rows))

    def _unseen(self, pages: Pages, first: int, gap: float, now: float) -> AllocatingState[Memory]:
        """State of pages that were just found, numbered from `first`."""
        visits = np.zeros(len(pages), np.int64)
        patience = np.ones(len(pages))
        if self.randomised:
            patience = -np.log(hash_uniform(self.seed, first + np.arange(len(pages)), visits))
        return AllocatingState(
            last=epoch_days(pages.first_seen),
            frequency=np.full(len(pages), np.nan),
            patience=patience,
            visits=visits,
            weight=pages.weight.copy(),
            memory=self.learner.begin(len(pages)),
            gap=gap,
            divided=now,
        )

    def _divide(self, state: AllocatingState[Memory]) -> None:
        """Estimate again, and divide what pages with a known rate have together."""
        rates = self.learner.rates(state.memory)
        known = np.flatnonzero(~np.isnan(rates))
        if len(known):
            state.frequency[known] = self.division.frequencies(
                rates[known], state.weight[known], len(known) / state.gap
            )


def _wait(state: AllocatingState[Memory], rows: Ints) -> Floats:
    """Days from the last visit to the next."""
    frequency = state.frequency[rows]
    with np.errstate(divide="ignore"):  # a page without visits waits without end
        interval = np.where(np.isnan(frequency), state.gap, 1 / frequency)
    return state.patience[rows] * interval
