"""Charts as Vega-Lite values: plain dictionaries that a browser or vl-convert draws.

Every chart holds its own figures and names nothing that would have to be fetched. Figures that
are not finite are left out, so that a chart is always JSON; a line breaks where one is missing.
All charts share one look, `themed`, in `LIGHT` or `DARK` colours.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.visits.arrays import Floats

Chart: TypeAlias = dict[str, Any]
Row: TypeAlias = dict[str, float]


@dataclass(frozen=True, slots=True)
class Colours:
    """What a chart is drawn in: paper, ink, paler ink, grid lines, and four colours for figures."""

    paper: str
    ink: str
    pale: str
    line: str
    blue: str
    purple: str
    pink: str
    orange: str

    def shades(self, count: int) -> list[str]:
        """Colours for values in order, from orange for the least to blue for the most.

        >>> LIGHT.shades(3)
        ['#bc4c00', '#a044b4', '#0969da']
        """
        stops = [_channels(stop) for stop in (self.orange, self.pink, self.purple, self.blue)]
        places = np.linspace(0, len(stops) - 1, count)
        mixed = [
            np.interp(places, range(len(stops)), channel) for channel in zip(*stops, strict=True)
        ]
        return [f"#{bytes(shade).hex()}" for shade in np.column_stack(mixed).astype(np.uint8)]


def _channels(colour: str) -> bytes:
    return bytes.fromhex(colour.removeprefix("#"))


LIGHT = Colours(
    paper="#ffffff",
    ink="#1f2328",
    pale="#59636e",
    line="#e3e7eb",
    blue="#0969da",
    purple="#8250df",
    pink="#bf3989",
    orange="#bc4c00",
)
DARK = Colours(
    paper="#0d1117",
    ink="#f0f6fc",
    pale="#9198a1",
    line="#2a313a",
    blue="#58a6ff",
    purple="#bc8cff",
    pink="#f778ba",
    orange="#f0883e",
)


def themed(chart: Chart, colours: Colours) -> Chart:
    """A chart with the look that all share.

    >>> themed({"mark": "bar"}, DARK)["background"]
    '#0d1117'
    """
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "background": colours.paper,
        "padding": 14,
        **chart,
        "config": _looks(colours),
    }


def panel_title(text: str, subtitle: str = "") -> Chart:
    """Title of one panel of several: smaller than that of the chart.

    >>> panel_title("60 visits")
    {'text': '60 visits', 'anchor': 'start', 'fontSize': 13, 'offset': 6}
    """
    title = {"text": text, "anchor": "start", "fontSize": 13, "offset": 6}
    return {**title, "subtitle": subtitle, "subtitleFontSize": 11.5} if subtitle else title


def _looks(colours: Colours) -> Chart:
    return {
        "font": "Helvetica, Arial, sans-serif",
        "view": {"stroke": None},
        "axis": {
            "domain": False,
            "gridColor": colours.line,
            "labelColor": colours.pale,
            "labelFontSize": 11,
            "labelPadding": 6,
            "ticks": False,
            "titleColor": colours.pale,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
            "titlePadding": 8,
        },
        "legend": {
            "labelColor": colours.ink,
            "labelFontSize": 12,
            "symbolSize": 150,
            "titleColor": colours.pale,
            "titleFontSize": 12,
            "titleFontWeight": "normal",
        },
        "title": {
            "color": colours.ink,
            "fontSize": 16,
            "fontWeight": 600,
            "subtitleColor": colours.pale,
            "subtitleFontSize": 12.5,
            "subtitlePadding": 5,
        },
    }


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """How far the estimates made from `gaps` gaps are off, against the changes in a gap.

    Attributes:
        gaps: Number of gaps of a history.
        changes_a_gap: Expected changes in a gap, $r$: the rate times the length of a gap.
        bias: Mean of the estimate divided by the truth, less 1.
        sigma: Standard deviation of the estimate divided by the truth.
    """

    gaps: int
    changes_a_gap: Sequence[float] | Floats
    bias: Sequence[float] | Floats
    sigma: Sequence[float] | Floats


# How far from 0 an axis ends: at the first if no figure is so large, lest much be made of
# nothing; at the second if one is larger, lest a useless estimate press all others together.
_BIAS_ENDS = (0.1, 1.0)
_SIGMA_ENDS = (0.1, 2.0)

_SIGMA = "\N{GREEK SMALL LETTER SIGMA}"
_NO_CURVES = (0.05, 6.0)  # changes a gap, where there is no figure to go by
_DECADES = 2.5  # an axis longer than this has room for powers of ten only
_WIDEST, _NARROWEST = 3.5, 1.75  # lines, in pixels
_DIGITS = 6  # more than a picture shows, and the same on every machine


def accuracy_chart(curves: Sequence[Curve], *, title: str, colours: Colours = LIGHT) -> Chart:
    """Bias and standard deviation of an estimator: a panel for each, a line a number of gaps.

    An axis ends at a bias of 100 % and a standard deviation of 200 %; lines leave the panel there.

    Args:
        curves: One for each number of gaps.
        title: What stands above the chart.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> curve = Curve(10, [0.5, 1.0], bias=[-0.21, -0.37], sigma=[0.31, 0.15])
        >>> chart = accuracy_chart([curve], title="Changes seen / gaps")
        >>> [panel["title"]["subtitle"] for panel in chart["hconcat"]]
        ['mean of the estimate / r, less 1', 'standard deviation of the estimate / r']
    """
    ordered = sorted(curves, key=lambda curve: curve.gaps)
    bias = [row for curve in ordered for row in _rows(curve, "bias")]
    sigma = [row for curve in ordered for row in _rows(curve, "sigma")]

    shared = {
        "x": _changes_a_gap([row["changes_a_gap"] for row in [*bias, *sigma]]),
        "detail": {"field": "stretch", "type": "nominal"},
        **_by_gaps([curve.gaps for curve in ordered], colours),
    }
    panels = [
        {
            "title": panel_title("bias", "mean of the estimate / r, less 1"),
            **_panel(bias, {**shared, "y": _share("bias", _bias_ends(bias))}, colours),
        },
        {
            "title": panel_title(f"{_SIGMA} / r", "standard deviation of the estimate / r"),
            **_panel(sigma, {**shared, "y": _share("sigma", _sigma_ends(sigma))}, colours),
        },
    ]
    heading = {"text": title, "anchor": "start", "offset": 14}
    return themed({"title": heading, "hconcat": panels, "spacing": 24}, colours)


def _rows(curve: Curve, field: str) -> list[Row]:
    """Figures of a curve that can be drawn; within a stretch none is missing."""
    changes = np.asarray(curve.changes_a_gap, np.float64)
    figures = np.asarray(getattr(curve, field), np.float64)
    there = np.isfinite(figures) & np.isfinite(changes) & (changes > 0)  # 0 has no logarithm
    drawn = zip(changes[there], figures[there], np.cumsum(~there)[there], strict=True)
    return [
        {
            "gaps": curve.gaps,
            "changes_a_gap": rounded(r),
            field: rounded(figure),
            "stretch": int(stretch),
        }
        for r, figure, stretch in drawn
    ]


def rounded(value: float) -> float:
    """A figure as charts hold it, rounded to what can be seen."""
    return float(f"{value:.{_DIGITS}g}")


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
        "title": "expected changes a gap, r",
        "labelExpr": "format(datum.value, '~g')",
        "labelFlush": False,
    }
    ticks = _ticks(low, high)
    if len(ticks) > 1:  # else the axis is so short that Vega's own are better
        axis["values"] = ticks
    return {
        "field": "changes_a_gap",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": axis,
    }


def _ticks(low: float, high: float) -> list[float]:
    """Round figures of a logarithmic axis: 0.1, 0.2, 0.5, 1, 2, 5."""
    first, last = math.log10(low), math.log10(high)
    steps = (1,) if last - first > _DECADES else (1, 2, 5)
    powers = range(math.floor(first), math.ceil(last) + 1)
    ticks = [float(f"{step}e{power}") for power in powers for step in steps]
    return [tick for tick in ticks if low <= tick <= high]


def _by_gaps(numbers: list[int], colours: Colours) -> Chart:
    """A colour for each number of gaps.

    Fewer gaps have wider lines and are drawn first: where lines lie on each other, as they do if
    the bias is the same for any number of gaps, all can be seen.
    """
    widths = np.linspace(_WIDEST, _NARROWEST, len(numbers)).round(2).tolist()
    legend = {"title": "gaps", "titleOrient": "left", "orient": "top", "symbolType": "stroke"}
    # An empty legend has no size, and neither has the chart around it.
    field = {"field": "gaps", "type": "ordinal", "legend": legend if numbers else None}
    return {
        channel: {**field, "scale": {"type": "ordinal", "domain": numbers, "range": looks}}
        for channel, looks in (("color", colours.shades(len(numbers))), ("strokeWidth", widths))
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


def _share(field: str, ends: list[float]) -> Chart:
    """An axis in per cent, from one end to the other and on to the next round figure."""
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": ends, "nice": 5},
        "axis": {
            "grid": True,
            "labelExpr": "format(100 * datum.value, '~f') + ' %'",
            "tickCount": 5,
            "title": None,
        },
    }
