"""`recrawl plan`: rates and a budget in, visits per day for each page out.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import bulk, options, screen, shared
from recrawl.store.places import place_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.rates import RateTable
    from recrawl.analysis.plan import PlanAnswer
    from recrawl.plan import BudgetCurve, Plan

_FILES = typer.Argument(
    metavar="FILE...",
    help="Rates: files, folders, quoted patterns, - for the standard input; or the store of a "
    "crawl.",
    show_default=False,
)
_BUDGET = typer.Option(
    metavar="BUDGET",
    help="Visits to all pages together: 5000/1d, 0.1/page/1d or 4/change.",
    show_default=False,
)
_OBJECTIVE = typer.Option(
    metavar="OBJECTIVE", help="What to optimise: harmonic, freshness, age, missed or detected."
)
_PER_HOST = typer.Option(
    metavar="BUDGET", help="Maximum visits to one host, e.g. 60/1h.", show_default=False
)
_MOST = typer.Option(
    metavar="TIME", help="Visit every page at least this often, e.g. 90d.", show_default=False
)
_LEAST = typer.Option(
    metavar="TIME", help="Visit no page more often than this, e.g. 1h.", show_default=False
)
_FORM = typer.Option(
    metavar="FORM", help="Visits at equal intervals (periodic) or at random instants (randomised)."
)
_WEIGHTS = typer.Option(
    metavar="FILE",
    help="Weights of pages (page, weight), such as page views. Rows of one page add up; pages "
    "not in it get the smallest weight.",
    show_default=False,
)
_CURVE = typer.Option(
    "--curve", help="Write freshness for other budgets instead, one row per budget."
)
_OF_WEIGHTS = {"weights.page": "page", "weights.weight": "weight"}  # in --column
_WEIGHTS_COLUMN = "--column weights.{}={}"
_PLOT = typer.Option(
    metavar="FILE", help="Plot freshness against budget to FILE: .svg or .png.", show_default=False
)


def plan(
    files: Annotated[list[str], _FILES],
    *,
    budget: Annotated[str, _BUDGET],
    objective: Annotated[str, _OBJECTIVE] = "harmonic",
    per_host: Annotated[str, _PER_HOST] = "",
    max_interval: Annotated[str, _MOST] = "",
    min_interval: Annotated[str, _LEAST] = "",
    form: Annotated[str, _FORM] = "periodic",
    weights: Annotated[Path | None, _WEIGHTS] = None,
    curve: Annotated[bool, _CURVE] = False,
    plot: Annotated[Path | None, _PLOT] = None,
    column: Annotated[list[str] | None, shared.COLUMN] = None,
    delimiter: Annotated[str, shared.DELIMITER] = "",
    encoding: Annotated[str, shared.ENCODING] = "",
    engine: Annotated[str, bulk.ENGINE] = "",
    jobs: Annotated[int, bulk.JOBS] = 0,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[str | None, shared.OUTPUT] = None,
) -> None:
    """Plan how often to visit each page within a budget.

    FILE is CSV, JSON, Parquet or Arrow, packed or not; several are one table. It
    has one row per page: page and rate_per_day and, optionally, shape and
    exposure_days (the uncertainty of the rate), weight and host, as written by
    `recrawl estimate`. Writes one row per page: visits per day, days between visits,
    expected freshness and the value of one more visit per day. If FILE is the
    store of a crawl, rates are those that `recrawl pages` shows; its settings
    are ignored. --weights takes any of these formats; its columns are renamed by
    --column weights.page=url. Nothing is fetched and FILE is not changed.

    With --engine every file is a partition, e.g. of what `recrawl estimate --engine`
    wrote: the plan is that of all files together, within one budget, and -o names a
    folder, which gets one file per partition.

    \b
    Examples:
        recrawl plan rates.csv --budget 5000/1d
        recrawl plan rates.csv --budget 5000/1d --per-host 60/1h -o plan.csv
        recrawl plan rates.csv --budget 5000/1d --weights views.csv
        recrawl plan rates.csv --budget 5000/1d --curve --plot budget.svg
        recrawl plan recrawl.db --budget 5000/1d
        recrawl plan 'rates/*.parquet' --budget 1000000/1d --engine local -o plan/
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.pictures import check_picture, write_picture
    from recrawl.adapters.tables.inputs import open_table
    from recrawl.adapters.tables.rates import NEEDED, OPTIONAL, read_rates
    from recrawl.adapters.tables.table_options import (
        COLUMN_OPTION,
        TableOptions,
        delimiter_of,
        encoding_of,
    )
    from recrawl.analysis.bulk.plan import PlanJob
    from recrawl.analysis.plan import RANDOMISED, PlanQuestion
    from recrawl.report.plans import curve_chart

    if form == RANDOMISED and (curve or plot is not None):
        raise typer.BadParameter("--curve and --plot need --form periodic")
    question = PlanQuestion.of(budget, objective, per_host, (max_interval, min_interval), form)
    named = [place_of(each) for each in files]
    names = options.renamed(column or [], (*NEEDED, *OPTIONAL, *_OF_WEIGHTS))
    read_as = TableOptions(
        {ours: theirs for ours, theirs in names.items() if ours not in _OF_WEIGHTS},
        delimiter=delimiter_of(delimiter),
        encoding=encoding_of(encoding),
        rename=COLUMN_OPTION,
    )
    if engine:
        others = {
            "--per-host": per_host,
            "--weights": weights,
            "--curve": curve,
            "--plot": plot,
            "--form randomised": form == RANDOMISED,
            "--csv or --spreadsheet": as_csv is not None,
            "--json": as_json,
        }
        into = bulk.folder(output, others)
        bulk.plan(files, into, PlanJob(question, read_as), engine=engine, jobs=jobs)
        return
    bulk.refuse_jobs(jobs)
    file = None if output is None else Path(output)
    given = [*named, *([weights] if weights else [])]
    out = shared.Output.of(*given, as_csv=as_csv, as_json=as_json, file=file)
    if plot is not None:
        check_picture(plot)
    with open_table(named, read_as) as source:
        table = read_rates(source)
    said: list[str] = []
    if weights is not None:
        table, said = _weighted(table, weights, names)
    answer = question.answer(source.names, table)
    budgets = question.curve(answer) if curve or plot is not None else None
    if plot is not None and budgets is not None:
        write_picture(plot, curve_chart(budgets, budget=answer.plan.budget))
    if curve and budgets is not None:
        _put_curve(budgets, out)
    else:
        _put(table, answer.plan, out)
    for sentence in (*said, *_remarks(source, answer)):
        screen.remark(sentence)


