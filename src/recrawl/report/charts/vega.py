"""Charts as Vega-Lite values: plain dictionaries that a browser or vl-convert draws.

Every chart holds its own figures and names nothing that would have to be fetched. Figures that
are not finite are left out, so that a chart is always JSON; a line breaks where one is missing.
All charts share one look, `themed`, in `LIGHT` or `DARK` colours.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Chart: TypeAlias = dict[str, Any]
VEGA_LITE = (
    "6.4"  # version that charts are written for: of those in vl-convert, the one for its Vega
)

# How instants are written on an axis of at least so many days.
_INSTANTS = ((500.0, "%b %Y"), (4.0, "%-d %b"), (1.5, "%-d %b %H:%M"), (0.0, "%H:%M"))
_DIGITS = 6  # more than a picture shows, and the same on every machine
_LEAST_ROOM = 0.01  # of freshness, between the ends of its axis


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


def schema_of(version: str) -> str:
    """Address that names a version of Vega-Lite in a chart.

    >>> schema_of("6.4")
    'https://vega.github.io/schema/vega-lite/v6.json'
    """
    return f"https://vega.github.io/schema/vega-lite/v{version.partition('.')[0]}.json"


def themed(chart: Chart, colours: Colours) -> Chart:
    """A chart with the look that all share.

    >>> themed({"mark": "bar"}, DARK)["background"]
    '#0d1117'
    """
    return {
        "$schema": schema_of(VEGA_LITE),
        "background": colours.paper,
        "padding": 14,
        **chart,
        "config": _looks(colours),
    }


def chart_title(text: str, subtitle: str | list[str] = "") -> Chart:
    """Title of a chart.

    >>> chart_title("60 visits")
    {'text': '60 visits', 'anchor': 'start', 'offset': 14}
    """
    title: Chart = {"text": text, "anchor": "start", "offset": 14}
    return {**title, "subtitle": subtitle} if subtitle else title


def share_axis(field: str, ends: Sequence[float], *, ticks: int = 5) -> Chart:
    """Axis of shares in per cent, extended to the next round figures."""
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"domain": [rounded(end) for end in ends], "nice": 5},
        "axis": {
            "title": None,
            "tickCount": ticks,
            "labelExpr": "format(100 * datum.value, '~f') + ' %'",
        },
    }


def freshness_axis(shares: Sequence[float]) -> Chart:
    """Axis of freshness that leaves a little room around some shares.

    >>> freshness_axis([0.5, 0.9])["scale"]["domain"]
    [0.48, 0.92]
    """
    ends = min(shares, default=0.0), max(shares, default=1.0)
    room = max(ends[1] - ends[0], _LEAST_ROOM) / 20
    low, high = max(0.0, ends[0] - room), min(1.0, ends[1] + room)
    return {
        "field": "freshness",
        "type": "quantitative",
        "scale": {"domain": [rounded(low), rounded(high)], "nice": 6},
        "axis": {
            "title": "freshness",
            "labelExpr": "format(100 * datum.value, '~g') + ' %'",
            "tickCount": 6,
        },
    }


def utc_axis(days: float) -> Chart:
    """Axis of instants in UTC over so many days.

    >>> utc_axis(30.0)["format"], utc_axis(1.0)["format"]
    ('%-d %b', '%H:%M')
    """
    form = next(form for least, form in _INSTANTS if days >= least)
    return {"title": None, "format": form, "tickCount": 6, "labelOverlap": True}


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


def rounded(value: float) -> float:
    """A figure as charts hold it, rounded to what can be seen."""
    return float(f"{value:.{_DIGITS}g}")
