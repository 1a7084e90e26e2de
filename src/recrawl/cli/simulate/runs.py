"""Runs of `recrawl simulate`: every policy in one world, a table of their scores, a picture.

Touches: files, the standard streams, the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from recrawl.cli import screen
from recrawl.cli.simulate.inputs import terms_of
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recrawl.cli import shared
    from recrawl.cli.simulate.inputs import SimulationTerms
    from recrawl.cli.simulate.options import RunOptions
    from recrawl.report.charts.simulation import BudgetLine
    from recrawl.report.simulation import SimulationEntry
    from recrawl.simulate.scores import SimulationRun
    from recrawl.simulate.world import World

_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
_UNITS = {
    "change": "visits per change",
    "page": "visits per page and day",
    "crawl": "visits per day",
}
_REDRAW_SECONDS = 0.2
_MANY = 1000  # visits shown without decimals


def compare_policies(
    whole: World, asked: RunOptions, *, store: Path | None = None, left_out: int = 0
) -> None:
    """Let all policies visit a world, and say how it went.

    Args:
        whole: The world.
        asked: How to run them.
        store: Store that the world was read from, if any.
        left_out: Changes that lay outside of the lives of their pages.
    """
    world = _warmed_up(whole, asked.warm_up)
    terms = terms_of(world, store, asked.budget, asked.step)
    with screen.progress("simulating") as progress:
        entries, lines = _all_runs(world, asked, terms, progress)
    _put(entries, asked.out)
    if asked.plot is not None:
        _draw(asked.plot, lines, asked, terms, world)
    _remarks(world, terms, left_out)


def _warmed_up(world: World, days: float) -> World:
    if days >= world.days > 0:
        message = f"warm-up must be shorter than the history, {world.days:.4g} days (got {days:g})"
        raise InvalidParameter(message)
    return world.after(days)


def _all_runs(
    world: World,
    asked: RunOptions,
    terms: SimulationTerms,
    progress: Callable[[float], None] | None,
) -> tuple[list[SimulationEntry], list[BudgetLine]]:
    """One run per policy, and for a chart one at each of several budgets."""
    from dataclasses import replace

    import numpy as np

    from recrawl.report.charts.simulation import BudgetLine
    from recrawl.report.simulation import SimulationEntry
    from recrawl.simulate.bands import staleness_band

    entries, lines = [], []
    multiples = (1.0,) if asked.plot is None else _MULTIPLES
    whole, done = len(asked.policies) * sum(multiples), 0.0
    for name in asked.policies:
        freshness = []
        for multiple in multiples:
            on_progress = _part(progress, done / whole, (done + multiple) / whole)
            begin = time.perf_counter()
            budget = replace(terms.budget, visits=terms.budget.visits * multiple)
            run = _run(world, asked, replace(terms, budget=budget), name, on_progress)
            seconds = time.perf_counter() - begin
            freshness.append(run.freshness)
            if multiple == 1:
                random = np.random.default_rng([asked.seed, 2])  # the same sections for all
                band = staleness_band(run, random=random, level=asked.level)
                entries.append(SimulationEntry(name, run, band, seconds))
            done += multiple
        budgets = [terms.budget.visits * multiple for multiple in multiples]
        lines.append(BudgetLine(name, budgets, freshness))
    return entries, lines


def _part(
    progress: Callable[[float], None] | None, start: float, end: float
) -> Callable[[float], None]:
    """Progress of one run, as part of the whole."""
    return lambda share: None if progress is None else progress(start + share * (end - start))


def _run(
    world: World,
    asked: RunOptions,
    terms: SimulationTerms,
    name: str,
    on_progress: Callable[[float], None],
) -> SimulationRun:
    """One policy within a budget."""
    import numpy as np

    from recrawl.simulate.competitors import policy_named
    from recrawl.simulate.live import LiveSimulation
    from recrawl.simulate.run import Simulation

    policy, budget = policy_named(name, world, asked.objective), terms.budget
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
            step=terms.step,
            observation=asked.observation,
        )
    last = time.monotonic()
    for share in simulation.steps():
        if time.monotonic() - last > _REDRAW_SECONDS:
            last = time.monotonic()
            on_progress(share)
    return simulation.result()


def _put(entries: list[SimulationEntry], out: shared.Output) -> None:
    """Print a table, or write the figures."""
    from recrawl.report.simulation import HEADER, simulation_columns, simulation_words

    if out.interactive:
        screen.show_table(HEADER, simulation_words(entries))
    else:
        names = [entry.policy for entry in entries]
        out.write(names, simulation_columns(entries), first="policy")


def _draw(
    path: Path, lines: list[BudgetLine], asked: RunOptions, terms: SimulationTerms, world: World
) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.charts.simulation import budget_chart

    chart = budget_chart(
        lines,
        unit=_UNITS[terms.budget.each],
        title="Freshness against budget",
        subtitle=f"{_counted(world)}; objective: {asked.objective_name}",
    )
    write_picture(path, chart)


def _counted(world: World) -> str:
    from recrawl.report.words import counted, every

    pages, changes = counted(len(world), "page"), counted(len(world.changes), "change")
    return f"{pages}, {changes} in {every(world.days)}"


def _remarks(world: World, terms: SimulationTerms, left_out: int) -> None:
    """Print the size of the world, and the budget."""
    from recrawl.report.words import counted, every
    from recrawl.simulate.run import LONGEST_STEP

    budget = world.budget(terms.budget)
    a_day = "page and day" if budget.each == "page" else "day"
    visits = f"{budget.visits:,.0f}" if budget.visits >= _MANY else f"{budget.visits:.4g}"
    screen.remark(f"{_counted(world)}; a budget of {visits} visits per {a_day}{terms.note}.")
    in_all = budget.visits_a_day(len(world)) * world.days
    if in_all < len(world):
        said = counted(round(in_all), "visit")
        screen.remark(f"That is {said} in all, fewer than there are pages; --budget raises it.")
    if terms.step < LONGEST_STEP:
        screen.remark(f"Policies decide every {every(terms.step)}.")
    if left_out:
        what = counted(left_out, "change")
        screen.remark(f"{what} left out: before the page was first seen, or after it was gone.")
