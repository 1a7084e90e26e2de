r"""Prequential errors: each estimator forecasts the next gap at every point of a window.

An estimator knows the window's points so far, from the fourth on, and is judged by the gap that
comes next. Unlike errors of a fit, these can be compared between estimators with more and with
fewer parameters. After $i$ points, with $S_i = \sum_{j \le i} \ln(s_i / s_j)$, the corrected
Weibull rate at $s_i$ expects a gap of $s_i S_i / (i (i - 2))$.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.rates.published.cho import Cho
from recrawl.rates.published.matloff import Matloff
from recrawl.trends.prediction import FORECASTERS
from recrawl.trends.windows import LEAST_POINTS, WindowTimes

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.existence_accuracy import Counting
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows

_WINDOWS = 8192  # the points of a block of windows stay in the cache
_FLAT = 1e-12  # of the squared mean: no spread to lay a line through


def forecast_errors(points: Points, windows: Windows, *, period: float = 1.0) -> dict[str, Floats]:
    """Mean square of expected less next gap, over each window, by each estimator.

    nan for windows with less than five points: there is no gap to judge by.
    """
    errors = {name: np.empty(len(windows)) for name in FORECASTERS}

    def work(some: slice) -> None:
        times = WindowTimes.of(points, windows.part(some))
        judged = _judged(times)
        known = np.add.reduceat(judged, times.offsets[:-1]) if len(times.since) else judged
        for name, expected in expected_gaps(times, period).items():
            off = np.zeros(len(expected))
            off[:-1] = expected[:-1] - times.gaps[1:]
            total = times.total(off * off * judged)
            errors[name][some] = np.where(known > 0, total, np.nan) / np.maximum(known, 1)

    over_blocks(work, len(windows), _WINDOWS)
    return errors


def _judged(times: WindowTimes) -> Ints:
    """Points from which a forecast is made: the fourth and later, with another one after."""
    judged = (times.number >= LEAST_POINTS).astype(np.int64)
    judged[times.offsets[1:] - 1] = 0
    return judged


def expected_gaps(times: WindowTimes, period: float = 1.0) -> dict[str, Floats]:
    """Days to the next change that each estimator expects after each point, from those so far."""
    number, since = times.number, times.since
    # From the first point on: small, and so exact, where all points lie close together.
    logs = times.logs - times.spread(times.logs[times.offsets[:-1]])
    so_far = _running(logs, times)
    weibull = since * np.maximum(number * logs - so_far, 0) / (number * np.maximum(number - 2, 1))
    gaps = np.maximum(np.rint(since / period).astype(np.int64), number.astype(np.int64))
    expected = {"ratio": since / number, "weibull": weibull, "duane": _duane(times, logs, so_far)}
    constants: dict[str, Counting] = {"cho": Cho(), "matloff": Matloff()}
    for name, method in constants.items():
        expected[name] = period / method.changes_a_gap(number.astype(np.int64), gaps)
    return expected


def _duane(times: WindowTimes, x: Floats, so_far: Floats) -> Floats:
    """Cumulative mean time between changes by the line through the points so far."""
    number = times.number
    y = times.logs - np.log(number)
    mean_x, mean_y = so_far / number, _running(y, times) / number
    square = _running(x * x, times) / number - mean_x * mean_x
    product = _running(x * y, times) / number - mean_x * mean_y
    some = square > _FLAT * mean_x * mean_x
    slope = np.where(some, product, 0.0) / np.where(some, square, 1.0)
    return np.exp(mean_y + slope * (x - mean_x))


def _running(values: Floats, times: WindowTimes) -> Floats:
    """Sum of `values` over a window's points up to each."""
    begins, steps = times.offsets[:-1], values.copy()
    # Back to 0 where a window begins, so that no window is rounded by those before it.
    steps[begins[1:]] -= times.total(values)[:-1]
    running: Floats = np.cumsum(steps)
    running -= times.spread(running[begins] - values[begins])
    return running
