"""Logarithmic axes: their ends, and round figures along them.

Pure.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from recrawl.report.charts.vega import rounded

if TYPE_CHECKING:
    from recrawl.report.charts.vega import Chart

Steps: TypeAlias = tuple[tuple[float, ...], ...]

EXTREMES = 1e-250, 1e250  # what such an axis can show with room around it
_LEAST_RATIO = 4.0  # of its ends, lest much be made of nothing
_TICKS = 9  # at most
# Figures within a power of ten, the coarser the less room there is.
COARSE: Steps = ((1, 2, 5), (1,))
FINE: Steps = ((1, 1.5, 2, 3, 5, 7), *COARSE)


def log_axis(shown: list[float], title: str | None) -> Chart:
    """A logarithmic axis for some positive figures.

    Args:
        shown: What it must show.
        title: What stands beside it.

    Examples:
        >>> axis = log_axis([0.2, 2.0], "days")
        >>> axis["scale"]["domain"], axis["axis"]["values"]
        ([0.185185, 2.16], [0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0])
    """
    low, high = _ends(shown)
    labels = "format(datum.value, '~g')"
    return {
        "type": "quantitative",
        "scale": {"type": "log", "domain": [low, high], "nice": False},
        "axis": {"title": title, "labelExpr": labels, "values": round_figures(low, high)},
    }


def _ends(shown: list[float]) -> tuple[float, float]:
    """Both ends, with a little room around what is shown."""
    low, high = (min(shown), max(shown)) if shown else (1.0, 1.0)
    room = max(1.08, math.sqrt(_LEAST_RATIO / (high / low)))
    return rounded(low / room), rounded(high * room)


def round_figures(low: float, high: float, steps: Steps = FINE) -> list[float]:
    """Round figures from low to high, as finely as there is room for.

    Args:
        low: Where they begin.
        high: Where they end.
        steps: Figures to choose from, `FINE` or `COARSE`.
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    figures: list[float] = []
    for within in steps:
        figures = [float(f"{step}e{power}") for power in powers for step in within]
        figures = [figure for figure in figures if low <= figure <= high]
        if len(figures) <= _TICKS:
            return figures
    return figures[:: -(-len(figures) // _TICKS)]
