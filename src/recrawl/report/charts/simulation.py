"""What more visits buy, as a chart: freshness against the budget, a line a policy.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from recrawl.report.charts.vega import LIGHT, chart_title, freshness_axis, rounded, themed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts.vega import Chart, Colours

_DASHES: tuple[list[int], ...] = ([], [6, 3], [2, 2])  # to tell similar colours apart


@dataclass(frozen=True, slots=True)
class BudgetLine:
    """Freshness of one policy at several budgets.

    Args:
        policy: Its name.
        budgets: Visits a day, a change, or a page and day.
        freshness: What each bought.
    """

    policy: str
    budgets: Sequence[float]
    freshness: Sequence[float]


def budget_chart(
    lines: Sequence[BudgetLine],
    *,
    unit: str,
    title: str,
    subtitle: str = "",
    colours: Colours = LIGHT,
) -> Chart:
    """Freshness against budget, the freshest policy first.

    Args:
        lines: A policy each.
        unit: What the budgets are, e.g. "visits a change".
        title: What stands above the chart.
        subtitle: What was visited, and how.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> line = BudgetLine("uniform", [1.0, 2.0], [0.8, 0.9])
        >>> chart = budget_chart([line], unit="visits a change", title="Freshness")
        >>> chart["data"]["values"][1]
        {'policy': 'uniform', 'budget': 2.0, 'freshness': 0.9}
    """
    ordered = sorted(lines, key=lambda line: -sum(line.freshness))
    names = [line.policy for line in ordered]
    rows = [
        {"policy": line.policy, "budget": rounded(budget), "freshness": rounded(share)}
        for line in ordered
        for budget, share in zip(line.budgets, line.freshness, strict=True)
        if share == share  # noqa: PLR0124 - not nan, which is no JSON
    ]
    shares = [share for line in lines for share in line.freshness if not isnan(share)]
    shades = colours.shades(len(names))[::-1] if len(names) > 1 else [colours.blue]
    by_policy = {"field": "policy", "type": "nominal", "sort": None}
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(names))]
    legend = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2.5, "labelLimit": 260}
    return themed(
        {
            "title": chart_title(title, subtitle),
            "width": 460,
            "height": 320,
            "data": {"values": rows},
            "encoding": {
                "x": _budget_axis(rows, unit),
                "y": freshness_axis(shares),
                "color": {
                    **by_policy,
                    "scale": {"domain": names, "range": shades},
                    "legend": legend,
                },
            },
            "layer": [
                {
                    "mark": {"type": "line", "strokeWidth": 2},
                    "encoding": {
                        "strokeDash": {**by_policy, "scale": {"domain": names, "range": dashes}}
                    },
                },
                {"mark": {"type": "point", "filled": True, "size": 34, "opacity": 1}},
            ],
        },
        colours,
    )


def _budget_axis(rows: Sequence[dict[str, Any]], unit: str) -> Chart:
    budgets = sorted({row["budget"] for row in rows})
    return {
        "field": "budget",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False, "padding": 14},
        "axis": {
            "title": unit,
            "values": budgets,
            "labelExpr": "format(datum.value, '~g')",
            "labelOverlap": True,
        },
    }
