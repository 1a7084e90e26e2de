"""Policies that wait some days after each visit: the shape of most rules that crawlers use.

A *rule* says how long to wait after a visit, from what the visit showed and what it remembers of
the page. `IntervalPolicy` makes a policy of it, due so many days after the last visit. Where a rule
has no opinion (nan), the page waits as long as pages do on average: the mean gap.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from recrawl.arrays.growing import with_rows
from recrawl.units import epoch_days, instants_after_epoch

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.policies.pages import Outcomes, Pages

Memory = TypeVar("Memory")


@dataclass(frozen=True, slots=True)
class VisitRows:
    """Visits as a rule sees them: one row per visit.

    Args:
        now: When, in days after 1970.
        gaps: Days since the visit before.
        interval: Days that the rule had wanted to wait.
        changed: Whether the page had changed.
        age: Days from its last change to the visit; nan where unknown.
        gap: Mean days between visits to a page.
    """

    now: Floats
    gaps: Floats
    interval: Floats
    changed: Bools
    age: Floats
    gap: float

    def take(self, rows: Ints) -> VisitRows:
        """Some of the visits."""
        when = self.now[rows], self.gaps[rows], self.interval[rows]
        return VisitRows(*when, self.changed[rows], self.age[rows], self.gap)


class IntervalRule(Protocol[Memory]):
    """Says how many days to wait after a visit."""

    def begin(self, found: Floats) -> tuple[Floats, Memory]:
        """Days to wait after pages were first copied, and what to remember of them.

        `found` is when that was, in days after 1970; nan is the mean gap.
        """
        ...

    def after(self, memory: Memory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits to some pages; may change their rows of the memory."""
        ...


@runtime_checkable
class DatedRule(IntervalRule[Memory], Protocol[Memory]):
    """Goes by dates, from the first copy on."""

    def begin_dated(self, found: Floats, age: Floats) -> tuple[Floats, Memory]:
        """As `begin`; `age` is the days from each page's last change, nan where unknown."""
        ...


@dataclass(slots=True)
class IntervalState(Generic[Memory]):
    """When each page was last visited, in days after 1970, and how long to wait."""

    last: Floats
    interval: Floats
    memory: Memory
    gap: float


@dataclass(frozen=True, slots=True)
class IntervalPolicy(Generic[Memory]):
    """Visit a page again when the days of a rule have passed.

    Args:
        rule: Says how many days.

    Examples:
        Nutch waits 40 % longer after a visit that found nothing:

        >>> from recrawl.policies.rivals.nutch import Nutch
        >>> from recrawl.policies.pages import Outcomes, Pages
        >>> days = np.array(["2026-01-01", "2026-01-11"], "datetime64[us]")
        >>> policy = IntervalPolicy(Nutch(sync=False))
        >>> state = policy.start(Pages.of(["a"], days[:1]), days[0], gap=10.0)
        >>> row, unchanged = np.array([0]), Outcomes.existence(np.array([False]))
        >>> policy.due(policy.seen(state, row, days[1:], unchanged), row, np.inf)
        array(['2026-01-25T00:00:00.000000'], dtype='datetime64[us]')
    """

    rule: IntervalRule[Memory]

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> IntervalState[Memory]:
        """State of a crawl that begins now with these pages."""
        del now
        return self._begin(pages, gap)

    def found(self, state: IntervalState[Memory], pages: Pages) -> IntervalState[Memory]:
        """State with more pages."""
        return with_rows(state, self._begin(pages, state.gap))

    def with_mean_gap(self, state: IntervalState[Memory], gap: float) -> IntervalState[Memory]:
        """State of a crawl whose mean gap has moved."""
        state.gap = gap
        return state

    def seen(
        self, state: IntervalState[Memory], rows: Ints, now: Instants, outcomes: Outcomes
    ) -> IntervalState[Memory]:
        """State after visits."""
        at = epoch_days(now)
        visits = VisitRows(
            at, at - state.last[rows], _wait(state, rows), outcomes.changed, outcomes.age, state.gap
        )
        state.interval[rows] = self.rule.after(state.memory, rows, visits)
        state.last[rows] = at
        return state

    def due(self, state: IntervalState[Memory], rows: Ints, price: float) -> Instants:
        """The rule's days after the last visit; NaT where it would never visit again."""
        del price
        return instants_after_epoch(state.last[rows] + _wait(state, rows))

    def _begin(self, pages: Pages, gap: float) -> IntervalState[Memory]:
        """State of pages that were just found."""
        found, rule = epoch_days(pages.first_seen), self.rule
        if isinstance(rule, DatedRule):
            return IntervalState(found, *rule.begin_dated(found, pages.first_age), gap)
        return IntervalState(found, *rule.begin(found), gap)


def _wait(state: IntervalState[Memory], rows: Ints) -> Floats:
    """Days to wait, with the mean gap where the rule has no opinion."""
    interval = state.interval[rows]
    return np.where(np.isnan(interval), state.gap, interval)
