"""`recrawl trends change-points`: when the rate of each page jumped.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared

_PENALTY = typer.Option(metavar="NUMBER", help="Least gain of a cut, in ln(visits).", min=0)


@shared.with_options(trends_shared.trend_options, "read_as")
def change_points(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    page: Annotated[str, trends_shared.PAGE] = "",
    penalty: Annotated[float, _PENALTY] = 3,
    level: Annotated[float, shared.LEVEL] = 0.9,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Find when the change rate of each page jumped.

    Writes one row per stretch between two jumps: its time, its changes, and its
    rate with a band. Hidden changes need no place in their gaps.

    \b
    Examples:
        recrawl trends change-points visits.csv
        recrawl trends change-points visits.csv --penalty 2 --csv
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.analysis.trends import segment_rows

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_level(level)
    with trends_shared.open_log(files, page, read_as, out) as found:
        first = trends_shared.write(
            found.rows(lambda pages: segment_rows(pages, level, penalty)), out
        )
    trends_shared.show(first)
    trends_shared.remarks(found)
