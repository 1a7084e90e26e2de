"""`recrawl trends`: rates that move, page by page.

Touches: files, the standard streams.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from recrawl.adapters.tables import Reading
    from recrawl.rates.priors import Priors
    from recrawl.report.charts import Chart
    from recrawl.report.trend_charts import RateSteps
    from recrawl.report.trends import Table
    from recrawl.trends.points import Place, Points
    from recrawl.trends.windows import Windows
    from recrawl.visits.arrays import Instants, Ints
    from recrawl.visits.histories import Histories
    from recrawl.visits.texts import Texts

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

_PERIODS = ("month", "weekday", "hour", "year")
_ALL_OF_IT = 1 << 62  # trends are worked out in memory
_FEW_DAYS = 120  # of a timeline that months would cut into too few pieces
_MANY_DAYS = 3650  # of one that months would cut into too many
_PIECES = 8
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
    from recrawl.adapters.tables import CHANGE_TIME, NEEDED, OPTIONAL, Reading
    from recrawl.cli import options, screen
    from recrawl.rates.estimates import check_level

    shared.check_one_format(as_csv=as_csv, as_json=as_json, output=output)
    if sum([bool(by), between is not None, windows, test, predict]) > 1:
        message = "only one of --windows, --test, --predict, --by and --between can be given"
        raise typer.BadParameter(message)
    check_level(level)
    wanted = _Wanted(page, by, between, windows, test, predict, place, threshold, level)
    wanted.check()
    if output is not None:
        shared.check_place(output, file)
    if plot is not None:
        _check_plot(plot, page)
    names = options.renamed(column or [], (*NEEDED, *OPTIONAL, CHANGE_TIME))
    with screen.progress("reading visits") as progress:
        reading = Reading(file, names, site_column or None, skip_bad_rows, progress, True)
        pages = _read(reading, wanted)
    header, make = _maker(wanted)
    table = make(pages)
    kind = "json" if as_json else "csv" if as_csv else ""
    _put(header, table, pages.names, kind, output)
    if page and not kind and output is None and screen.is_terminal(sys.stdout):
        _show_months(pages)
    if plot is not None:
        _draw(plot, pages, wanted)
    _remarks(pages, reading)
    if "kind" in table.columns:
        _warn(table)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What was asked for."""

    page: str
    by: str
    between: tuple[str, str] | None
    windows: bool
    test: bool
    predict: bool
    place: str
    threshold: float
    level: float

    def check(self) -> None:
        """Refuse words that mean nothing, before anything is read."""
        from recrawl.errors import InvalidParameter
        from recrawl.trends.points import PLACES

        if self.by and self.by not in _PERIODS:
            message = f"by must be one of {', '.join(_PERIODS)} (got {self.by!r})"
            raise InvalidParameter(message)
        if self.place not in PLACES:
            message = f"place must be one of {', '.join(PLACES)} (got {self.place!r})"
            raise InvalidParameter(message)
        if self.between is not None:
            start, end = self.instants()
            if not start < end:
                message = f"between must be an earlier and a later instant (got {start} and {end})"
                raise InvalidParameter(message)

    def instants(self) -> tuple[np.datetime64, np.datetime64]:
        """The two ends of `between`."""
        import numpy as np

        from recrawl.cli import options

        assert self.between is not None  # noqa: S101 - asked for only where it was given
        start, end = (options.moment(text).replace(tzinfo=None) for text in self.between)
        return np.datetime64(start, "us"), np.datetime64(end, "us")


def _check_plot(plot: Path, page: str) -> None:
    """Refuse a picture that cannot be drawn, before anything is read."""
    from recrawl.adapters.pictures import check_picture

    check_picture(plot)
    if not page:
        message = "--plot needs --page"
        raise typer.BadParameter(message)


@dataclass(frozen=True, slots=True, eq=False)
class _Pages:
    """All pages that are wanted, in the order of the file."""

    names: Texts
    histories: Histories
    priors: Priors
    points: Points
    windows: Windows
    level: float
    complete: bool


