"""`recrawl trends next`: the next change of each page, by each method.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared

if TYPE_CHECKING:
    from recrawl.analysis.trends import TrendPages
    from recrawl.report.trends import Table


@shared.with_options(trends_shared.trend_options, "read_as")
def next_change(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    reading: Annotated[str, trends_shared.READING] = "likelihood",
    threshold: Annotated[float, trends_shared.THRESHOLD] = 3,
    backward: Annotated[bool, trends_shared.BACKWARD] = False,
    level: Annotated[float, trends_shared.NEXT_LEVEL] = 0.8,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Predict the next change of each page, by several methods.

    Writes one row per page and method: the median of the next change, and a band.

    \b
    Examples:
        recrawl trends next visits.csv
        recrawl trends next changes.csv --level 0.9 --csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.trends import next_rows
    from recrawl.trends.windows import consistent_windows

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_level(level)
    trends_shared.check_place(place)
    windowing = trends_shared.windowing_of(reading, threshold, backward=backward)

    def rows(pages: TrendPages) -> Table:
        points = pages.points(place)
        return next_rows(pages, points, consistent_windows(points, windowing), level)

    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(found.rows(rows), out)
    trends_shared.show(first)
    trends_shared.remarks(found)
