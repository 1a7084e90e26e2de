"""The decay of a copy of a listing as a chart: precision and recall over the days after its sync.

Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.charts.vega import (
    LIGHT,
    chart_title,
    panel_title,
    rounded,
    share_axis,
    themed,
)

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.forecast import Forecast, ForecastPath
    from recrawl.report.charts.vega import Chart, Colours

_QUALITIES = {
    "precision": "of the copy is still listed",
    "recall": "of what is listed is in the copy",
}
_EXPECTED, _TYPICAL = "expected", "without mass events"


def forecast_chart(
    name: str,
    found: Forecast,
    *,
    subtitle: str = "",
    next_sync: float | None = None,
    days: float = inf,
    colours: Colours = LIGHT,
) -> Chart:
    """Precision and recall of a copy over the days after its sync, with bands.

    Args:
        name: Name of the source.
        found: The forecast.
        subtitle: What the copy is of.
        next_sync: Days after the sync at which the next is due, to be marked; None for no mark.
        days: How many days are shown.
        colours: `LIGHT` or `DARK`.
    """
    panels = [
        _decay_panel(found, "precision", days, colours),
        _decay_panel(found, "recall", days, colours),
    ]
    if next_sync is not None:
        for panel in panels:
            panel["layer"] += _sync_mark(next_sync, colours)
    title = chart_title(name, subtitle)
    return themed({"title": title, "hconcat": panels, "spacing": 40}, colours)


def _sync_mark(days: float, colours: Colours) -> list[Chart]:
    """A line where the next sync is due."""
    at = {"days": rounded(days), "name": "next sync"}
    x = {"field": "days", "type": "quantitative"}
    text = {"type": "text", "align": "left", "baseline": "top", "dx": 4, "color": colours.ink}
    return [
        {
            "data": {"values": [at]},
            "mark": {"type": "rule", "color": colours.orange, "strokeWidth": 1.5},
            "encoding": {"x": x},
        },
        {
            "data": {"values": [at]},
            "mark": {**text, "y": 2},
            "encoding": {"x": x, "text": {"field": "name"}},
        },
    ]


def _decay_panel(found: Forecast, metric: str, days: float, colours: Colours) -> Chart:
    rows = [row for row in _decay_rows(found, metric) if row["days"] <= days]
    lines = [
        {"days": row["days"], "share": row[which], "forecast": which}
        for which in (_EXPECTED, _TYPICAL)
        for row in rows
        if which in row
    ]
    x = {
        "field": "days",
        "type": "quantitative",
        "axis": {"title": "days since the sync", "tickMinStep": 1},
        "scale": {"nice": False},
    }
    ends = [min((min(row.get("low", 1.0), row[_EXPECTED]) for row in rows), default=0.0), 1.0]
    colour = colours.blue if metric == "precision" else colours.purple
    kind = {
        "field": "forecast",
        "type": "nominal",
        "scale": {"domain": [_EXPECTED, _TYPICAL], "range": [[1, 0], [4, 3]]},
        "legend": {"title": None, "orient": "bottom", "symbolType": "stroke"},
    }
    y = share_axis("share", ends)
    return {
        "title": panel_title(metric, _QUALITIES[metric]),
        "width": 280,
        "height": 230,
        "layer": [
            {
                "data": {"values": [row for row in rows if "low" in row]},
                "mark": {"type": "area", "opacity": 0.18},
                "encoding": {
                    "x": x,
                    "y": {**y, "field": "low"},
                    "y2": {"field": "high"},
                    "color": {"value": colour},
                },
            },
            {
                "data": {"values": lines},
                "mark": {"type": "line", "strokeWidth": 2},
                "encoding": {"x": x, "y": y, "strokeDash": kind, "color": {"value": colour}},
            },
        ],
    }


def _decay_rows(found: Forecast, metric: str) -> list[dict[str, float]]:
    """One row per day, from 1 on the day of the sync."""
    outlooks: dict[str, ForecastPath] = {
        _EXPECTED: found.expected,
        _TYPICAL: found.typical,
        "low": found.low,
        "high": found.high,
    }
    paths: dict[str, Floats] = {key: getattr(part, metric) for key, part in outlooks.items()}
    rows = [{"days": 0.0, **dict.fromkeys(paths, 1.0)}]
    for day in range(len(found)):
        figures = {key: rounded(float(path[day])) for key, path in paths.items()}
        known = {key: value for key, value in figures.items() if np.isfinite(value)}
        rows.append({"days": day + 1.0, **known})
    if not np.isfinite(paths["low"]).any():
        for row in rows[:1]:
            row.pop("low"), row.pop("high")
    return [row for row in rows if _EXPECTED in row]
