r"""All estimators fitted inside a window, and their in-sample errors.

An estimator says for every point of a window how long the mean time between changes was then. Its
error there is that time less the gap that really came before the point; the error of a window is
the mean of their squares, and beside it stands their plain sum. As published, an estimator knows
the whole window, the points it is judged by included: such errors are *in-sample* and flatter those
with more parameters.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_choice, check_fraction, check_positive
from recrawl.rates.published.cho import Cho
from recrawl.rates.published.matloff import Matloff
from recrawl.trends.duane import Duane
from recrawl.trends.weibull import VARIANTS, Weibull
from recrawl.trends.windows import LEAST_POINTS, STATE_NAMES, State, WindowTimes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats, Statuses
    from recrawl.rates.existence_accuracy import Counting
    from recrawl.trends.points import Points
    from recrawl.trends.weibull import Variant
    from recrawl.trends.windows import Windows

ESTIMATORS = ("ratio", "running", "weibull", "duane", "cho", "matloff")
_CONSTANT = ("ratio", "cho", "matloff")
_WINDOWS = 8192  # the points of a block of windows stay in the cache


@dataclass(frozen=True, slots=True, eq=False)
class Fits:
    """Every estimator on every window.

    Args:
        times: Points on the clock of their windows.
        weibull: Fitted Weibull processes.
        duane: Fitted Duane plots.
        period: Days between visits, for the estimators of regular access.
        variant: Variant of the Weibull rate.
    """

    times: WindowTimes
    weibull: Weibull
    duane: Duane
    period: float = 1.0
    variant: Variant = "corrected"

    @classmethod
    def of(cls, times: WindowTimes, period: float = 1.0, variant: Variant = "corrected") -> Fits:
        """Fit all windows."""
        return cls(times, Weibull.of(times), Duane.of(times), period, variant)

    def mean_intervals(self, estimator: str) -> Floats:
        """Mean time between changes at each point, by one estimator."""
        times = self.times
        if estimator == "running":
            return times.since / times.number
        if estimator == "weibull":
            return self._by_weibull()
        if estimator == "duane":
            return self._by_duane()
        return times.spread(self.constant(estimator))

    def constant(self, estimator: str) -> Floats:
        """Mean time between changes of each window by an estimator that holds it constant."""
        check_choice(_CONSTANT, estimator=estimator)
        count, span = self.times.count, self.times.span
        if estimator == "ratio":
            return span / count
        gaps = np.maximum(np.rint(span / self.period).astype(np.int64), count)
        method: Counting = Cho() if estimator == "cho" else Matloff()
        return self.period / method.changes_a_gap(count, gaps)

    def _by_weibull(self) -> Floats:
        """Inverse of the rate; the ratio in windows too short for it."""
        times = self.times
        enough = times.count >= LEAST_POINTS
        factor, beta = self.weibull.factor_and_beta(self.variant)
        beta, factor = np.where(enough, beta, 1.0), np.where(enough, factor, 1.0)
        off = times.logs - times.spread(np.log(times.span))
        with np.errstate(over="ignore"):  # a burst of points: its beginning is infinitely quiet
            power = np.exp(times.spread(1 - beta) * off)
            return times.spread(times.span / (factor * times.count * beta)) * power

    def _by_duane(self) -> Floats:
        """The line, from the middle of the window's points on."""
        times, duane = self.times, self.duane
        middle = times.total(times.logs) / times.count
        height = duane.intercept + duane.slope * middle
        off = times.logs - times.spread(middle)
        return np.exp(times.spread(height) + times.spread(duane.slope) * off)

    def errors(self) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Mean square, and sum, of mean interval less gap over each window, by each estimator."""
        times = self.times
        squares, total = times.total(times.gaps * times.gaps), times.total(times.gaps)
        errors, biases = {}, {}
        for estimator in ESTIMATORS:
            if estimator in _CONSTANT:
                value = self.constant(estimator)
                mean = value * value + (squares - 2 * value * total) / times.count
                errors[estimator] = np.maximum(mean, 0.0)
                biases[estimator] = value * times.count - total
            else:
                off = self.mean_intervals(estimator)
                off -= times.gaps
                biases[estimator] = times.total(off)
                with np.errstate(over="ignore"):  # a burst of points: as wrong as can be
                    off *= off
                errors[estimator] = times.total(off) / times.count
        return errors, biases


def wins(errors: Mapping[str, Floats]) -> dict[str, int]:
    """Windows in which each estimator has the least error.

    >>> wins({"one": np.array([1.0, 2.0, 3.0]), "two": np.array([2.0, 1.0, 4.0])})
    {'one': 2, 'two': 1}
    """
    least = np.argmin(np.stack(list(errors.values())), axis=0)
    counts = np.bincount(least, minlength=len(errors))
    return dict(zip(errors, counts.tolist(), strict=True))


def beats(errors: Mapping[str, Floats]) -> dict[tuple[str, str], int]:
    """Windows in which one estimator has less error than another.

    >>> beats({"one": np.array([1.0, 2.0, 3.0]), "two": np.array([2.0, 1.0, 4.0])})
    {('one', 'two'): 2, ('two', 'one'): 1}
    """
    return {
        (name, other): int((errors[name] < errors[other]).sum())
        for name, other in permutations(errors, 2)
    }


def mean_errors(errors: Mapping[str, Floats], windows: Windows) -> dict[str, dict[str, float]]:
    """Mean error of each estimator over all windows, and over those of each state."""
    means = {}
    for name, error in errors.items():
        by_state = {
            STATE_NAMES[state]: float(error[windows.state == state].mean())
            for state in State
            if (windows.state == state).any()
        }
        means[name] = {"all": float(error.mean()) if len(error) else float("nan"), **by_state}
    return means


@dataclass(frozen=True, slots=True, eq=False)
class WindowFits:
    """Fits of windows, one row per window.

    Args:
        beta: Unbiased beta of the Weibull process; nan where points are too few.
        beta_low: Lower end of its band.
        beta_high: Upper end of its band.
        eta: Days in which one change is expected.
        rate: Changes a day at the window's last point, by the Weibull rate of the variant; by the
            ratio in windows too short for it.
        errors: Mean square error by each estimator.
        error_sums: Sum of errors by each estimator.
    """

    beta: Floats
    beta_low: Floats
    beta_high: Floats
    eta: Floats
    rate: Floats
    errors: dict[str, Floats]
    error_sums: dict[str, Floats]

    def state(self, windows: Windows) -> Statuses:
        """State of each window as a whole: constant unless the band of beta leaves out 1.

        What the published walk calls the state is that of a window's first three points.
        """
        state = np.full(len(windows), State.CONSTANT, np.uint8)
        state[self.beta_low > 1] = State.INCREASING
        state[self.beta_high < 1] = State.DECREASING
        state[windows.points < LEAST_POINTS] = State.SHORT
        return state


def fit_windows(
    points: Points,
    windows: Windows,
    *,
    period: float = 1.0,
    level: float = 0.9,
    variant: Variant = "corrected",
) -> WindowFits:
    """Fit every estimator to every window, a block of windows at a time.

    Args:
        points: Change points.
        windows: How they are cut.
        period: Days between visits, for the estimators of regular access.
        level: Probability that beta lies in its band.
        variant: Variant of the Weibull rate.
    """
    check_fraction(level=level)
    check_positive(period=period)
    check_choice(VARIANTS, variant=variant)
    columns = np.empty((5, len(windows)))
    errors, biases = (
        {estimator: np.empty(len(windows)) for estimator in ESTIMATORS} for _ in range(2)
    )

    def work(some: slice) -> None:
        fits = Fits.of(WindowTimes.of(points, windows.part(some)), period, variant)
        times, weibull = fits.times, fits.weibull
        enough = times.count >= LEAST_POINTS
        rate = np.where(enough, weibull.rate(times.span, variant), times.count / times.span)
        columns[:, some] = weibull.beta, *weibull.band(level), weibull.eta, rate
        squares, totals = fits.errors()
        for estimator in ESTIMATORS:
            errors[estimator][some] = squares[estimator]
            biases[estimator][some] = totals[estimator]

    over_blocks(work, len(windows), _WINDOWS)
    beta, low, high, eta, rate = columns
    return WindowFits(beta, low, high, eta, rate, errors, biases)
