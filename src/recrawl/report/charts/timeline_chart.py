"""A page's timeline: its visits and changes, and above them its rate with a band.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.report.charts.log_axis import log_axis
from recrawl.report.charts.timeline import Marks, have_instants, levels_of
from recrawl.report.charts.vega import LIGHT, chart_title, panel_title, themed
from recrawl.report.words import counted
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.report.charts.timeline import Changes, Moments, RateSteps
    from recrawl.report.charts.vega import Chart, Colours

_WIDTH = 620  # pixels of a panel
_MARKS_A_PIXEL = 2  # marks closer together are one: a long log stays a small picture
_DAY = MICROSECONDS_A_DAY / 1000  # milliseconds, Vega's unit of time
# From so many days on Vega sets seven marks by years, months, days: half way between those two.
_FORMATS = ((1300.0, "%Y"), (110.0, "%b %Y"), (5.5, "%-d %b %Y"), (0.0, "%-d %b %H:%M"))


def timeline_chart(
    visits: Moments, changes: Changes, rate: RateSteps, *, title: str, colours: Colours = LIGHT
) -> Chart:
    """When a page was visited and when it changed; above it the rate with its band.

    A gap that hid a change is a faint bar. Marks less than half a pixel apart are drawn as one. A
    band that reaches beyond ten times the rates leaves the panel there; so does one that has no
    upper end, or reaches down to 0.

    Args:
        visits: When the page was looked at; none where only changes are known.
        changes: When it changed.
        rate: Its rate; without a row that has one, there is no panel for it.
        title: What stands above the chart.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> from recrawl.report.charts.timeline import Changes, RateSteps
        >>> seen = Changes([2.0], since=[1.0], until=[3.0])
        >>> steady = RateSteps([0.0], [4.0], rate=[0.25], low=[0.05], high=[1.0])
        >>> chart = timeline_chart([0.0, 1.0, 3.0, 4.0], seen, steady, title="/news")
        >>> chart["title"]["subtitle"]
        '4 visits, 1 change. Faint bars: gaps that hid a change.'
    """
    instants = have_instants(visits, changes.at, changes.since, changes.until, rate.start, rate.end)
    marks = Marks.of(visits, changes)
    levels = levels_of(rate)
    drawn = [*marks.moments, *(row["at"] for row in levels)]
    # The last panel alone has the axis of time: both are equally wide and end alike.
    time = _time_axis(drawn, instants=instants)
    first, last = time["scale"]["domain"]
    below = _happenings(marks.apart((last - first) / (_WIDTH * _MARKS_A_PIXEL)), time, colours)
    panels = [below]
    if levels:
        above = {**time, "axis": {**time["axis"], "labels": False, "title": None}}
        panels = [_rate_panel(levels, above, colours), below]
    heading = chart_title(title, _subtitle(len(visits), changes))
    return themed({"title": heading, "vconcat": panels, "spacing": 10}, colours)


def _subtitle(visits: int, changes: Changes) -> str:
    """The line below the title."""
    seen = f"{counted(visits, 'visit')}, " if visits else ""
    more = " Faint bars: gaps that hid a change." if changes.hidden.any() else ""
    return f"{seen}{counted(len(changes.at), 'change')}.{more}"


def _time_axis(drawn: list[float], *, instants: bool) -> Chart:
    """The axis below: from the first moment to the last."""
    low, high = (min(drawn), max(drawn)) if drawn else (0.0, 1.0)
    if not low < high:
        half = _DAY / 2 if instants else max(0.5, abs(low) * 1e-6)
        low, high = low - half, high + half
    axis: Chart = {"grid": True, "labelFlush": True, "labelOverlap": "greedy", "tickCount": 7}
    if not instants:
        scale = {"domain": [low, high], "nice": False, "zero": False}
        return {"type": "quantitative", "scale": scale, "axis": {**axis, "title": "days"}}
    # Vega leaves the clock of the machine out of it only where the scale says UTC.
    scale = {"type": "utc", "domain": [low, high], "nice": False}
    axis |= {"format": _time_format((high - low) / _DAY), "title": None}
    return {"type": "temporal", "scale": scale, "axis": axis}


def _time_format(span: float) -> str:
    """How instants are written on an axis of so many days: no two labels alike, the year there."""
    return next(written for least, written in _FORMATS if span >= least)


def _rate_panel(levels: list[dict[str, float]], time: Chart, colours: Colours) -> Chart:
    axis = log_axis([row[field] for row in levels for field in ("low", "high")], None)
    rate = {**axis, "axis": {**axis["axis"], "grid": True}}
    shared = {"x": {"field": "at", **time}, "detail": {"field": "stretch", "type": "nominal"}}
    band = {
        "mark": {"type": "area", "clip": True, "opacity": 0.2, "color": colours.blue},
        "encoding": {**shared, "y": {"field": "low", **rate}, "y2": {"field": "high"}},
    }
    line = {
        "mark": {"type": "line", "clip": True, "strokeWidth": 2, "color": colours.blue},
        "encoding": {**shared, "y": {"field": "rate", **rate}},
    }
    return {
        "title": {**panel_title("changes per day"), "frame": "group"},
        "width": _WIDTH,
        "height": 170,
        "data": {"values": levels},
        "layer": [band, line],
    }


def _happenings(marks: Marks, time: Chart, colours: Colours) -> Chart:
    """Changes in one row, visits, if there are any, in another."""
    rows = ["changes", "visits"] if len(marks.visits) else ["changes"]
    axis = {"grid": False, "title": None, "labelFontSize": 12, "labelColor": colours.ink}
    row = {"type": "nominal", "scale": {"domain": rows}, "axis": axis}
    kinds = {"x": {"field": "at", **time}, "y": {"field": "row", **row}}

    def ticks(name: str, places: Floats, mark: Chart) -> Chart:
        values = [{"at": at, "row": name} for at in places.tolist()]
        look = {"type": "tick", "orient": "vertical", "size": 18, "opacity": 1, **mark}
        return {"data": {"values": values}, "mark": look, "encoding": kinds}

    gaps = zip(marks.since.tolist(), marks.until.tolist(), strict=True)
    bars = {
        "data": {"values": [{"at": at, "to": to, "row": "changes"} for at, to in gaps]},
        "mark": {"type": "bar", "height": 18, "opacity": 0.22, "color": colours.orange},
        "encoding": {**kinds, "x2": {"field": "to"}},
    }
    # Where visits crowd, each is paler, so that their density shows.
    crowd = min(1.0, max(0.25, _WIDTH / (6.0 * max(len(marks.visits), 1))))
    return {
        "width": _WIDTH,
        "height": 32 * len(rows),
        "layer": [
            bars,
            ticks("changes", marks.placed, {"thickness": 1.5, "color": colours.orange}),
            ticks("changes", marks.dated, {"thickness": 2.5, "color": colours.orange}),
            ticks(
                "visits",
                marks.visits,
                {"thickness": 1, "size": 12, "opacity": round(crowd, 2), "color": colours.ink},
            ),
        ],
    }
