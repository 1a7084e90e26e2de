"""`recrawl trends`: rates that move, page by page.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared

if TYPE_CHECKING:
    from recrawl.adapters.tables.visits import Reading
    from recrawl.arrays.texts import Texts
    from recrawl.cli.trends.pages import Pages, Wanted
    from recrawl.report.trends import Table

_FILE = typer.Argument(
    metavar="FILE",
    help="Visits as for estimate, or all changes (page, changed_at): CSV, JSON lines or Parquet.",
    show_default=False,
)
_PAGE = typer.Option(metavar="P", help="Only this page.", show_default=False)
_BY = typer.Option(
    metavar="B", help="Local rates by month, weekday, hour or year.", show_default=False
)
_BETWEEN = typer.Option(metavar="A B", help="Local rates between two instants.", show_default=False)
_WINDOWS = typer.Option("--windows", help="Consistent windows, with every estimator's error.")
_TEST = typer.Option("--test", help="Test every page for a trend.")
_PREDICT = typer.Option("--predict", help="The next change, by each method.")
_PLACE = typer.Option(
    metavar="WHERE", help="Where in its gap a change without a date lies: middle, end or random."
)
_THRESHOLD = typer.Option(help="Points that may disagree with their window.", min=0)
_PLOT = typer.Option(
    metavar="F",
    help="Draw the one --page to F (.svg or .png): its timeline, with --windows its Duane plot.",
    show_default=False,
)


def trends(
    file: Annotated[Path, _FILE],
    *,
    page: Annotated[str, _PAGE] = "",
    by: Annotated[str, _BY] = "",
    between: Annotated[tuple[str, str] | None, _BETWEEN] = None,
    windows: Annotated[bool, _WINDOWS] = False,
    test: Annotated[bool, _TEST] = False,
    predict: Annotated[bool, _PREDICT] = False,
    place: Annotated[str, _PLACE] = "middle",
    threshold: Annotated[float, _THRESHOLD] = 3,
    level: Annotated[float, shared.LEVEL] = 0.9,
    plot: Annotated[Path | None, _PLOT] = None,
    site_column: Annotated[str, shared.SITE_COLUMN] = "",
    column: Annotated[list[str] | None, shared.COLUMN] = None,
    skip_bad_rows: Annotated[bool, shared.SKIP] = False,
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Say how the rate of each page moves, and when it changes next.

    FILE holds visits, as for estimate, or all changes of each page. Writes a row
    a page: the state of its last consistent window, beta with a band, the rate
    now, the p-value of a trend, whether it changes by the clock or in bursts, and
    the next change with an 80 % band. --windows, --test, --predict, --by and
    --between write other tables instead. FILE is not changed.

    \b
    Examples:
        recrawl trends visits.csv
        recrawl trends visits.csv --page https://example.org/ --by month
        recrawl trends changes.csv --windows --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.tables.visits import CHANGE_TIME, NEEDED, OPTIONAL, Reading
    from recrawl.cli import options, screen
    from recrawl.cli.trends import pictures as trend_pictures
    from recrawl.cli.trends.pages import Wanted, read_pages
    from recrawl.cli.trends.tables import table_of

    kind = shared.check_one_format(as_csv=as_csv, as_json=as_json, output=output)
    wanted = Wanted(page, by, between, windows, test, predict, place, threshold, level)
    _check(wanted, file, output, plot)
    names = options.renamed(column or [], (*NEEDED, *OPTIONAL, CHANGE_TIME))
    with screen.progress("reading visits") as progress:
        reading = Reading(file, names, site_column or None, skip_bad_rows, progress, True)
        pages = read_pages(reading, wanted)
    header, table = table_of(pages, wanted)
    _put(header, table, pages.names, kind, output)
    if page and shared.for_people(kind, output):
        _show_months(pages)
    if plot is not None:
        trend_pictures.draw(plot, pages, wanted)
    _remarks(pages, reading)
    if "kind" in table.columns:
        _warn(table)


def _check(wanted: Wanted, file: Path, output: Path | None, plot: Path | None) -> None:
    """Refuse what cannot be done, before anything is read."""
    from recrawl.cli.trends.pictures import check_plot

    tables = [wanted.by, wanted.between, wanted.windows, wanted.test, wanted.predict]
    if sum(map(bool, tables)) > 1:
        message = "only one of --windows, --test, --predict, --by and --between can be given"
        raise typer.BadParameter(message)
    wanted.check()
    if output is not None:
        shared.check_place(output, file)
    if plot is not None:
        check_plot(plot, wanted.page)


def _put(
    header: tuple[str, ...], table: Table, names: Texts, kind: str, output: Path | None
) -> None:
    """Print a table, or write all rows where they are wanted."""
    from recrawl.cli import screen
    from recrawl.report.trends import shown

    if shared.for_people(kind, output):
        some = table.first(screen.MOST_ROWS)
        words, rows = shown(some)
        pages = names.take(some.page).tolist()
        screen.show_table(
            ["page", *words], [[page, *row] for page, row in zip(pages, rows, strict=True)]
        )
        if len(table.page) > len(rows):
            more = len(table.page) - len(rows)
            screen.remark(f"... and {more:,} more rows; --csv, --json or -o has them all.")
        return
    with shared.target(kind, output, header) as writer:
        writer.write(names.take(table.page), table.columns)


def _show_months(pages: Pages) -> None:
    """Print how the one page's rate moved from month to month."""
    from recrawl.cli import screen
    from recrawl.report.charts.sparks import spark
    from recrawl.report.words import every
    from recrawl.trends.local_rates import local_rates

    months = local_rates(pages.histories, "month", priors=pages.priors, level=pages.level)
    if not len(months):
        return
    first, last, most = months.period[0], months.period[-1], float(months.rate.max())
    screen.say("")
    screen.say(f"rate by month, {first} to {last}, highest: one change in {every(1 / most)}:")
    screen.say(spark(months.rate.tolist()))


def _remarks(pages: Pages, reading: Reading) -> None:
    """Say on stderr what was read."""
    from recrawl.cli import screen
    from recrawl.report.words import counted

    what = "all changes" if reading.complete else "visits"
    screen.remark(f"{counted(len(pages.names), 'page')} of {reading.path} ({what}).")
    if reading.skipped:
        screen.remark(f"{reading.skipped:,} malformed rows were left out.")


def _warn(table: Table) -> None:
    """Say on stderr where a constant rate would mislead."""
    from collections import Counter

    from recrawl.cli import screen
    from recrawl.report.words import counted
    from recrawl.trends.regularity import WARNINGS

    for kind, count in Counter(table.columns["kind"].tolist()).items():
        if kind in WARNINGS:
            screen.remark(f"{counted(count, 'page')} {kind}: {WARNINGS[kind]}.")
