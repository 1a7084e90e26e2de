"""A run: a policy visits a world within a budget, step by step, through the frontier.

Time goes in steps. At the start of each, pages that have been found are added to the frontier,
those that are gone are removed from it, and it hands out as many pages as the budget allows; what
is less than a visit is carried over to the next step. Steps in which none of this happens are
jumped over. What visits show is told to the frontier at once.

Nothing is scored on the way: a run only keeps which visit brought which changes, and the scores
follow from that exactly, whatever the step.

Pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import InvalidHistory, InvalidParameter
from recrawl.frontier.frontier import Frontier
from recrawl.simulate.observation import Observation, Observer
from recrawl.simulate.scores import FoundChanges, scored
from recrawl.simulate.world import Timeline
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.arrays.types import Ints
    from recrawl.plan.budget import Budget
    from recrawl.policies.pages import Outcomes, Pages
    from recrawl.policies.policy import Policy
    from recrawl.simulate.scores import SimulationRun
    from recrawl.simulate.world import World

# Ten tenths of a visit are a visit, whatever floats make of them.
_NEARLY = 1e-9
_NEVER = 1 << 62  # a step that does not come

LONGEST_STEP = 0.25  # days
# A history has so many steps at least and at most, and a page some in the mean gap between visits.
_FEWEST_STEPS, _MOST_STEPS, _STEPS_PER_GAP = 100, 10_000, 8


def simulate(
    world: World,
    policy: Policy[Any],
    budget: Budget,
    *,
    random: np.random.Generator,
    step: float = LONGEST_STEP,
    observation: Observation | None = None,
) -> SimulationRun:
    """Let a policy visit a world within a budget.

    Args:
        world: What happens.
        policy: What decides which pages to visit.
        budget: How many visits may be made.
        random: Breaks ties, and makes what noise the observation has.
        step: Days between decisions.
        observation: What visits show; whether pages have changed, if not given.

    Examples:
        A page changes after a day and a half and is visited every day: the copy is stale for
        half a day out of three.

        >>> from recrawl.plan.budget import Budget
        >>> from recrawl.policies.rivals.uniform import uniform
        >>> from recrawl.simulate.world import World
        >>> noon = np.datetime64("2026-01-01T12:00", "us") + np.arange(9) * np.timedelta64(12, "h")
        >>> world = World.of(["/"], noon[:1], (np.array([0]), noon[[3]]), end=noon[6])
        >>> random = np.random.default_rng(0)
        >>> run = simulate(world, uniform(), Budget.read("1/1d"), step=1.0, random=random)
        >>> round(run.staleness, 4), run.found, run.visits
        (0.1667, 1, 3)
    """
    simulation = Simulation(
        world, policy, budget, random=random, step=step, observation=observation
    )
    for _ in simulation.steps():
        pass
    return simulation.result()


def fitting_step(world: World, budget: Budget) -> float:
    """Days between decisions: six hours, or less where time is short or visits are many."""
    if world.days <= 0:
        return LONGEST_STEP
    visits_a_day = world.budget(budget).visits_a_day(len(world))
    fitting = world.days / _FEWEST_STEPS
    if visits_a_day > 0:
        fitting = min(fitting, len(world) / visits_a_day / _STEPS_PER_GAP)
    return min(max(fitting, world.days / _MOST_STEPS), LONGEST_STEP)


class WorldObserver:
    """A world that is visited: what visits find, and which changes they brought.

    Args:
        world: What happens.
        observation: What visits show.
        random: Makes what noise the observation has.

    Attributes:
        timeline: How far the changes of each page have come.
        copied: Where the first change of each page stands that its copy does not have.
    """

    def __init__(
        self, world: World, observation: Observation | None, random: np.random.Generator
    ) -> None:
        self._world = world
        self._observer = Observer(world, observation or Observation(), random)
        self.timeline = Timeline(world)
        self.copied: Ints = world.offsets[:-1].copy()
        self._visits = np.zeros(len(world), np.int64)
        self._visited = np.zeros(len(world), np.bool_)
        self._found: list[tuple[np.datetime64, Ints, Ints]] = []

    def visit(self, rows: Ints, now: np.datetime64) -> Outcomes:
        """Visit some pages at an instant no earlier than the last; returns what that shows."""
        self.timeline.advance(now)
        copied, reached = self.copied[rows], self.timeline.reached[rows]
        world = self._world
        differs = world.versions(rows, reached) != world.versions(rows, copied)
        noticed = self._observer.notice(differs)
        known = np.where(noticed, reached, copied)
        outcomes = self._observer.outcomes(rows, now, noticed, known)
        self.copied[rows] = known
        self._visited[rows] = True
        if now >= self._world.scored_from:
            self._visits[rows] += 1
        finds = np.flatnonzero(noticed)
        if len(finds):
            self._found.append((now, copied[finds], known[finds]))
        return outcomes

    @property
    def pages(self) -> Pages:
        """The pages as a policy is told of them."""
        return self._observer.pages

    def result(self) -> SimulationRun:
        """Scores of all visits."""
        found = FoundChanges.joined(self._found)
        return scored(self._world, found, self._visits, self._visited)


class Simulation:
    """A run that is under way; the parameters are those of `simulate`.

    Attributes:
        observer: The world as it is visited.
    """

    def __init__(
        self,
        world: World,
        policy: Policy[Any],
        budget: Budget,
        *,
        random: np.random.Generator,
        step: float = 0.25,
        observation: Observation | None = None,
    ) -> None:
        if not 0 < step < math.inf or round(step * MICROSECONDS_A_DAY) < 1:
            message = f"step must be a positive, finite number of days (got {step})"
            raise InvalidParameter(message)
        check_run(world, budget)
        ties, noise = random.spawn(2)
        self._world = world
        self._step = round(step * MICROSECONDS_A_DAY)
        self._budget = world.budget(budget)
        self._frontier = Frontier(policy, self._budget, ties)
        self.observer = WorldObserver(world, observation, noise)
        self._pages = self.observer.pages
        self._turnover = _Turnover(world, self._step)

    def steps(self) -> Iterator[float]:
        """Go from step to step; yields the share of time that is over."""
        start, end = (int(time.astype(np.int64)) for time in (self._world.start, self._world.end))
        number, credit, a_step = 0, 0.0, 0.0
        before = -1
        while (now := start + number * self._step) < end and self._budget.visits > 0:
            credit += (number - before - 1) * a_step
            moment = np.datetime64(now, "us")
            self._turn_over(number, moment)
            a_step = (
                self._budget.visits_a_day(self._turnover.live) * self._step / MICROSECONDS_A_DAY
            )
            credit += a_step if self._turnover.live else 0.0
            most = math.floor(credit + _NEARLY)
            credit = max(credit - most, 0.0)
            if most > 0:
                self._visit(moment, most)
            before = number
            number = min(number + _steps_until_a_visit(credit, a_step), self._turnover.next_step)
            yield (now - start) / (end - start)

    def result(self) -> SimulationRun:
        """Scores of the whole run."""
        return self.observer.result()

    def _turn_over(self, number: int, now: np.datetime64) -> None:
        """Add the pages that have been found, remove those that are gone."""
        found, gone = self._turnover.until(number)
        if found:
            self._frontier.add(self._pages.take(np.arange(found.start, found.stop)), now)
        if len(gone):
            self._frontier.remove(gone)

    def _visit(self, now: np.datetime64, most: int) -> None:
        rows = self._frontier.take(now, most)
        if not len(rows):
            return
        outcomes = self.observer.visit(rows, now)
        self._frontier.seen(rows, np.full(len(rows), now), outcomes)


def check_run(world: World, budget: Budget) -> None:
    """Check that there is something to simulate."""
    if not world.end > world.start:
        message = (
            f"a world must last: a page must change or go after {world.start}, when the first "
            f"is found (got {world.end} as its end)"
        )
        raise InvalidHistory(message)
    if not budget.visits < math.inf:
        raise InvalidParameter(f"budget must be finite (got {budget.visits})")


class _Turnover:
    """Which pages come and go at which step.

    Attributes:
        live: Pages that are there now.
    """

    def __init__(self, world: World, step: int) -> None:
        self.live = 0
        self._found = _step_at_or_after(world, world.first_seen, step)
        gone = np.flatnonzero(~np.isnat(world.removed_at))
        step_of = _step_at_or_after(world, world.removed_at[gone], step)
        order = np.argsort(step_of, kind="stable")
        self._gone, self._gone_rows = step_of[order], gone[order]
        self._known = self._left = 0

    @property
    def next_step(self) -> int:
        """The next step at which a page comes or goes."""
        found = self._found[self._known] if self._known < len(self._found) else _NEVER
        gone = self._gone[self._left] if self._left < len(self._gone) else _NEVER
        return int(min(found, gone))

    def until(self, number: int) -> tuple[range, Ints]:
        """Rows of pages that have come since the last call, and of those that have gone."""
        if number < self.next_step:
            return range(0), self._gone_rows[:0]
        known = int(self._found.searchsorted(number, side="right"))
        left = int(self._gone.searchsorted(number, side="right"))
        found, gone = range(self._known, known), self._gone_rows[self._left : left]
        self._known, self._left = known, left
        self.live += len(found) - len(gone)
        return found, gone


def _step_at_or_after(world: World, times: Any, step: int) -> Ints:  # noqa: ANN401 - instants
    """Number of the first step that begins at or after each time."""
    after: Ints = (times - world.start).astype(np.int64)
    return -(-after // step)


def _steps_until_a_visit(credit: float, a_step: float) -> int:
    """Steps until there is credit for a whole visit."""
    if a_step <= 0:
        return _NEVER
    return max(1, math.ceil((1 - _NEARLY - credit) / a_step))
