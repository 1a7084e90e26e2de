"""Charts of listings: arrivals with their fit, survival by group.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.listings.data.day_marks import DayMarks
from recrawl.listings.describe import fitted_lifetimes, kinds, removal_rates, whole_days
from recrawl.listings.models.gamma_arrivals import GammaArrivals
from recrawl.listings.models.negative_binomial import WEEK, NegativeBinomialArrivals
from recrawl.report.charts.vega import (
    LIGHT,
    chart_title,
    panel_title,
    rounded,
    share_axis,
    themed,
)
from recrawl.report.listings.describe import attributes_to_show, present
from recrawl.report.words import cut

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Ints
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.models.kaplan_meier import SurvivalCurve
    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.report.listings.partitions import Partition

_WIDTH = 560
_BESIDE = 60
_HALF_WIDTH = (_WIDTH - _BESIDE) // 2
_BINS = 24  # bars of a histogram, at most
_MOST_DAYS = 0.98  # share of days that a histogram shows: bulk loads would leave one bar
_ABOVE = 1.2  # times the highest bar, at which a density is cut
_HALF = 0.5
_LEAST_SHARE = 0.01  # of days, that an axis shows
_EMPIRICAL = "as seen"
_MOST_LINES = 8  # that a chart can hold
_MOST_BARS = 120  # more days are shown as weeks
_MOST_STEPS = 250  # of a survival curve: finer than its line is wide
_LOWEST = 0.02  # share left at which a curve may end
_LEVEL = 0.9
_DAY = np.timedelta64(1, "D")
_LONGEST = 40  # letters of a name in a legend
_DASHES = ([1, 0], [6, 3], [2, 2])


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Survival of one group.

    Args:
        name: What the legend says.
        curve: Share that outlives each age.
    """

    name: str
    curve: SurvivalCurve


def describe_chart(
    name: str, listing: Listing, grid: DayGrid, by: Sequence[str], *, colours: Colours = LIGHT
) -> Chart:
    """Arrivals and survival by an attribute, above both with the published models' curves.

    Args:
        name: Name of the source.
        listing: Its objects.
        grid: The same day by day.
        by: The attribute, or nothing for the first that tells kinds of objects.
        colours: `LIGHT` or `DARK`.
    """
    panels = [
        arrivals_panel(grid, colours),
        survival_panel(*survival_lines(listing, by), colours),
        {
            "hconcat": [histogram_panel(grid, colours), models_panel(listing, colours)],
            "spacing": _BESIDE,
            "resolve": {"scale": {"color": "independent", "strokeDash": "independent"}},
        },
    ]
    spacing = {
        "spacing": 34,
        "resolve": {"scale": dict.fromkeys(("color", "strokeDash"), "independent")},
    }
    return themed({"title": chart_title(name), "vconcat": panels, **spacing}, colours)


def partition_chart(
    name: str, listing: Listing, part: Partition, *, colours: Colours = LIGHT
) -> Chart:
    """Survival of each group of a partition."""
    lines = _named_curves(listing, part.codes, part.names)
    panel = survival_panel(lines, f"by {part.attribute}", colours)
    return themed({"title": chart_title(name), "vconcat": [panel]}, colours)


def survival_lines(listing: Listing, by: Sequence[str]) -> tuple[list[Line], str]:
    """Survival of the groups of an attribute, or of the first that tells kinds; and what it is."""
    attribute = next(iter([*by, *attributes_to_show(listing)]), "")
    if not attribute:
        return _named_curves(listing, np.zeros(len(listing), np.int64), ["all objects"]), ""
    codes, values = present(*kinds(listing.attributes[attribute]))
    return _named_curves(listing, codes, values), f"by {attribute}"


def _named_curves(listing: Listing, codes: Ints, names: Sequence[str]) -> list[Line]:
    """Curves of the commonest groups whose objects vanish, the shortest lifetimes first."""
    objects = np.bincount(codes, minlength=len(names))
    curves = removal_rates(listing, codes, len(names)).curves
    shown = [row for row in np.argsort(-objects, kind="stable") if len(curves[row].age)]
    lines = [Line(cut(names[row], _LONGEST), curves[row]) for row in shown[:_MOST_LINES]]
    return sorted(lines, key=lambda line: _area(line.curve))


def _area(curve: SurvivalCurve) -> float:
    """Mean lifetime as far as it was seen."""
    ages = np.concatenate([[curve.start], curve.age])
    left = np.concatenate([[1.0], curve.survival])
    return float(np.sum(np.diff(ages) * left[:-1]))


