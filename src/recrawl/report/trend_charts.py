"""Charts of rates that move: a page's timeline, and its Duane plot.

Moments are instants (`datetime64`, UTC) or, where none are known, days since some origin; one
chart has one kind. As in all charts, what cannot be drawn is left out.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.report.charts import LIGHT, panel_title, rounded, themed
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts import Chart, Colours
    from recrawl.visits.arrays import Bools, Floats, Instants

    Moments: TypeAlias = Instants | Floats | Sequence[float]

_WIDTH = 620  # pixels of a panel
_MARKS_A_PIXEL = 2  # marks closer together are one: a long log stays a small picture
_BEYOND = 10.0  # how many times the rates a band may reach before it leaves the panel
_LEAST_RATIO = 4.0  # ends of a logarithmic axis at least, lest much be made of nothing
_TICKS = 9  # of a logarithmic axis, at most
_STEPS = ((1, 1.5, 2, 3, 5, 7), (1, 2, 5), (1,))  # of labels within a power of ten
_FEW = 60  # points that are drawn large
_DAY = MICROSECONDS_A_DAY / 1000  # milliseconds, Vega's unit of time
# From so many days on Vega sets seven marks by years, months, days: half way between those two.
_FORMATS = ((1300.0, "%Y"), (110.0, "%b %Y"), (5.5, "%-d %b %Y"), (0.0, "%-d %b %H:%M"))
_LEGEND = 12  # windows that a legend names
_EXTREMES = 1e-250, 1e250  # what a logarithmic axis can show with room around it


@dataclass(frozen=True, slots=True, eq=False)
class Changes:
    """Changes of a page, a row each.

    Args:
        at: When it changed: its date, or where in its gap the change is placed.
        since: Visit before the change, where no date is known; nan or NaT where there is one.
            None: all are dated.
        until: Visit that found it, in the same way.

    Examples:
        A dated change, and one hidden between days 4 and 8:

        >>> Changes([2.5, 6.0], since=[math.nan, 4.0], until=[math.nan, 8.0]).hidden
        array([False,  True])
    """

    at: Moments
    since: Moments | None = None
    until: Moments | None = None

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        _check_lengths(at=self.at, since=self.since, until=self.until)

    @property
    def hidden(self) -> Bools:
        """Which changes have no date, but a gap."""
        return np.isfinite(_places(self._ends(self.since)) + _places(self._ends(self.until)))

    def _ends(self, ends: Moments | None) -> Moments:
        return np.full(len(self.at), np.nan) if ends is None else ends


@dataclass(frozen=True, slots=True, eq=False)
class RateSteps:
    """A rate over time, a row a stretch in which it is taken for constant; many short ones curve.

    Args:
        start: Where each stretch begins.
        end: Where it ends.
        rate: Changes a day.
        low: Lower end of the band.
        high: Upper end of the band.
    """

    start: Moments
    end: Moments
    rate: Sequence[float] | Floats
    low: Sequence[float] | Floats
    high: Sequence[float] | Floats

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        _check_lengths(start=self.start, end=self.end, rate=self.rate, low=self.low, high=self.high)


@dataclass(frozen=True, slots=True, eq=False)
class DuaneLine:
    """One window of a Duane plot.

    Args:
        times: Days from the window's beginning to each of its changes, rising.
        slope: Of the line through the logarithms.
        intercept: Logarithm of the mean time between changes after one day, by the line.
        name: What the legend says.
    """

    times: Sequence[float] | Floats
    slope: float
    intercept: float
    name: str = ""


def _check_lengths(**columns: Any) -> None:  # noqa: ANN401 - anything that has a length
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        got = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        message = f"columns must be equally long (got {got})"
        raise InvalidParameter(message)


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
        >>> seen = Changes([2.0], since=[1.0], until=[3.0])
        >>> steady = RateSteps([0.0], [4.0], rate=[0.25], low=[0.05], high=[1.0])
        >>> chart = timeline_chart([0.0, 1.0, 3.0, 4.0], seen, steady, title="/news")
        >>> chart["title"]["subtitle"]
        '4 visits, 1 change. A faint bar is a gap that hid one.'
    """
    instants = _have_instants(
        visits, changes.at, changes.since, changes.until, rate.start, rate.end
    )
    marks = _Marks.of(visits, changes)
    levels = _levels(rate)
    drawn = [*marks.moments, *(row["at"] for row in levels)]
    # The last panel alone has the axis of time: both are equally wide and end alike.
    time = _time_axis(drawn, instants=instants)
    below = _happenings(marks.within(time["scale"]["domain"]), time, colours)
    panels = [below]
    if levels:
        above = {**time, "axis": {**time["axis"], "labels": False, "title": None}}
        panels = [_rate_panel(levels, above, colours), below]
    heading = {
        "text": title,
        "subtitle": _counted(len(visits), changes),
        "anchor": "start",
        "offset": 12,
    }
    return themed({"title": heading, "vconcat": panels, "spacing": 10}, colours)


