"""Our policy in a virtual crawl: it decides as always, and what visits find is left out or drawn.

Nobody knows what visits will find. A *frozen* policy learns nothing: pages change as often as they
are believed to, only the instants of their last visits move on, and bursts of sections fade. A
*sampled* one draws at random whether a visit finds a change, with the chance that the policy gives
to it, and learns from that: many such crawls tell how far the next visit of a page may move. Pages
that get their first copy on the way are what a page is assumed to be of which nothing is known.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.pages import Outcomes
from recrawl.policies.recrawl.beliefs import let_clocks_run
from recrawl.policies.recrawl.relatives import Relatives
from recrawl.units import epoch_days, instants_after_epoch

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.policies.pages import Pages
    from recrawl.policies.recrawl.policy import Recrawl
    from recrawl.policies.recrawl.state import RecrawlState


@dataclass(slots=True, eq=False)
class FrozenState:
    """Facts about the pages of a virtual crawl, those with a copy first.

    Attributes:
        gap: Mean days between visits to a page.
        learned: What the policy has learned, as a copy; None where it is nothing.
        row: Row of each page that it has learned of; pages beyond are young.
        last: When each young page was last visited, in days after 1970.
        worth: Weight of each young page over the cost of a visit.
    """

    gap: float
    learned: RecrawlState | None
    row: Ints
    last: Floats
    worth: Floats

    @classmethod
    def of(cls, learned: RecrawlState, row: Ints) -> FrozenState:
        """Facts about some pages."""
        return cls(learned.gap, learned, row, np.empty(0), np.empty(0))


@dataclass(frozen=True, slots=True)
class FrozenPolicy:
    """A policy that learns nothing.

    Args:
        policy: What decides.

    Examples:
        A page of weight 2, copied ten days ago, of which nothing is known:

        >>> from recrawl.policies.pages import Pages
        >>> from recrawl.policies.recrawl.policy import Recrawl
        >>> policy, first = FrozenPolicy(Recrawl()), np.array(["2026-01-01"], "datetime64[us]")
        >>> state = policy.start(Pages.of(["a"], first, weight=np.array([2.0])), first[0], gap=5.0)
        >>> policy.value(state, np.array([0]), first[0] + np.timedelta64(10, "D")).round(3)
        array([5.359])
    """

    policy: Recrawl

    def freeze(self, learned: RecrawlState, row: Ints) -> FrozenState:
        """State of some pages, from a copy of what the policy has learned."""
        return FrozenState.of(learned, row)

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> FrozenState:
        """State of a crawl of which nothing is known."""
        del now
        none = np.empty(0, np.int64)
        state = FrozenState(gap, None, none, np.empty(0), np.empty(0))
        return self.found(state, pages)

    def found(self, state: FrozenState, pages: Pages) -> FrozenState:
        """State with more pages, which are young."""
        state.last = np.append(state.last, epoch_days(pages.first_seen))
        state.worth = np.append(state.worth, pages.weight / pages.cost)
        return state

    def with_mean_gap(self, state: FrozenState, gap: float) -> FrozenState:
        """State of a crawl whose mean gap has moved."""
        state.gap = gap
        if state.learned is not None:
            state.learned = self.policy.with_mean_gap(state.learned, gap)
        return state

    def seen(
        self, state: FrozenState, rows: Ints, now: Instants, outcomes: Outcomes
    ) -> FrozenState:
        """State after visits, whatever they found."""
        del outcomes
        at, young = epoch_days(now), rows >= len(state.row)
        state.last[rows[young] - len(state.row)] = at[young]
        if state.learned is not None:
            ours = state.row[rows[~young]]
            state.learned.last[ours] = at[~young]
            state.learned.announced.forget(ours)
        return state

    def value(self, state: FrozenState, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now."""
        values, young = np.empty(len(rows)), rows >= len(state.row)
        learned = state.learned
        if learned is not None:
            # Before the policy would: it fits its priors anew where it begins a bin itself.
            let_clocks_run(learned, float(epoch_days(now)))
            _go_on_asking(learned, float(epoch_days(now)))
            values[~young] = self.policy.value(learned, state.row[rows[~young]], now)
        if young.any():
            ours = rows[young] - len(state.row)
            relatives = learned.relatives if learned else self._nothing_known(state.gap)
            one = np.ones(len(ours))
            waited = np.maximum(float(epoch_days(now)) - state.last[ours], 0.0)
            factor = learned.corrections.factor_of_new if learned else 1.0
            expected = self.policy.objective.expected_value(
                relatives.shape * one, relatives.exposure * one, factor * waited
            )
            values[young] = state.worth[ours] * expected / np.sqrt(factor)
        return values

    def due(self, state: FrozenState, rows: Ints, price: float) -> Instants:
        """When the value of each page that is not young reaches the price."""
        due = np.full(len(rows), np.inf)
        if state.learned is not None:
            known = rows < len(state.row)
            found = self.policy.due(state.learned, state.row[rows[known]], price)
            due[known] = np.where(np.isnat(found), np.inf, epoch_days(found))
        return instants_after_epoch(due)

    def _nothing_known(self, gap: float) -> Relatives:
        return Relatives.start(self.policy.relatives, gap, self.policy.assumed)


def _go_on_asking(learned: RecrawlState, now: float) -> None:
    """Let hosts be asked once a day what has changed, and say that nothing has."""
    announced = learned.announced
    telling = np.flatnonzero(announced.recall > 0)
    days = np.maximum(np.floor(now - announced.asked[telling]), 0.0)
    announced.asked[telling] += days


@dataclass(frozen=True, slots=True)
class SampledPolicy(FrozenPolicy):
    """A policy that learns from what is drawn at random.

    Args:
        policy: What decides.
        stream: Number of the random stream.
    """

    stream: int = 0
    _random: np.random.Generator = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Prepare to draw."""
        object.__setattr__(self, "_random", np.random.default_rng(self.stream))

    def seen(
        self, state: FrozenState, rows: Ints, now: Instants, outcomes: Outcomes
    ) -> FrozenState:
        """State after visits, some of which found a change; young pages teach nothing."""
        learned, known = state.learned, rows < len(state.row)
        if learned is not None and known.any():
            ours, at = state.row[rows[known]], now[known]
            let_clocks_run(learned, float(epoch_days(at).max()))
            fresh = self.policy.fresh(learned, ours, at.max())
            changed = self._random.random(len(ours)) > fresh
            state.learned = self.policy.seen(learned, ours, at, Outcomes.existence(changed))
        return FrozenPolicy.seen(self, state, rows, now, outcomes)
