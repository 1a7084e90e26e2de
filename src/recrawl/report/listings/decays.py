"""Decay of copies as a table and a chart: what `recrawl listing decay` writes.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
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
from recrawl.report.listings.sheets import Sheet, texts
from recrawl.report.words import cut, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.listings.data.decay import Decay
    from recrawl.report.charts.vega import Chart, Colours
    from recrawl.report.rates import Column

MOST_LINES = 12  # that a chart can hold
_DASHES = ([1, 0], [6, 3], [2, 2])
_LONGEST = 40  # letters of a name in a legend


@dataclass(frozen=True, slots=True, eq=False)
class NamedDecay:
    """Decay of the copies of a source or of a group of it.

    Args:
        source: Name of the source.
        group: Name of the group; empty for a whole source.
        made: Day on which the copy was made; empty for the mean of all days.
        decay: How it decayed.
    """

    source: str
    group: str
    made: str
    decay: Decay


def decay_sheet(found: Sequence[NamedDecay]) -> Sheet:
    """One row per copy and day after it."""
    rows = [
        (each, day)
        for each in found
        for day in range(len(each.decay.copies))
        if each.decay.copies[day]
    ]
    columns: dict[str, Column] = {
        "group": texts([each.group for each, _ in rows]),
        "copied_on": texts([each.made for each, _ in rows]),
        "after_days": np.array([day for _, day in rows], np.int64),
        "copies": np.array([each.decay.copies[day] for each, day in rows], np.int64),
        **{
            metric: np.array([getattr(each.decay, metric)[day] for each, day in rows])
            for metric in QUALITIES
        },
    }
    words = [
        [
            *(each.source, each.group, each.made, f"{day}d", f"{each.decay.copies[day]:,.0f}"),
            *(percent(getattr(each.decay, metric)[day]) for metric in QUALITIES),
        ]
        for each, day in rows
    ]
    header = ("source", "group", "copied on", "after", "copies", *QUALITIES)
    return Sheet("source", [each.source for each, _ in rows], columns, header, words, (0, 1, 2))


def decay_chart(found: Sequence[NamedDecay], *, colours: Colours = LIGHT) -> Chart:
    """Precision and recall over the days after a copy was made, one line per copy."""
    shown = found[:MOST_LINES]
    names = _names(shown)
    panels = [
        _panel(shown, names, "precision", "of the copy is still listed", colours),
        _panel(shown, names, "recall", "of what is listed is in the copy", colours),
    ]
    source = shown[0].source if len({each.source for each in shown}) == 1 else "Decay of copies"
    return themed({"title": chart_title(source), "hconcat": panels, "spacing": 40}, colours)


def _names(found: Sequence[NamedDecay]) -> list[str]:
    """What tells lines apart: only what differs."""
    parts = [[each.source, each.group, each.made or "all days"] for each in found]
    differ = [place for place in range(3) if len({part[place] for part in parts}) > 1]
    return [cut(", ".join(part[place] for place in differ or [2]), _LONGEST) for part in parts]


def _panel(
    found: Sequence[NamedDecay], names: Sequence[str], metric: str, said: str, colours: Colours
) -> Chart:
    rows: list[dict[str, Any]] = [
        {"line": name, "days": day, "share": rounded(float(share))}
        for each, name in zip(found, names, strict=True)
        for day, share in enumerate(getattr(each.decay, metric))
        if np.isfinite(share)
    ]
    by_line = {"field": "line", "type": "nominal", "sort": None}
    shades = colours.shades(len(names)) if len(names) > 1 else [colours.blue]
    dashes = [_DASHES[place % len(_DASHES)] for place in range(len(names))]
    least = min((row["share"] for row in rows), default=0.0)
    looks = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2.5, "labelLimit": 260}
    legend = looks if len(names) > 1 else None
    return {
        "title": panel_title(metric, said),
        "width": 280,
        "height": 230,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "days",
                "type": "quantitative",
                "axis": {"title": "days since the copy", "tickMinStep": 1},
                "scale": {"nice": False},
            },
            "y": share_axis("share", [least, 1.0]),
            "color": {
                **by_line,
                "scale": {"domain": list(names), "range": shades},
                "legend": legend,
            },
            "strokeDash": {
                **by_line,
                "scale": {"domain": list(names), "range": dashes},
                "legend": legend,
            },
        },
    }
