"""`recrawl trends season`: the rate of each page in a coming month.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared

_MONTH = typer.Option(metavar="MONTH", help="Month to forecast, e.g. 2027-01.", show_default=False)


@shared.with_options(trends_shared.trend_options, "read_as")
def season(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    month: Annotated[str, _MONTH],
    page: Annotated[str, trends_shared.PAGE] = "",
    level: Annotated[float, shared.LEVEL] = 0.9,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Forecast the change rate of each page in a given month.

    Reads what was seen before that month. Writes one row per page: the rate
    with a band, the rate in the same month of past years (season), that of the
    last months (recent), and the weight of the season.

    \b
    Examples:
        recrawl trends season visits.csv --month 2027-01
        recrawl trends season changes.csv --month 2027-01 --csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.trends import check_month, season_rows

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_level(level)
    check_month(month, "--month")
    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(found.rows(lambda pages: season_rows(pages, month, level)), out)
    trends_shared.show(first)
    trends_shared.remarks(found)
