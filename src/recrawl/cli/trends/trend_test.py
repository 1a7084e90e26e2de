"""`recrawl trends test`: whether the rate of each page has a trend.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared


@shared.with_options(trends_shared.trend_options, "read_as")
def trend_test(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Test whether the change rate of each page rises or falls.

    Writes one row per page: the statistic, its p-value and the direction,
    increasing or decreasing, or none if the p-value is 0.05 or more.

    \b
    Examples:
        recrawl trends test visits.csv
        recrawl trends test visits.csv -o trends.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.trends import test_rows

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(found.rows(test_rows), out)
    trends_shared.show(first)
    trends_shared.remarks(found)
