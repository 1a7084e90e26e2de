"""`recrawl trends errors`: how well each estimator fits the windows of all pages.

Touches: files, the standard streams.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import shared
from recrawl.cli.trends import shared as trends_shared

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.report.window_errors import ErrorGroup
    from recrawl.trends.points import Points
    from recrawl.trends.weibull import Variant
    from recrawl.trends.windows import Windowing, Windows

_BY = typer.Option(metavar="GROUPS", help="Groups of windows: state, size or threshold.")
_ESTIMATORS = typer.Option(
    metavar="METHODS", help="Estimators to compare, comma-separated: also ratio and running."
)
_PLOT = typer.Option(
    metavar="FILE",
    help="Plot the errors by size or threshold to FILE: .svg or .png.",
    show_default=False,
)

_GROUPS = {"state": "", "size": "points of a window", "threshold": "threshold"}
_MOST_THRESHOLD = 10


@shared.with_options(trends_shared.trend_options, "read_as")
def errors(
    files: Annotated[list[Path], trends_shared.FILES],
    *,
    by: Annotated[str, _BY] = "state",
    estimators: Annotated[str, _ESTIMATORS] = "weibull,duane,cho,matloff",
    page: Annotated[str, trends_shared.PAGE] = "",
    place: Annotated[str, trends_shared.PLACE] = "middle",
    reading: Annotated[str, trends_shared.READING] = "count",
    threshold: Annotated[float, trends_shared.THRESHOLD] = 3,
    backward: Annotated[bool, trends_shared.BACKWARD] = False,
    variant: Annotated[str, trends_shared.VARIANT] = "corrected",
    plot: Annotated[Path | None, _PLOT] = None,
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
    read_as: trends_shared.TrendOptions,
) -> None:
    """Compare how well estimators fit windows, as published.

    Writes one row per group of windows and estimator: the mean square error inside
    the windows, in how many of them it is best, and how often it beats each of the
    others. Groups are the states that the cut gave, sizes, or thresholds 0 to 10.

    \b
    Examples:
        recrawl trends errors changes.csv
        recrawl trends errors changes.csv --by size --plot size.svg
        recrawl trends errors changes.csv --estimators ratio,weibull,duane
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.adapters.pictures import check_picture
    from recrawl.checks import check_choice
    from recrawl.report.window_errors import error_columns, with_windows

    out = shared.Output.of(*files, as_csv=as_csv, as_json=as_json, file=output)
    trends_shared.check_place(place)
    check_choice(tuple(_GROUPS), by=by)
    windowing = trends_shared.windowing_of(reading, threshold, backward=backward)
    judge = _Judge(_names(estimators), trends_shared.variant_of(variant))
    if plot is not None:
        check_picture(plot)
        if by == "state":
            raise typer.BadParameter("--plot needs --by size or threshold")
    with trends_shared.open_log(files, page, read_as, out) as found:
        parts = (judge.groups(pages.points(place), windowing, by) for pages in found.parts())
        groups = reduce(lambda all_, some: list(map(add, all_, some)), parts)
    if by == "size":
        groups = with_windows(groups)
    trends_shared.put_rows(*error_columns(groups), out, first=by)
    if plot is not None:
        _draw(plot, groups, by)
    trends_shared.remarks(found)


def _names(text: str) -> list[str]:
    from recrawl.checks import check_choice
    from recrawl.trends.fits import ESTIMATORS

    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names or [""]:
        check_choice(ESTIMATORS, estimators=name)
    return names


@dataclass(frozen=True, slots=True)
class _Judge:
    """What errors are asked of: some estimators, and a variant of the Weibull rate."""

    names: list[str]
    variant: Variant

    def groups(self, points: Points, windowing: Windowing, by: str) -> list[ErrorGroup]:
        """Errors of groups of windows, always the same groups."""
        from recrawl.report.window_errors import groups_by_size, groups_by_state, whole_group

        if by == "threshold":
            found = []
            for threshold in range(_MOST_THRESHOLD + 1):
                windows, errors = self._errors(points, replace(windowing, threshold=threshold))
                found.append(whole_group(str(threshold), windows, errors, threshold))
            return found
        grouped = groups_by_size if by == "size" else groups_by_state
        return grouped(*self._errors(points, windowing))

    def _errors(self, points: Points, windowing: Windowing) -> tuple[Windows, dict[str, Floats]]:
        from recrawl.trends.fits import fit_windows
        from recrawl.trends.windows import consistent_windows

        windows = consistent_windows(points, windowing)
        fits = fit_windows(points, windows, variant=self.variant)
        return windows, {name: fits.errors[name] for name in self.names}


def _draw(path: Path, groups: list[ErrorGroup], by: str) -> None:
    from recrawl.adapters.pictures import write_picture
    from recrawl.report.charts.errors import error_chart

    write_picture(path, error_chart(groups, title=f"Error by {by}", axis=_GROUPS[by]))
