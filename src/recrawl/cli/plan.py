"""`recrawl plan`: rates and a budget in, visits per day for each page out.

Touches: files, the standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.checks import check_choice
from recrawl.cli import options, screen, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.adapters.tables.rates import RateTable
    from recrawl.arrays.types import Floats
    from recrawl.plan import BudgetCurve, Limits, Plan, Rates

_FORMS = ("periodic", "randomised")
_CURVE_STEPS = 17  # budgets, from a sixteenth of the one given to sixteen times as much
_CURVE_SPAN = 16.0

# A page without a rate is treated as never visited: half a change in 15 days.
_UNSEEN = (0.5, 15.0)
_SURE = 1e5  # shape of a rate that is known, where other pages have distributions
_LEAST_RATE = 1e-12

_FILE = typer.Argument(
    metavar="FILE",
    help="Rates: CSV, JSON lines or Parquet; or the store of a crawl.",
    show_default=False,
)
_BUDGET = typer.Option(
    metavar="B",
    help="Visits to all pages together: 5000/1d, 0.1/page/1d or 4/change.",
    show_default=False,
)
_OBJECTIVE = typer.Option(
    metavar="O", help="What to optimise: harmonic, freshness, age, missed or detected."
)
_PER_HOST = typer.Option(
    metavar="B", help="Maximum visits to one host, e.g. 60/1h.", show_default=False
)
_MOST = typer.Option(
    metavar="T", help="Visit every page at least this often, e.g. 90d.", show_default=False
)
_LEAST = typer.Option(
    metavar="T", help="Visit no page more often than this, e.g. 1h.", show_default=False
)
_FORM = typer.Option(
    metavar="F", help="Visits at equal intervals (periodic) or at random instants (randomised)."
)
_CURVE = typer.Option("--curve", help="Write what other budgets would buy, one row per budget.")
_PLOT = typer.Option(
    metavar="F", help="Draw what budgets buy to F: .svg or .png.", show_default=False
)


def plan(
    file: Annotated[Path, _FILE],
    *,
    budget: Annotated[str, _BUDGET],
    objective: Annotated[str, _OBJECTIVE] = "harmonic",
    per_host: Annotated[str, _PER_HOST] = "",
    max_interval: Annotated[str, _MOST] = "",
    min_interval: Annotated[str, _LEAST] = "",
    form: Annotated[str, _FORM] = "periodic",
    curve: Annotated[bool, _CURVE] = False,
    plot: Annotated[Path | None, _PLOT] = None,
    column: Annotated[list[str] | None, shared.COLUMN] = None,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Plan how often to visit each page within a budget.

    FILE has one row per page: page and rate_per_day and, optionally, shape and
    exposure_days (the uncertainty of the rate), weight and host, as written by
    `recrawl estimate`. Writes one row per page: visits per day, days between visits,
    expected freshness and the value of one more visit per day. If FILE is the
    store of a crawl, rates are those that `recrawl pages` shows; its settings
    are ignored. Nothing is fetched and FILE is not changed.

    \b
    Examples:
        recrawl plan rates.csv --budget 5000/1d
        recrawl plan rates.csv --budget 5000/1d --per-host 60/1h -o plan.csv
        recrawl plan rates.csv --budget 5000/1d --curve --plot budget.svg
        recrawl plan recrawl.db --budget 5000/1d
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.pictures import check_picture, write_picture
    from recrawl.adapters.tables.rates import NEEDED, OPTIONAL, read_rates
    from recrawl.report.plans import curve_chart

    out = shared.Output.of(file, as_csv=as_csv, as_json=as_json, file=output)
    if form == _FORMS[1] and (curve or plot is not None):
        raise typer.BadParameter("--curve and --plot need --form periodic")
    question = _PlanRequest(budget, objective, per_host, (max_interval, min_interval), form)
    names = options.renamed(column or [], (*NEEDED, *OPTIONAL))
    if plot is not None:
        check_picture(plot)
    table = read_rates(file, names)
    answer = question.answered(file, table)
    budgets = question.curve(answer) if curve or plot is not None else None
    if plot is not None and budgets is not None:
        write_picture(plot, curve_chart(budgets, budget=answer.plan.budget))
    if curve and budgets is not None:
        _put_curve(budgets, out)
    else:
        _put(table, answer.plan, out)
    for sentence in _remarks(file, answer):
        screen.remark(sentence)


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """A plan, and what it was made from."""

    plan: Plan
    limits: Limits
    hosts: Sequence[str]
    unknown: int


class _PlanRequest:
    """The options of a plan, checked before anything is read."""

    def __init__(
        self, budget: str, objective: str, per_host: str, intervals: tuple[str, str], form: str
    ) -> None:
        from recrawl.errors import InvalidParameter
        from recrawl.plan import OBJECTIVES
        from recrawl.plan.budget import Budget
        from recrawl.units import days

        check_choice(OBJECTIVES, objective=objective)
        check_choice(_FORMS, form=form)
        self.budget, self.objective = Budget.read(budget), OBJECTIVES[objective]
        self.per_host = Budget.read(per_host) if per_host else None
        if self.per_host is not None and self.per_host.each != "crawl":
            raise InvalidParameter(f"visits to one host must look like 60/1h (got {per_host!r})")
        longest, shortest = (days(word) if word else 0.0 for word in intervals)
        self.least = 1 / longest if longest else 0.0
        self.most = 1 / shortest if shortest else float("inf")
        self.randomised = form == _FORMS[1]

    def answered(self, file: Path, table: RateTable) -> _Answer:
        """A plan for the pages of a table."""
        from recrawl.adapters.tables.rates import hosts_of
        from recrawl.adapters.tables.text_files import TextCells
        from recrawl.plan import Limits, allocate, allocate_randomised

        hosts: Sequence[str] = ()
        limits = Limits(self.least, self.most)
        if self.per_host is not None:
            coded = TextCells(table.host or hosts_of(file, table.pages)).coded()
            hosts = coded.words
            limits = Limits(self.least, self.most, coded.codes, self.per_host.visits)
        rates, unknown = _rates(table, certain=self.randomised)
        spend = allocate_randomised if self.randomised else allocate
        found = spend(
            rates,
            self._visits(rates.rate),
            objective=self.objective,
            weight=table.figures.get("weight"),
            limits=limits,
        )
        return _Answer(found, limits, hosts, unknown)

    def _visits(self, rate: Floats) -> float:
        """Visits per day that the budget allows; for one per change, by the expected changes."""
        if self.budget.each == "change":
            return self.budget.visits * float(rate.sum())
        return self.budget.visits_a_day(len(rate))

    def curve(self, answer: _Answer) -> BudgetCurve:
        """What other budgets would buy, if they suffice for all minimum rates."""
        import numpy as np

        from recrawl.plan import budget_curve

        plan = answer.plan
        budgets = plan.budget * np.geomspace(1 / _CURVE_SPAN, _CURVE_SPAN, _CURVE_STEPS)
        floors = self.least * len(plan)
        return budget_curve(
            plan.rates,
            budgets[budgets >= floors],
            objective=plan.objective,
            weight=plan.weight,
            limits=answer.limits,
        )


def _rates(table: RateTable, *, certain: bool) -> tuple[Rates, int]:
    """Rates of all pages, as distributions if the file has some, and how many pages have none."""
    import numpy as np

    from recrawl.plan import Rates

    rate = table.figures["rate_per_day"]
    nothing = np.full(len(rate), np.nan)
    # A page that changed in every gap may have no rate, but a lower end of its band.
    low = table.figures.get("low", nothing)
    rate = np.where(np.isnan(rate) & (low > 0), low, rate)
    shape = table.figures.get("shape", nothing)
    exposure = table.figures.get("exposure_days", nothing)
    spread = (shape > 0) & (exposure > 0)
    unknown = np.isnan(rate) & ~spread
    if certain or not (spread | unknown).any():
        mean = np.divide(shape, exposure, out=nothing, where=spread)
        filled = np.where(np.isnan(rate), mean, rate)
        return Rates.known(np.where(unknown, _UNSEEN[0] / _UNSEEN[1], filled)), int(unknown.sum())
    sure = np.maximum(np.where(np.isnan(rate), 1.0, rate), _LEAST_RATE)
    events = np.where(spread, shape, np.where(unknown, _UNSEEN[0], _SURE))
    days = np.where(spread, exposure, np.where(unknown, _UNSEEN[1], _SURE / sure))
    return Rates.gamma(events, days), int(unknown.sum())


def _put(table: RateTable, plan: Plan, out: shared.Output) -> None:
    """Print the first pages as a table, or write all rows."""
    from recrawl.report.plans import HEADER, plan_columns, plan_words

    if out.interactive:
        words = plan_words(table.pages[: screen.MOST_ROWS], plan)
        shared.show(HEADER, words, total=len(table.pages))
    else:
        out.write(table.pages, plan_columns(plan))


def _put_curve(curve: BudgetCurve, out: shared.Output) -> None:
    from recrawl.report.plans import CURVE_HEADER, budget_words, curve_columns, curve_words

    names = [budget_words(visits) for visits in curve.budget.tolist()]
    if out.interactive:
        screen.show_table(CURVE_HEADER, curve_words(names, curve), left=())
    else:
        out.write(names, curve_columns(curve), first="budget")


def _remarks(file: Path, answer: _Answer) -> list[str]:
    """What is spent, and what it buys."""
    from recrawl.plan import OBJECTIVES, uniform
    from recrawl.report.plans import budget_words, figure
    from recrawl.report.words import counted

    plan = answer.plan
    evenly = uniform(plan.rates, plan.spent, weight=plan.weight)
    pages = counted(len(plan), "page")
    visits = budget_words(plan.spent)
    if plan.spent < plan.budget * (1 - 1e-9):
        visits += f" of {budget_words(plan.budget)}: every page worth visiting is at its maximum"
    fresh, even = (f"{100 * some.mean_freshness:.1f} %" for some in (plan, evenly))
    worth = f"one more visit per day is worth {figure(plan.price)}"
    said = f"Expected freshness {fresh}; {even} if all pages were visited equally often"
    aim = next(name for name, each in OBJECTIVES.items() if each == plan.objective)
    if plan.mean_freshness < evenly.mean_freshness and fresh != even and aim != "freshness":
        said += f", but the plan optimises {aim}, not freshness"
    lines = [f"{pages} of {file}, planned for {visits}; {worth}.", f"{said}."]
    starved = int(plan.starved.sum())
    if starved:
        lines.append(f"{counted(starved, 'page')} never visited: other pages are worth more.")
    if plan.host_price is not None:
        full = int((plan.host_price > plan.price).sum())
        lines.append(f"{full:,} of {len(answer.hosts):,} hosts at their limit.")
    if answer.unknown:
        lines.append(
            f"{answer.unknown:,} without a rate: treated as never visited, "
            f"{_UNSEEN[0]:g} changes in {_UNSEEN[1]:g} days."
        )
    return [*lines, *_of_store(file)]


def _of_store(file: Path) -> list[str]:
    """What the rates of a store are based on, and what a plan for it leaves out."""
    from recrawl.report.words import counted, every
    from recrawl.store import is_store, open_store
    from recrawl.units import epoch_days

    if not is_store(file):
        return []
    with open_store(file) as reader:
        visits = reader.last_visit()
        began, ended = (
            float(epoch_days(next(reader.outcomes(after, rows=1)).at)[0])
            for after in (0, visits - 1)
        )
    made = f"{counted(visits, 'visit')} in {every(max(ended - began, 0.0))}"
    return [
        f"Rates are estimated from {made} and assumed to stay constant.",
        "The crawl's settings are ignored; `recrawl status` takes them into account.",
    ]
