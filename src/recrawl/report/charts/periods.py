"""The change rate of a page by month, year, weekday or hour: one point per period, with its band.

As in all charts, what cannot be drawn is left out.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.charts.log_axis import log_axis
from recrawl.report.charts.vega import LIGHT, chart_title, rounded, themed

if TYPE_CHECKING:
    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.trends.local_rates import LocalRates

_WIDTH = 660  # pixels
_WIDEST = 40  # pixels of a period, where there are few
_WIDE = 6  # pixels of a period whose point is drawn large
_SHORT = 4  # letters of a label that fits below its period


def period_chart(
    rates: LocalRates, *, by: str, title: str, level: float, colours: Colours = LIGHT
) -> Chart:
    """Changes per day in each period of one page, on an axis of periods.

    Args:
        rates: Its rates, the periods in their order.
        by: What a period is: month, year, weekday or hour.
        title: What stands above the chart.
        level: Probability that a rate is in its band.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> from dataclasses import replace
        >>> from recrawl import Histories
        >>> from recrawl.trends.local_rates import local_rates
        >>> seen = Histories.from_lists([([30.0, 30.0], [True, False])])
        >>> seen = replace(seen, first_visit=np.array(["2026-01-01"], "M8[us]"))
        >>> chart = period_chart(local_rates(seen, "month"), by="month", title="/a", level=0.9)
        >>> [row["period"] for row in chart["data"]["values"]]
        ['2026-01', '2026-02', '2026-03']
    """
    drawn = np.flatnonzero((rates.rate > 0) & np.isfinite(rates.rate))
    rate, low, high = rates.rate[drawn], rates.low[drawn], rates.high[drawn]
    low, high = np.where(low > 0, low, rate), np.where(np.isfinite(high), high, rate)
    rows = [
        {
            "period": str(rates.period[row]),
            "rate": rounded(a),
            "low": rounded(b),
            "high": rounded(c),
        }
        for row, a, b, c in zip(drawn, rate.tolist(), low.tolist(), high.tolist(), strict=True)
    ]
    periods = [str(each) for each in rates.period]
    step = min(_WIDTH / max(len(periods), 1), _WIDEST)
    slant = -45 if max(map(len, periods), default=0) > _SHORT else 0
    axis = {"title": by, "grid": False, "labelAngle": slant, "labelOverlap": "greedy"}
    x = {"field": "period", "type": "ordinal", "scale": {"domain": periods}, "axis": axis}
    y = log_axis([*low.tolist(), *high.tolist()], "changes per day")
    thick = 3 if step >= _WIDE else 1
    band = {"type": "rule", "color": colours.blue, "opacity": 0.45, "size": thick}
    point = {"type": "point", "filled": True, "color": colours.blue, "opacity": 1}
    return themed(
        {
            "title": chart_title(title, f"changes per day by {by}, with {100 * level:g} % bands"),
            "width": rounded(step * len(periods)),
            "height": 220,
            "data": {"values": rows},
            "encoding": {"x": x},
            "layer": [
                {"mark": band, "encoding": {"y": {"field": "low", **y}, "y2": {"field": "high"}}},
                {"mark": {**point, "size": 15 * thick}, "encoding": {"y": {"field": "rate", **y}}},
            ],
        },
        colours,
    )
