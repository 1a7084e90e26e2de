"""`recrawl trends gaps`: lengths of gaps between changes, beside those of random changes.

Touches: files, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared
from recrawl.cli.trends import shared as trends_shared

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.trends.gap_shares import GapShares
    from recrawl.trends.points import Points

_EVERY = typer.Option(
    metavar="TIME",
    help="Only pages that change every TIME on average, give or take a fifth.",
    show_default=False,
)
_PLOT = typer.Option(
    metavar="FILE", help="Plot the shares of gaps to FILE: .svg or .png.", show_default=False
)

_NEAR = 1.2  # mean gaps within this factor of --every


@shared.with_options(trends_shared.trend_options, "read_as")
def gaps(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    every: Annotated[str, _EVERY] = "",
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Compare gaps between changes with those of random changes.

    Pools the gaps of all pages with at least five changes, each divided by the mean
    of its page. Writes one row per class of lengths: its gaps, their share, and the
    share to be expected of a Poisson process.

    \b
    Examples:
        recrawl trends gaps changes.csv
        recrawl trends gaps changes.csv --every 10d --plot gaps.svg
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.pictures import check_picture
    from recrawl.report.trends import gap_columns
    from recrawl.report.words import counted
    from recrawl.trends.gap_shares import LEAST_GAPS, gap_shares
    from recrawl.units import days

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_place(place)
    mean = days(every) if every else None
    if plot is not None:
        check_picture(plot)
    with trends_shared.open_log(files, page, read_as, out) as found:
        parts = (pages.points(place) for pages in found.parts())
        some = parts if mean is None else (_that_change_every(part, mean) for part in parts)
        shares = gap_shares(some)
    trends_shared.put_rows(*gap_columns(shares), out, first="gap")
    if plot is not None:
        _draw(plot, shares)
    found_gaps = f"{counted(int(shares.gaps.sum()), 'gap')} of {counted(shares.pages, 'page')}"
    pace = " at this pace" if every else ""
    few = "" if shares.pages else f": no page has the {LEAST_GAPS + 1} changes it takes{pace}"
    screen.remark(f"{found_gaps}{few}.")
    trends_shared.remarks(found)


def _that_change_every(points: Points, mean: float) -> Points:
    """Pages whose mean gap is near."""
    import numpy as np

    gaps: Floats = points.end / np.maximum(points.points_of_page, 1)
    near = np.flatnonzero((gaps > mean / _NEAR) & (gaps < mean * _NEAR))
    return points.take(near)


def _draw(path: Path, shares: GapShares) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.charts.gaps import gap_chart
    from recrawl.report.words import counted

    title = f"Gaps between changes of {counted(shares.pages, 'page')}"
    write_picture(path, gap_chart(shares, title=title))
