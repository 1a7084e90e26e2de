"""`recrawl trends next`: the next change of each page, by each method.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared


@shared.with_options(shared.log_options, "read_as")
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
    read_as: TableOptions,
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
    found = trends_shared.TrendReader(files, page, read_as).read()
    points = found.points(place)
    windows = consistent_windows(points, windowing)
    trends_shared.put(next_rows(found, points, windows, level), found, out)
    trends_shared.remarks(found)
