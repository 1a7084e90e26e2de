r"""Forecast of each page's next change: the median wait from the last visit, and a band.

A rate that follows a Gamma distribution with shape $a$ and exposure $b$ leaves a page alone for $t$
days with chance $(b / (b + t))^a$, so the wait that is exceeded with chance $1 - p$ is
$b ((1 - p)^{-1/a} - 1)$. `ratio` is that with the changes and the days of the last window. A
Weibull process is asked from where its window stands now, with the uncertainty of both parameters.
The line of a Duane plot is a Weibull process with beta = 1 - slope, and asked as such.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates.bank import Bank
from recrawl.rates.gamma import Gamma
from recrawl.trends.duane import Duane
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import LEAST_POINTS, WindowTimes

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimator
    from recrawl.rates.priors import Priors
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows
    from recrawl.visits.histories import Histories

PREDICTORS = ("bank", "gamma", "weibull", "duane", "ratio")


@dataclass(frozen=True, slots=True, eq=False)
class NextChange:
    """Days from the last visit to the next change, one row per page; nan without a forecast.

    Args:
        wait: The median.
        low: Lower end of the band.
        high: Upper end of the band.
    """

    wait: Floats
    low: Floats
    high: Floats


def next_changes(
    histories: Histories, points: Points, windows: Windows, *, priors: Priors, level: float = 0.8
) -> dict[str, NextChange]:
    """Next change of every page by each of `PREDICTORS`.

    Args:
        histories: What the visits showed.
        points: Change points of the same pages.
        windows: How these are cut; the last window of a page counts.
        priors: Priors of the rates; see `fit_prior`.
        level: Probability that the next change falls into its band.
    """
    chances = (0.5, (1 - level) / 2, (1 + level) / 2)
    found = {}
    pooled: dict[str, Estimator] = {"bank": Bank(priors), "gamma": Gamma(priors)}
    for name, estimator in pooled.items():
        estimates = estimator.estimate(histories)
        shape, exposure = estimates.shape, estimates.exposure
        found[name] = NextChange(*(gamma_wait(shape, exposure, chance) for chance in chances))
    return found | _by_windows(points, windows, chances)


def gamma_wait(shape: Floats, exposure: Floats, probability: float) -> Floats:
    """Days within which the next change falls with a probability, under a Gamma rate.

    >>> gamma_wait(np.array([1.0]), np.array([7.0]), 0.5)
    array([7.])
    """
    with np.errstate(over="ignore"):  # a rate as good as 0: never
        wait: Floats = exposure * np.expm1(-np.log1p(-probability) / shape)
    return wait


@dataclass(frozen=True, slots=True, eq=False)
class WindowedPages:
    """Pages whose last window has points enough, and the fits of that window.

    Args:
        page: The pages.
        now: Days from the beginning of the window to the last look.
        times: Points on the clock of the window.
        weibull: Fitted Weibull processes, up to the last look.
        duane: Fitted Duane plots.
    """

    page: Ints
    now: Floats
    times: WindowTimes
    weibull: Weibull
    duane: Duane

    @classmethod
    def of(cls, points: Points, windows: Windows) -> WindowedPages:
        """The last window of each page."""
        last = last_windows(windows, len(points))
        some = np.flatnonzero(last >= 0)
        some = some[windows.points[last[some]] >= LEAST_POINTS]
        times = WindowTimes.of_some(points, windows, last[some])
        now = np.maximum(points.end[some] - windows.origins(points)[last[some]], times.span)
        return cls(some, now, times, Weibull.of(times, now), Duane.of(times))


def _by_windows(
    points: Points, windows: Windows, chances: tuple[float, ...]
) -> dict[str, NextChange]:
    """By the last window of each page, where it has points enough."""
    seen = WindowedPages.of(points, windows)
    found = {name: np.full((3, len(points)), np.nan) for name in ("weibull", "duane", "ratio")}
    count = seen.times.count.astype(np.float64)
    for row, chance in enumerate(chances):
        found["weibull"][row, seen.page] = seen.weibull.next_wait(chance)
        found["duane"][row, seen.page] = _duane_wait(seen, chance)
        found["ratio"][row, seen.page] = gamma_wait(count, seen.now, chance)
    return {name: NextChange(*rows) for name, rows in found.items()}


def _duane_wait(seen: WindowedPages, probability: float) -> Floats:
    """The wait of a Weibull process whose (n - 1) / S is what the slope says beta is.

    That estimate scatters about as much, whatever beta is: bands of 80 % hold 79 to 82 %. A line
    too steep for a process gives its cumulative rate, supposed to stay.
    """
    beta, events = 1 - seen.duane.slope, np.maximum(seen.times.count - 1.0, 1.0)
    steep = beta <= 0
    beta = np.where(steep, 1.0, beta)
    with np.errstate(over="ignore"):  # a line as good as too steep: as good as never
        share = np.expm1(-np.log1p(-probability) / events) * events / seen.times.count
        wait: Floats = seen.now * np.expm1(share / beta)
        wait[steep] = -np.log1p(-probability) / seen.duane.rate(seen.now)[steep]
    return wait


def last_windows(windows: Windows, pages: int) -> Ints:
    """Row of each page's last window; -1 where it has none."""
    last = np.full(pages, -1)
    last[windows.page] = np.arange(len(windows))
    return last
