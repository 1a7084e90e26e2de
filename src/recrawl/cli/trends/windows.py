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
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows

_PLOT = typer.Option(
    metavar="F",
    help="Draw the Duane plot of the windows of the one --page to F: .svg or .png.",
    show_default=False,
)


def windows(
    file: Annotated[Path, trends_shared.FILE],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    threshold: Annotated[float, trends_shared.THRESHOLD] = 3,
    level: Annotated[float, shared.LEVEL] = 0.9,
    plot: Annotated[Path | None, _PLOT] = None,
    site_column: Annotated[str, shared.SITE_COLUMN] = "",
    column: Annotated[list[str] | None, shared.COLUMN] = None,
    skip_bad_rows: Annotated[bool, shared.SKIP] = False,
    as_csv: Annotated[bool, shared.CSV] = False,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Cut the changes of each page into windows in which its rate moves one way.

    Writes one row per window: its state, beta and eta of its Weibull process, beta
    with a band, the rate at its end, and the error of each estimator in it.

    \b
    Examples:
        recrawl trends windows changes.csv --json
        recrawl trends windows visits.csv --page https://example.org/ --plot duane.svg
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.trends import window_table
    from recrawl.trends.fits import fit_windows
    from recrawl.trends.windows import Windowing, consistent_windows

    out = shared.Output.of(file, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_level(level)
    trends_shared.check_place(place)
    trends_shared.check_plot(plot, page)
    found = trends_shared.TrendReader(file, page, column, site_column, skip_bad_rows).read()
    points = found.points(place)
    cut = consistent_windows(points, Windowing(threshold=threshold))
    table = window_table(points, cut, fit_windows(points, cut, level=level))
    trends_shared.put(table, found, out)
    if plot is not None:
        _draw(plot, points, cut, page)
    trends_shared.remarks(found)


def _draw(path: Path, points: Points, cut: Windows, page: str) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.cli.trends.pictures import duane_plot

    write_picture(path, duane_plot(points, cut, title=page))