def survival_panel(lines: Sequence[Line], subtitle: str, colours: Colours) -> Chart:
    """Share of objects still listed by their age, one line per group."""
    longest = max((_end(line.curve) for line in lines), default=1.0)
    rows = [row for line in lines for row in _steps(line, longest)]
    names = [line.name for line in lines]
    shades = colours.shades(len(names)) if len(names) > 1 else [colours.blue]
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(names))]
    by_group = {"field": "group", "type": "nominal", "sort": None}
    looks = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2.5, "labelLimit": 300}
    legend = looks if len(names) > 1 else None
    return {
        "title": panel_title("Share still listed", subtitle),
        "width": _WIDTH,
        "height": 230,
        "data": {"values": rows},
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "clip": True},
        "encoding": {
            "x": {
                "field": "age",
                "type": "quantitative",
                "scale": {"domain": [0, rounded(longest)], "nice": False},
                "axis": {"title": "days since it appeared", "tickCount": 8},
            },
            "y": share_axis("survival", [0.0, 1.0]),
            "color": {
                **by_group,
                "scale": {"domain": names, "range": shades},
                "legend": legend,
            },
            "strokeDash": {
                **by_group,
                "scale": {"domain": names, "range": dashes},
                "legend": legend,
            },
        },
    }


def _end(curve: SurvivalCurve) -> float:
    """Age at which hardly anything is left, or the last one seen."""
    row = int(np.searchsorted(-curve.survival, -_LOWEST))
    return float(curve.age[min(row, len(curve.age) - 1)])


def _steps(line: Line, longest: float) -> list[dict[str, Any]]:
    ages = np.concatenate([[line.curve.start], line.curve.age])
    left = np.concatenate([[1.0], line.curve.survival])
    last = int(np.searchsorted(ages, longest, side="right"))
    ages, left = ages[:last], left[:last]
    kept = np.unique(np.linspace(0, len(ages) - 1, min(len(ages), _MOST_STEPS)).astype(np.int64))
    return [
        {"group": line.name, "age": rounded(age), "survival": rounded(share)}
        for age, share in zip(ages[kept].tolist(), left[kept].tolist(), strict=True)
    ]


def arrivals_panel(grid: DayGrid, colours: Colours) -> Chart:
    """New objects a day, or a week, with the fitted mean and a band for 90 % of days."""
    counts, days = grid.inserted[1:].astype(np.float64), grid.instants[1:]
    broken = (grid.gap[1:] | grid.gap[:-1]) if len(counts) else np.empty(0, np.bool_)
    weekday = np.array([grid.weekday(day) for day in range(1, len(grid))], np.int64)
    marks = DayMarks.of(grid)
    usual = ~broken & ~(marks.load | marks.rekey)[1:]
    fit = NegativeBinomialArrivals.fit_by_weekday(counts[usual], weekday[usual])
    size = WEEK if len(counts) > _MOST_BARS else 1
    rows = []
    for first in range(0, len(counts) - size + 1, size):
        part = slice(first, first + size)
        if broken[part].any():
            continue
        start = int(weekday[first])
        ends = [
            fit.quantile_of_independent_days(size, tail, start) if fit.mean > 0 else 0.0
            for tail in ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2)
        ]
        rows.append(
            {
                "from": _text(days[first]),
                "to": _text(days[first] + size * _DAY),
                "new": float(counts[part].sum()),
                "fit": rounded(fit.expected(size, start)) if fit.mean > 0 else 0.0,
                "low": ends[0],
                "high": ends[1],
                "mass": bool((marks.load | marks.rekey)[1:][part].any()),
            }
        )
    unit = "week" if size == WEEK else "day"
    return _bars(rows, unit, colours)


def histogram_panel(grid: DayGrid, colours: Colours) -> Chart:
    """Share of days by how many objects they bring, with the fitted Gamma density."""
    counts = grid.inserted[1:][whole_days(grid)].astype(np.float64)
    fit = GammaArrivals.fit(counts)
    end = float(np.quantile(counts, _MOST_DAYS)) if len(counts) else 0.0
    width = max(ceil((end + 1) / _BINS), 1)
    edges = np.arange(0, end + 1 + width, width) - _HALF
    heights = np.histogram(counts, edges)[0] / max(len(counts), 1)
    bars = [
        {"from": rounded(low), "to": rounded(high), "days": rounded(height)}
        for low, high, height in zip(edges, edges[1:], heights.tolist(), strict=False)
    ]
    known = np.isfinite(fit.shape) and fit.mean > 0
    line = [
        {"new": rounded(x), "days": rounded(y)}
        for x, y in (_gamma_curve(fit, float(edges[-1]), width, heights.max()) if known else [])
    ]
    said = "days by new objects"
    if known:
        said += f"; line: Gamma, shape {fit.shape:.2f}, scale {fit.scale:.2f}"
    x = {"type": "quantitative", "scale": {"nice": False}}
    title = {"title": "new objects per day", "tickCount": 5}
    y = share_axis("days", [0.0, max([*heights.tolist(), _LEAST_SHARE])])
    return {
        "title": panel_title("Arrivals", said),
        "width": _HALF_WIDTH,
        "height": 190,
        "layer": [
            {
                "data": {"values": bars},
                "mark": {"type": "rect", "opacity": 0.55, "stroke": colours.paper},
                "encoding": {
                    "x": {**x, "field": "from", "axis": title},
                    "x2": {"field": "to"},
                    "y": y,
                    "y2": {"datum": 0},
                    "color": {"value": colours.blue},
                },
            },
            {
                "data": {"values": line},
                "mark": {"type": "line", "strokeWidth": 2, "clip": True},
                "encoding": {
                    "x": {**x, "field": "new", "axis": title},
                    "y": y,
                    "color": {"value": colours.orange},
                },
            },
        ],
    }