def _read(reading: Reading, wanted: _Wanted) -> _Pages:
    """Read the whole file; one of all changes tells of the time between them, too."""
    import numpy as np

    from recrawl.adapters.logs import Log
    from recrawl.cli.estimate import fit
    from recrawl.rates.priors import Priors
    from recrawl.trends.points import PLACES, points_of, watched_all_the_time
    from recrawl.trends.windows import Windowing, consistent_windows
    from recrawl.visits.histories import Histories
    from recrawl.visits.texts import Texts

    with Log(reading, _ALL_OF_IT, Path()) as log:
        fitted, pieces = fit(log), list(log.pieces())
    names = Texts.joined([piece.names for piece in pieces])
    histories = Histories.joined([piece.histories for piece in pieces])
    site = np.concatenate([piece.site for piece in pieces])
    rows = np.argsort(np.concatenate([piece.position for piece in pieces]), kind="stable")
    if wanted.page:
        rows = _only(names, rows, wanted.page, reading)
    names, histories = names.take(rows), histories.take(rows)
    if reading.complete:
        histories = watched_all_the_time(histories)
    places: dict[str, Place] = {name: name for name in PLACES}
    place = "end" if reading.complete else places[wanted.place]
    points = points_of(histories, place=place, random=np.random.default_rng(0))
    windows = consistent_windows(points, Windowing(threshold=wanted.threshold))
    priors = Priors(fitted.shape, fitted.exposure, site[rows])
    return _Pages(names, histories, priors, points, windows, wanted.level, reading.complete)


def _only(names: Texts, rows: Ints, page: str, reading: Reading) -> Ints:
    """Row of one page."""
    from recrawl.errors import InvalidTable

    known = names.tolist()
    if page not in known:
        message = f"{reading.path}: page must be in the file (got {page!r})"
        raise InvalidTable(message)
    only: Ints = rows[rows == known.index(page)]
    return only


def _maker(wanted: _Wanted) -> tuple[tuple[str, ...], Callable[[_Pages], Table]]:
    """Header of the table that is wanted, and what makes it."""
    from recrawl.report import trends as report

    if wanted.windows:
        return report.WINDOW_COLUMNS, _window_table
    if wanted.test:
        return report.TEST_COLUMNS, _test_table
    if wanted.predict:
        return report.NEXT_COLUMNS, _next_table
    if wanted.by or wanted.between is not None:
        return report.LOCAL_COLUMNS, lambda pages: _local_table(pages, wanted)
    return report.PAGE_COLUMNS, _page_table


def _window_table(pages: _Pages) -> Table:
    from recrawl.report.trends import window_table
    from recrawl.trends.fits import fit_windows

    fits = fit_windows(pages.points, pages.windows, level=pages.level)
    return window_table(pages.points, pages.windows, fits)


def _test_table(pages: _Pages) -> Table:
    from recrawl.report.trends import test_table
    from recrawl.trends.trend_test import TrendStatus, trend_test

    return test_table(trend_test(pages.histories), [status.name.lower() for status in TrendStatus])


def _next_table(pages: _Pages) -> Table:
    from recrawl.report.trends import next_table
    from recrawl.trends.next_change import next_changes

    found = next_changes(
        pages.histories, pages.points, pages.windows, priors=pages.priors, level=_NEXT_LEVEL
    )
    return next_table(found, pages.histories.last_visit)


def _local_table(pages: _Pages, wanted: _Wanted) -> Table:
    from recrawl.rates.estimates import STATUS_NAMES
    from recrawl.report.trends import local_table
    from recrawl.trends.local_rates import local_rates, rates_between

    if wanted.by:
        found = local_rates(pages.histories, wanted.by, priors=pages.priors, level=pages.level)
    else:
        start, end = wanted.instants()
        found = rates_between(pages.histories, start, end, priors=pages.priors, level=pages.level)
    return local_table(found, STATUS_NAMES)


def _page_table(pages: _Pages) -> Table:
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


def _put(
    header: tuple[str, ...], table: Table, names: Texts, kind: str, output: Path | None
) -> None:
    """Print a table, or write all rows where they are wanted."""
    from recrawl.adapters.outputs import to_file, to_standard_output
    from recrawl.cli import screen
    from recrawl.report.trends import shown

    rows_of = names.take(table.page)
    if output is None and not kind and screen.is_terminal(sys.stdout):
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
    target = (
        to_standard_output(kind or "csv", header) if output is None else to_file(output, header)
    )
    with target as writer:
        writer.write(rows_of, table.columns)


