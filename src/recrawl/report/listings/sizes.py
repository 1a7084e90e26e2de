"""How large a listing was at each sync, as a chart, and what came and went.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.report.charts.vega import LIGHT, themed, utc_axis
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts.vega import Chart, Colours

_ARRIVED, _VANISHED = "new", "removed"


@dataclass(frozen=True, slots=True)
class SyncSize:
    """A sync that was accepted.

    Args:
        at_seconds: When it was done, in epoch seconds.
        listed: Objects that were listed then.
        arrived: How many of them were new since the sync before.
        vanished: How many were gone since.
    """

    at_seconds: float
    listed: int
    arrived: int
    vanished: int


def size_chart(syncs: Sequence[SyncSize], *, colours: Colours = LIGHT) -> Chart:
    """Objects listed at each sync, above what came and went between two.

    Examples:
        >>> chart = size_chart([SyncSize(0.0, 5, 5, 0), SyncSize(86_400.0, 6, 2, 1)])
        >>> [row["count"] for row in chart["vconcat"][1]["data"]["values"]]
        [2, -1]
    """
    days = (syncs[-1].at_seconds - syncs[0].at_seconds) / SECONDS_A_DAY if syncs else 0.0
    time = {
        "field": "at",
        "type": "temporal",
        "scale": {"type": "utc", "padding": 6},
        "axis": utc_axis(days),
    }
    sizes = [{"at": round(1000 * each.at_seconds), "listed": each.listed} for each in syncs]
    moves = [
        {"at": round(1000 * each.at_seconds), "what": what, "count": count}
        for each in syncs[1:]
        for what, count in ((_ARRIVED, each.arrived), (_VANISHED, -each.vanished))
    ]
    colour = {
        "field": "what",
        "type": "nominal",
        "sort": None,
        "scale": {"domain": [_ARRIVED, _VANISHED], "range": [colours.blue, colours.orange]},
        "legend": {"title": None, "orient": "top"},
    }
    return themed(
        {
            "spacing": 22,
            "resolve": {"scale": {"x": "shared"}},
            "vconcat": [
                {
                    "width": 500,
                    "height": 130,
                    "data": {"values": sizes},
                    "mark": {
                        "type": "line",
                        "interpolate": "step-after",
                        "strokeWidth": 2,
                        "color": colours.blue,
                    },
                    "encoding": {
                        "x": time,
                        "y": {
                            "field": "listed",
                            "type": "quantitative",
                            "scale": {"zero": False},
                            "axis": {"title": "objects listed", "tickMinStep": 1, "tickCount": 5},
                        },
                    },
                },
                {
                    "width": 500,
                    "height": 110,
                    "data": {"values": moves},
                    "mark": {"type": "bar", "size": 7},
                    "encoding": {
                        "x": time,
                        "y": {
                            "field": "count",
                            "type": "quantitative",
                            "axis": {"title": "since the sync before", "tickCount": 5},
                        },
                        "color": colour,
                    },
                },
            ],
        },
        colours,
    )
