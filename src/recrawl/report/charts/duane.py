"""Duane plots: the mean time between changes over time, both logarithmic.

As in all charts, what cannot be drawn is left out.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.charts.log_axis import EXTREMES, log_axis
from recrawl.report.charts.vega import LIGHT, chart_title, rounded, themed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.report.charts.vega import Chart, Colours

_FEW = 60  # points that are drawn large
_LEGEND = 12  # windows that a legend names


@dataclass(frozen=True, slots=True, eq=False)
class DuaneLine:
    """One window of a Duane plot.

    Args:
        times: Days from the window's beginning to each of its changes, rising.
        slope: Of the line through the logarithms.
        intercept: Logarithm of the mean time between changes after one day, by the line.
        name: What the legend says.
    """

    times: Sequence[float] | Floats
    slope: float
    intercept: float
    name: str = ""


def duane_chart(lines: Sequence[DuaneLine], *, title: str, colours: Colours = LIGHT) -> Chart:
    """Mean time between changes over time, both logarithmic, and the line through each window.

    Args:
        lines: Windows with their fitted lines, a colour each.
        title: What stands above the chart.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> line = DuaneLine([1.0, 3.0, 6.0], slope=0.39, intercept=0.0)
        >>> chart = duane_chart([line], title="Duane plot")
        >>> [row["interval"] for row in chart["layer"][1]["data"]["values"]]
        [1.0, 1.5, 2.0]
    """
    names = _names(lines)
    points = [row for line, name in zip(lines, names, strict=True) for row in _dots(line, name)]
    fitted = [
        row
        for line, name in zip(lines, names, strict=True)
        for row in _ends_of_line(line, name, [dot for dot in points if dot["window"] == name])
    ]
    times, intervals = ([row[field] for row in points] for field in ("time", "interval"))
    shared = {
        "x": {"field": "time", **log_axis(times, "days since the window began")},
        "y": {"field": "interval", **log_axis(intervals, "mean days between changes")},
        "color": _by_window(names, colours),
    }
    few = len(points) <= _FEW
    dots = {"type": "point", "filled": True, "size": 50 if few else 18, "opacity": 0.75}
    layers = [
        {
            "data": {"values": fitted},
            "mark": {"type": "line", "clip": True, "strokeWidth": 2, "strokeCap": "round"},
            "encoding": shared,
        },
        {"data": {"values": points}, "mark": dots, "encoding": shared},
    ]
    return themed(
        {"title": chart_title(title), "width": 420, "height": 300, "layer": layers}, colours
    )


def _names(lines: Sequence[DuaneLine]) -> list[str]:
    """What each window is called; by number where names are not unique."""
    names = [line.name or f"window {number}" for number, line in enumerate(lines, 1)]
    if len(set(names)) == len(names):
        return names
    return [f"{number}: {name}" for number, name in enumerate(names, 1)]


def _dots(line: DuaneLine, name: str) -> list[dict[str, Any]]:
    times = np.asarray(line.times, np.float64)
    least, most = EXTREMES
    means = times / np.arange(1, len(times) + 1)
    there = (means >= least) & (times <= most)
    return [
        {"window": name, "time": rounded(time), "interval": rounded(mean)}
        for time, mean in zip(times[there], means[there], strict=True)
    ]


def _ends_of_line(line: DuaneLine, name: str, dots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The fitted line from the first point to the last: straight, as both axes are logarithmic."""
    times = [dot["time"] for dot in dots]
    ends = sorted({min(times), max(times)}) if times else []
    heights = [(time, line.intercept + line.slope * math.log(time)) for time in ends]
    low, high = (math.log(extreme) for extreme in EXTREMES)
    if not all(low <= height <= high for _, height in heights):  # nan included
        return []
    return [
        {"window": name, "time": time, "interval": rounded(math.exp(height))}
        for time, height in heights
    ]


def _by_window(names: list[str], colours: Colours) -> Chart:
    """A colour for each window; a legend where there are several."""
    if len(names) <= 1:
        return {"value": colours.blue}
    return {
        "field": "window",
        "type": "nominal",
        "scale": {"domain": names, "range": colours.shades(len(names))},
        "legend": {"title": None, "symbolLimit": _LEGEND, "symbolOpacity": 1},
    }
