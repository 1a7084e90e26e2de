"""`recrawl trends`: trends in the change rates of pages.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, screen, shared

if TYPE_CHECKING:
    from recrawl.adapters.tables.visits import VisitReading
    from recrawl.arrays.texts import Texts
    from recrawl.cli.trends.pages import TrendPages, TrendRequest
    from recrawl.report.trends import Table

_FILE = typer.Argument(
    metavar="FILE",
    help="Visits as for estimate, or all changes (page, changed_at): CSV, JSON lines or Parquet.",
    show_default=False,
)
_PAGE = typer.Option(metavar="P", help="Only this page.", show_default=False)
_BY = typer.Option(
    metavar="B", help="Write local rates by month, weekday, hour or year.", show_default=False
)
_BETWEEN = typer.Option(
    metavar="A B", help="Write local rates between two instants.", show_default=False
)
_WINDOWS = typer.Option(
    "--windows", help="Write the consistent windows, with the error of each estimator."
)
_TEST = typer.Option("--test", help="Write a trend test of each page.")
_PREDICT = typer.Option("--predict", help="Write the next change, by each method.")
_PLACE = typer.Option(
    metavar="WHERE", help="Place of an undated change within its gap: middle, end or random."
)
_THRESHOLD = typer.Option(help="Points of a window that may contradict its state.", min=0)
_PLOT = typer.Option(
    metavar="F",
    help="Draw the one --page to F (.svg or .png): its timeline, or with --windows its Duane plot.",
    show_default=False,
)

_NEXT_LEVEL = 0.8  # of the band of the next change


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
    """Find trends in the change rate of each page, and predict the next change.

    FILE holds visits, as for estimate, or all changes of each page. Writes one
    row per page: the state of its last consistent window, beta with a band, the
    current rate, the p-value of a trend, whether it changes regularly or in
    bursts, and the next change with an 80 % band. --windows, --test, --predict,
    --by and --between write other tables instead. FILE is not changed.

    \b
    Examples:
        recrawl trends visits.csv
        recrawl trends visits.csv --page https://example.org/ --by month
        recrawl trends changes.csv --windows --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.tables.columns import TableInput
    from recrawl.adapters.tables.visits import CHANGE_TIME, NEEDED, OPTIONAL, VisitReading
    from recrawl.cli.trends import pictures as trend_pictures
    from recrawl.cli.trends.pages import TrendRequest, read_pages

    out = shared.Output.of(file, as_csv=as_csv, as_json=as_json, file=output)
    request = TrendRequest(page, by, between, windows, test, predict, place, threshold, level)
    _check(request, plot)
    names = options.renamed(column or [], (*NEEDED, *OPTIONAL, CHANGE_TIME), site_column)
    with screen.progress("reading visits") as progress:
        table_input = TableInput(file, names, skip_bad_rows, progress)
        reading = VisitReading(table_input, change_times=True)
        pages = read_pages(reading, request)
    table = _table_of(pages, request)
    _put(table, pages.names, out)
    if page and out.interactive:
        _show_months(pages)
    if plot is not None:
        trend_pictures.draw(plot, pages, request)
    _remarks(pages, reading)
    if "kind" in table.columns:
        _warn(table)


def _check(request: TrendRequest, plot: Path | None) -> None:
    """Raise for options that conflict, before anything is read."""
    from recrawl.cli.trends.pictures import check_plot

    tables = [request.by, request.between, request.windows, request.test, request.predict]
    if sum(map(bool, tables)) > 1:
        message = "--windows, --test, --predict, --by and --between exclude each other"
        raise typer.BadParameter(message)
    request.check()
    if plot is not None:
        check_plot(plot, request.page)


def _table_of(pages: TrendPages, request: TrendRequest) -> Table:
    """The table that was asked for."""
    if request.windows:
        return _window_table(pages)
    if request.test:
        return _test_table(pages)
    if request.predict:
        return _next_table(pages)
    if request.by or request.between is not None:
        return _local_table(pages, request)
    return _page_table(pages)


