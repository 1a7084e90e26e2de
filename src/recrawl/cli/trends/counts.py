"""`recrawl trends counts`: how many changes of each page to expect.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.adapters.tables.table_options import TableOptions
from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared

_WITHIN = typer.Option(metavar="TIME", help="Time from the last visit on.")
_MOST = typer.Option(metavar="N", help="Write the chances of 0 to N changes.", min=0, max=1000)


@shared.with_options(shared.log_options, "read_as")
def counts(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    within: Annotated[str, _WITHIN] = "7d",
    most: Annotated[int, _MOST] = 3,
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    reading: Annotated[str, trends_shared.READING] = "likelihood",
    threshold: Annotated[float, trends_shared.THRESHOLD] = 3,
    backward: Annotated[bool, trends_shared.BACKWARD] = False,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: TableOptions,
) -> None:
    """Predict how many changes of each page to expect.

    Writes one row per page and method: the mean number of changes within some time
    from the last visit, and the chance of each number of them.

    \b
    Examples:
        recrawl trends counts visits.csv --within 7d
        recrawl trends counts changes.csv --within 30d --most 10 --json
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.trends import count_table
    from recrawl.trends.counts import counts_within
    from recrawl.trends.windows import consistent_windows
    from recrawl.units import days

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_place(place)
    windowing = trends_shared.windowing_of(reading, threshold, backward=backward)
    span = days(within)
    found = trends_shared.TrendReader(files, page, read_as).read()
    histories, points = found.histories, found.points(place)
    windows = consistent_windows(points, windowing)
    expected = counts_within(histories, points, windows, priors=found.priors, days=span, most=most)
    trends_shared.put(count_table(expected), found, out)
    trends_shared.remarks(found)
