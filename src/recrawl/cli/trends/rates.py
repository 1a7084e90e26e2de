"""`recrawl trends rates`: the rate of each page in a period.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, shared
from recrawl.cli.trends import shared as trends_shared
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.analysis.trends import TrendPages
    from recrawl.arrays.types import Instants
    from recrawl.report.trends import Table

_BY = typer.Option(
    metavar="PERIOD",
    help="Cut by month, weekday, hour or year.  [default: month]",
    show_default=False,
)
_BETWEEN = typer.Option(metavar="A B", help="Only between two instants.", show_default=False)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot the rate of the one --page in each period to FILE: .svg or .png.",
    show_default=False,
)


@shared.with_options(trends_shared.trend_options, "read_as")
def rates(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    by: Annotated[str, _BY] = "",
    between: Annotated[tuple[str, str] | None, _BETWEEN] = None,
    page: Annotated[str, trends_shared.PAGE] = "",
    plot: Annotated[Path | None, _PLOT] = None,
    level: Annotated[float, shared.LEVEL] = 0.9,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Show the change rates by month, or between two instants.

    Writes one row per page and period: its changes, the days watched, and the
    rate with a band.

    \b
    Examples:
        recrawl trends rates visits.csv --by month
        recrawl trends rates visits.csv --between 2026-01-01 2026-02-01
        recrawl trends rates visits.csv --page https://example.org/ --plot months.svg
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_level(level)
    ends = _check(by, between)
    trends_shared.check_plot(plot, page)
    if plot is not None and ends is not None:
        raise typer.BadParameter("--plot and --between exclude each other")
    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(found.rows(lambda pages: _rows(pages, by, ends, level)), out)
        only = next(found.parts()) if plot is not None else None
    trends_shared.show(first)
    if only is not None and plot is not None:
        _draw(plot, only, by or "month", level)
    trends_shared.remarks(found)


def _check(by: str, between: tuple[str, str] | None) -> Instants | None:
    """Check the periods before anything is read; the ends of `between`, if given."""
    import numpy as np

    from recrawl.analysis.trends import PERIODS
    from recrawl.checks import check_choice

    if by and between is not None:
        raise typer.BadParameter("--by and --between exclude each other")
    if between is None:
        check_choice(PERIODS, by=by or "month")
        return None
    ends = np.array([options.moment(text).replace(tzinfo=None) for text in between], "M8[us]")
    if not ends[0] < ends[1]:
        message = f"--between must begin with the earlier instant (got {ends[0]} and {ends[1]})"
        raise InvalidParameter(message)
    return ends


def _draw(path: Path, found: TrendPages, by: str, level: float) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.charts.periods import period_chart
    from recrawl.trends.local_rates import local_rates

    rates = local_rates(found.histories, by, priors=found.priors, level=level)
    title = found.names.tolist()[0]
    write_picture(path, period_chart(rates, by=by, title=title, level=level))


def _rows(pages: TrendPages, by: str, ends: Instants | None, level: float) -> Table:
    from recrawl.analysis.trends import period_rows
    from recrawl.rates.estimates import STATUS_NAMES
    from recrawl.report.trends import local_table
    from recrawl.trends.local_rates import rates_between

    if ends is None:
        return period_rows(pages, by or "month", level)
    start, end = ends
    between = rates_between(pages.histories, start, end, priors=pages.priors, level=level)
    return local_table(between, STATUS_NAMES)
