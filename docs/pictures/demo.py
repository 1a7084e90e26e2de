"""Draw `demo.svg`: how fresh a copy of the example site is, day by day.

    python docs/pictures/demo.py [FOLDER]

The site is that of `recrawl demo`, and so is the budget. Only the clock is another: visits take
no time, so that the same numbers come out every time.

Touches: `demo.svg` and `demo-dark.svg` in FOLDER, or else beside this file.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.adapters.pictures import write_picture
from recrawl.demo.truth import truly_fresh
from recrawl.demo.virtual import virtual_crawl
from recrawl.demo.world import draw_world
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.rivals.uniform import uniform
from recrawl.report.charts.vega import DARK, LIGHT, Chart, Colours, rounded, themed

PAGES, DAYS, BUDGET = 300, 60, 120.0
LOOKS_A_DAY = 8
EXPECTED, TRUE, UNIFORM = "as recrawl expects it", "as it is", "all pages visited in turn"
LEAST = 0.5  # where the axis begins

Row = dict[str, Any]


def rows() -> list[Row]:
    """Share of fresh copies: one row per day and line."""
    world = draw_world(PAGES, start=20_454.0, days=DAYS + 1.0, seed=2)
    looks = world.start + np.arange(1, DAYS * LOOKS_A_DAY + 1) / LOOKS_A_DAY
    ours = Recrawl(objective=OBJECTIVES["freshness"])
    found = {}
    for policy, name in ((ours, TRUE), (uniform(), UNIFORM)):
        random = np.random.default_rng(0)
        crawl = virtual_crawl(world, policy, Budget(BUDGET), looks=looks, random=random)
        found[name] = [fresh.mean() for fresh in truly_fresh(world, *crawl)]
        if policy is ours:
            found[EXPECTED] = [belief.chance.mean() for belief in crawl[1]]
    return [
        {"line": name, "day": day + 1, "fresh": rounded(round(share, 3))}
        for name, shares in found.items()
        for day, share in enumerate(np.reshape(shares, (DAYS, -1)).mean(axis=1))
    ]


def chart(shown: list[Row], colours: Colours) -> Chart:
    """The picture as a Vega-Lite value."""
    names = [TRUE, EXPECTED, UNIFORM]
    look = {
        "color": [colours.blue, colours.ink, colours.orange],
        "strokeDash": [[1, 0], [2, 3], [1, 0]],
    }
    legend = {"title": None, "orient": "top", "symbolType": "stroke", "labelLimit": 260}
    title = {
        "text": "A site of 300 pages, 120 visits a day",
        "subtitle": "Share of the copies that are fresh, day by day",
        "anchor": "start",
        "offset": 10,
    }
    by_line = {"field": "line", "type": "nominal", "legend": legend}
    return themed(
        {
            "title": title,
            "width": 680,
            "height": 240,
            "data": {"values": shown},
            "mark": {"type": "line", "strokeWidth": 2.25, "clip": True, "strokeJoin": "round"},
            "encoding": {
                "x": {
                    "field": "day",
                    "type": "quantitative",
                    "scale": {"domain": [1, DAYS], "nice": False},
                    "axis": {"title": "day", "grid": False},
                },
                "y": {
                    "field": "fresh",
                    "type": "quantitative",
                    "scale": {"domain": [LEAST, 1]},
                    "axis": {
                        "title": None,
                        "labelExpr": "format(100 * datum.value, '~g') + ' %'",
                        "tickCount": 5,
                    },
                },
                **{
                    channel: {**by_line, "scale": {"domain": names, "range": values}}
                    for channel, values in look.items()
                },
            },
        },
        colours,
    )


def main(folder: Path) -> None:
    """Write the files."""
    shown = rows()
    for name, colours in (("demo", LIGHT), ("demo-dark", DARK)):
        write_picture(folder / f"{name}.svg", chart(shown, colours))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
