"""`simulate`: a world in, how fresh each policy would have kept a copy out.

Touches: files, processes, the clock.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.pictures import DrawnChart
from recrawl.adapters.stores.world import world_of_store
from recrawl.adapters.tables.logs import Log
from recrawl.adapters.tables.table_options import TableOptions
from recrawl.adapters.tables.visits import VisitReading
from recrawl.adapters.tables.worlds import read_world_and_count
from recrawl.analysis.jobs import run_all
from recrawl.analysis.results import ResultTable
from recrawl.analysis.simulation_terms import terms_of, world_stream
from recrawl.analysis.sources import is_path, visits_input, whole_input
from recrawl.arrays.texts import Texts
from recrawl.checks import check_choice
from recrawl.errors import InvalidParameter
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.report.charts.simulation import BudgetLine, budget_chart
from recrawl.report.simulation import (
    HEADER,
    SimulationEntry,
    simulation_columns,
    simulation_words,
)
from recrawl.report.words import counted, every
from recrawl.simulate.bands import staleness_band
from recrawl.simulate.competitors import DEFAULT_POLICIES, parse_policies, policy_named
from recrawl.simulate.live import LiveSimulation
from recrawl.simulate.made import WORLDS, log_normal_rates, make_world
from recrawl.simulate.observation import Observation
from recrawl.simulate.observed import world_of_histories
from recrawl.simulate.run import Simulation
from recrawl.simulate.world import World
from recrawl.store import is_store
from recrawl.store.places import place_of
from recrawl.units import days

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from recrawl.analysis.simulation_terms import SimulationTerms
    from recrawl.arrays.types import Ints
    from recrawl.simulate.scores import SimulationRun

ONE_BUDGET = (1.0,)
SEVERAL_BUDGETS = (0.25, 0.5, 1.0, 2.0, 4.0)  # for a chart
_UNITS = {
    "change": "visits per change",
    "page": "visits per page and day",
    "crawl": "visits per day",
}
# How long a policy takes compared with the others, and by which power of the budget: seconds of CPU
# on made worlds of 100 and 500 pages with a quarter to four times the budget.
_TAKES = {"recrawl": 20.0}
_LONGER_WITH_BUDGET = 0.4
_REDRAW_SECONDS = 0.2
_WORLD_COLUMNS = ("page", "first_seen", "url", "removed_at", "weight")
_CHANGE_COLUMNS = ("page", "changed_at", "bulk", "revert")


@dataclass(frozen=True, slots=True)
class MadeWorld:
    """A synthetic world to be made.

    Args:
        kind: One of `WORLDS`.
        pages: How many pages.
        days: How long.
        every: Median days between changes of a page.
        spread: Standard deviation of the logarithm of rates.
    """

    kind: str
    pages: int = 1000
    days: float = 365.0
    every: float = 30.0
    spread: float = 1.5

    def make(self, seed: int) -> World:
        """The world of a seed."""
        random = world_stream(seed)
        rates = log_normal_rates(self.pages, every=self.every, spread=self.spread, random=random)
        return make_world(self.kind, rates, days=self.days, random=random)


@dataclass(frozen=True, slots=True)
class SimulationQuestion:
    """How policies are compared.

    Args:
        budget: The visits; None for the default.
        policies: Names of the policies, with their parameters.
        objective: What a fresh copy is for, by name.
        observation: What visits show.
        step: Days between decisions; None for the default.
        live: Whether visits are made one by one, as a live crawl makes them.
        warm_up: Days that are not scored.
        level: Probability that the staleness lies in its band.
        seed: Seed of the random numbers.
    """

    budget: Budget | None = None
    policies: Sequence[str] = DEFAULT_POLICIES
    objective: str = "harmonic"
    observation: Observation = field(default_factory=Observation)
    step: float | None = None
    live: bool = False
    warm_up: float = 0.0
    level: float = 0.9
    seed: int = 0

    def warmed_up(self, world: World) -> World:
        """The world, scored from the end of the warm-up on."""
        if self.warm_up >= world.days > 0:
            raise InvalidParameter(
                f"warm-up must be shorter than the history, {world.days:.4g} days "
                f"(got {self.warm_up:g})"
            )
        return world.after(self.warm_up)


@dataclass(frozen=True, slots=True, eq=False)
class Contest:
    """A world, and what is asked of it.

    Args:
        world: The world, warmed up.
        question: How policies are compared.
        terms: Budget and time step.
    """

    world: World
    question: SimulationQuestion
    terms: SimulationTerms

    @classmethod
    def of(cls, whole: World, question: SimulationQuestion, store: Path | None) -> Contest:
        """A contest in a world; without a budget, a store's crawl had its own."""
        world = question.warmed_up(whole)
        return cls(world, question, terms_of(world, store, question.budget, question.step))

    def run(
        self,
        multiples: Sequence[float],
        progress: Callable[[float], None] | None = None,
        *,
        jobs: int = 1,
    ) -> tuple[list[SimulationEntry], list[BudgetLine]]:
        """One run per policy, and for a chart one at each of several budgets.

        Args:
            multiples: Of the budget.
            progress: Called with the share that is done.
            jobs: Processes that share the runs.
        """
        budget, policies = self.terms.budget, self.question.policies
        timed = run_all(_ContestRuns(self, multiples), jobs=jobs, progress=progress)
        entries, lines = [], []
        for number, name in enumerate(policies):
            runs = timed[number * len(multiples) : (number + 1) * len(multiples)]
            run, seconds = runs[multiples.index(1.0)]
            random = np.random.default_rng([self.question.seed, 2])  # the same sections
            band = staleness_band(run, random=random, level=self.question.level)
            entries.append(SimulationEntry(name, run, band, seconds))
            freshness = [run.freshness for run, _ in runs]
            lines.append(BudgetLine(name, [budget.visits * each for each in multiples], freshness))
        return entries, lines

    def chart(self, lines: Sequence[BudgetLine]) -> DrawnChart:
        """Freshness against the budget, one line per policy."""
        chart = budget_chart(
            lines,
            unit=_UNITS[self.terms.budget.each],
            title="Freshness against budget",
            subtitle=f"{self.size}; objective: {self.question.objective}",
        )
        return DrawnChart(chart)

    @property
    def size(self) -> str:
        """How large the world is, in words."""
        pages = counted(len(self.world), "page")
        changes = counted(len(self.world.changes), "change")
        return f"{pages}, {changes} in {every(self.world.days)}"

    def one_run(
        self, budget: Budget, name: str, on_progress: Callable[[float], None]
    ) -> SimulationRun:
        """One policy within a budget."""
        asked, world = self.question, self.world
        policy = policy_named(name, world, OBJECTIVES[asked.objective])
        random = np.random.default_rng(asked.seed)
        simulation: Simulation | LiveSimulation
        if asked.live:
            simulation = LiveSimulation(
                world, policy, budget, random=random, observation=asked.observation
            )
        else:
            simulation = Simulation(
                world,
                policy,
                budget,
                random=random,
                step=self.terms.step,
                observation=asked.observation,
            )
        last = time.monotonic()
        for share in simulation.steps():
            if time.monotonic() - last > _REDRAW_SECONDS:
                last = time.monotonic()
                on_progress(share)
        return simulation.result()