def _window_table(pages: TrendPages) -> Table:
    from recrawl.report.trends import window_table
    from recrawl.trends.fits import fit_windows

    fits = fit_windows(pages.points, pages.windows, level=pages.level)
    return window_table(pages.points, pages.windows, fits)


def _test_table(pages: TrendPages) -> Table:
    from recrawl.report.trends import test_table
    from recrawl.trends.trend_test import TrendStatus, trend_test

    return test_table(trend_test(pages.histories), [status.name.lower() for status in TrendStatus])


def _next_table(pages: TrendPages) -> Table:
    from recrawl.report.trends import next_table
    from recrawl.trends.next_change import next_changes

    found = next_changes(
        pages.histories, pages.points, pages.windows, priors=pages.priors, level=_NEXT_LEVEL
    )
    return next_table(found, pages.histories.last_visit)


def _local_table(pages: TrendPages, request: TrendRequest) -> Table:
    from recrawl.rates.estimates import STATUS_NAMES
    from recrawl.report.trends import local_table
    from recrawl.trends.local_rates import local_rates, rates_between

    if request.by:
        found = local_rates(pages.histories, request.by, priors=pages.priors, level=pages.level)
    else:
        start, end = request.instants()
        found = rates_between(pages.histories, start, end, priors=pages.priors, level=pages.level)
    return local_table(found, STATUS_NAMES)


def _page_table(pages: TrendPages) -> Table:
    from recrawl.rates.bank import Bank
    from recrawl.rates.estimates import STATUS_NAMES
    from recrawl.report.rates import Named
    from recrawl.report.trends import Summary, page_table
    from recrawl.trends.fits import fit_windows
    from recrawl.trends.next_change import next_changes
    from recrawl.trends.regularity import KINDS, regularity
    from recrawl.trends.trend_test import trend_test

    histories, points, windows = pages.histories, pages.points, pages.windows
    now = Bank(pages.priors, level=pages.level).estimate(histories)
    waits = next_changes(histories, points, windows, priors=pages.priors, level=_NEXT_LEVEL)
    return page_table(
        Summary(
            points=points,
            windows=windows,
            fits=fit_windows(points, windows, level=pages.level),
            rate=now.rate,
            test=trend_test(histories),
            kinds=Named(regularity(histories).kind, KINDS),
            next_change=waits["bank"],
            last_visit=histories.last_visit,
            status=Named(now.status, STATUS_NAMES),
        )
    )


def _put(table: Table, names: Texts, out: shared.Output) -> None:
    """Print the first rows as a table, or write all rows."""
    from recrawl.report.trends import shown

    if not out.interactive:
        out.write(names.take(table.page), table.columns)
        return
    some = table.first(screen.MOST_ROWS)
    header, words = shown(some)
    pages = names.take(some.page).tolist()
    rows = [[page, *row] for page, row in zip(pages, words, strict=True)]
    shared.show(["page", *header], rows, total=len(table.page), unit="rows")


def _show_months(pages: TrendPages) -> None:
    """Print the rate of the one page by month."""
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


def _remarks(pages: TrendPages, reading: VisitReading) -> None:
    """Print what was read."""
    from recrawl.report.words import counted

    what = "all changes" if reading.complete else "visits"
    screen.remark(f"{counted(len(pages.names), 'page')} of {reading.table.path} ({what}).")
    if reading.table.skipped:
        screen.remark(f"{counted(reading.table.skipped, 'malformed row')} skipped.")


def _warn(table: Table) -> None:
    """Warn where a constant rate would mislead."""
    from collections import Counter

    from recrawl.report.words import counted
    from recrawl.trends.regularity import WARNINGS

    for kind, count in Counter(table.columns["kind"].tolist()).items():
        if kind in WARNINGS:
            screen.remark(f"{counted(count, 'page')} {kind}: {WARNINGS[kind]}.")
