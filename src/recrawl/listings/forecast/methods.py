r"""Forecasters of listings by name, and the baseline that they are compared with.

The baseline has one removal rate and mean arrivals, learned once:

$$ \alpha = D / E, \qquad p(d) = e^{-\alpha d}, \qquad
   M(d) = m \sum_{k<d} e^{-\alpha k}, \qquad \text{recall} = \frac{n p}{n p + M} . $$

`Static` learns from the training only, `Static(refit=True)` from all cycles so far.

`SyncReplay` shows a forecaster the syncs of a source one after the other: schedules of a live
crawl, plans from files and backtests all learn in this way.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from recrawl.checks import check_choice
from recrawl.errors import InvalidParameter
from recrawl.listings.data.sync import Syncs
from recrawl.listings.forecast.ar_forecaster import Autoregressive
from recrawl.listings.forecast.forecast import ForecastPath
from recrawl.listings.forecast.forecaster import AGE, DECAY, POOLED, Forecaster
from recrawl.listings.forecast.published_bands import arrival_survival_bands, with_published_bands
from recrawl.listings.forecast.survival_forecaster import Survival
from recrawl.listings.models.delta_method import DailyArrivals
from recrawl.listings.models.exponential import ExponentialSurvival

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.listings.data.attributes import ObjectGroups
    from recrawl.listings.data.cycles import Cycle, Stock
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.forecast.forecast import Forecast

State = TypeVar("State")


class Method(Protocol[State]):
    """A forecaster: learns from cycles and looks ahead; its state is a value."""

    def start(self, training: Sequence[Cycle], groups: int = 1) -> State:
        """Learn from the cycles of training."""
        ...

    def learn(self, state: State, cycle: Cycle) -> State:
        """Learn from one more cycle."""
        ...

    def forecast(self, state: State, stock: Stock, ahead: int) -> Forecast:
        """Look ahead from a sync."""
        ...


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over cycles.

    Args:
        deleted: Objects that vanished, D.
        lived: Days under observation, E; a removal counts half its cycle.
        inserted: Objects that came.
        days: Days observed.
        squares: Square of the objects that came in each cycle over its days, summed.
        cycles: How many cycles there were.
    """

    deleted: float = 0.0
    lived: float = 0.0
    inserted: float = 0.0
    days: float = 0.0
    squares: float = 0.0
    cycles: int = 0

    def add(self, cycle: Cycle) -> Totals:
        """One more cycle."""
        deleted, inserted = float(np.sum(cycle.deleted)), float(np.sum(cycle.inserted))
        return Totals(
            self.deleted + deleted,
            self.lived + cycle.days * (cycle.stock.listed - deleted / 2),
            self.inserted + inserted,
            self.days + cycle.days,
            self.squares + inserted**2 / cycle.days,
            self.cycles + 1,
        )

    @property
    def rate(self) -> float:
        """Removal rate a day."""
        return self.deleted / self.lived if self.lived else 0.0

    @property
    def arrivals(self) -> float:
        """Mean arrivals a day."""
        return self.inserted / self.days if self.days else 0.0

    @property
    def daily(self) -> DailyArrivals:
        r"""Arrivals a day with their variance, $\frac{\sum N^2 / d - (\sum N)^2 / T}{c - 1}$."""
        around = self.squares - self.inserted * self.arrivals
        variance = max(around, 0.0) / max(self.cycles - 1, 1)
        return DailyArrivals(self.arrivals, variance, self.days)


@dataclass(frozen=True, slots=True)
class Static:
    """Forecasts from constant rates.

    Args:
        refit: Whether cycles after training count too.
        level: Share of outcomes that bands are to hold.

    Examples:
        >>> from recrawl.listings.data.cycles import Stock
        >>> totals = Totals(deleted=58, lived=1000, inserted=400, days=10)
        >>> stock = Stock(0, *[np.zeros(1, dtype=np.int64)] * 3, np.array([709.8485]))
        >>> outlook = Static().forecast(totals, stock, 10).typical
        >>> outlook.precision[-1].round(6), outlook.recall[-1].round(6)
        (np.float64(0.559898), np.float64(0.559898))
    """

    refit: bool = False
    level: float = 0.9

    def start(self, training: Sequence[Cycle], groups: int = 1) -> Totals:  # noqa: ARG002 - as all
        """Totals of training."""
        totals = Totals()
        for cycle in training:
            totals = totals.add(cycle)
        return totals

    def learn(self, state: Totals, cycle: Cycle) -> Totals:
        """Learn from a cycle after training, or do not."""
        return state.add(cycle) if self.refit else state

    def forecast(self, state: Totals, stock: Stock, ahead: int) -> Forecast:
        """Look ahead from a sync, day by day."""
        days = np.arange(ahead)
        kept = np.exp(-state.rate * (days + 1))
        come = state.arrivals * np.cumsum(np.exp(-state.rate * days))
        path = ForecastPath.of_counts(stock.listed, stock.listed * kept, come)
        survival = ExponentialSurvival(state.rate, state.deleted, state.lived)
        bands = arrival_survival_bands(ahead, survival, state.daily, stock.listed, 1 - self.level)
        return with_published_bands(stock.listed, path, bands)