@dataclass(frozen=True, slots=True, eq=False)
class _ContestRuns:
    """The runs of a contest: each policy at each multiple of the budget."""

    contest: Contest
    multiples: Sequence[float]

    def weights(self) -> Sequence[float]:
        """How long each takes, in proportion."""
        return [
            _TAKES.get(name.partition(":")[0], 1.0) * each**_LONGER_WITH_BUDGET
            for name in self.contest.question.policies
            for each in self.multiples
        ]

    def run(self, number: int, on_progress: Callable[[float], None]) -> tuple[SimulationRun, float]:
        """One of them, and the seconds that it took."""
        policy, multiple = divmod(number, len(self.multiples))
        budget = self.contest.terms.budget
        within = replace(budget, visits=budget.visits * self.multiples[multiple])
        begin = time.perf_counter()
        name = self.contest.question.policies[policy]
        run = self.contest.one_run(within, name, on_progress)
        return run, time.perf_counter() - begin


@dataclass(frozen=True, eq=False, repr=False)
class SimulationResult(ResultTable):
    """Policies compared, with the columns that `recrawl simulate` writes.

    Attributes:
        contest: The world, the budget and what else was asked.
        entries: The run of each policy, to go on computing.
    """

    contest: Contest
    entries: Sequence[SimulationEntry]

    def chart(self) -> DrawnChart:
        """Freshness over a quarter to four times the budget; takes some eight times as long."""
        return self.contest.chart(self.contest.run(SEVERAL_BUDGETS)[1])

    def _words(self, most: int) -> tuple[Sequence[str], list[list[str]], Collection[int]]:
        return HEADER, simulation_words(self.entries[:most]), (0,)

    def _of_rows(self, rows: Ints) -> dict[str, Any]:
        return {"entries": [self.entries[row] for row in rows.tolist()]}

    def _said(self) -> str:
        return self.contest.size


