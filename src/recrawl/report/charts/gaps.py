"""Lengths of gaps between changes beside those of random changes, on a logarithmic axis.

As in all charts, what cannot be drawn is left out.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.report.charts.log_axis import log_axis
from recrawl.report.charts.vega import LIGHT, chart_title, rounded, themed

if TYPE_CHECKING:
    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.trends.gap_shares import GapShares


def gap_chart(found: GapShares, *, title: str, colours: Colours = LIGHT) -> Chart:
    """Share of gaps by length: dots, and the line of a Poisson process.

    Args:
        found: Shares by length; the open bin at the end is not drawn.
        title: What stands above the chart.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> import numpy as np
        >>> from recrawl.trends.gap_shares import GapShares
        >>> half = np.array([0.5, 0.5])
        >>> shares = GapShares(np.array([0.0, 1]), np.array([1, np.inf]), half * 8, half, half, 3)
        >>> gap_chart(shares, title="3 pages")["layer"][1]["data"]["values"]
        [{'gap': 0.5, 'share': 50.0}]
    """
    middle = (found.start[:-1] + found.stop[:-1]) / 2
    rows = {
        name: [
            {"gap": rounded(at), "share": rounded(100 * share)}
            for at, share in zip(middle, column[:-1], strict=True)
            if share > 0
        ]
        for name, column in (("seen", found.share), ("line", found.exponential))
    }
    shares = [row["share"] for part in rows.values() for row in part]
    shared = {
        "x": {
            "field": "gap",
            "type": "quantitative",
            "axis": {"title": "gap between changes / mean gap of its page"},
        },
        "y": {"field": "share", **log_axis(shares, "share of gaps, %")},
    }
    line = {"type": "line", "strokeWidth": 2, "color": colours.orange, "strokeDash": [6, 4]}
    dots = {"type": "point", "filled": True, "size": 60, "color": colours.blue, "opacity": 1}
    layers = [
        {"data": {"values": rows["line"]}, "mark": line, "encoding": shared},
        {"data": {"values": rows["seen"]}, "mark": dots, "encoding": shared},
    ]
    return themed(
        {
            "title": chart_title(title, "dots: observed gaps; dashed: random changes"),
            "width": 420,
            "height": 300,
            "layer": layers,
        },
        colours,
    )
