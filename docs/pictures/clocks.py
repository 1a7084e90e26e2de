"""Draw the picture of docs/concepts/recrawl.md: what the clock of a section learns of a sweep.

    python docs/pictures/clocks.py [FOLDER]

Two folders of twelve pages each, visited in turn, three pages a day. In the first folder every
page changes at noon of day 20. `clocks.svg` shows the pace of both folders' clocks over the days
before, as known on days 20, 21, 22 and 28. The same numbers come out every time.

Touches: `clocks.svg` in FOLDER, or else beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.pictures import write_picture
from recrawl.policies import Outcomes, Pages, Recrawl
from recrawl.policies.recrawl.clocks import BINS
from recrawl.report.charts.vega import LIGHT, panel_title, rounded, themed
from recrawl.units import instants_after_epoch

if TYPE_CHECKING:
    from recrawl.policies.recrawl.policy import RecrawlState
    from recrawl.report.charts.vega import Chart

PAGES = 12  # a folder
A_DAY = 3
SWEEP = 20.5
SHOWN = (20, 21, 22, 28)
FIRST_DAY = 10
DAYS = {"domain": [FIRST_DAY, max(SHOWN)], "nice": False, "zero": False}


def states() -> dict[int, list[dict[str, Any]]]:
    """Pace of both folders by day, as known on each of the days shown."""
    order = [f"{folder}/{page}" for page in range(PAGES) for folder in "ab"]
    policy, start = Recrawl(), instants_after_epoch(np.zeros(1))
    pages = Pages.of(order, np.repeat(start, len(order)))
    state = policy.start(pages, start[0], gap=len(order) / A_DAY)
    last = np.zeros(len(order))
    known: dict[int, list[dict[str, Any]]] = {}
    for visit in range(1, max(SHOWN) * A_DAY + 1):
        day, row = visit / A_DAY, (visit - 1) % len(order)
        swept = order[row].startswith("a") and last[row] < SWEEP <= day
        outcome = Outcomes.existence(np.array([swept]))
        at = instants_after_epoch(np.array([day]))
        state = policy.seen(state, np.array([row]), at, outcome)
        last[row] = day
        if visit % A_DAY == 0 and int(day) in SHOWN:
            known[int(day)] = paces(state)
    return known


def paces(state: RecrawlState) -> list[dict[str, Any]]:
    """Rows of a chart: the pace of the two folders in every bin."""
    clocks, leaf = state.clocks, state.sections.leaf
    middle = clocks.oldest + clocks.width * (np.arange(BINS) + 0.5)
    return [
        {"day": rounded(day), "pace": rounded(pace), "folder": name}
        for name, node in (("swept", leaf[0]), ("not swept", leaf[1]))
        for day, pace in zip(
            middle.tolist(), clocks.pace(np.array([node]))[0].tolist(), strict=True
        )
        if day >= FIRST_DAY
    ]


def panel(day: int, rows: list[dict[str, Any]]) -> Chart:
    """What was known on one day."""
    names = ["swept", "not swept"]
    colour = {
        "field": "folder",
        "type": "nominal",
        "scale": {"domain": names, "range": [LIGHT.blue, LIGHT.pale]},
        "legend": {"title": "folder", "orient": "top"},
    }
    line = {
        "mark": {"type": "line", "interpolate": "step"},
        "data": {"values": rows},
        "encoding": {
            "x": {
                "field": "day",
                "type": "quantitative",
                "title": "day",
                "scale": DAYS,
            },
            "y": {
                "field": "pace",
                "type": "quantitative",
                "title": "pace of the clock",
                "scale": {"domain": [0, 8]},
            },
            "color": colour,
        },
    }
    sweep = {
        "mark": {"type": "rule", "strokeDash": [3, 3], "color": LIGHT.orange},
        "data": {"values": [{"day": SWEEP}]},
        "encoding": {"x": {"field": "day", "type": "quantitative", "scale": DAYS}},
    }
    return {
        "title": panel_title(f"as known on day {day}"),
        "width": 200,
        "height": 140,
        "layer": [sweep, line],
    }


def main() -> None:
    """Draw the picture."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    chart = {"hconcat": [panel(day, rows) for day, rows in states().items()]}
    write_picture(folder / "clocks.svg", themed(chart, LIGHT))


if __name__ == "__main__":
    main()
