"""A backtest as a chart: what each forecaster said of the end of each cycle, and what came.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.listings.forecast.forecast import QUALITIES
from recrawl.report.charts.vega import (
    LIGHT,
    chart_title,
    panel_title,
    rounded,
    share_axis,
    themed,
)
from recrawl.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.forecast.backtest import CycleScores
    from recrawl.report.charts.vega import Chart, Colours

_WIDTH, _HEIGHT = 560, 190
_TRUE = "observed"
_DASHES = ([6, 3], [2, 2], [8, 2, 2, 2])


def backtest_chart(
    name: str,
    grid: DayGrid,
    cycle: int,
    scores: Mapping[str, CycleScores],
    *,
    colours: Colours = LIGHT,
) -> Chart:
    """Precision and recall at the end of each cycle: forecasts of each method, and what came.

    The legend has the sum of squared errors of each, as the paper's Figure 8 does.

    Args:
        name: Name of the source.
        grid: The listing day by day.
        cycle: Days of a cycle.
        scores: Forecasts and outcomes of each method, of one phase.
        colours: `LIGHT` or `DARK`.
    """
    panels = [_panel(grid, cycle, scores, metric, colours) for metric in QUALITIES]
    cycles = counted(max((len(each.start) for each in scores.values()), default=0), "cycle")
    said = f"{cycles} of {counted(cycle, 'day')}; SSE: sum of squared errors"
    return themed(
        {
            "title": chart_title(name, said),
            "vconcat": panels,
            "spacing": 30,
            "resolve": {"scale": dict.fromkeys(("color", "strokeDash"), "independent")},
        },
        colours,
    )


def _panel(
    grid: DayGrid, cycle: int, scores: Mapping[str, CycleScores], metric: str, colours: Colours
) -> Chart:
    column = QUALITIES.index(metric)
    rows: list[dict[str, Any]] = []
    names = [_TRUE]
    for place, (method, each) in enumerate(scores.items()):
        truth, error = each.truth[:, column], each.expected[:, column]
        if not place:
            rows += _rows(grid, cycle, each, truth, _TRUE)
        names.append(f"{method}, SSE {float(np.sum(error**2)):.3g}")
        rows += _rows(grid, cycle, each, truth + error, names[-1])
    kind = {"field": "kind", "type": "nominal", "sort": None}
    shades = colours.shades(len(scores)) if len(scores) > 1 else [colours.blue]
    dashes = [[1, 0], *(_DASHES[place % len(_DASHES)] for place in range(len(scores)))]
    legend = {"title": None, "symbolType": "stroke", "labelLimit": 300}
    shares = [row["share"] for row in rows]
    return {
        "title": panel_title(metric, "at the end of each cycle"),
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2, "point": {"size": 22}},
        "encoding": {
            "x": {
                "field": "at",
                "type": "temporal",
                "scale": {"type": "utc"},
                "axis": {"title": None, "tickCount": 8},
            },
            "y": share_axis("share", [min(shares, default=0.0), max(shares, default=1.0)]),
            "color": {
                **kind,
                "scale": {"domain": names, "range": [colours.ink, *shades]},
                "legend": legend,
            },
            "strokeDash": {**kind, "scale": {"domain": names, "range": dashes}, "legend": legend},
        },
    }


def _rows(
    grid: DayGrid, cycle: int, scores: CycleScores, shares: np.ndarray, kind: str
) -> list[dict[str, Any]]:
    ends = grid.instants[scores.start + cycle]
    return [
        {"at": f"{np.datetime_as_string(at, unit='s')}Z", "share": rounded(share), "kind": kind}
        for at, share in zip(ends, shares.tolist(), strict=True)
    ]
