"""`recrawl trends windows`: the consistent windows of each page.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared

if TYPE_CHECKING:
    from recrawl.analysis.trends import TrendPages
    from recrawl.report.trends import Table
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows

_PLOT = typer.Option(
    metavar="FILE",
    help="Plot the Duane plot of the windows of the one --page to FILE: .svg or .png.",
    show_default=False,
)


@shared.with_options(trends_shared.trend_options, "read_as")
def windows(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    reading: Annotated[str, trends_shared.READING] = "likelihood",
    threshold: Annotated[float, trends_shared.THRESHOLD] = 3,
    backward: Annotated[bool, trends_shared.BACKWARD] = False,
    variant: Annotated[str, trends_shared.VARIANT] = "corrected",
    level: Annotated[float, shared.LEVEL] = 0.9,
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Cut the changes of each page into windows, each with one trend.

    Writes one row per window: whether its rate is constant, increasing or
    decreasing, beta and eta of its Weibull process, beta with a band, the rate at
    its end, and the mean square and the sum of errors of each estimator in it.

    \b
    Examples:
        recrawl trends windows changes.csv --json
        recrawl trends windows changes.csv --reading point --threshold 3
        recrawl trends windows visits.csv --page https://example.org/ --plot duane.svg
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.trends import window_rows
    from recrawl.trends.windows import consistent_windows

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_level(level)
    trends_shared.check_place(place)
    windowing = trends_shared.windowing_of(reading, threshold, backward=backward)
    trends_shared.check_plot(plot, page)
    chosen = trends_shared.variant_of(variant)

    def rows(pages: TrendPages) -> Table:
        points = pages.points(place)
        return window_rows(points, consistent_windows(points, windowing), level, chosen)

    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(found.rows(rows), out)
        if plot is not None:
            (one,) = found.parts()
            points = one.points(place)
            _draw(plot, points, consistent_windows(points, windowing), page)
    trends_shared.show(first)
    trends_shared.remarks(found)


def _draw(path: Path, points: Points, cut: Windows, page: str) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.analysis.trend_pictures import duane_plot

    write_picture(path, duane_plot(points, cut, title=page))
