"""`recrawl simulate`: compare policies in a simulated world.

Touches: files, the standard streams, the clock.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.checks import check_choice
from recrawl.cli import options, screen, shared
from recrawl.cli.simulate.inputs import SyntheticWorld, WorldSource, terms_of
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.cli.simulate.inputs import SimulationTerms
    from recrawl.plan.objectives import Objective
    from recrawl.report.charts.simulation import BudgetLine
    from recrawl.report.simulation import SimulationEntry
    from recrawl.simulate.observation import Observation
    from recrawl.simulate.scores import SimulationRun
    from recrawl.simulate.world import World

_STORE = typer.Argument(
    metavar="[STORE]", help="Store of a crawl, to replay its visits.", show_default=False
)
_PAGES = typer.Option(
    metavar="F",
    help="Pages (page, first_seen[, url, removed_at, weight]): CSV, JSON lines or Parquet.",
    show_default=False,
)
_CHANGES = typer.Option(
    metavar="F", help="All their changes (page, changed_at[, bulk, revert]).", show_default=False
)
_WORLD = typer.Option(
    metavar="W",
    help="A synthetic world: poisson, renewal, weibull, weekly, bursty, sections or turnover.",
    show_default=False,
)
_NUMBER = typer.Option(metavar="N", help="Pages of a synthetic world.", min=1)
_FOR = typer.Option("--for", metavar="T", help="Duration of a synthetic world.")
_EVERY = typer.Option(metavar="T", help="Median interval between changes in a synthetic world.")
_SPREAD = typer.Option(
    metavar="S", help="Spread of its rates: standard deviation of log(rate).", min=0.0
)
_BUDGET = typer.Option(
    metavar="B",
    help="Visits: 5000/1d, 0.1/page/1d, or 4/change (four visits per change)  "
    "[default: 4/change; the crawl's own budget for a STORE]",
    show_default=False,
)
_POLICY = typer.Option(
    metavar="P",
    help="Policies, comma-separated, or all  [default: recrawl,optimal-known,uniform,nutch]",
    show_default=False,
)
_OBJECTIVE = typer.Option(
    metavar="O", help="What to optimise: harmonic, freshness, age, missed or detected."
)
_OBSERVE = typer.Option(
    metavar="E", help="What a visit reveals: existence of a change, or last-modified."
)
_LYING = typer.Option(
    metavar="S", help="Share of sections with a wrong Last-Modified, e.g. 10%.", show_default=False
)
_MISSED = typer.Option(
    metavar="P", help="Probability that a visit misses a change, e.g. 5%.", show_default=False
)
_FALSE = typer.Option(
    metavar="P",
    help="Probability that a visit reports a change where there is none.",
    show_default=False,
)
_STEP = typer.Option(
    metavar="T",
    help="Time between decisions  [default: 6h; less for a short history]",
    show_default=False,
)
_LIVE = typer.Option(
    "--live",
    help="Visit by visit, as a live crawl does: first copies, host delays, a daily budget.",
)
_WARM_UP = typer.Option(
    metavar="T", help="Time at the start that is not scored.", show_default=False
)
_IGNORE = typer.Option(
    metavar="K",
    help="Changes to leave out: bulk, revert or both, comma-separated.",
    show_default=False,
)
_LEVEL = typer.Option(help="Probability that the staleness lies in its band.")
_SEED = typer.Option(help="Seed of the random numbers.", min=0)
_PLOT = typer.Option(
    metavar="F",
    help="Draw freshness over a quarter to four times the budget to F: .svg or .png.",
    show_default=False,
)

_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
_UNITS = {
    "change": "visits per change",
    "page": "visits per page and day",
    "crawl": "visits per day",
}
_REDRAW_SECONDS = 0.2
_MANY = 1000  # visits shown without decimals
_OBSERVED = ("existence", "last-modified")


def simulate(
    store: Annotated[Path | None, _STORE] = None,
    *,
    pages: Annotated[Path | None, _PAGES] = None,
    changes: Annotated[Path | None, _CHANGES] = None,
    world: Annotated[str, _WORLD] = "",
    number_of_pages: Annotated[int, _NUMBER] = 1000,
    lasting: Annotated[str, _FOR] = "365d",
    every: Annotated[str, _EVERY] = "30d",
    spread: Annotated[float, _SPREAD] = 1.5,
    budget: Annotated[str, _BUDGET] = "",
    policy: Annotated[str, _POLICY] = "",
    objective: Annotated[str, _OBJECTIVE] = "harmonic",
    observe: Annotated[str, _OBSERVE] = "existence",
    lying: Annotated[str, _LYING] = "",
    missed: Annotated[str, _MISSED] = "",
    false: Annotated[str, _FALSE] = "",
    step: Annotated[str, _STEP] = "",
    live: Annotated[bool, _LIVE] = False,
    warm_up: Annotated[str, _WARM_UP] = "",
    ignore: Annotated[str, _IGNORE] = "",
    level: Annotated[float, _LEVEL] = 0.9,
    seed: Annotated[int, _SEED] = 0,
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Compare revisit policies on pages whose changes are known.

    Replays a history (--pages, --changes), the visits of a crawl (STORE), or a
    synthetic world (--world). A page is known and fresh from its first_seen and
    gone from its removed_at. Writes one row per policy: the share of time in which
    copies are fresh and stale, with a band, their age, the visits and how many of
    them found a change. optimal-known knows every page's true rate, clairvoyant
    every change. No file is changed.

    \b
    Examples:
        recrawl simulate --pages pages.csv --changes changes.csv --budget 5000/1d
        recrawl simulate recrawl.db --policy all
        recrawl simulate --world sections --budget 4/change --plot budget.svg
        recrawl simulate --world weekly --policy uniform,nutch --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.pictures import check_picture
    from recrawl.checks import check_fraction
    from recrawl.plan.budget import Budget
    from recrawl.units import days

    out = shared.Output.of(pages, changes, store, as_csv=as_csv, as_json=as_json, file=output)
    check_fraction(level=level)
    asked = Budget.read(budget) if budget else None, days(step) if step else None
    policies, aim = _policies(policy), _objective(objective)
    seen = _observation(observe, lying, missed, false)
    warmed = days(warm_up) if warm_up else 0.0
    made = SyntheticWorld(world, number_of_pages, lasting, every, spread)
    source = WorldSource(store, pages, changes, made, ignore)
    source.check()
    if plot is not None:
        check_picture(plot)
    whole, left_out = source.read(seed)
    world_after = _warmed_up(whole, warmed)
    plan = _Plan(terms_of(world_after, store, *asked), policies, aim, seen, seed, level, live)
    with screen.progress("simulating") as progress:
        entries, lines = _all_runs(world_after, plan, progress, drawn=plot is not None)
    _put(entries, out)
    if plot is not None:
        _draw(plot, lines, plan, world_after)
    _remarks(world_after, plan, left_out)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How every policy is run."""

    terms: SimulationTerms
    policies: list[str]
    objective: tuple[str, Objective]
    observation: Observation
    seed: int
    level: float
    live: bool = False


