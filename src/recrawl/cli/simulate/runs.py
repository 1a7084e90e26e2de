"""Runs of `recrawl simulate`: every policy in one world, a table of their scores, a picture.

Touches: files, the standard streams, the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from recrawl.cli import screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recrawl.analysis.simulate import Contest
    from recrawl.cli import shared
    from recrawl.cli.simulate.options import RunOptions
    from recrawl.report.simulation import SimulationEntry
    from recrawl.simulate.world import World

_KNOWN_SECONDS = 5.0  # after which what is done tells how long the rest takes
_LONG_SECONDS = 60.0
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
    from recrawl.analysis.simulate import ONE_BUDGET, SEVERAL_BUDGETS, Contest

    contest = Contest.of(whole, asked.question, store)
    with screen.progress("simulating") as progress:
        budgets = ONE_BUDGET if asked.plot is None else SEVERAL_BUDGETS
        entries, lines = contest.run(budgets, _foretold(progress, asked.jobs), jobs=asked.jobs)
    _put(entries, asked.out)
    if asked.plot is not None:
        contest.chart(lines).save(asked.plot)
    _remarks(contest, left_out)


def _foretold(
    progress: Callable[[float], None] | None,
    jobs: int,
    clock: Callable[[], float] = time.monotonic,
) -> Callable[[float], None]:
    """Progress that also says how long it will take, as soon as that is known and if it is long."""
    from recrawl.report.words import every
    from recrawl.units import SECONDS_A_DAY

    first: tuple[float, float] | None = None  # time and share when runs were under way
    said = False

    def on_progress(share: float) -> None:
        nonlocal first, said
        now = clock()
        if first is None and share > 0:
            first = now, share
        elif first is not None and not said and now - first[0] >= _KNOWN_SECONDS:
            said = True
            left = (1 - share) * (now - first[0]) / max(share - first[1], 1e-6)
            if left > _LONG_SECONDS:
                hint = "" if jobs > 1 else " --jobs N shares the work among N processes."
                screen.remark(f"This takes about {every(left / SECONDS_A_DAY)}.{hint}")
        if progress is not None:
            progress(share)

    return on_progress


def _put(entries: list[SimulationEntry], out: shared.Output) -> None:
    """Print a table, or write the figures."""
    from recrawl.report.simulation import HEADER, SPARE, simulation_columns, simulation_words

    if out.interactive:
        screen.show_table(HEADER, simulation_words(entries), spare=SPARE)
    else:
        names = [entry.policy for entry in entries]
        out.write(names, simulation_columns(entries), first="policy")


def _remarks(contest: Contest, left_out: int) -> None:
    """Print the size of the world, and the budget."""
    from recrawl.report.words import counted, every
    from recrawl.simulate.run import LONGEST_STEP

    world, terms = contest.world, contest.terms
    budget = world.budget(terms.budget)
    a_day = "page and day" if budget.each == "page" else "day"
    visits = f"{budget.visits:,.0f}" if budget.visits >= _MANY else f"{budget.visits:.4g}"
    screen.remark(f"{contest.size}; a budget of {visits} visits per {a_day}{terms.note}.")
    in_all = budget.visits_a_day(len(world)) * world.days
    if in_all < len(world):
        said = counted(round(in_all), "visit")
        screen.remark(f"That is {said} in all, fewer than there are pages; --budget raises it.")
    if terms.step < LONGEST_STEP:
        screen.remark(f"Policies decide every {every(terms.step)}.")
    if left_out:
        what = counted(left_out, "change")
        screen.remark(f"{what} left out: before the page was first seen, or after it was gone.")
