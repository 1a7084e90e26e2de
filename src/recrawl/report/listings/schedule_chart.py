"""A schedule as a chart: quality to expect between planned syncs.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.listings.forecast.forecast import QUALITIES
from recrawl.listings.schedule.schedule import planned_quality
from recrawl.report.charts.vega import (
    LIGHT,
    chart_title,
    panel_title,
    rounded,
    share_axis,
    themed,
)
from recrawl.report.words import cut
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.listings.schedule.plan import PlannedSync
    from recrawl.listings.schedule.schedule import Goal
    from recrawl.report.charts.vega import Chart, Colours

MOST_GROUPS = 8  # that a picture can hold

_WIDTH, _HEIGHT = 560, 150
_BESIDE = 48  # between two panels
_LOW_HEIGHT = 84  # of one of several groups
_CONFIDENCE = 0.8
_LONGEST = 40  # letters of a group's name
_MOST_TICKS = 8
_ROUNDING = 1e-9  # what it leaves of days
_MILLISECONDS_A_DAY = MICROSECONDS_A_DAY // 1000


@dataclass(frozen=True, slots=True, eq=False)
class GroupSchedule:
    """What a chart shows of a source or of a group of it.

    Args:
        name: Name of the group; empty for a whole source.
        synced_at: Instant of the last crawl.
        plan: Syncs to come.
        forecast: Forecast of so many days ahead, made so many days after the last crawl.
        listed: How many objects there are.
    """

    name: str
    synced_at: np.datetime64
    plan: Sequence[PlannedSync]
    forecast: Callable[[int, int], Forecast]
    listed: float = 0.0


def schedule_chart(
    title: str, groups: Sequence[GroupSchedule], goal: Goal | None, *, colours: Colours = LIGHT
) -> Chart:
    """Precision and recall over the days planned, falling from 1 to the next sync.

    Several groups stand below each other, on the same axes; of more than eight those of most
    objects are drawn.

    Args:
        title: Name of the source.
        groups: A source, or groups of it.
        goal: What is to be kept; its targets are drawn.
        colours: `LIGHT` or `DARK`.
    """
    confidence = _CONFIDENCE if goal is None or goal.confidence is None else goal.confidence
    targets: Mapping[str, float | None] = (
        goal.targets if goal is not None else dict.fromkeys(QUALITIES)
    )
    shown = _commonest(groups)
    size = _Size.of(len(shown), len(targets))
    columns = [
        _column(shown, name, target, confidence, size, colours) for name, target in targets.items()
    ]
    return themed(
        {
            "title": _title(title, confidence, len(shown), len(groups)),
            "concat": [panel for row in zip(*columns, strict=True) for panel in row],
            "columns": len(targets) if size.beside else 1,
            "spacing": {"row": 22, "column": _BESIDE},
        },
        colours,
    )


@dataclass(frozen=True, slots=True)
class _Size:
    """How large panels are, and whether those of two metrics stand beside each other."""

    beside: bool
    width: int
    height: int
    most_ticks: int

    @classmethod
    def of(cls, groups: int, metrics: int) -> _Size:
        """Size of the panels of some groups: lower where there are several of them."""
        beside = groups > 1 and metrics > 1
        return cls(
            beside,
            width=(_WIDTH - _BESIDE) // 2 if beside else _WIDTH,
            height=_HEIGHT if groups == 1 else _LOW_HEIGHT,
            most_ticks=_MOST_TICKS // 2 if beside else _MOST_TICKS,
        )


def _column(
    groups: Sequence[GroupSchedule],
    name: str,
    target: float | None,
    confidence: float,
    size: _Size,
    colours: Colours,
) -> list[Chart]:
    """Panels of one metric, one per group, on the same axes; the first says what is to be kept."""
    # All groups decay on to the end of the longest plan, so that their panels can be compared.
    end = max((sum(sync.gap for sync in group.plan) for group in groups), default=0.0)
    rows = [_rows(group, name, confidence, end) for group in groups]
    axes = _axes(rows, target, size.most_ticks)
    panels = []
    for place, (group, each) in enumerate(zip(groups, rows, strict=True)):
        said = "" if target is None or place else f"to keep: {100 * target:g} %"
        panels.append(
            {
                **_panel(name, each, target, axes, colours),
                "title": panel_title(_heading(group, name), said),
                "width": size.width,
                "height": size.height,
            }
        )
    return panels


def _title(title: str, confidence: float, shown: int, groups: int) -> Chart:
    said = [f"line: expected; shade: down to what is reached with probability {confidence:g}"]
    if shown < groups:
        said.append(f"the {shown} of {groups} groups that list most objects")
    return chart_title(title, said)


def _commonest(groups: Sequence[GroupSchedule]) -> list[GroupSchedule]:
    """Groups that list most objects, in the order given."""
    order = np.argsort([-group.listed for group in groups], kind="stable")[:MOST_GROUPS]
    return [groups[place] for place in sorted(order.tolist())]


def _heading(group: GroupSchedule, name: str) -> str:
    """What stands above a panel."""
    return f"{cut(group.name, _LONGEST)}, {name}" if group.name else name


def _rows(group: GroupSchedule, name: str, confidence: float, end: float) -> list[dict[str, Any]]:
    """Quality on each day of each cycle; a cycle begins at 1 where the one before ends.

    After the last sync planned the copy decays on to the end of the axis.
    """
    rows, start = [], 0.0
    gaps = [sync.gap for sync in group.plan]
    left = end - sum(gaps)
    for cycle, gap in enumerate([*gaps, left] if left > _ROUNDING else gaps):
        ahead = group.forecast(max(int(np.ceil(gap)), 1), int(start))
        paths = [
            np.concatenate([[1.0], planned_quality(ahead, name, bound)])
            for bound in (None, confidence)
        ]
        for day in sorted({*range(int(np.ceil(gap))), gap}):
            figures = [float(np.interp(day, np.arange(len(each)), each)) for each in paths]
            if np.isfinite(figures).all():
                elapsed = np.timedelta64(round((start + day) * MICROSECONDS_A_DAY), "us")
                at = f"{np.datetime_as_string(group.synced_at + elapsed, unit='s')}Z"
                share, floor = (rounded(figure) for figure in figures)
                rows.append({"at": at, "share": share, "floor": floor, "cycle": cycle})
        start += gap
    return rows


def _axes(
    panels: Sequence[list[dict[str, Any]]], target: float | None, most_ticks: int
) -> tuple[Chart, Chart]:
    """Axes that all groups share."""
    rows = [row for panel in panels for row in panel]
    low = min([row["floor"] for row in rows] + ([] if target is None else [target]), default=0.0)
    times = np.array([row["at"][:-1] for row in rows], "datetime64[ms]")
    axis: Chart = {"title": None, "format": "%b %-d"}
    scale: Chart = {"type": "utc"}
    if len(times):
        first, last = times.min().astype(np.int64), times.max().astype(np.int64)
        # Not Vega's own ticks: they mix names of months, of days and hours.
        step = _MILLISECONDS_A_DAY * max(
            int(np.ceil((last - first) / _MILLISECONDS_A_DAY / most_ticks)), 1
        )
        axis["values"] = np.arange(first, last + 1, step).tolist()
        scale["domain"] = [int(first), int(last)]
    x = {"field": "at", "type": "temporal", "scale": scale, "axis": axis}
    return x, share_axis("share", [low, 1.0], ticks=5 if len(panels) == 1 else 3)


def _panel(
    name: str,
    rows: list[dict[str, Any]],
    target: float | None,
    axes: tuple[Chart, Chart],
    colours: Colours,
) -> Chart:
    colour = colours.blue if name == "precision" else colours.purple
    x, y = axes
    cycle = {"detail": {"field": "cycle", "type": "nominal"}, "color": {"value": colour}}
    layers: list[Chart] = [
        {
            "mark": {"type": "area", "opacity": 0.18},
            "encoding": {"x": x, "y": {**y, "field": "floor"}, "y2": {"field": "share"}, **cycle},
        },
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": x, "y": y, **cycle},
        },
    ]
    if target is not None:
        layers.append(
            {
                "data": {"values": [{}]},
                "mark": {"type": "rule", "strokeDash": [4, 4], "strokeWidth": 1.25},
                "encoding": {"y": {"datum": target}, "color": {"value": colours.pale}},
            }
        )
    return {"data": {"values": rows}, "layer": layers}
