"""Mean square error of estimators against the size of windows, or against a threshold.

As in all charts, what cannot be drawn is left out.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.charts.log_axis import EXTREMES, log_axis
from recrawl.report.charts.vega import LIGHT, chart_title, rounded, themed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.report.window_errors import ErrorGroup


def error_chart(
    groups: Sequence[ErrorGroup], *, title: str, axis: str, colours: Colours = LIGHT
) -> Chart:
    """Mean square error over windows, a line an estimator.

    Args:
        groups: Windows that are judged together, in order.
        title: What stands above the chart.
        axis: What the groups differ in.
        colours: `LIGHT` or `DARK`.
    """
    least, most = EXTREMES
    found = [
        (group.at, name, error)
        for group in groups
        for name, error in group.means.items()
        if np.isfinite(group.at) and least <= error <= most
    ]
    rows = [
        {"at": rounded(at), "mse": rounded(error), "estimator": name} for at, name, error in found
    ]
    names, shown = list(groups[0].estimators), [rounded(error) for *_, error in found]
    encoding = {
        "x": {"field": "at", **_across([at for at, *_ in found], axis)},
        "y": {"field": "mse", **log_axis(shown, "mean square error, d²")},
        "color": {
            "field": "estimator",
            "type": "nominal",
            "scale": {"domain": names, "range": colours.shades(len(names))},
            "legend": {"title": None},
        },
    }
    mark = {"type": "line", "point": True, "strokeWidth": 2}
    return themed(
        {
            "title": chart_title(title),
            "width": 420,
            "height": 300,
            "data": {"values": rows},
            "mark": mark,
            "encoding": encoding,
        },
        colours,
    )


def _across(shown: list[float], title: str) -> Chart:
    """Logarithmic for sizes; not for thresholds, which begin with 0."""
    if min(shown, default=0.0) > 0:
        return log_axis(shown, title)
    return {"type": "quantitative", "axis": {"title": title}}
