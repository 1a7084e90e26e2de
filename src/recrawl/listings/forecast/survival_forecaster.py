"""The published arrival-survival model as a forecaster: fitted once to the training, then fixed.

With the exponential survival the age of an object does not matter. With the Weibull it does: an
object that has reached age a reaches a + d with the chance S(a + d) / S(a), and one whose age is
unknown stays as an object of a stationary stock does.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.forecast.forecast import ForecastPath, plain
from recrawl.listings.forecast.published_bands import arrival_survival_bands, with_published_bands
from recrawl.listings.models.delta_method import DailyArrivals
from recrawl.listings.models.exponential import ExponentialSurvival, exponential_at_middle
from recrawl.listings.models.weibull import weibull

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.data.cycles import Cycle, Stock
    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.listings.models.weibull import WeibullSurvival


@dataclass(frozen=True, slots=True)
class ArrivalSurvival:
    """A fitted survival and the arrivals a day.

    Args:
        survival: How long objects stay.
        arrivals: Mean a day.
        variance: Variance from day to day.
        days: Days of training.
    """

    survival: ExponentialSurvival | WeibullSurvival
    arrivals: float
    variance: float = 0.0
    days: float = 0.0


@dataclass(frozen=True, slots=True)
class Survival:
    """Forecaster of precision and recall by arrivals and survival.

    Args:
        curve: `"exponential"` or `"weibull"`; the paper has bands for the first alone.
        level: Share of outcomes that bands are to hold.

    References:
        The quality-aware paper, section 3.

    Examples:
        Ten of a hundred objects vanish a day, 10 of 95 a day listed, and ten come:

        >>> from recrawl.listings.data.cycles import Cycle, Stock
        >>> def cycle(day):
        ...     stock = Stock(day, np.array([0]), np.array([-1]), np.array([0]), np.array([100.0]))
        ...     return Cycle(stock, day + 1, np.array([10.0]), np.array([10.0]), day % 7)
        >>> training = [cycle(day) for day in range(30)]
        >>> forecaster = Survival()
        >>> state = forecaster.start(training, groups=1)
        >>> round(state.survival.rate, 4), state.arrivals
        (0.1053, 10.0)
        >>> ahead = forecaster.forecast(state, training[-1].stock, ahead=2)
        >>> ahead.typical.precision.round(4), ahead.typical.recall.round(4)
        (array([0.9001, 0.8102]), array([0.9 , 0.81]))
    """

    curve: Literal["exponential", "weibull"] = "exponential"
    level: float = 0.9

    @property
    def method(self) -> str:
        """Name among the forecasters."""
        return "survival" if self.curve == "exponential" else "survival-weibull"

    def start(self, training: Sequence[Cycle], groups: int = 1) -> ArrivalSurvival:
        """Fit survival and arrivals to the cycles of the training."""
        del groups
        lifetimes = Lifetimes.from_cycles(list(training))
        found = exponential_at_middle(lifetimes)
        survival: ExponentialSurvival | WeibullSurvival = (
            found if found.exposure else ExponentialSurvival(0.0, 0.0, 0.0)
        )
        if self.curve == "weibull" and lifetimes.with_known_age().removals:
            survival = weibull(lifetimes.binned())
        came = np.array([float(np.sum(cycle.inserted)) for cycle in training])
        days = np.array([float(_left(survival, cycle.days)[-1]) for cycle in training])
        if not len(came):
            return ArrivalSurvival(survival, 0.0)
        mean = float(np.sum(came) / np.sum(days))
        around = float(np.sum(came**2 / days)) - mean * float(np.sum(came))
        variance = max(around, 0.0) / max(len(came) - 1, 1)
        return ArrivalSurvival(survival, mean, variance, float(np.sum(days)))

    def learn(self, state: ArrivalSurvival, cycle: Cycle) -> ArrivalSurvival:
        """Nothing: the published model is static."""
        del cycle
        return state

    def forecast(self, state: ArrivalSurvival, stock: Stock, ahead: int) -> Forecast:
        """Precision and recall to expect 1 to `ahead` days after a sync."""
        kept = _kept(state.survival, stock, ahead)
        came = state.arrivals * _left(state.survival, ahead)
        path = ForecastPath.of_counts(stock.listed, kept, came)
        if not isinstance(state.survival, ExponentialSurvival):
            return plain(stock.listed, path)
        arrivals = DailyArrivals(state.arrivals, state.variance, state.days)
        bands = arrival_survival_bands(
            ahead, state.survival, arrivals, stock.listed, 1 - self.level
        )
        return with_published_bands(stock.listed, path, bands)


def _kept(survival: ExponentialSurvival | WeibullSurvival, stock: Stock, ahead: int) -> Floats:
    """Objects of the stock to expect 1 to `ahead` days later."""
    days = np.arange(1.0, ahead + 1)
    known = stock.before >= 0
    middle = stock.day - (stock.seen + stock.before)[known] / 2
    ages, row = np.unique(middle, return_inverse=True)
    count = np.bincount(row, stock.count[known], len(ages))
    gone = (
        survival.cumulative_hazard(ages[:, None] + days) - survival.cumulative_hazard(ages)[:, None]
    )
    unknown = float(np.sum(stock.count[~known]))
    return count @ np.exp(-gone) + unknown * survival.equilibrium_survival(days)


def _left(survival: ExponentialSurvival | WeibullSurvival, days: int) -> Floats:
    """Of one arrival a day, how many are left after 1 to `days` days."""
    return np.cumsum(survival.survival(np.arange(float(days))))
