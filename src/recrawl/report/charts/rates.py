"""Change rates as a chart: mean intervals of pages with their bands.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.parse.addresses import origin_of
from recrawl.report.charts.log_axis import log_axis
from recrawl.report.charts.vega import LIGHT, chart_title, rounded, themed
from recrawl.report.table import printable, shortened
from recrawl.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.rates.estimates import Estimates
    from recrawl.report.charts.vega import Chart, Colours

_MOST = 40  # pages that can be told apart
_LONGEST = 48  # letters of a name
_ROW = 17  # pixels of a page
_CENTURY = 36_525.0  # days: where the band of a page that never changed ends


def rate_chart(names: Sequence[str], estimates: Estimates, *, colours: Colours = LIGHT) -> Chart:
    """Days between changes with their band, one row per page, the busiest first.

    Of many pages some are shown, from the busiest to the quietest at equal steps.

    Args:
        names: Name of each page.
        estimates: Their rates.
        colours: `LIGHT` or `DARK`.

    Examples:
        >>> from recrawl import Gamma, Histories
        >>> seen = Histories.from_lists([([1, 1], [True, False]), ([7, 7], [False, False])])
        >>> chart = rate_chart(["/a", "/b"], Gamma().estimate(seen))
        >>> [row["page"] for row in chart["data"]["values"]]
        ['1  /a', '2  /b']
    """
    known = np.flatnonzero((estimates.rate > 0) & np.isfinite(estimates.rate))
    order = known[np.argsort(-estimates.rate[known], kind="stable")]
    places = np.unique(np.linspace(0, len(order) - 1, min(_MOST, len(order))).astype(int))
    origin = _common_origin([names[int(order[place])] for place in places.tolist()])
    rows = [_row(place, names, estimates, int(order[place]), origin) for place in places.tolist()]
    ends = [row[end] for row in rows for end in ("fast", "slow", "every")]
    pages = counted(len(order), "page") + (f" of {printable(origin)}" if origin else "")
    some = f"{len(rows)} of {pages}, from the busiest to the quietest"
    shown = some if len(order) > _MOST else f"{pages}, the busiest first"
    subtitle = [shown, "lines: bands, up to a century"]
    x = log_axis(ends, "days")
    y = {
        "field": "page",
        "type": "nominal",
        "sort": None,
        "axis": {"title": None, "labelLimit": 400},
    }
    return themed(
        {
            "title": chart_title("Days between changes", subtitle),
            "width": 460,
            "height": {"step": _ROW},
            "data": {"values": rows},
            "encoding": {"y": y},
            "layer": [
                {
                    "mark": {"type": "rule", "color": colours.blue, "opacity": 0.45, "size": 3},
                    "encoding": {"x": {"field": "fast", **x}, "x2": {"field": "slow"}},
                },
                {
                    "mark": {
                        "type": "point",
                        "filled": True,
                        "color": colours.blue,
                        "opacity": 1,
                        "size": 46,
                    },
                    "encoding": {"x": {"field": "every", **x}},
                },
            ],
        },
        colours,
    )


def _common_origin(names: Sequence[str]) -> str:
    """Scheme and host that all addresses share; empty where they share none.

    >>> _common_origin(["https://a.org/x", "https://a.org/y"]), _common_origin(["/x", "/y"])
    ('https://a.org', '')
    """
    origins = {origin_of(name) if "://" in name else "" for name in names}
    return origins.pop() if len(origins) == 1 else ""


def _row(place: int, names: Sequence[str], estimates: Estimates, row: int, origin: str) -> Chart:
    """One page. Its rank tells it from others whose names are shortened alike."""
    interval = 1 / float(estimates.rate[row])
    low, high = float(estimates.low[row]), float(estimates.high[row])
    slow = max(min(1 / low, _CENTURY), interval) if low > 0 else interval
    fast = 1 / high if 0 < high < np.inf else interval
    return {
        "page": f"{place + 1}  {shortened(printable(names[row].removeprefix(origin)), _LONGEST)}",
        "every": rounded(interval),
        "fast": rounded(fast),
        "slow": rounded(slow),
    }
