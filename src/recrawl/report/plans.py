"""A plan as a table, and what a budget buys as a chart.

Pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.charts.log_axis import COARSE, round_figures
from recrawl.report.charts.vega import LIGHT, chart_title, freshness_axis, rounded, themed
from recrawl.report.rates import finite
from recrawl.report.words import counted, every, percent, tenths

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Floats
    from recrawl.plan.curve import BudgetCurve
    from recrawl.plan.plan import Plan
    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.report.rates import Column
    from recrawl.settings.page_weights import PageWeights


HEADER = ("page", "visit every", "visits per day", "fresh", "value")
CURVE_HEADER = ("budget", "fresh", "if uniform", "one more visit per day", "never visited")

_OURS, _UNIFORM = "this plan", "all pages equally often"


def weights_sentence(file: str, weights: PageWeights, named: int, pages: int) -> str:
    """How many pages a file of weights names, and what becomes of the rest of both.

    Args:
        file: Name of the file.
        weights: What it says.
        named: How many of its pages are among those that are weighed.
        pages: How many are weighed.
    """
    if not pages:
        return f"{file} has weights for {counted(len(weights), 'page')}."
    said = f"{file} has weights for {named:,} of {counted(pages, 'page')}"
    if named < pages:
        said += f"; the others get {weights.least:g}, the smallest weight in it"
    unknown = len(weights) - named
    if unknown:
        are = "is not a page" if unknown == 1 else "are not pages"
        said += f"; {counted(unknown, 'name')} in it {are} here"
    return f"{said}."


def plan_columns(plan: Plan) -> dict[str, Column]:
    """All columns but `page`; nan for the interval of a page that is never visited."""
    return {
        "visits_per_day": plan.visits_per_day,
        "interval_days": np.where(plan.starved, np.nan, plan.interval),
        "freshness": plan.freshness,
        "value": finite(plan.value),
    }


def plan_words(names: Sequence[str], columns: Mapping[str, Column]) -> list[list[str]]:
    """Rows for people, under `HEADER`, of the first rows of what `plan_columns` gives."""
    figures = (columns[name].tolist() for name in ("visits_per_day", "freshness", "value"))
    return [
        [
            *(name, every(1 / visits if visits else math.inf)),
            *(figure(visits), percent(fresh), figure(value)),
        ]
        for name, visits, fresh, value in zip(names, *figures, strict=False)
    ]


def curve_columns(curve: BudgetCurve) -> dict[str, Column]:
    """All columns but `budget`."""
    return {
        "visits_per_day": curve.spent,
        "freshness": curve.freshness,
        "uniform": curve.uniform,
        "price": curve.price,
        "starved": curve.starved,
    }


def curve_words(names: Sequence[str], curve: BudgetCurve) -> list[list[str]]:
    """Rows for people, under `CURVE_HEADER`."""
    rows = zip(names, curve.freshness, curve.uniform, curve.price, curve.starved, strict=True)
    return [
        [name, tenths(fresh), tenths(even), figure(price), f"{starved:,}"]
        for name, fresh, even, price, starved in rows
    ]


def budget_words(visits: float) -> str:
    """A budget as people write it.

    >>> budget_words(5000.0), budget_words(0.25)
    ('5000/1d', '0.25/1d')
    """
    return f"{float(f'{visits:.6g}'):.12g}/1d"


def figure(value: float) -> str:
    """A figure with three digits; a dash where there is none.

    >>> figure(0.12345), figure(1234.5), figure(float("nan"))
    ('0.123', '1,234', '-')
    """
    if np.isnan(value):
        return "-"
    return f"{value:,.0f}" if value >= _WHOLE else f"{value:.3g}"


_WHOLE = 1000


def curve_chart(curve: BudgetCurve, *, budget: float, colours: Colours = LIGHT) -> Chart:
    """Expected freshness over the budget, of the best plan and of equal visits; the budget marked.

    Args:
        curve: Plans for several budgets.
        budget: The budget to mark.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> from recrawl.plan import budget_curve
        >>> chart = curve_chart(budget_curve([1.0, 2.0], [1.0, 2.0]), budget=2.0)
        >>> [len(layer["data"]["values"]) for layer in chart["layer"]]
        [1, 4]
    """
    rows = [
        {"budget": rounded(at), "freshness": rounded(fresh), "plan": name}
        for name, column in ((_UNIFORM, curve.uniform), (_OURS, curve.freshness))
        for at, fresh in zip(curve.budget, column, strict=True)
    ]
    x = _budget_axis(curve.budget)
    y = freshness_axis([*curve.uniform.tolist(), *curve.freshness.tolist()])
    colour = {
        "field": "plan",
        "type": "nominal",
        "scale": {"domain": [_OURS, _UNIFORM], "range": [colours.blue, colours.orange]},
        "legend": {"title": None, "orient": "top", "symbolType": "stroke"},
    }
    layers = [
        {
            "data": {"values": [{"budget": rounded(budget)}]},
            "mark": {"type": "rule", "strokeDash": [4, 4], "strokeWidth": 1.25},
            "encoding": {"x": x, "color": {"value": colours.pale}},
        },
        {
            "data": {"values": rows},
            "mark": {"type": "line", "strokeWidth": 2.5, "strokeCap": "round"},
            "encoding": {"x": x, "y": y, "color": colour},
        },
    ]
    title = chart_title(
        "Freshness by budget", "expected freshness; the dashed line is the given budget"
    )
    return themed({"title": title, "width": 520, "height": 300, "layer": layers}, colours)


def _budget_axis(budgets: Floats) -> Chart:
    low, high = float(budgets[0]), float(budgets[-1])
    return {
        "field": "budget",
        "type": "quantitative",
        "scale": {"type": "log", "nice": False},
        "axis": {
            "title": "visits per day",
            "values": round_figures(low, high, COARSE),
            "labelExpr": "format(datum.value, ',~g')",
        },
    }
