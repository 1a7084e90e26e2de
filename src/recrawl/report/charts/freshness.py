"""Freshness as charts: over time, expected and as it turned out; and against the budget.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from recrawl.report.charts.vega import LIGHT, rounded, share_axis, themed, utc_axis
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts.vega import Chart, Colours

_EXPECTED, _TURNED_OUT = "expected at the time", "as later visits showed"
_HEIGHT = 230


@dataclass(frozen=True, slots=True)
class FreshnessPoint:
    """Freshness at an instant.

    Args:
        at_seconds: The instant, in epoch seconds.
        expected: Expected share of fresh copies; nan where nobody noted it.
        low: Lower end of its band.
        high: Upper end.
        turned_out: Share that was fresh, as far as later visits show; nan where they do not yet.
    """

    at_seconds: float
    expected: float
    low: float
    high: float
    turned_out: float


def freshness_chart(points: Sequence[FreshnessPoint], *, colours: Colours = LIGHT) -> Chart:
    """Expected freshness with its band, and beside it what turned out.

    Examples:
        >>> point = FreshnessPoint(3600.0, 0.9, 0.8, 0.95, 0.85)
        >>> chart = freshness_chart([point])
        >>> chart["layer"][1]["data"]["values"][0]
        {'at': 3600000.0, 'share': 0.9, 'line': 'expected at the time'}
    """
    known = [each for each in points if not isnan(each.expected)]
    bands = [
        {"at": 1000 * each.at_seconds, "low": rounded(each.low), "high": rounded(each.high)}
        for each in known
    ]
    lines = [_on_line(each.at_seconds, each.expected, _EXPECTED) for each in known]
    lines += [
        _on_line(each.at_seconds, each.turned_out, _TURNED_OUT)
        for each in points
        if not isnan(each.turned_out)
    ]
    shares = [row["share"] for row in lines] + [row["low"] for row in bands]
    ends = [min(shares, default=0.0), max([*(row["high"] for row in bands), *shares], default=1.0)]
    days = (points[-1].at_seconds - points[0].at_seconds) / SECONDS_A_DAY if points else 0.0
    x = {"field": "at", "type": "temporal", "scale": {"type": "utc"}, "axis": utc_axis(days)}
    names, shades = [_EXPECTED, _TURNED_OUT], [colours.blue, colours.orange]
    line = {"field": "line", "type": "nominal", "sort": None}
    return themed(
        {
            "width": "container",
            "height": _HEIGHT,
            "layer": [
                {
                    "data": {"values": bands},
                    "mark": {"type": "area", "opacity": 0.18, "color": colours.blue},
                    "encoding": {
                        "x": x,
                        "y": {**share_axis("low", ends), "title": None},
                        "y2": {"field": "high"},
                    },
                },
                {
                    "data": {"values": lines},
                    "mark": {"type": "line", "strokeWidth": 2},
                    "encoding": {
                        "x": x,
                        "y": share_axis("share", ends),
                        "color": {
                            **line,
                            "scale": {"domain": names, "range": shades},
                            "legend": _legend(),
                        },
                        "strokeDash": {
                            **line,
                            "scale": {"domain": names, "range": [[1, 0], [5, 3]]},
                        },
                    },
                },
            ],
        },
        colours,
    )


def _on_line(at_seconds: float, share: float, line: str) -> dict[str, Any]:
    return {"at": 1000 * at_seconds, "share": rounded(share), "line": line}


def _legend() -> Chart:
    return {
        "title": None,
        "orient": "top",
        "symbolType": "stroke",
        "symbolStrokeWidth": 2.5,
        "offset": 6,
    }


@dataclass(frozen=True, slots=True)
class BudgetPoint:
    """What a budget buys in the long run.

    Args:
        visits: Visits a day.
        fresh: Expected share of fresh copies.
        low: Lower end of its band.
        high: Upper end.
    """

    visits: float
    fresh: float
    low: float
    high: float


def budget_curve(
    points: Sequence[BudgetPoint], marks: Sequence[tuple[str, BudgetPoint]], *, colours: Colours
) -> Chart:
    """Freshness in the long run against visits per day, with marks on the curve.

    Args:
        points: The curve, by rising budget.
        marks: Budgets that are pointed out, and what stands beside each.
        colours: `LIGHT` or `DARK`.
    """
    rows = [_point(each) for each in points]
    ends = [min(row["low"] for row in rows), max(row["high"] for row in rows)]
    x = {
        "field": "visits",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {
            "title": "visits per day",
            "values": [row["visits"] for row in rows],
            "labelExpr": "format(datum.value, ',.3~r')",
            "labelOverlap": "parity",
        },
    }
    y = share_axis("fresh", ends)
    marked = [{**_point(point), "name": name} for name, point in marks]
    text = {"type": "text", "align": "left", "dx": 9, "dy": 12, "color": colours.ink}
    at_mark = {"x": x, "y": y}
    return themed(
        {
            "width": "container",
            "height": _HEIGHT,
            "layer": [
                {
                    "data": {"values": rows},
                    "mark": {"type": "area", "opacity": 0.18, "color": colours.blue},
                    "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
                },
                {
                    "data": {"values": rows},
                    "mark": {"type": "line", "strokeWidth": 2, "color": colours.blue},
                    "encoding": at_mark,
                },
                {
                    "data": {"values": marked},
                    "mark": {
                        "type": "point",
                        "filled": True,
                        "size": 90,
                        "opacity": 1,
                        "color": colours.orange,
                    },
                    "encoding": at_mark,
                },
                {
                    "data": {"values": marked},
                    "mark": text,
                    "encoding": {**at_mark, "text": {"field": "name"}},
                },
            ],
        },
        colours,
    )


def _point(point: BudgetPoint) -> dict[str, Any]:
    return {
        "visits": rounded(point.visits),
        "fresh": rounded(point.fresh),
        "low": rounded(point.low),
        "high": rounded(point.high),
    }
