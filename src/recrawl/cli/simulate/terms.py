"""What `recrawl simulate` goes by where nobody says: a crawl's own budget, and steps that fit.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from recrawl.plan.budget import Budget
    from recrawl.settings.settings import Settings
    from recrawl.simulate.world import World

_USUAL_BUDGET = "4/change"
LONGEST_STEP = 0.25  # days
# A history has so many steps at least and at most, and a page some in the mean gap between visits.
_FEWEST_STEPS, _MOST_STEPS, _STEPS_A_GAP = 100, 10_000, 8


@dataclass(frozen=True, slots=True)
class Terms:
    """How many visits may be made, and how often is decided on them.

    Args:
        budget: The visits.
        step: Days between decisions.
        note: Whose budget it is and what the crawl of a store has done, to be said after the
            budget; empty without a store.
    """

    budget: Budget
    step: float
    note: str = ""


def terms_of(world: World, store: Path | None, budget: Budget | None, step: float | None) -> Terms:
    """The terms on which policies visit a world.

    Args:
        world: The world.
        store: WriteStore that it was read from; None where it is from elsewhere.
        budget: What a person wants; None for nothing.
        step: The same.
    """
    from recrawl.plan.budget import Budget
    from recrawl.report.words import every

    note = ""
    if store is not None:
        made, whose = _visits_made(store), ";"
        if budget is None:
            budget, whose = _own_budget(world, store, made)
        visits = "1 visit" if made == 1 else f"{made:,} visits"
        note = f"{whose} the crawl made {visits} in {every(world.days)} to pages it had a copy of"
    budget = budget or Budget.read(_USUAL_BUDGET)
    return Terms(budget, step or fitting_step(world, budget), note)


def fitting_step(world: World, budget: Budget) -> float:
    """Days between decisions: six hours, or less where time is short or visits are many."""
    if world.days <= 0:
        return LONGEST_STEP
    visits_a_day = world.budget(budget).visits_a_day(len(world))
    fitting = world.days / _FEWEST_STEPS
    if visits_a_day > 0:
        fitting = min(fitting, len(world) / visits_a_day / _STEPS_A_GAP)
    return min(max(fitting, world.days / _MOST_STEPS), LONGEST_STEP)


def _own_budget(world: World, store: Path, made: int) -> tuple[Budget, str]:
    """Budget of a crawl by the settings beside its store, else by what it has done; and whose."""
    from recrawl.cli.crawling import load_settings, store_of
    from recrawl.plan.budget import Budget
    from recrawl.settings.settings import FILE_NAME

    file = store.parent / FILE_NAME
    if file.is_file():
        settings = load_settings(file)
        if store_of(file, settings).resolve() == store.resolve():
            return _whole_budget(settings, world), f", that of {FILE_NAME};"
    return Budget(made / world.days if world.days > 0 else 0.0), ":"


def _whole_budget(settings: Settings, world: World) -> Budget:
    """All budgets of a crawl together."""
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
    from recrawl.visits.status import Outcome

    with open_store(store) as reader:
        return sum(count for _, kind, count in reader.daily_visits() if Outcome(kind).compared)
