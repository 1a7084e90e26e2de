"""Autoregressive decay as a forecaster: the published one and the guarded one.

Both fit a series of daily decays to the training cycles, one for precision and one for recall,
learn from each later cycle, and forecast by running the series on. They know nothing of ages,
groups or arrivals.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.listings.forecast import adaptation, autoregression
from recrawl.listings.forecast.autoregression import Autoregression
from recrawl.listings.forecast.forecast import ForecastPath
from recrawl.listings.forecast.published_bands import NormalBand, with_published_bands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.data.cycles import Cycle, Stock
    from recrawl.listings.forecast.forecast import Forecast

_STEADY = 0.9  # most that the slopes of a guarded series may add up to


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """A series and the days it looks back on.

    Args:
        series: The fitted series.
        past: Decays of the last days, as far as the series reaches.
    """

    series: Autoregression
    past: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """What an autoregressive forecaster knows."""

    precision: Track
    recall: Track


@dataclass(frozen=True, slots=True)
class Autoregressive:
    """Forecaster of precision and recall by an autoregressive decay.

    Args:
        method: `"ar"`, guarded, or `"ar-published"`.
        learning: Share of an error that is learned, the paper's tau; with 0 parameters are fixed.
        weekly: Let the series look a week back.
        interpolation: How a cycle's decay is shared over its days: `"uniform"`, or by `"model"`.
        level: Share of outcomes that bands are to hold.

    References:
        The quality-aware paper, sections 4.1 and 4.2, equations (4) to (7).

    Examples:
        A source that loses a tenth a day, watched for a month:

        >>> from recrawl.listings.data.cycles import Cycle, Stock
        >>> def cycle(day):
        ...     stock = Stock(day, np.array([0]), np.array([-1]), np.array([0]), np.array([100.0]))
        ...     return Cycle(stock, day + 1, np.array([10.0]), np.array([10.0]), day % 7)
        >>> training = [cycle(day) for day in range(30)]
        >>> forecaster = Autoregressive()
        >>> state = forecaster.start(training, groups=1)
        >>> ahead = forecaster.forecast(state, training[-1].stock, ahead=2)
        >>> ahead.typical.precision.round(4), ahead.typical.recall.round(4)
        (array([0.9 , 0.81]), array([0.9 , 0.81]))
    """

    method: Literal["ar", "ar-published"] = "ar"
    learning: float = adaptation.LEARNING
    weekly: bool = False
    interpolation: Literal["uniform", "model"] = "uniform"
    level: float = 0.9

    def start(self, training: Sequence[Cycle], groups: int = 1) -> Tracks:
        """Fit both series to the cycles of the training; groups do not matter to them."""
        del groups
        return Tracks(
            *(self._fitted([decay(cycle, of) for cycle in training]) for of in ("copy", "source"))
        )

    def learn(self, state: Tracks, cycle: Cycle) -> Tracks:
        """Move both series towards what a cycle showed."""
        return Tracks(
            self._moved(state.precision, *decay(cycle, "copy")),
            self._moved(state.recall, *decay(cycle, "source")),
        )

    def forecast(self, state: Tracks, stock: Stock, ahead: int) -> Forecast:
        """Precision and recall to expect 1 to `ahead` days after a sync."""
        kept, found = (
            track.series.quality(track.past, ahead) for track in (state.precision, state.recall)
        )
        path = ForecastPath.of_quality(stock.listed, kept, found)
        first, second = (
            NormalBand(
                np.sqrt(track.series.variance_of_sum(ahead)), 1 - self.level, logarithmic=True
            )
            for track in (state.precision, state.recall)
        )
        return with_published_bands(stock.listed, path, (first, second))

    def _fitted(self, seen: list[tuple[int, float]]) -> Track:
        pieces = [
            autoregression.interpolated(total, days) for days, total in seen if np.isfinite(total)
        ]
        decays = np.concatenate([np.empty(0), *pieces])
        series = autoregression.choose(decays, weekly=self.weekly)
        most = _STEADY if self.method == "ar" else adaptation.STATIONARY
        steady = series.with_slopes_within(most)
        if steady.slopes is not series.slopes:  # shrunk slopes need their own constant
            series = _with_mean(steady, float(np.mean(decays)))
        return Track(series, _tail(decays, series.reach))

    def _moved(self, track: Track, days: int, total: float) -> Track:
        if not np.isfinite(total):
            return track
        forecast = track.series.forecast(track.past, days)
        if self.method == "ar":
            moved = adaptation.adapt_guarded(
                track.series, track.past, days, total, learning=self.learning
            )
            total = adaptation.believable(total, float(np.sum(forecast)))
        else:
            moved = adaptation.adapt_as_published(
                track.series, track.past, days, total, learning=self.learning
            )
        if self.interpolation == "model":
            decays = autoregression.interpolated_by_model(total, forecast)
        else:
            decays = autoregression.interpolated(total, days)
        return Track(moved, _tail(np.concatenate([track.past, decays]), moved.reach))


def decay(cycle: Cycle, of: Literal["copy", "source"]) -> tuple[int, float]:
    r"""Days of a cycle and the logarithm of its precision or recall.

    Nothing left counts as half an object of one more, $\ln \frac{1/2}{n + 1}$; nothing to
    compare with is nan.
    """
    whole = cycle.stock.listed if of == "copy" else cycle.listed
    left = cycle.survived
    if whole <= 0:
        return cycle.days, float("nan")
    return cycle.days, float(np.log(left / whole if left > 0 else 0.5 / (whole + 1)))


def _with_mean(series: Autoregression, mean: float) -> Autoregression:
    constant = min(mean * (1 - float(np.sum(series.slopes))), 0.0)
    return Autoregression(constant, series.slopes, series.lags, series.variance)


def _tail(decays: Floats, reach: int) -> Floats:
    return decays[max(len(decays) - reach, 0) :]
