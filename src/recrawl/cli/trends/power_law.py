"""`recrawl trends power-law`: a rate that rises or falls as a power of age, page by page.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared


@shared.with_options(trends_shared.trend_options, "read_as")
def power_law(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    level: Annotated[float, shared.LEVEL] = 0.9,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Fit a rate that is a power of age to the visits of each page.

    Writes one row per page: beta with a band, eta, the rate at the last visit, and
    the log-likelihood gained over a constant rate. The age of a page is counted
    from its first visit. Hidden changes need no place in their gaps.

    \b
    Examples:
        recrawl trends power-law visits.csv
        recrawl trends power-law changes.csv --level 0.95 --csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.trends import power_rows

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_level(level)
    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(found.rows(lambda pages: power_rows(pages, level)), out)
    trends_shared.show(first)
    trends_shared.remarks(found)
