"""`recrawl trends follow`: what visits that follow a forecast would have found.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared

if TYPE_CHECKING:
    from collections.abc import Sequence

_METHOD = typer.Option(
    metavar="METHOD",
    help="Only this forecaster: ratio, weibull, duane, cho or matloff; may be repeated.",
    show_default=False,
)
_WAIT = typer.Option(metavar="SHARE", help="Share of the expected time to the next change to wait.")
_FALLING = typer.Option(
    metavar="SHARE",
    help="Share to wait where the rate decreases; may be repeated.  [default: 1 and 0.7]",
    show_default=False,
)
_NEW = typer.Option("--new-windows", help="Begin a new window where found changes disagree.")
_VISITS = typer.Option(
    metavar="N",
    help="Wait longer or shorter, so that all pages together get N visits.",
    show_default=False,
    min=1,
)

_SHARES = (1.0, 0.7)  # of the papers
_MOVING = ("weibull", "duane")  # the others know no rate that decreases


@shared.with_options(trends_shared.trend_options, "read_as")
def follow(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    method: Annotated[list[str] | None, _METHOD] = None,
    wait_share: Annotated[float, _WAIT] = 1.0,
    decreasing: Annotated[list[float] | None, _FALLING] = None,
    new_windows: Annotated[bool, _NEW] = False,
    equal_visits: Annotated[int | None, _VISITS] = None,
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Replay visits that follow a forecast, as published.

    From a page's fourth change on it is visited when its next change is expected.
    Writes one row per method and share of waiting: changes, those observed, visits,
    premature ones among them, and precision, the share of visits that found a
    change.

    \b
    Examples:
        recrawl trends follow changes.csv
        recrawl trends follow changes.csv --method weibull --decreasing 0.5 --new-windows
        recrawl trends follow changes.csv --equal-visits 10000
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.report.trends import follow_columns
    from recrawl.trends.prediction import FORECASTERS, Detection, Forecasting, all_at_equal_visits
    from recrawl.trends.prediction import follow as follow_one

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_place(place)
    ways = [
        Forecasting(name, wait_share, share * wait_share, rewindow=new_windows)
        for name in method or FORECASTERS
        for share in (decreasing or _SHARES)[: None if name in _MOVING else 1]
    ]

    def replay(some: Sequence[Forecasting]) -> list[Detection]:
        parts = (pages.points(place) for pages in found.parts())
        each = ([follow_one(points, way) for way in some] for points in parts)
        return [Detection.summed(of_way) for of_way in zip(*each, strict=True)]

    with trends_shared.open_log(files, page, read_as, out) as found:
        if equal_visits is None:
            detections = replay(ways)
        else:
            detections = all_at_equal_visits(replay, ways, equal_visits)
    columns = follow_columns(ways, detections)
    trends_shared.put_rows([way.forecaster for way in ways], columns, out, first="method")
    trends_shared.remarks(found)