def _show_months(pages: _Pages) -> None:
    """Print how the one page's rate moved from month to month."""
    from recrawl.cli import screen
    from recrawl.report.sparks import spark
    from recrawl.report.words import every
    from recrawl.trends.local_rates import local_rates

    months = local_rates(pages.histories, "month", priors=pages.priors, level=pages.level)
    if not len(months):
        return
    first, last, most = months.period[0], months.period[-1], float(months.rate.max())
    screen.say("")
    screen.say(f"rate by month, {first} to {last}, highest: one change in {every(1 / most)}:")
    screen.say(spark(months.rate.tolist()))


def _remarks(pages: _Pages, reading: Reading) -> None:
    """Say on stderr what was read."""
    from recrawl.cli import screen

    count = len(pages.names)
    what = "all changes" if reading.complete else "visits"
    named = "1 page" if count == 1 else f"{count:,} pages"
    screen.remark(f"{named} of {reading.path} ({what}).")
    if reading.skipped:
        screen.remark(f"{reading.skipped:,} malformed rows were left out.")


def _warn(table: Table) -> None:
    """Say on stderr where a constant rate would mislead."""
    from collections import Counter

    from recrawl.cli import screen
    from recrawl.trends.regularity import WARNINGS

    for kind, count in Counter(table.columns["kind"].tolist()).items():
        if kind in WARNINGS:
            pages = "1 page" if count == 1 else f"{count:,} pages"
            screen.remark(f"{pages} {kind}: {WARNINGS[kind]}.")


def _draw(path: Path, pages: _Pages, wanted: _Wanted) -> None:
    """Draw the one page: its timeline, or the Duane plot of its windows."""
    from recrawl.adapters.pictures import write_picture

    chart = _duane(pages, wanted.page) if wanted.windows else _timeline(pages, wanted.page)
    write_picture(path, chart)


def _duane(pages: _Pages, title: str) -> Chart:
    from recrawl.report.trend_charts import DuaneLine, duane_chart
    from recrawl.trends.duane import Duane
    from recrawl.trends.window_times import WindowTimes

    times = WindowTimes.of(pages.points, pages.windows)
    fit = Duane.of(times)
    lines = [
        DuaneLine(
            times.since[times.offsets[row] : times.offsets[row + 1]],
            float(fit.slope[row]),
            float(fit.intercept[row]),
            name=f"window {row + 1}",
        )
        for row in range(len(pages.windows))
    ]
    return duane_chart(lines, title=title)


def _timeline(pages: _Pages, title: str) -> Chart:
    import numpy as np

    from recrawl.report.trend_charts import Changes, timeline_chart
    from recrawl.trends.clock import visit_instants
    from recrawl.units import MICROSECONDS_A_DAY

    histories, points = pages.histories, pages.points
    begins, ends = visit_instants(histories)
    visits = np.unique(np.concatenate([begins, ends]))
    rows = np.flatnonzero(histories.changed)[: len(points.times)]
    hidden = np.isnan(histories.age[rows]) & (histories.count[rows] < 0)
    nothing = np.datetime64("NaT")
    elapsed = np.rint(points.times * MICROSECONDS_A_DAY).astype("timedelta64[us]")
    changes = Changes(
        histories.first_visit[0] + elapsed,
        np.where(hidden, begins[rows], nothing),
        np.where(hidden, ends[rows], nothing),
    )
    shown = visits[:0] if pages.complete else visits
    return timeline_chart(shown, changes, _steps(pages, visits), title=title)


def _steps(pages: _Pages, visits: Instants) -> RateSteps:
    """Rates by month; by eighths of a time of less than four months, by year in one of decades."""
    import numpy as np

    from recrawl.report.trend_charts import RateSteps
    from recrawl.trends.local_rates import local_rates, rates_between

    span = visits[-1:] - visits[:1]
    if (span < np.timedelta64(_FEW_DAYS, "D")).any():
        edges = np.concatenate([visits[:1] + span * part // _PIECES for part in range(_PIECES + 1)])
        parts = [
            rates_between(pages.histories, start, end, priors=pages.priors, level=pages.level)
            for start, end in pairwise(edges)
        ]
    else:
        by = "month" if (span < np.timedelta64(_MANY_DAYS, "D")).all() else "year"
        parts = [local_rates(pages.histories, by, priors=pages.priors, level=pages.level)]
    columns = ("start", "end", "rate", "low", "high")
    return RateSteps(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))
