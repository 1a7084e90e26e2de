"""Charts of one page: its timeline, or the Duane plot of its windows.

Touches: files.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from recrawl.report.charts.vega import LIGHT

if TYPE_CHECKING:
    from recrawl.analysis.trends import TrendPages
    from recrawl.arrays.types import Instants
    from recrawl.report.charts.timeline import RateSteps
    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows

_FEW_DAYS = 120  # of a timeline that months would cut into too few pieces
_MANY_DAYS = 3650  # of one that months would cut into too many
_PIECES = 8


def duane_plot(points: Points, windows: Windows, *, title: str, colours: Colours = LIGHT) -> Chart:
    """Duane plot of the windows of one page."""
    from recrawl.report.charts.duane import DuaneLine, duane_chart
    from recrawl.trends.duane import Duane
    from recrawl.trends.windows import WindowTimes

    times = WindowTimes.of(points, windows)
    fit = Duane.of(times)
    lines = [
        DuaneLine(
            times.since[times.offsets[row] : times.offsets[row + 1]],
            float(fit.slope[row]),
            float(fit.intercept[row]),
            name=f"window {row + 1}",
        )
        for row in range(len(windows))
    ]
    return duane_chart(lines, title=title, colours=colours)


def timeline(pages: TrendPages, points: Points, *, level: float, colours: Colours = LIGHT) -> Chart:
    """Timeline of one page: visits, changes, and the rate with its band."""
    import numpy as np

    from recrawl.report.charts.timeline import Changes
    from recrawl.report.charts.timeline_chart import timeline_chart
    from recrawl.trends.visit_instants import visit_instants
    from recrawl.units import MICROSECONDS_A_DAY

    histories = pages.histories
    begins, ends = visit_instants(histories)
    visits = np.unique(np.concatenate([begins, ends]))
    rows = np.flatnonzero(histories.changed)[: len(points.times)]
    hidden = np.isnan(histories.age[rows]) & (histories.count[rows] < 0)
    nothing = np.datetime64("NaT")
    elapsed = np.rint(points.times * MICROSECONDS_A_DAY).astype("timedelta64[us]")
    changes = Changes(
        histories.first_visit[0] + elapsed,
        np.where(hidden, begins[rows], nothing),
        np.where(hidden, ends[rows], nothing),
    )
    shown = visits[:0] if pages.complete else visits
    return timeline_chart(
        shown,
        changes,
        _steps(pages, visits, level),
        title=pages.names.tolist()[0],
        colours=colours,
    )


def _steps(pages: TrendPages, visits: Instants, level: float) -> RateSteps:
    """Rates by month; by eighths of a period below four months, by year above ten years."""
    import numpy as np

    from recrawl.report.charts.timeline import RateSteps
    from recrawl.trends.local_rates import local_rates, rates_between

    span = visits[-1:] - visits[:1]
    if (span < np.timedelta64(_FEW_DAYS, "D")).any():
        edges = np.concatenate([visits[:1] + span * part // _PIECES for part in range(_PIECES + 1)])
        parts = [
            rates_between(pages.histories, start, end, priors=pages.priors, level=level)
            for start, end in pairwise(edges)
        ]
    else:
        by = "month" if (span < np.timedelta64(_MANY_DAYS, "D")).all() else "year"
        parts = [local_rates(pages.histories, by, priors=pages.priors, level=level)]
    columns = ("start", "end", "rate", "low", "high")
    return RateSteps(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))