def _weighted(
    table: RateTable, file: Path, names: Mapping[str, str]
) -> tuple[RateTable, list[str]]:
    """Rates with the weights of a file, and what is to be said of it."""
    from recrawl.adapters.tables.inputs import open_table
    from recrawl.adapters.tables.table_options import TableOptions
    from recrawl.adapters.tables.weights import read_weights
    from recrawl.analysis.plan import weighted
    from recrawl.report.plans import weights_sentence

    theirs = {_OF_WEIGHTS[name]: given for name, given in names.items() if name in _OF_WEIGHTS}
    with open_table([file], TableOptions(theirs, rename=_WEIGHTS_COLUMN)) as source:
        weights = read_weights(source)
    table, named = weighted(table, weights)
    sentence = weights_sentence(source.names, weights, named, len(table.pages))
    return table, [*source.remarks, sentence]


def _put(table: RateTable, plan: Plan, out: shared.Output) -> None:
    """Print the first pages as a table, or write all rows."""
    from recrawl.report.plans import HEADER, plan_columns, plan_words

    if out.interactive:
        words = plan_words(table.pages[: screen.most_rows()], plan_columns(plan))
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


def _remarks(source: TableInput, answer: PlanAnswer) -> list[str]:
    """What is spent, and what it buys."""
    from recrawl.analysis.plan import UNSEEN
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
    lines = [f"{pages} of {source.names}, planned for {visits}; {worth}.", f"{said}."]
    starved = int(plan.starved.sum())
    if starved:
        lines.append(f"{counted(starved, 'page')} never visited: other pages are worth more.")
    if plan.host_price is not None:
        full = int((plan.host_price > plan.price).sum())
        lines.append(f"{full:,} of {len(answer.hosts):,} hosts at their limit.")
    if answer.unknown:
        lines.append(
            f"{answer.unknown:,} without a rate: treated as never visited, "
            f"{UNSEEN[0]:g} changes in {UNSEEN[1]:g} days."
        )
    return [*lines, *_of_store(source.path)]


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
