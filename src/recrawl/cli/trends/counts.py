"""`recrawl trends counts`: how many changes of each page to expect.

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

_WITHIN = typer.Option(metavar="TIME", help="Time from the last visit on.")
_MOST = typer.Option(metavar="N", help="Write the chances of 0 to N changes.", min=0, max=1000)


@shared.with_options(trends_shared.trend_options, "read_as")
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
    read_as: trends_shared.TrendOptions,
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

    def rows(pages: TrendPages) -> Table:
        points, priors = pages.points(place), pages.priors
        cut = consistent_windows(points, windowing)
        return count_table(
            counts_within(pages.histories, points, cut, priors=priors, days=span, most=most)
        )

    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(found.rows(rows), out)
    trends_shared.show(first)
    trends_shared.remarks(found)
