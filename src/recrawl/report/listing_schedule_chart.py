"""A schedule as a chart: quality to expect between planned synchronisations.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.charts import LIGHT, panel_title, rounded, themed
from recrawl.report.listing_schedules import path
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.listings.forecast import Forecast
    from recrawl.listings.schedule import Goal
    from recrawl.report.charts import Chart, Colours
    from recrawl.report.listing_schedules import Planned

_WIDTH = 560
_CONFIDENCE = 0.8


def schedule_chart(
    title: str,
    synchronised: np.datetime64,
    plan: Sequence[Planned],
    forecast: Callable[[int, int], Forecast],
    goal: Goal | None,
    *,
    colours: Colours = LIGHT,
) -> Chart:
    """Precision and recall over the days planned, falling from 1 to the next synchronisation.

    Args:
        title: Name of the source.
        synchronised: Instant of the last crawl.
        plan: Synchronisations to come.
        forecast: Forecast of so many days ahead, made so many days after the last crawl.
        goal: What is to be kept; its targets are drawn.
        colours: `LIGHT` or `DARK`.
    """
    confidence = _CONFIDENCE if goal is None or goal.confidence is None else goal.confidence
    names = list(goal.targets) if goal is not None else ["precision", "recall"]
    panels = [
        _panel(
            name,
            _rows(synchronised, plan, forecast, name, confidence),
            None if goal is None else goal.targets[name],
            colours,
        )
        for name in names
    ]
    said = f"line: expected; shade: down to what is reached with probability {confidence:g}"
    heading = {"text": title, "subtitle": said, "anchor": "start", "offset": 14}
    return themed({"title": heading, "vconcat": panels, "spacing": 26}, colours)


def _rows(
    synchronised: np.datetime64,
    plan: Sequence[Planned],
    forecast: Callable[[int, int], Forecast],
    name: str,
    confidence: float,
) -> list[dict[str, Any]]:
    """Quality on each day of each cycle; a cycle begins at 1 where the one before ends."""
    rows, start = [], 0.0
    for cycle, sync in enumerate(plan):
        ahead = forecast(max(int(np.ceil(sync.gap)), 1), int(start))
        paths = [np.concatenate([[1.0], path(ahead, name, bound)]) for bound in (None, confidence)]
        for day in sorted({*range(int(np.ceil(sync.gap))), sync.gap}):
            figures = [float(np.interp(day, np.arange(len(each)), each)) for each in paths]
            if np.isfinite(figures).all():
                elapsed = np.timedelta64(round((start + day) * MICROSECONDS_A_DAY), "us")
                at = f"{np.datetime_as_string(synchronised + elapsed, unit='s')}Z"
                share, floor = (rounded(figure) for figure in figures)
                rows.append({"at": at, "share": share, "floor": floor, "cycle": cycle})
        start += sync.gap
    return rows


def _panel(name: str, rows: list[dict[str, Any]], target: float | None, colours: Colours) -> Chart:
    colour = colours.blue if name == "precision" else colours.purple
    x = {
        "field": "at",
        "type": "temporal",
        "scale": {"type": "utc"},
        "axis": {"title": None, "tickCount": 8},
    }
    low = min([row["floor"] for row in rows] + ([] if target is None else [target]), default=0.0)
    y = {
        "field": "share",
        "type": "quantitative",
        "scale": {"domain": [rounded(low), 1.0], "nice": 5},
        "axis": {
            "title": None,
            "tickCount": 5,
            "labelExpr": "format(100 * datum.value, '~f') + ' %'",
        },
    }
    cycle = {"detail": {"field": "cycle", "type": "nominal"}, "color": {"value": colour}}
    layers: list[Chart] = [
        {
            "mark": {"type": "area", "opacity": 0.18},
            "encoding": {"x": x, "y": {**y, "field": "floor"}, "y2": {"field": "share"}, **cycle},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, **cycle},
        },
    ]
    if target is not None:
        layers.append(
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "strokeWidth": 1.25},
                "encoding": {"y": {"datum": target}, "color": {"value": colours.pale}},
            }
        )
    said = "" if target is None else f"to keep: {100 * target:g} %"
    return {
        "title": panel_title(name, said),
        "width": _WIDTH,
        "height": 150,
        "data": {"values": rows},
        "layer": layers,
    }
