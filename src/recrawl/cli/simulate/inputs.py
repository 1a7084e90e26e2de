"""Inputs of `recrawl simulate`: the world, the budget and the step, with their defaults.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from recrawl.plan.budget import Budget
    from recrawl.settings.settings import Settings
    from recrawl.simulate.world import World

_DEFAULT_BUDGET = "4/change"


@dataclass(frozen=True, slots=True)
class SyntheticWorld:
    """Parameters of a synthetic world; its kind is empty for none."""

    kind: str
    count: int
    lasting: str
    every: str
    spread: float


@dataclass(frozen=True, slots=True)
class WorldSource:
    """Source of the world: a store, two files, or a generator."""

    store: Path | None
    pages: Path | None
    changes: Path | None
    made: SyntheticWorld
    ignore: str

    def check(self) -> None:
        """Raise unless there is exactly one source."""
        files = [self.pages, self.changes]
        if sum([bool(self.made.kind), any(files), self.store is not None]) > 1:
            raise typer.BadParameter("STORE, --world and --pages with --changes exclude each other")
        if self.store is None and not self.made.kind and not all(files):
            raise typer.BadParameter("expected a STORE, --world, or --pages with --changes")

    def read(self, seed: int) -> tuple[World, int]:
        """The world, and the number of changes outside of the lifetimes of their pages."""
        import numpy as np

        from recrawl.adapters.stores.world import world_of_store
        from recrawl.adapters.tables.worlds import read_world_and_count
        from recrawl.simulate.made import log_normal_rates, make_world
        from recrawl.units import days

        if self.pages is not None and self.changes is not None:
            kinds = [kind.strip() for kind in self.ignore.split(",") if kind.strip()]
            return read_world_and_count(self.pages, self.changes, ignore=kinds)
        random, made = (
            np.random.default_rng([seed, 1]),
            self.made,
        )  # a stream apart from the one that breaks ties
        if self.store is not None:
            return world_of_store(self.store, random), 0
        rates = log_normal_rates(
            made.count, every=days(made.every), spread=made.spread, random=random
        )
        return make_world(made.kind, rates, days=days(made.lasting), random=random), 0


@dataclass(frozen=True, slots=True)
class SimulationTerms:
    """Budget and time step of a simulation.

    Args:
        budget: The visits.
        step: Days between decisions.
        note: Remark on the budget of a store's crawl and its visits; empty without a store.
    """

    budget: Budget
    step: float
    note: str = ""


def terms_of(
    world: World, store: Path | None, budget: Budget | None, step: float | None
) -> SimulationTerms:
    """Budget and time step for a world.

    Args:
        world: The world.
        store: Store that it was read from, if any.
        budget: The budget asked for; None for the default.
        step: The step asked for; None for the default.
    """
    from recrawl.plan.budget import Budget
    from recrawl.report.words import counted, every
    from recrawl.simulate.run import fitting_step

    note = ""
    if store is not None:
        made, whose = _visits_made(store), ";"
        if budget is None:
            budget, whose = _own_budget(world, store, made)
        visits = counted(made, "visit")
        note = f"{whose} the crawl made {visits} in {every(world.days)} to pages it had a copy of"
    budget = budget or Budget.read(_DEFAULT_BUDGET)
    return SimulationTerms(budget, step or fitting_step(world, budget), note)


def _own_budget(world: World, store: Path, made: int) -> tuple[Budget, str]:
    """Budget in the settings beside a store, else what its crawl has spent; and how to say so."""
    from recrawl.cli.crawling import load_settings, store_of
    from recrawl.plan.budget import Budget
    from recrawl.settings.settings import FILE_NAME

    file = store.parent / FILE_NAME
    if file.is_file():
        settings = load_settings(file)
        if store_of(file, settings).resolve() == store.resolve():
            return _whole_budget(settings, world), f" (from {FILE_NAME});"
    return Budget(made / world.days if world.days > 0 else 0.0), ":"


def _whole_budget(settings: Settings, world: World) -> Budget:
    """Sum of all budgets of a crawl."""
    import numpy as np

    from recrawl.plan.budget import Budget
    from recrawl.settings.pools import budgets, terms

    common, *own = budgets(settings)
    if not own:
        return common
    pool = np.array([each.pool for each in terms(settings)])[settings.rules_of(world.address)]
    pages = np.bincount(pool, minlength=len(own) + 1).tolist()
    return Budget(sum(each.visits_a_day(pages[row]) for row, each in enumerate([common, *own])))


def _visits_made(store: Path) -> int:
    """Visits of a crawl to pages of which it had a copy."""
    from recrawl.store import open_store
    from recrawl.visits.status import VisitOutcome

    with open_store(store) as reader:
        return sum(count for _, kind, count in reader.daily_visits() if VisitOutcome(kind).compared)
