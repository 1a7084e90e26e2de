"""The frontier: hands out the pages that are most worth a visit now, and learns from the visits.

It owns no clock and makes no visits: whoever drives it, a crawler or a simulation, says what
time it is. The life of a page is

    add -> waiting -> take -> out -> seen -> waiting ... -> remove -> gone

Pages of a priced policy are scored a *tick* at a time, a 64th of the mean gap between visits,
and handed out best first until the next; what visits show in between is learned all at once when
the tick ends. So a visit costs 64 evaluations of a value however many pages there are. Pages of
a fixed policy are handed out by due time, the most overdue first.

A crawler that must be polite asks for an order (`ranked`) in place of pages, goes down it past
hosts that must wait, and holds the pages that it has leased.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recrawl.policies.pages import TELLS_NOTHING, Outcomes, Pages
from recrawl.policies.policy import EveryStep, Listening, Priced, Rated
from recrawl.units import SECONDS_A_DAY, epoch_days, instants_after_epoch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.plan.budget import Budget
    from recrawl.policies.policy import Policy

# Finer ticks are no fresher by more than chance.
_TICKS_A_GAP = 64
_ASKED_A_GAP = 8  # times that a fixed policy is asked about pages that were not visited
LEAST_TICK = 60 / SECONDS_A_DAY
_GAP_MOVED = 1.2  # what a gap may move by before the policy is told
# Ties are broken at random: this small a factor decides nothing else.
_TIE = 1e-9
_MOST_AT_ONCE = 1 << 14


@dataclass(frozen=True, slots=True)
class PolicyCheckpoint:
    """State of a policy to go on from.

    Args:
        state: State of its policy.
        pages: How many pages it had.
        gap: Mean days between visits to a page.
        coming: How many more pages are known that will come: they share the budget, too.
    """

    state: Any
    pages: int
    gap: float
    coming: int = 0


class ObservedChange(NamedTuple):
    """What one visit showed of a change; many of them are `Outcomes`."""

    changed: bool
    age: float
    false_changes: float = 0.0


UNINFORMATIVE = ObservedChange(changed=True, age=np.nan, false_changes=TELLS_NOTHING)


class _Visit(NamedTuple):
    """One visit that a policy is to learn from, on a day after 1970."""

    row: int
    at: float
    changed: bool
    age: float
    false_changes: float


class Frontier:
    """Pages of one crawl, and which of them to visit next.

    Args:
        policy: What decides when a page is due.
        budget: How many visits may be made; tells the policy how long a page waits on average.
        random: Breaks ties.
    """

    def __init__(self, policy: Policy[Any], budget: Budget, random: np.random.Generator) -> None:
        self._policy = policy
        self._budget = budget
        self._random = random
        self._turns: _ByValue | _ByDueTime = (
            _ByValue(policy) if isinstance(policy, Priced) else _ByDueTime(policy)
        )
        self._gap = 0.0
        self._coming = 0
        self._ties: Floats = np.empty(0)
        self._waiting: Bools = np.empty(0, np.bool_)
        self._here: Bools = np.empty(0, np.bool_)
        self._held: Bools = np.empty(0, np.bool_)
        self._earliest: Floats = np.empty(0)
        self._free = True  # no page is held or waits for an instant

    def __len__(self) -> int:
        """Count the pages that are there, waiting or out."""
        return int(np.count_nonzero(self._here))

    @property
    def gap(self) -> float:
        """Mean days between visits to a page, as the policy was last told."""
        return self._gap

    @classmethod
    def resumed(
        cls,
        policy: Policy[Any],
        budget: Budget,
        random: np.random.Generator,
        learned: PolicyCheckpoint,
    ) -> Frontier:
        """A frontier that goes on from what its policy had learned.

        Args:
            policy: What decides when a page is due.
            budget: How many visits may be made.
            random: Breaks ties.
            learned: State of the policy, its pages, its gap.
        """
        frontier = cls(policy, budget, random)
        pages = learned.pages
        frontier._here = np.ones(pages, np.bool_)
        frontier._waiting = np.ones(pages, np.bool_)
        frontier._held = np.zeros(pages, np.bool_)
        frontier._earliest = np.full(pages, -np.inf)
        frontier._ties = random.random(pages)
        frontier._gap = learned.gap
        frontier._coming = learned.coming
        frontier._turns.resume(learned.state, learned.gap, pages)
        frontier._update_gap()
        return frontier

    @property
    def state(self) -> object:
        """What the policy has learned from all visits told so far."""
        return self._turns.learned()

    @property
    def state_of_tick(self) -> object:
        """What it had learned when the last tick ended: asking teaches it nothing."""
        return self._turns.state

    def set_budget(self, budget: Budget) -> None:
        """Go on with another budget."""
        self._budget = budget
        if self._gap:
            self._update_gap()

    def add(self, pages: Pages, now: np.datetime64) -> Ints:
        """Take in pages that were found; returns their rows."""
        first = len(self._here)
        if not len(pages):
            return np.empty(0, np.int64)
        self._here = np.append(self._here, np.ones(len(pages), np.bool_))
        self._waiting = np.append(self._waiting, np.ones(len(pages), np.bool_))
        self._ties = np.append(self._ties, self._random.random(len(pages)))
        self._held = np.append(self._held, np.zeros(len(pages), np.bool_))
        self._earliest = np.append(self._earliest, np.full(len(pages), -np.inf))
        if first == 0:
            self._gap = self._mean_gap()
            self._turns.start(pages, now, self._gap)
        else:
            self._turns.add(pages)
            self._update_gap()
        return np.arange(first, len(self._here))

    def remove(self, rows: Ints) -> None:
        """Forget pages that are gone: they are never handed out again."""
        self._here[rows] = False
        self._waiting[rows] = False
        if len(rows):
            self._update_gap()

    def take(self, now: np.datetime64, most: int) -> Ints:
        """Hand out the pages that are most worth a visit now, best first."""
        ready = self._ready(float(epoch_days(now)))
        if most <= 0 or not ready.any():
            return np.empty(0, np.int64)
        rows = self._turns.take(now, most, ready, self._ties)
        self._waiting[rows] = False
        return rows

    def ranked(
        self, now: np.datetime64, most: int, *, fits: Callable[[Ints], Bools] | None = None
    ) -> Ints:
        """The pages that are most worth a visit now, best first; they stay where they are.

        Args:
            now: The instant.
            most: How many pages.
            fits: Which of some pages, best first, come into question.
        """
        ready = self._ready(float(epoch_days(now)))
        if not ready.any():
            return np.empty(0, np.int64)
        if fits is None:
            return self._turns.ranked(now, most, ready, self._ties)
        rows = self._turns.ranked(now, len(ready), ready, self._ties)
        return rows[fits(rows)][:most]

    def hold(self, row: int) -> None:
        """Keep a page back: somebody else decides when it is visited."""
        self._held[row], self._free = True, False

    def release(self, row: int, earliest: float = -np.inf) -> None:
        """Let a page be handed out again, from an instant on (in days after 1970)."""
        self._held[row] = False
        self._earliest[row] = earliest
        self._free = self._free and earliest == -np.inf

    def seen(self, rows: Ints, now: Instants, outcomes: Outcomes) -> None:
        """Learn what visits to pages that were handed out showed."""
        self._turns.seen(rows, now, outcomes)
        self._waiting[rows] = self._here[rows]

    def seen_one(self, row: int, now: float, outcome: ObservedChange) -> None:
        """Learn what a visit to one page showed, on a day after 1970."""
        self._turns.seen_one(_Visit(row, now, *outcome))
        self._waiting[row] = self._here[row]

    def announced(
        self, rows: Ints, named: Floats, reliability: tuple[Floats, Floats], now: np.datetime64
    ) -> None:
        """Let a policy that listens know what a host announces; see `Listening.announced`."""
        if len(rows):
            self._turns.announced(rows, named, reliability, now)

    def hinted(self, rows: Ints, right: Floats) -> None:
        """Let a policy that listens know of hints; see `Listening.hinted`."""
        if len(rows):
            self._turns.hinted(rows, right)

    def unannounced_changes(self, rows: Ints) -> Floats:
        """Changes that visits would have met unannounced if hosts announced none."""
        if not isinstance(self._policy, Listening) or not len(rows):
            return np.zeros(len(rows))
        return self._policy.unannounced_changes(self.state, rows)

    def rate(self, row: int, now: float) -> float:
        """Changes a day that are expected of a page since its last visit; nan if unknown.

        By what was learned when the last tick ended: visits since then are not learned for it.
        """
        return self._turns.rate(row, now)

    def worth(self, rows: Ints, now: np.datetime64) -> Floats:
        """What a visit to each page is worth now; nan under a policy that does not tell."""
        return self._turns.worth(rows, now)

    def waiting(self, now: float) -> Ints:
        """Rows of the pages that the policy decides on at an instant, in days after 1970."""
        return np.flatnonzero(self._ready(now))

    def _ready(self, now: float) -> Bools:
        if self._free:
            return self._waiting
        return self._waiting & ~self._held & (self._earliest <= now)

    def expect(self, pages: int) -> None:
        """Say how many more pages are known that will come: they share the budget, too."""
        self._coming = pages
        if self._gap:
            self._update_gap()

    def _mean_gap(self) -> float:
        pages = max(len(self) + self._coming, 1)
        return pages / self._budget.visits_a_day(pages)

    def _update_gap(self) -> None:
        gap = self._mean_gap()
        if not 1 / _GAP_MOVED <= gap / self._gap <= _GAP_MOVED:
            self._gap = gap
            self._turns.set_gap(gap)


def tick_of(gap: float) -> float:
    """Days for which an order of pages holds that are visited once a gap."""
    return max(gap / _TICKS_A_GAP, LEAST_TICK)


class _ByValue:
    """Turns of pages under a priced policy."""

    def __init__(self, policy: Priced[Any]) -> None:
        self._policy = policy
        self._every_step = isinstance(policy, EveryStep) and policy.every_step
        self._rated = policy if isinstance(policy, Rated) else None
        self._state: Any = None
        self._pages = 0  # that the state knows
        self._tick = 0.0
        self._ends = -np.inf  # of the tick, in days after 1970
        self._queue: Ints = np.empty(0, np.int64)
        self._found: list[Pages] = []
        self._visits: list[tuple[Ints, Instants, Outcomes]] = []
        self._latest: list[_Visit] = []  # after those, one by one: arrays are made once a tick

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> None:
        self._state = self._policy.start(pages, now, gap)
        self._pages = len(pages)
        self._tick = tick_of(gap)

    @property
    def state(self) -> object:
        return self._state

    def resume(self, state: object, gap: float, pages: int) -> None:
        self._state = state
        self._pages = pages
        self._tick = tick_of(gap)

    def set_gap(self, gap: float) -> None:
        self._state = self._policy.with_mean_gap(self.learned(), gap)
        self._tick = tick_of(gap)

    def add(self, pages: Pages) -> None:
        self._found.append(pages)

    def announced(
        self, rows: Ints, named: Floats, reliability: tuple[Floats, Floats], now: np.datetime64
    ) -> None:
        if isinstance(self._policy, Listening):
            self._state = self._policy.announced(self.learned(), rows, named, reliability, now)

    def hinted(self, rows: Ints, right: Floats) -> None:
        if isinstance(self._policy, Listening):
            self._state = self._policy.hinted(self.learned(), rows, right)
            self._ends = -np.inf  # they change what is best now

    def seen(self, rows: Ints, now: Instants, outcomes: Outcomes) -> None:
        self._gather()
        self._visits.append((rows, now, outcomes))

    def seen_one(self, visit: _Visit) -> None:
        self._latest.append(visit)

    def _gather(self) -> None:
        """Put visits that came one by one behind those that came together."""
        if self._latest:
            self._visits.append(_together(self._latest))
            self._latest.clear()

    def take(self, now: np.datetime64, most: int, waiting: Bools, ties: Floats) -> Ints:
        queue = self._queue[waiting[self._queue]]
        today = float(epoch_days(now))
        if self._every_step or today >= self._ends or len(queue) < most:
            queue = self._scored(now, most, waiting, ties)
        self._queue = queue[most:]
        return queue[:most]

    def _scored(self, now: np.datetime64, most: int, waiting: Bools, ties: Floats) -> Ints:
        """The best pages of this tick, best first."""
        self._ends = float(epoch_days(now)) + self._tick
        spare = int(np.count_nonzero(waiting)) // _TICKS_A_GAP + 1
        return self.ranked(now, most + spare, waiting, ties)

    def ranked(self, now: np.datetime64, most: int, waiting: Bools, ties: Floats) -> Ints:
        """The best pages now, best first."""
        state = self.learned()
        rows = np.flatnonzero(waiting)
        value = self._policy.value(state, rows, now) * (1 + _TIE * ties[rows])
        best = _largest(value, most)
        return rows[best[value[best] > 0]]  # a visit that is worth nothing is not made

    def learned(self) -> Any:  # noqa: ANN401 # a policy's state is its own affair
        """The policy's state after all that was found and seen."""
        if self._found:
            found = Pages.joined(self._found)
            self._state = self._policy.found(self._state, found)
            self._pages += len(found)
            self._found = []
        self._gather()
        if self._visits:
            rows, now, outcomes = zip(*self._visits, strict=True)
            together = Outcomes.joined(outcomes)
            self._visits = []
            self._learn(np.concatenate(rows), np.concatenate(now), together)
        return self._state

    def rate(self, row: int, now: float) -> float:
        """Rate of a page by the state as it is; nan where it does not know the page."""
        if self._rated is None or row >= self._pages:
            return np.nan
        return self._rated.rate_since_visit(self._state, row, now)

    def worth(self, rows: Ints, now: np.datetime64) -> Floats:
        return self._policy.value(self.learned(), rows, now)

    def _learn(self, rows: Ints, now: Instants, outcomes: Outcomes) -> None:
        """Learn from visits, not too many at once: a policy may need kilobytes for each."""
        for first in range(0, len(rows), _MOST_AT_ONCE):
            some = np.arange(first, min(first + _MOST_AT_ONCE, len(rows)))
            self._state = self._policy.seen(self._state, rows[some], now[some], outcomes.take(some))


