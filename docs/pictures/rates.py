"""Draw `rates.svg`: what two methods know of ten pages after 2, 5, 20 and 60 visits.

    python docs/pictures/rates.py [FOLDER]

A made site of 300 pages changes by known rates and is visited about once a day. `gamma` pools
the pages of the site; the ratio, changes seen divided by days watched, takes each page alone.
The same numbers come out every time.

Touches: `rates.svg` and `rates-dark.svg` in FOLDER, or else beside this file.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import vl_convert

from recrawl import Gamma, Histories, Ratio, fit_prior
from recrawl.report.charts.vega import DARK, LIGHT, Chart, Colours, panel_title, themed

PAGES = 300
SHOWN = 10  # pages, spread evenly over the site
VISITS = (2, 5, 20, 60)
LEAST, MOST = 0.002, 30.0  # ends of the axis, in changes a day
ZERO = 0.003  # where a rate of 0 is drawn: a logarithm has no place for it

Row = dict[str, Any]


def rows() -> list[Row]:
    """What is known of each page shown, one row per page and number of visits."""
    random = np.random.default_rng(1)
    rates = np.sort(random.lognormal(np.log(0.4), 1.1, PAGES))
    gaps = random.exponential(1.0, (PAGES, VISITS[-1] - 1))
    changed = random.poisson(rates[:, np.newaxis] * gaps) > 0
    shown = (np.linspace(0.03, 0.97, SHOWN) * PAGES).astype(int).tolist()
    known = []
    for visits in VISITS:
        seen = Histories.from_lists(
            [(gaps[page, : visits - 1], changed[page, : visits - 1]) for page in range(PAGES)]
        )
        pooled, alone = Gamma(fit_prior(seen)).estimate(seen), Ratio().estimate(seen)
        known += [
            {
                "visits": visits,
                "page": number,
                "truth": _figure(rates[page]),
                "rate": _figure(pooled.rate[page]),
                "low": max(_figure(pooled.low[page]), LEAST),
                "high": min(_figure(pooled.high[page]), MOST),
                "ratio": _figure(alone.rate[page]) or ZERO,
            }
            for number, page in enumerate(shown)
        ]
    return known


def _figure(value: float) -> float:
    """Three significant figures: as many as a picture shows, and the same on every machine."""
    return float(f"{value:.3g}")


def chart(known: list[Row], colours: Colours) -> Chart:
    """The picture as a Vega-Lite value: a panel for each number of visits."""
    title = {
        "text": "Ten pages of one site, visited about once a day",
        "subtitle": [
            "Changes per day, one page per line. The estimate pools the pages of the site.",
            "Changes / days treats each page alone and sees at most one change per visit.",
        ],
        "anchor": "start",
        "offset": 14,
    }
    panels = [_panel(known, visits, colours) for visits in VISITS]
    return themed({"title": title, "hconcat": panels, "spacing": 14}, colours)


def _panel(known: list[Row], visits: int, colours: Colours) -> Chart:
    values = [row for row in known if row["visits"] == visits]
    return {
        "width": 196,
        "height": 300,
        "title": panel_title(f"{visits} visits"),
        "data": {"values": values},
        "encoding": {"y": {"field": "page", "type": "ordinal", "axis": None, "sort": "descending"}},
        "layer": [
            {
                "mark": {"type": "rule", "strokeWidth": 5, "opacity": 0.35, "strokeCap": "round"},
                "encoding": {
                    "x": _rate("low"),
                    "x2": {"field": "high"},
                    "color": {"value": colours.blue},
                },
            },
            {
                "mark": {"type": "tick", "thickness": 2.5, "size": 19, "opacity": 1},
                "encoding": {"x": _rate("truth"), "color": {"value": colours.ink}},
            },
            {
                "mark": {"type": "point", "filled": True, "size": 55, "opacity": 1},
                "encoding": {"x": _rate("rate"), "color": {"value": colours.blue}},
            },
            {
                "mark": {"type": "point", "size": 48, "strokeWidth": 2, "opacity": 1},
                "encoding": {
                    "x": _rate("ratio"),
                    "color": {"value": colours.orange},
                },
            },
            *(_labels(values, colours) if visits == VISITS[-1] else []),
        ],
    }


def _rate(field: str) -> Chart:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"type": "log", "domain": [LEAST, MOST], "nice": False},
        "axis": {
            "values": [ZERO, 0.01, 0.1, 1, 10],
            "labelExpr": f"datum.value < {2 * ZERO} ? '0' : format(datum.value, '~g')",
            "title": None,
        },
    }


def _labels(values: list[Row], colours: Colours) -> list[Chart]:
    """Names of the marks, each beside one that has room."""
    slowest, second, fastest = values[0], values[1], values[-1]
    return [
        {
            "data": {"values": [{"page": row["page"], "at": row[place], "name": name}]},
            "mark": {"type": "text", "align": align, "dx": dx, "fontSize": 12, "fontWeight": 600},
            "encoding": {
                "x": _rate("at"),
                "text": {"field": "name"},
                "color": {"value": colour},
            },
        }
        for row, place, name, align, dx, colour in (
            (fastest, "ratio", "changes / days", "right", -9, colours.orange),
            (second, "truth", "truth", "left", 8, colours.ink),
            (slowest, "high", "estimate, 90 % band", "left", 8, colours.blue),
        )
    ]


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    known = rows()
    for name, colours in (("rates", LIGHT), ("rates-dark", DARK)):
        svg = vl_convert.vegalite_to_svg(chart(known, colours))
        (folder / f"{name}.svg").write_text(svg + "\n")


if __name__ == "__main__":
    main()
