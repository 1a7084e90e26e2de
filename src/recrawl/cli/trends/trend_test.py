"""`recrawl trends test`: whether the rate of each page has a trend.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared


def trend_test(
    file: Annotated[Path, trends_shared.FILE],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    site_column: Annotated[str, shared.SITE_COLUMN] = "",
    column: Annotated[list[str] | None, shared.COLUMN] = None,
    skip_bad_rows: Annotated[bool, shared.SKIP] = False,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Test whether the change rate of each page rises or falls.

    Writes one row per page: the statistic, its p-value and the direction.

    \b
    Examples:
        recrawl trends test visits.csv
        recrawl trends test visits.csv -o trends.csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.trends import test_rows

    out = shared.Output.of(file, as_csv=as_csv, as_json=as_json, file=output)
    found = trends_shared.TrendReader(file, page, column, site_column, skip_bad_rows).read()
    trends_shared.put(test_rows(found), found, out)
    trends_shared.remarks(found)