class _ByDueTime:
    """Turns of pages under a fixed policy."""

    def __init__(self, policy: Policy[Any]) -> None:
        self._policy = policy
        self._state: Any = None
        self._gap = 0.0
        self._ask_again = -np.inf  # in days after 1970
        self._due: Floats = np.empty(0)

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> None:
        self._state = self._policy.start(pages, now, gap)
        self._gap = gap
        self._due = self._due_days(np.arange(len(pages)))

    @property
    def state(self) -> object:
        return self._state

    def resume(self, state: object, gap: float, pages: int) -> None:
        self._state = state
        self._gap = gap
        self._due = self._due_days(np.arange(pages))

    def set_gap(self, gap: float) -> None:
        self._state = self._policy.with_mean_gap(self._state, gap)
        self._gap = gap
        self._due = self._due_days(np.arange(len(self._due)))

    def add(self, pages: Pages) -> None:
        self._state = self._policy.found(self._state, pages)
        rows = np.arange(len(self._due), len(self._due) + len(pages))
        self._due = np.append(self._due, self._due_days(rows))

    def announced(
        self, rows: Ints, named: Floats, reliability: tuple[Floats, Floats], now: np.datetime64
    ) -> None:
        """Do nothing: fixed rules do not listen."""

    def hinted(self, rows: Ints, right: Floats) -> None:
        """Do nothing: fixed rules do not listen."""

    def seen(self, rows: Ints, now: Instants, outcomes: Outcomes) -> None:
        self._state = self._policy.seen(self._state, rows, now, outcomes)
        self._due[rows] = self._due_days(rows)

    def seen_one(self, visit: _Visit) -> None:
        self.seen(*_together([visit]))

    def take(self, now: np.datetime64, most: int, waiting: Bools, ties: Floats) -> Ints:
        return self.ranked(now, most, waiting, ties)

    def ranked(self, now: np.datetime64, most: int, waiting: Bools, ties: Floats) -> Ints:
        """The most overdue pages, most overdue first."""
        today = float(epoch_days(now))
        if today >= self._ask_again:  # some rules divide the budget anew as they learn
            self._due = self._due_days(np.arange(len(self._due)))
            self._ask_again = today + self._gap / _ASKED_A_GAP
        # Spare visits go to the pages that are due next.
        rows = np.flatnonzero(waiting & np.isfinite(self._due))
        # A tie is worth at most a second or so: days after 1970 are about 20,000.
        return rows[_largest(-self._due[rows] * (1 - _TIE * ties[rows]), most)]

    def learned(self) -> Any:  # noqa: ANN401 # a policy's state is its own affair
        return self._state

    def rate(self, row: int, now: float) -> float:
        """Nothing: fixed rules know no rates."""
        del row, now
        return np.nan

    def worth(self, rows: Ints, now: np.datetime64) -> Floats:
        """Nothing that is known: fixed rules know no values."""
        del now
        return np.full(len(rows), np.nan)

    def _due_days(self, rows: Ints) -> Floats:
        due = epoch_days(self._policy.due(self._state, rows, np.inf))
        return np.where(np.isnan(due), np.inf, due)


def _together(visits: Sequence[_Visit]) -> tuple[Ints, Instants, Outcomes]:
    """Rows, instants and outcomes of visits."""
    rows, at, changed, ages, false = zip(*visits, strict=True)
    outcomes = Outcomes(np.array(changed), np.array(ages), np.array(false) if any(false) else None)
    return np.array(rows), instants_after_epoch(np.array(at)), outcomes


def _largest(values: Floats, count: int) -> Ints:
    """Where the `count` largest values are, largest first."""
    if count >= len(values):
        return np.argsort(-values)
    best = np.argpartition(values, len(values) - count)[len(values) - count :]
    return best[np.argsort(-values[best])]