def _counted(visits: int, changes: Changes) -> str:
    """The line below the title."""
    hidden = int(changes.hidden.sum())
    counts = [
        f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"
        for number, word in ((visits, "visit"), (len(changes.at), "change"))
        if number or word == "change"
    ]
    more = " A faint bar is a gap that hid one." if hidden else ""
    return f"{', '.join(counts)}.{more}"


def _have_instants(*columns: Moments | None) -> bool:
    """Whether moments are instants; refuse instants beside days."""
    kinds = {
        np.asarray(column).dtype.kind == "M"
        for column in columns
        if column is not None and len(column)
    }
    if len(kinds) > 1:
        message = "moments must be all instants or all days (got both)"
        raise InvalidParameter(message)
    return True in kinds


def _places(moments: Moments) -> Floats:
    """Moments as numbers on an axis: milliseconds since 1970, or days; nan where unknown."""
    given = np.asarray(moments)
    if given.dtype.kind != "M":
        return given.astype(np.float64)
    whole = given.astype("datetime64[ms]")
    return np.where(np.isnat(whole), np.nan, whole.astype(np.int64).astype(np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class _Marks:
    """What stands on the timeline, as numbers on its axis."""

    visits: Floats
    dated: Floats
    placed: Floats
    since: Floats  # of the changes that are placed
    until: Floats

    @classmethod
    def of(cls, visits: Moments, changes: Changes) -> _Marks:
        at, hidden = _places(changes.at), changes.hidden
        # Without a finite place a change cannot be drawn, but its gap can.
        none = np.zeros(0)
        since = none if changes.since is None else _places(changes.since)[hidden]
        until = none if changes.until is None else _places(changes.until)[hidden]
        seen, dated, placed = (
            some[np.isfinite(some)] for some in (_places(visits), at[~hidden], at[hidden])
        )
        return cls(seen, dated, placed, since, until)

    @property
    def moments(self) -> list[float]:
        every = (self.visits, self.dated, self.placed, self.since, self.until)
        return _plain(np.concatenate(every))

    def within(self, domain: list[float]) -> _Marks:
        """With one of several marks that could not be told apart on an axis with these ends."""
        least = (domain[1] - domain[0]) / (_WIDTH * _MARKS_A_PIXEL)
        bars = _apart((self.since + self.until) / 2, least)
        return _Marks(
            self.visits[_apart(self.visits, least)],
            self.dated[_apart(self.dated, least)],
            self.placed[_apart(self.placed, least)],
            self.since[bars],
            self.until[bars],
        )


def _apart(places: Floats, least: float) -> Any:  # noqa: ANN401 - row numbers
    """Rows of the first place in each stretch of `least`, in order."""
    _, rows = np.unique(np.floor(places / least), return_index=True)
    return rows


def _levels(rate: RateSteps) -> list[dict[str, float]]:
    """Both ends of each stretch of the rate; the line breaks where one does not follow another."""
    start, end = _places(rate.start), _places(rate.end)
    rates, low, high = (
        np.asarray(column, np.float64) for column in (rate.rate, rate.low, rate.high)
    )
    least, most = _EXTREMES
    there = np.isfinite(start) & np.isfinite(end) & (rates >= least) & (rates <= most)
    if not there.any():
        return []
    floor = max(float(np.fmin(low, rates)[there].min()), float(rates[there].min()) / _BEYOND)
    ceiling = min(float(np.fmax(high, rates)[there].max()), float(rates[there].max()) * _BEYOND)
    rows: list[dict[str, float]] = []
    stretch, before = 0, math.nan
    for row in np.flatnonzero(there).tolist():
        stretch += int(start[row] != before)
        before = end[row]
        figures = {
            "rate": rounded(rates[row]),
            "low": rounded(max(float(np.fmin(low[row], rates[row])), floor)),
            "high": rounded(min(float(np.fmax(high[row], rates[row])), ceiling)),
            "stretch": stretch,
        }
        rows += [{"at": float(at), **figures} for at in (start[row], end[row])]
    return rows


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
    shown = [row[field] for row in levels for field in ("low", "high")]
    low, high = _log_ends(shown)
    axis = {"grid": True, "labelExpr": _LABEL, "title": None, "values": _round_figures(low, high)}
    scale = {"type": "log", "domain": [low, high], "nice": False}
    rate = {"type": "quantitative", "scale": scale, "axis": axis}
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
        "title": {**panel_title("rate, changes a day"), "frame": "group"},
        "width": _WIDTH,
        "height": 170,
        "data": {"values": levels},
        "layer": [band, line],
    }


def _happenings(marks: _Marks, time: Chart, colours: Colours) -> Chart:
    """Changes in one row, visits, if there are any, in another."""
    rows = ["changes", "visits"] if len(marks.visits) else ["changes"]
    axis = {"grid": False, "title": None, "labelFontSize": 12, "labelColor": colours.ink}
    row = {"type": "nominal", "scale": {"domain": rows}, "axis": axis}
    kinds = {"x": {"field": "at", **time}, "y": {"field": "row", **row}}

    def ticks(name: str, places: Floats, mark: Chart) -> Chart:
        values = [{"at": at, "row": name} for at in _plain(places)]
        look = {"type": "tick", "orient": "vertical", "size": 18, "opacity": 1, **mark}
        return {"data": {"values": values}, "mark": look, "encoding": kinds}

    gaps = zip(_plain(marks.since), _plain(marks.until), strict=True)
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


def _plain(places: Floats) -> list[float]:
    plain: list[float] = places.tolist()
    return plain


def duane_chart(lines: Sequence[DuaneLine], *, title: str, colours: Colours = LIGHT) -> Chart:
    """Mean time between changes over time, both logarithmic, and the line through each window.

    Args:
        lines: Windows with their fitted lines, a colour each.
        title: What stands above the chart.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> line = DuaneLine([1.0, 3.0, 6.0], slope=0.39, intercept=0.0)
        >>> chart = duane_chart([line], title="Duane plot")
        >>> [row["interval"] for row in chart["layer"][1]["data"]["values"]]
        [1.0, 1.5, 2.0]
    """
    names = _names(lines)
    points = [row for line, name in zip(lines, names, strict=True) for row in _dots(line, name)]
    fitted = [
        row
        for line, name in zip(lines, names, strict=True)
        for row in _ends_of_line(line, name, [dot for dot in points if dot["window"] == name])
    ]
    shared = {
        "x": _log_axis("time", [row["time"] for row in points], "days since the window began"),
        "y": _log_axis(
            "interval", [row["interval"] for row in points], "mean days between changes"
        ),
        "color": _by_window(names, colours),
    }
    few = len(points) <= _FEW
    dots = {"type": "point", "filled": True, "size": 50 if few else 18, "opacity": 0.75}
    heading = {"text": title, "anchor": "start", "offset": 14}
    layers = [
        {
            "data": {"values": fitted},
            "mark": {"type": "line", "clip": True, "strokeWidth": 2, "strokeCap": "round"},
            "encoding": shared,
        },
        {"data": {"values": points}, "mark": dots, "encoding": shared},
    ]
    return themed({"title": heading, "width": 420, "height": 300, "layer": layers}, colours)


def _names(lines: Sequence[DuaneLine]) -> list[str]:
    """What each window is called; by number where names are not unique."""
    names = [line.name or f"window {number}" for number, line in enumerate(lines, 1)]
    if len(set(names)) == len(names):
        return names
    return [f"{number}: {name}" for number, name in enumerate(names, 1)]


def _dots(line: DuaneLine, name: str) -> list[dict[str, Any]]:
    times = np.asarray(line.times, np.float64)
    least, most = _EXTREMES
    means = times / np.arange(1, len(times) + 1)
    there = (means >= least) & (times <= most)
    return [
        {"window": name, "time": rounded(time), "interval": rounded(mean)}
        for time, mean in zip(times[there], means[there], strict=True)
    ]


def _ends_of_line(line: DuaneLine, name: str, dots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The fitted line from the first point to the last: straight, as both axes are logarithmic."""
    times = [dot["time"] for dot in dots]
    ends = sorted({min(times), max(times)}) if times else []
    heights = [(time, line.intercept + line.slope * math.log(time)) for time in ends]
    low, high = (math.log(extreme) for extreme in _EXTREMES)
    if not all(low <= height <= high for _, height in heights):  # nan included
        return []
    return [
        {"window": name, "time": time, "interval": rounded(math.exp(height))}
        for time, height in heights
    ]


def _by_window(names: list[str], colours: Colours) -> Chart:
    """A colour for each window; a legend where there are several."""
    if len(names) <= 1:
        return {"value": colours.blue}
    return {
        "field": "window",
        "type": "nominal",
        "scale": {"domain": names, "range": colours.shades(len(names))},
        "legend": {"title": None, "symbolLimit": _LEGEND, "symbolOpacity": 1},
    }


_LABEL = "format(datum.value, '~g')"


def _log_axis(field: str, shown: list[float], title: str) -> Chart:
    low, high = _log_ends(shown)
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"title": title, "labelExpr": _LABEL, "values": _round_figures(low, high)},
    }


def _log_ends(shown: list[float]) -> tuple[float, float]:
    """Ends of a logarithmic axis, with a little room around what is shown."""
    low, high = (min(shown), max(shown)) if shown else (1.0, 1.0)
    room = max(1.08, math.sqrt(_LEAST_RATIO / (high / low)))
    return rounded(low / room), rounded(high * room)


def _round_figures(low: float, high: float) -> list[float]:
    """Round figures from low to high, as finely as there is room for."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks: list[float] = []
    for steps in _STEPS:
        ticks = [float(f"{step}e{power}") for power in powers for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) <= _TICKS:
            return ticks
    return ticks[:: -(-len(ticks) // _TICKS)]