def _gamma_curve(
    fit: GammaArrivals, end: float, width: int, highest: float
) -> list[tuple[float, float]]:
    """Points of the density times the width of a bar; a pole at 0 is cut above the bars."""
    ages = np.linspace(end / _MOST_STEPS, end, _MOST_STEPS)
    density = width * fit.density(ages)
    return [
        (x, y)
        for x, y in zip(ages.tolist(), density.tolist(), strict=True)
        if y <= _ABOVE * max(highest, _LEAST_SHARE)
    ]


def models_panel(listing: Listing, colours: Colours) -> Chart:
    """Survival of all objects with the fitted exponential and Weibull curves.

    All three are of objects that reach the age at which the first begins.
    """
    found = removal_rates(listing, np.zeros(len(listing), np.int64), 1)
    curve, model = found.curves[0], fitted_lifetimes(found.lifetimes[0])
    longest = _end(curve) if len(curve.age) else 1.0
    rows = _steps(Line(_EMPIRICAL, curve), longest) if len(curve.age) else []
    said = ""
    if model is not None and len(curve.age):
        ages = np.linspace(curve.start, longest, _MOST_STEPS // 2)
        for name, fit in (("exponential", model.exponential), ("Weibull", model.weibull)):
            past = float(fit.cumulative_hazard(np.array([curve.start]))[0])
            left = np.exp(past - fit.cumulative_hazard(ages))
            rows += [
                {"group": name, "age": rounded(age), "survival": rounded(share)}
                for age, share in zip(ages.tolist(), left.tolist(), strict=True)
            ]
        said = f"Weibull: shape {model.weibull.shape:.2f}, gains {model.gain:,.0f}"
    names = [_EMPIRICAL, "exponential", "Weibull"]
    by_name = {"field": "group", "type": "nominal", "sort": None}
    legend = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2.5, "orient": "bottom"}
    return {
        "title": panel_title("Survival", said),
        "width": _HALF_WIDTH,
        "height": 190,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2, "clip": True},
        "encoding": {
            "x": {
                "field": "age",
                "type": "quantitative",
                "scale": {"domain": [0, rounded(longest)], "nice": False},
                "axis": {"title": "days since it appeared", "tickCount": 5},
            },
            "y": share_axis("survival", [0.0, 1.0]),
            "color": {
                **by_name,
                "scale": {
                    "domain": names,
                    "range": [colours.ink, colours.orange, colours.purple],
                },
                "legend": legend,
            },
            "strokeDash": {
                **by_name,
                "scale": {"domain": names, "range": [[1, 0], [6, 3], [2, 2]]},
                "legend": legend,
            },
        },
    }


def _text(instant: np.datetime64) -> str:
    return f"{np.datetime_as_string(instant, unit='s')}Z"


def _bars(rows: list[dict[str, Any]], unit: str, colours: Colours) -> Chart:
    x = {
        "field": "from",
        "type": "temporal",
        "scale": {"type": "utc"},
        "axis": {"title": None, "tickCount": 8},
    }
    ends = {"x": x, "x2": {"field": "to"}}
    count = {"title": f"a {unit}", "tickCount": 5}
    y = {"field": "new", "type": "quantitative", "axis": count}
    band = {"field": "low", "type": "quantitative", "axis": count}
    said = f"objects a {unit}; line: fitted mean; grey: where 90 % of {unit}s lie if all are alike"
    if any(row["mass"] for row in rows):
        said += "; orange: bulk loads"
    colour = {
        "condition": {"test": "datum.mass", "value": colours.orange},
        "value": colours.blue,
    }
    return {
        "title": panel_title("New objects", said),
        "width": _WIDTH,
        "height": 170,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "rect", "opacity": 0.75},
                "encoding": {**ends, "y": y, "y2": {"datum": 0}, "color": colour},
            },
            {
                "mark": {"type": "rect", "opacity": 0.18},
                "encoding": {
                    **ends,
                    "y": band,
                    "y2": {"field": "high"},
                    "color": {"value": colours.ink},
                },
            },
            {
                "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 1.5},
                "encoding": {
                    "x": x,
                    "y": {"field": "fit", "type": "quantitative", "axis": count},
                    "color": {"value": colours.ink},
                },
            },
        ],
    }