DEFAULT = "mixture"
BASELINE = "static"
METHODS: dict[str, Method[Any]] = {
    DEFAULT: Forecaster(),
    POOLED: Forecaster((POOLED,)),
    AGE: Forecaster((AGE,)),
    DECAY: Forecaster((DECAY,)),
    BASELINE: Static(),
    "refit": Static(refit=True),
    "ar": Autoregressive("ar"),
    "ar-published": Autoregressive("ar-published"),
    "ar-fixed": Autoregressive("ar-published", learning=0.0),
    "survival": Survival(),
    "survival-weibull": Survival("weibull"),
}
# What can be said after the name of an autoregressive forecaster.
_PARAMETERS = ("learning", "weekly", "interpolation")
_ANSWERS = {"yes": True, "no": False}


def method_named(text: str, *, level: float = 0.9) -> Method[Any]:
    """A forecaster by its name, with its parameters.

    Args:
        text: Name of `METHODS`; autoregressive ones take `learning` (0 to 1), `weekly` (yes or no)
            and `interpolation` (uniform or model) after colons.
        level: Share of outcomes that bands are to hold.

    Examples:
        >>> method_named("ar-published:learning=0.1:weekly=yes").learning
        0.1
    """
    name, *parts = (part.strip() for part in text.split(":"))
    check_choice(METHODS, method=name)
    found: Any = METHODS[name]
    parameters: dict[str, Any] = {}
    for part in parts:
        key, _, value = (word.strip() for word in part.partition("="))
        if not isinstance(found, Autoregressive) or key not in _PARAMETERS or key in parameters:
            raise InvalidParameter(
                "parameters of a method must look like ar:learning=0.1:weekly=yes, each once "
                f"(got {text!r})"
            )
        parameters[key] = _parameter(key, value)
    chosen: Method[Any] = replace(found, level=level, **parameters)
    return chosen


def _parameter(key: str, value: str) -> object:
    """Value of a parameter of an autoregressive forecaster."""
    if key == "weekly":
        check_choice(_ANSWERS, weekly=value)
        return _ANSWERS[value]
    if key == "interpolation":
        check_choice(("uniform", "model"), interpolation=value)
        return value
    try:
        learning = float(value)
    except ValueError:
        learning = float("nan")
    if not 0 <= learning <= 1:
        raise InvalidParameter(f"learning must be a number from 0 to 1 (got {value!r})")
    return learning


TRAIN_DAYS = 80


class SyncReplay:
    """A forecaster and its state for a source, sync by sync.

    It gets cycles and stocks from `Syncs` and nothing else: every crawled day of training, then
    each sync to which the replay is advanced.

    Args:
        grid: The listing day by day.
        groups: Group of each object.
        method: The forecaster.
        train: Days of training.
    """

    def __init__(
        self, grid: DayGrid, groups: ObjectGroups, method: Method[Any], *, train: int
    ) -> None:
        self.grid, self.groups, self.method = grid, groups, method
        days = [day for day in grid.crawled.tolist() if day <= train]
        self._synced = Syncs(grid, groups)
        training = [cycle for day in days if (cycle := self._synced.next(day)) is not None]
        self._trained = method.start(training, len(groups))
        for rekey in getattr(self._trained, "rekeys", ()):
            self._synced.forget_ages(rekey.day)
        self.restart()

    def restart(self) -> None:
        """Go back to the end of training."""
        self.state, self.syncs = self._trained, self._synced.copy()

    def forecast(self, ahead: int) -> Forecast:
        """Look ahead from the last sync."""
        return self.method.forecast(self.state, self.syncs.stock, ahead)

    def advance(self, day: int) -> Cycle:
        """Sync, and learn from it."""
        cycle = self.syncs.next(day)
        assert cycle is not None  # noqa: S101 - training holds the first
        self.state = self.method.learn(self.state, cycle)
        if getattr(self.state, "rekeyed", False):
            self.syncs.forget_ages(day)
        return cycle