def simulate(  # noqa: PLR0913 - the options of the verbs
    source: object,
    *,
    policies: str | Sequence[str] = DEFAULT_POLICIES,
    budget: str | float = "",
    objective: str = "harmonic",
    warm_up: str = "",
    seed: int = 0,
    delimiter: str = "",
    tz: str = "",
) -> SimulationResult:
    """Compare revisit policies on pages whose changes are known, or were found by visits.

    The same as the verbs of `recrawl simulate`: one row per policy.

    Args:
        source: The path of a crawl's store; pages and their changes as a pair of paths or frames
            (`page`, `first_seen`; `page`, `changed_at`); a visit log as for `estimate`, of which
            each change found happens once; a `World`; or the kind of a synthetic one: poisson,
            renewal, weibull, weekly, bursty, sections or turnover.
        policies: Their names, with parameters if need be: `["recrawl", "nutch:more=0.2"]`.
        budget: Visits: 5000/1d, 0.1/page/1d, or 4/change, which is the default; a number is visits
            per day; a store's crawl
            has its own.
        objective: What to optimise: harmonic, freshness, age, missed or detected.
        warm_up: Time at the start that is not scored, e.g. 30d.
        seed: Seed of the random numbers.
        delimiter: What separates cells of CSV; what the header tells if empty.
        tz: Time zone of times without an offset, such as `Europe/Berlin`; UTC if empty.

    Examples:
        >>> import recrawl
        >>> pages = {"page": ["/a", "/b"], "first_seen": ["2026-01-01", "2026-01-01"]}
        >>> days = [f"2026-01-{day:02}" for day in range(2, 31)]
        >>> changes = {"page": ["/a"] * 28 + ["/b"], "changed_at": days}
        >>> result = recrawl.simulate((pages, changes), policies="uniform", budget="2/1d")
        >>> result["uniform"]["visits"]
        58
    """
    check_choice(OBJECTIVES, objective=objective)
    named = policies if isinstance(policies, str) else ",".join(policies)
    question = SimulationQuestion(
        budget=None if budget == "" else Budget.read(budget),
        policies=parse_policies(named),
        objective=objective,
        warm_up=days(warm_up) if warm_up else 0.0,
        seed=seed,
    )
    options = replace(TableOptions.of(delimiter=delimiter, tz=tz), rename="")
    store = place_of(source) if is_path(source) and is_store(source) else None
    world = world_of_store(store, world_stream(seed)) if store else _world(source, options, seed)
    contest = Contest.of(world, question, store)
    entries, _ = contest.run(ONE_BUDGET)
    names = Texts.of([entry.policy for entry in entries])
    rows = simulation_columns(entries)
    return SimulationResult(names, rows, "policy", contest=contest, entries=entries)


def _world(source: object, options: TableOptions, seed: int) -> World:
    """The world of a source that is no store."""
    if isinstance(source, World):
        return source
    if isinstance(source, str) and source in WORLDS:
        return MadeWorld(source).make(seed)
    if isinstance(source, tuple) and len(source) == len(("pages", "changes")):
        with (
            whole_input(source[0], _WORLD_COLUMNS, options, name="pages") as pages,
            whole_input(source[1], _CHANGE_COLUMNS, options, name="changes") as changes,
        ):
            return read_world_and_count(pages, changes)[0]
    with (
        visits_input(source, options) as table,
        Log(VisitReading(table), sys.maxsize, Path()) as log,
    ):
        (piece,) = log.pieces()
    order = np.argsort(piece.position)
    names = piece.names.take(order).tolist()
    return world_of_histories(names, piece.histories.take(order), world_stream(seed))
