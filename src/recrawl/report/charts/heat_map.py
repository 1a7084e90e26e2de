"""Heat maps: changes by weekday and hour, and the activity of sections over time.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.report.charts.vega import LIGHT, rounded, themed, utc_axis
from recrawl.report.words import cut
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts.vega import Chart, Colours

DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_ROW = 22  # pixels
_LONGEST = 44  # letters of a name
_LEAST_PACE, _MOST_PACE = 0.1, 10.0  # that colours tell apart


def week_chart(changes: Sequence[Sequence[int]], *, colours: Colours = LIGHT) -> Chart:
    """Changes found by weekday and hour.

    Args:
        changes: How many there were: one row per weekday, from Monday on, of 24 hours.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> chart = week_chart([[0] * 24] * 6 + [[3] + [0] * 23])
        >>> chart["data"]["values"][144]
        {'weekday': 'Sun', 'hour': 0, 'changes': 3}
    """
    values = [
        {"weekday": name, "hour": hour, "changes": int(found)}
        for name, row in zip(DAYS, changes, strict=True)
        for hour, found in enumerate(row)
    ]
    most = max(max(row) for row in changes)
    hours = {"title": "hour (UTC)", "labelAngle": 0, "labelOverlap": True}
    return themed(
        {
            "width": "container",
            "height": _ROW * len(DAYS),
            "data": {"values": values},
            "mark": {"type": "rect", "stroke": colours.paper, "strokeWidth": 1},
            "encoding": {
                "x": {"field": "hour", "type": "ordinal", "axis": hours},
                "y": {
                    "field": "weekday",
                    "type": "ordinal",
                    "sort": list(DAYS),
                    "axis": {"title": None},
                },
                "color": {
                    "field": "changes",
                    "type": "quantitative",
                    "scale": {"range": [colours.line, colours.blue], "zero": True},
                    "legend": {
                        "title": "changes",
                        "gradientLength": 90,
                        "values": [0, most],
                        "format": "d",
                    },
                },
            },
        },
        colours,
    )


@dataclass(frozen=True, slots=True)
class SectionActivity:
    """How fast time ran for a section.

    Args:
        name: Its name.
        pace: Pace in each of the stretches; 1 is as usual.
    """

    name: str
    pace: Sequence[float]


def activity_chart(
    sections: Sequence[SectionActivity],
    edges_seconds: Sequence[float],
    *,
    colours: Colours = LIGHT,
) -> Chart:
    """Activity of sections over time: blue where they changed less than usual, orange where more.

    Args:
        sections: The sections, from top to bottom.
        edges_seconds: Where the stretches begin and end, in epoch seconds: one more than there are.
        colours: `LIGHT` or `DARK`.
    """
    values = [
        {
            "section": cut(section.name, _LONGEST),
            "from": round(1000 * edges_seconds[row]),
            "to": round(1000 * edges_seconds[row + 1]),
            "pace": rounded(min(max(pace, _LEAST_PACE), _MOST_PACE)),
        }
        for section in sections
        for row, pace in enumerate(section.pace)
    ]
    names = [cut(section.name, _LONGEST) for section in sections]
    scale = {
        "type": "log",
        "domain": [_LEAST_PACE, 1, _MOST_PACE],
        "range": [colours.blue, colours.line, colours.orange],
        "interpolate": "lab",
    }
    days = (edges_seconds[-1] - edges_seconds[0]) / SECONDS_A_DAY
    time = {"field": "from", "type": "temporal", "scale": {"type": "utc"}, "axis": utc_axis(days)}
    return themed(
        {
            "width": "container",
            "height": _ROW * len(names),
            "data": {"values": values},
            "mark": {"type": "rect"},
            "encoding": {
                "x": time,
                "x2": {"field": "to"},
                "y": {
                    "field": "section",
                    "type": "nominal",
                    "sort": names,
                    "axis": {"title": None, "labelLimit": 300},
                },
                "color": {
                    "field": "pace",
                    "type": "quantitative",
                    "scale": scale,
                    "legend": {
                        "title": "pace",
                        "values": [_LEAST_PACE, 1, _MOST_PACE],
                        # Beside the chart it would be cut to the height of a few sections.
                        "orient": "bottom",
                        "direction": "horizontal",
                        "gradientLength": 160,
                        "labelExpr": "format(datum.value, '~g') + ' \u00d7'",
                    },
                },
            },
        },
        colours,
    )