def _policies(text: str) -> list[str]:
    from recrawl.simulate.competitors import DEFAULT_POLICIES, parse_policies

    return parse_policies(text) if text else list(DEFAULT_POLICIES)


def _objective(name: str) -> tuple[str, Objective]:
    from recrawl.plan.objectives import OBJECTIVES

    check_choice(OBJECTIVES, objective=name)
    return name, OBJECTIVES[name]


def _observation(observe: str, lying: str, missed: str, false: str) -> Observation:
    from recrawl.simulate.observation import Observation

    check_choice(_OBSERVED, observe=observe)
    if lying and observe != "last-modified":
        raise typer.BadParameter("--lying needs --observe last-modified")
    shares = {"lying": lying, "missed": missed, "false": false}
    return Observation(
        dated=observe == "last-modified",
        **{name: options.share(text, name) for name, text in shares.items() if text},
    )


def _warmed_up(world: World, days: float) -> World:
    if days >= world.days > 0:
        message = f"warm-up must be shorter than the history, {world.days:.4g} days (got {days:g})"
        raise InvalidParameter(message)
    return world.after(days)


def _all_runs(
    world: World, plan: _Plan, progress: Callable[[float], None] | None, *, drawn: bool
) -> tuple[list[SimulationEntry], list[BudgetLine]]:
    """One run per policy, and for a chart one at each of several budgets."""
    import numpy as np

    from recrawl.report.charts.simulation import BudgetLine
    from recrawl.report.simulation import SimulationEntry
    from recrawl.simulate.bands import staleness_band

    entries, lines = [], []
    multiples = _MULTIPLES if drawn else (1.0,)
    whole, done = len(plan.policies) * sum(multiples), 0.0
    for name in plan.policies:
        freshness = []
        for multiple in multiples:
            on_progress = _part(progress, done / whole, (done + multiple) / whole)
            begin = time.perf_counter()
            run = _run(world, plan, name, multiple, on_progress)
            seconds = time.perf_counter() - begin
            freshness.append(run.freshness)
            if multiple == 1:
                random = np.random.default_rng([plan.seed, 2])  # the same sections for all
                band = staleness_band(run, random=random, level=plan.level)
                entries.append(SimulationEntry(name, run, band, seconds))
            done += multiple
        budgets = [plan.terms.budget.visits * multiple for multiple in multiples]
        lines.append(BudgetLine(name, budgets, freshness))
    return entries, lines


def _part(
    progress: Callable[[float], None] | None, start: float, end: float
) -> Callable[[float], None]:
    """Progress of one run, as part of the whole."""
    return lambda share: None if progress is None else progress(start + share * (end - start))


def _run(
    world: World, plan: _Plan, name: str, multiple: float, on_progress: Callable[[float], None]
) -> SimulationRun:
    """One policy at a multiple of the budget."""
    from dataclasses import replace

    import numpy as np

    from recrawl.simulate.competitors import policy_named
    from recrawl.simulate.live import LiveSimulation
    from recrawl.simulate.run import Simulation

    policy, budget = policy_named(name, world, plan.objective[1]), plan.terms.budget
    budget = replace(budget, visits=budget.visits * multiple)
    random = np.random.default_rng(plan.seed)
    simulation: Simulation | LiveSimulation
    if plan.live:
        simulation = LiveSimulation(
            world, policy, budget, random=random, observation=plan.observation
        )
    else:
        simulation = Simulation(
            world,
            policy,
            budget,
            random=random,
            step=plan.terms.step,
            observation=plan.observation,
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


def _draw(path: Path, lines: list[BudgetLine], plan: _Plan, world: World) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.charts.simulation import budget_chart

    chart = budget_chart(
        lines,
        unit=_UNITS[plan.terms.budget.each],
        title="Freshness against budget",
        subtitle=f"{_counted(world)}; objective: {plan.objective[0]}",
    )
    write_picture(path, chart)


def _counted(world: World) -> str:
    from recrawl.report.words import counted, every

    pages, changes = counted(len(world), "page"), counted(len(world.changes), "change")
    return f"{pages}, {changes} in {every(world.days)}"


def _remarks(world: World, plan: _Plan, left_out: int) -> None:
    """Print the size of the world, and the budget."""
    from recrawl.report.words import counted, every
    from recrawl.simulate.run import LONGEST_STEP

    terms = plan.terms
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
