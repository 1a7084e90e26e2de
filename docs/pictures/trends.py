"""Draw the pictures of the concept pages on rates that move.

    python docs/pictures/trends.py [FOLDER]

`trends-windows.svg` is a made page whose rate is steady, falls, and rises again;
`trends-duane.svg` has a Duane plot for each of three made pages; `trends-weibull.svg` shows bias
and error of the published Weibull rates, which have closed forms; `trends-gaps.svg` shows the gaps
of made pages whose changes come in bursts. The same numbers come out every time.

Touches: `trends-*.svg` in FOLDER, or else beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.adapters.pictures import write_picture
from recrawl.arrays.special import gamma_quantile
from recrawl.report.charts.duane import DuaneLine, duane_chart
from recrawl.report.charts.gaps import gap_chart
from recrawl.report.charts.timeline import Changes, RateSteps
from recrawl.report.charts.timeline_chart import timeline_chart
from recrawl.report.charts.vega import LIGHT, panel_title, themed
from recrawl.trends.duane import Duane
from recrawl.trends.gap_shares import gap_shares
from recrawl.trends.points import Points
from recrawl.trends.weibull import VARIANTS
from recrawl.trends.windows import Windowing, Windows, WindowTimes, consistent_windows

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.report.charts.vega import Chart

# The page of docs/concepts/windows.md, in days between changes.
GAPS = (2, 2, 2, 2, 2, 3, 4, 5, 7, 9, 8, 6, 4, 3, 2, 1, 1)
SIZES = np.arange(4, 31)
POWERS = {"falling rate": 0.5, "constant rate": 1.0, "rising rate": 2.0}
CHANGES = 40


def windows() -> Chart:
    """Changes of a page visited every day, and the rate of each window."""
    days = np.cumsum(np.array(GAPS, np.float64))  # visits that found a change
    times = days - 0.5
    points = Points(times, np.array([0, len(times)]), days[-1:])
    found = consistent_windows(points, Windowing(0, "count"))
    start, end = found.origins(points), times[found.offsets[1:] - 1]
    count, span = found.points.astype(np.float64), end - start
    low, high = gamma_quantile(count, 0.05), gamma_quantile(count, 0.95)
    return timeline_chart(
        np.arange(days[-1] + 1),
        Changes(times, days - 1, days),
        RateSteps(start, end, count / span, low / span, high / span),
        title="A page cut into consistent windows",
    )


def duane() -> Chart:
    """A rate that falls, one that stays and one that rises."""
    random = np.random.default_rng(7)
    lines = []
    for name, power in POWERS.items():
        times = np.cumsum(random.exponential(1.0, CHANGES)) ** (1 / power)
        fit = Duane.of(_window(times))
        lines.append(DuaneLine(times, float(fit.slope[0]), float(fit.intercept[0]), name))
    return duane_chart(lines, title="Three pages with 40 changes each")


def _window(times: Floats) -> WindowTimes:
    """All points of one page as one window."""
    whole = np.array([0, len(times)])
    points = Points(times, whole, times[-1:])
    return WindowTimes.of(points, Windows(whole, np.array([0]), np.array([0], np.uint8)))


def weibull() -> Chart:
    """Bias and root mean square error of each variant at the last change of a window."""
    rows = variants()
    panels = [
        _panel(rows, "bias", "mean of the rate / truth, less 1"),
        _panel(rows, "error", "root of the mean square of rate / truth, less 1"),
    ]
    heading = {"text": "Weibull rates at the last change", "anchor": "start", "offset": 14}
    return themed({"title": heading, "hconcat": panels, "spacing": 24}, LIGHT)


def variants() -> list[dict[str, Any]]:
    """Both figures, one row per variant and number of changes."""
    n = SIZES.astype(np.float64)
    factors = {
        "likely": np.ones(len(n)),
        "corrected": (n - 2) / n,
        "check": (n - 3) / n,
        "bar": (n - 3) / n,
        "unbiased": (n - 1) * (n - 2) / n**2,
        "least": (n - 2) * (n - 3) / n**2,
    }
    mean = n**2 / ((n - 1) * (n - 2))
    square = n**4 / ((n - 1) * (n - 2) ** 2 * (n - 3))
    rows = []
    for name in VARIANTS:
        if name == "bar":  # at the last change it is `check`
            continue
        bias = factors[name] * mean - 1
        error = np.sqrt(factors[name] ** 2 * square - 2 * factors[name] * mean + 1)
        rows += [
            {
                "variant": "check, bar" if name == "check" else name,
                "changes": int(size),
                "bias": _figure(off),
                "error": _figure(far),
            }
            for size, off, far in zip(SIZES, bias, error, strict=True)
        ]
    return rows


def _figure(value: float) -> float:
    return float(f"{value:.6g}")


def _panel(rows: list[dict[str, Any]], field: str, subtitle: str) -> Chart:
    names = list(dict.fromkeys(row["variant"] for row in rows))
    ends = [-0.75, 1.0] if field == "bias" else [0.0, 2.0]
    percent = "format(100 * datum.value, '~f') + ' %'"
    colours = [LIGHT.orange, LIGHT.pink, LIGHT.purple, LIGHT.blue, LIGHT.ink]
    legend = {"title": None, "orient": "top", "symbolType": "stroke", "symbolStrokeWidth": 3}
    return {
        "title": panel_title(field, subtitle),
        "width": 290,
        "height": 240,
        "data": {"values": rows},
        "mark": {"type": "line", "clip": True, "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "changes",
                "type": "quantitative",
                "scale": {"domain": [int(SIZES[0]), int(SIZES[-1])], "nice": False},
                "axis": {"title": "changes in the window, n", "grid": False},
            },
            "y": {
                "field": field,
                "type": "quantitative",
                "scale": {"domain": ends},
                "axis": {"title": None, "labelExpr": percent, "tickCount": 5},
            },
            "color": {
                "field": "variant",
                "type": "nominal",
                "scale": {"domain": names, "range": colours},
                "legend": legend,
            },
        },
    }


def gaps() -> Chart:
    """Gaps of a hundred pages, of Gamma shape 0.5."""
    times = np.cumsum(np.random.default_rng(8).gamma(0.5, 2.0, (100, CHANGES)), axis=1)
    points = Points(times.ravel(), np.arange(101) * CHANGES, times[:, -1])
    return gap_chart(gap_shares([points]), title="Changes that come in bursts")


def main() -> None:
    """Write the files."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    charts = {"windows": windows(), "weibull": weibull(), "duane": duane(), "gaps": gaps()}
    for name, chart in charts.items():
        write_picture(folder / f"trends-{name}.svg", chart)


if __name__ == "__main__":
    main()
