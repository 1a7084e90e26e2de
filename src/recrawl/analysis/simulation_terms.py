"""Terms of a simulation: random numbers, the budget and the step, with their defaults.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np

    from recrawl.plan.budget import Budget
    from recrawl.settings.settings import Settings
    from recrawl.simulate.world import World

_DEFAULT_BUDGET = "4/change"


def world_stream(seed: int) -> np.random.Generator:
    """Random numbers of a world: a stream apart from the one that breaks ties."""
    import numpy as np

    return np.random.default_rng([seed, 1])


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
        note = f"{whose} the crawl made {visits} to pages with a copy in {every(world.days)}"
    budget = budget or Budget.read(_DEFAULT_BUDGET)
    return SimulationTerms(budget, step or fitting_step(world, budget), note)


def _own_budget(world: World, store: Path, made: int) -> tuple[Budget, str]:
    """Budget in the settings beside a store, else what its crawl has spent; and how to say so."""
    from recrawl.plan.budget import Budget
    from recrawl.settings.settings import FILE_NAME
    from recrawl.store.settings_file import load_settings, store_of

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
