"""How far an estimator is off, and how much it scatters, against the changes in a gap.

As in all charts, what cannot be drawn is left out.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recrawl.report.charts.log_axis import COARSE, round_figures
from recrawl.report.charts.vega import LIGHT, chart_title, panel_title, rounded, share_axis, themed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.report.charts.vega import Chart, Colours

    Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """How far the estimates made from `gaps` gaps are off, against the changes in a gap.

    Attributes:
        gaps: Number of gaps of a history.
        changes_a_gap: Expected changes in a gap, $r$: the rate times the length of a gap.
        bias: Mean of the estimate divided by the truth, less 1.
        sigma: Standard deviation of the estimate divided by the truth.
        method: Name of the estimator; needed where a chart has several.
    """

    gaps: int
    changes_a_gap: Sequence[float] | Floats
    bias: Sequence[float] | Floats
    sigma: Sequence[float] | Floats
    method: str = ""


# How far from 0 an axis ends: at the first if no figure is so large, lest much be made of
# nothing; at the second if one is larger, lest a useless estimate press all others together.
_BIAS_ENDS = (0.1, 1.0)
_SIGMA_ENDS = (0.1, 2.0)

_SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
_NO_CURVES = (0.05, 6.0)  # changes a gap, where there is no figure to go by
_WIDEST, _NARROWEST = 3.5, 1.75  # lines, in pixels


def accuracy_chart(curves: Sequence[Curve], *, title: str, colours: Colours = LIGHT) -> Chart:
    """Bias and standard deviation: a panel for each, one line per number of gaps.

    Curves of several estimators have one line per method.

    An axis ends at a bias of 100 % and a standard deviation of 200 %; lines leave the panel there.

    Args:
        curves: One for each number of gaps, or for each method.
        title: What stands above the chart.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> curve = Curve(10, [0.5, 1.0], bias=[-0.21, -0.37], sigma=[0.31, 0.15])
        >>> chart = accuracy_chart([curve], title="Changes seen / gaps")
        >>> [panel["title"]["subtitle"] for panel in chart["hconcat"]]
        ['mean of the estimate / r - 1', 'standard deviation of the estimate / r']
    """
    by = "method" if len({curve.method for curve in curves}) > 1 else "gaps"
    ordered = sorted(curves, key=lambda curve: curve.gaps)
    bias = [row for curve in ordered for row in _rows(curve, "bias", by)]
    sigma = [row for curve in ordered for row in _rows(curve, "sigma", by)]

    shared = {
        "x": _changes_a_gap([row["changes_a_gap"] for row in [*bias, *sigma]]),
        "detail": {"field": "stretch", "type": "nominal"},
        **_by(by, [getattr(curve, by) for curve in ordered], colours),
    }
    panels = [
        {
            "title": panel_title("bias", "mean of the estimate / r - 1"),
            **_panel(bias, {**shared, "y": share_axis("bias", _bias_ends(bias))}, colours),
        },
        {
            "title": panel_title(f"{_SIGMA} / r", "standard deviation of the estimate / r"),
            **_panel(sigma, {**shared, "y": share_axis("sigma", _sigma_ends(sigma))}, colours),
        },
    ]
    return themed({"title": chart_title(title), "hconcat": panels, "spacing": 24}, colours)


def _rows(curve: Curve, field: str, by: str) -> list[Row]:
    """Figures of a curve that can be drawn; within a stretch none is missing."""
    changes = np.asarray(curve.changes_a_gap, np.float64)
    figures = np.asarray(getattr(curve, field), np.float64)
    there = np.isfinite(figures) & np.isfinite(changes) & (changes > 0)  # 0 has no logarithm
    drawn = zip(changes[there], figures[there], np.cumsum(~there)[there], strict=True)
    return [
        {
            by: getattr(curve, by),
            "changes_a_gap": rounded(r),
            field: rounded(figure),
            "stretch": int(stretch),
        }
        for r, figure, stretch in drawn
    ]


def _panel(rows: list[Row], encoding: Chart, colours: Colours) -> Chart:
    """Lines, and a line at 0 below them."""
    return {
        "width": 290,
        "height": 240,
        "layer": [
            {
                "data": {"values": [{}]},  # one line, not one for each figure
                "mark": {"type": "rule", "strokeWidth": 1.25},
                "encoding": {"y": {"datum": 0}, "color": {"value": colours.pale}},
            },
            {
                "data": {"values": rows},
                "mark": {"type": "line", "clip": True, "strokeCap": "round"},
                "encoding": encoding,
            },
        ],
    }


def _changes_a_gap(shown: list[float]) -> Chart:
    """The axis below: logarithmic, from the least to the most there is."""
    low, high = (min(shown), max(shown)) if shown else _NO_CURVES
    if low == high:
        low, high = low / 2, high * 2
    axis: Chart = {
        "title": "expected changes per gap, r",
        "labelExpr": "format(datum.value, '~g')",
        "labelFlush": False,
    }
    ticks = round_figures(low, high, COARSE)
    if len(ticks) > 1:  # else the axis is so short that Vega's own are better
        axis["values"] = ticks
    return {
        "field": "changes_a_gap",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": axis,
    }


def _by(name: str, lines: list[int] | list[str], colours: Colours) -> Chart:
    """A colour for each number of gaps, or for each method.

    The first have wider lines and are drawn first: where lines lie on each other, as they do if
    the bias is the same for any number of gaps, all can be seen.
    """
    widths = np.linspace(_WIDEST, _NARROWEST, len(lines)).round(2).tolist()
    legend = {"title": name, "titleOrient": "left", "orient": "top", "symbolType": "stroke"}
    # An empty legend has no size, and neither has the chart around it.
    field = {"field": name, "type": "ordinal", "legend": legend if lines else None}
    return {
        channel: {**field, "scale": {"type": "ordinal", "domain": lines, "range": looks}}
        for channel, looks in (("color", colours.shades(len(lines))), ("strokeWidth", widths))
    }


def _bias_ends(rows: list[Row]) -> list[float]:
    shown = [row["bias"] for row in rows]
    least, most = _BIAS_ENDS
    low, high = min(shown, default=0.0), max(shown, default=0.0)
    return [max(-most, min(low, -least)), min(most, max(high, least))]


def _sigma_ends(rows: list[Row]) -> list[float]:
    least, most = _SIGMA_ENDS
    high = max((row["sigma"] for row in rows), default=0.0)
    return [0.0, min(most, max(high, least))]
