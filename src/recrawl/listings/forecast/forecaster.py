r"""The default forecaster: three experts on how a copy of a listing decays, mixed.

1. *pooled*: one hazard for all objects, its level drifting;
2. *age*: hazards by age, group and weekday times a level;
3. *decay*: precision and recall each as one rate of decay.

The first two know stock and newcomers apart; the third follows what it sees. `start` runs them over
the daily cycles of training, `learn` over each cycle after it, and `forecast` looks ahead. All
state is a value: nothing is changed in place.

A cycle that begins or ends in a gap of the crawl must not be learned: leave it out. After a cycle
for which `state.rekeyed` is true the newcomers' ages are unknown.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.day_marks import Rekey
from recrawl.listings.data.quality import precision, recall
from recrawl.listings.forecast.ages import by_age
from recrawl.listings.forecast.bands import QualityBand, training_law, training_windows
from recrawl.listings.forecast.experts import ForecastStart
from recrawl.listings.forecast.forecast import Forecast, ForecastPath, banded, banded_empty
from recrawl.listings.forecast.state import (
    CountedCycle,
    ForecasterState,
    halved,
    with_bands_taught,
    with_experts_taught,
    with_hazards_of,
)
from recrawl.listings.forecast.weekdays import WEEK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.cycles import Cycle, Stock
    from recrawl.listings.forecast.experts import HazardExpert
    from recrawl.listings.forecast.mass import CycleCounts, Flags, MassEvents

POOLED, AGE, DECAY = EXPERTS = ("pooled", "age", "decay")
# Decisions, not tuned on data.
_WEAK_DAYS, _WEAK_REMOVALS = 14, 10
_SMALL = 30


@dataclass(frozen=True, slots=True)
class Forecaster:
    """Mixture of experts, or one of them alone.

    Args:
        experts: Names of the experts that are mixed: `pooled`, `age`, `decay`.
        level: Share of outcomes that bands are to hold.

    Examples:
        A source that loses a tenth of 100 objects a day and gains as many, for a month:

        >>> from recrawl.listings.data.cycles import Cycle, Stock
        >>> def cycle(day):
        ...     stock = Stock(day, np.array([0]), np.array([-1]), np.array([0]), np.array([100.0]))
        ...     return Cycle(stock, day + 1, np.array([10.0]), np.array([10.0]), day % 7)
        >>> forecaster = Forecaster()
        >>> state = forecaster.start([cycle(day) for day in range(30)])
        >>> ahead = forecaster.forecast(state, cycle(30).stock, 2)
        >>> ahead.typical.precision.round(2), ahead.typical.recall.round(2)
        (array([0.9 , 0.81]), array([0.9 , 0.81]))
    """

    experts: tuple[str, ...] = EXPERTS
    level: float = 0.9

    def start(self, training: Sequence[Cycle], groups: int = 1) -> ForecasterState:
        """Learn from the cycles of training, best daily ones.

        Args:
            training: Cycles in order, without those that begin or end in a gap.
            groups: How many groups the objects are in.
        """
        miss = 1.0 - self.level
        first = (training[0].weekday - training[0].start) % WEEK if training else 0
        empty = ForecasterState.empty(
            groups, experts=len(self.experts), miss=miss, first_weekday=first
        )
        seen = [CountedCycle.of(cycle, groups) for cycle in training]
        state = self._learnt(empty, seen)
        # What was learned while hazards were still unknown would remember that, so once more from
        # the hazards found; they have then seen every cycle twice.
        state = halved(self._learnt(with_hazards_of(state, empty), seen))
        days = training[-1].end - training[0].start if training else 0
        bands = state.bands
        if days >= _WEAK_DAYS and state.removals >= _WEAK_REMOVALS:
            windows = training_windows(training, [rekey.day for rekey in state.rekeys])
            laws = (training_law(each, days) for each in windows)
            first_band, second_band = (QualityBand(*law, miss=miss, aim=miss) for law in laws)
            bands = first_band, second_band
        return replace(state, trained=days, bands=bands)

    def _learnt(self, state: ForecasterState, training: Sequence[CountedCycle]) -> ForecasterState:
        for seen in training:
            state = self._taught(state, seen)
        return state

    def learn(self, state: ForecasterState, cycle: Cycle) -> ForecasterState:
        """Learn from one more cycle, clipped where training is over."""
        return self._taught(state, CountedCycle.of(cycle, len(state.group_arrivals)))

    def _taught(self, state: ForecasterState, seen: CountedCycle) -> ForecasterState:
        cycle, counts, days = seen.cycle, seen.counts, np.array([seen.cycle.days])
        factors = state.ahead(cycle.start, cycle.days)
        starts = [
            ForecastStart(counts.stock, aged.count, *factors) for aged in (seen.whole, seen.parted)
        ]
        choices = self._choices(state, starts, days)
        typical = self._typical(state, starts, days, choices)
        deleted, inserted = float(typical.deleted[0]), float(typical.inserted[0])
        flags = state.mass.flags(counts, deleted, inserted)
        kept = state.mass.quarantine(counts, flags)
        before = state.mass
        state = replace(state, mass=before.learn(counts, kept, deleted, inserted), flags=flags)
        if flags.rekeyed:
            lost, gained = counts.deleted / counts.stock, counts.inserted / counts.stock
            return replace(state, rekeys=(*state.rekeys, Rekey(cycle.end, lost, gained)))
        if counts.stock:
            state = self._judged(state, counts, choices, kept)
        if counts.stock and state.trained:
            expected = with_mass(before, typical, counts.stock, days.astype(np.float64))
            state = with_bands_taught(state, cycle, expected)
        return with_experts_taught(state, seen, factors, kept)

    def forecast(self, state: ForecasterState, stock: Stock, ahead: int) -> Forecast:
        """Look ahead from a sync, day by day.

        Args:
            state: What has been learned.
            stock: What the sync found.
            ahead: How many days.
        """
        status = status_of(state, stock)
        if "one-snapshot" in status:
            nothing = ForecastPath.unknown(ahead)
            return Forecast(stock.listed, nothing, nothing, nothing, nothing, None, status)
        days = np.arange(1, ahead + 1)
        starts = [start_of(expert, state, stock, ahead) for expert in (state.pooled, state.aged)]
        typical = self._typical(state, starts, days, self._choices(state, starts, days))
        return finished(state, stock, typical)

    def _choices(
        self, state: ForecasterState, starts: Sequence[ForecastStart], days: Ints
    ) -> tuple[Floats, Floats]:
        """Precision and recall by each expert: two tables of experts and numbers of days."""
        kept, found = [], []
        for name in self.experts:
            if name == DECAY:
                kept.append(state.decays[0].path(days.astype(np.float64)))
                found.append(state.decays[1].path(days.astype(np.float64)))
            else:
                pooled = name == POOLED
                expert, start = (state.pooled, starts[0]) if pooled else (state.aged, starts[1])
                outlook = expert.outlook(start, days)
                kept.append(outlook.precision)
                found.append(outlook.recall)
        return np.array(kept), np.array(found)

    def _typical(
        self,
        state: ForecasterState,
        starts: Sequence[ForecastStart],
        days: Ints,
        choices: tuple[Floats, Floats],
    ) -> ForecastPath:
        """Mean of the experts by their weights; of an empty stock only arrivals can be told."""
        listed = starts[1].listed
        if not listed:
            return state.aged.outlook(starts[1], days)
        kept, found = (
            mixture.shares @ choice for mixture, choice in zip(state.mixtures, choices, strict=True)
        )
        return ForecastPath.of_quality(listed, kept, found)

    def _judged(
        self,
        state: ForecasterState,
        counts: CycleCounts,
        choices: tuple[Floats, Floats],
        kept: Flags,
    ) -> ForecasterState:
        """Experts judged by what a cycle has shown, but for sides kept from them."""
        there = counts.stock - counts.deleted
        truths = precision(there, counts.stock), recall(there, there + counts.inserted)
        spared = kept.closure, kept.closure or kept.load
        first, second = (
            mixture if spare else mixture.judge(counts.days, choice[:, 0] - truth)
            for mixture, choice, truth, spare in zip(
                state.mixtures, choices, truths, spared, strict=True
            )
        )
        return replace(state, mixtures=(first, second))


def start_of(
    expert: HazardExpert, state: ForecasterState, stock: Stock, ahead: int
) -> ForecastStart:
    """Where an expert starts that looks some days ahead from a sync."""
    count = by_age(stock, len(expert.factor))
    return ForecastStart(stock.listed, count, *state.ahead(stock.day, ahead))


def with_mass(mass: MassEvents, typical: ForecastPath, listed: float, days: Floats) -> ForecastPath:
    """Forecast with the mass events that are to be expected."""
    survived = (listed - typical.deleted) * mass.left(days)
    return ForecastPath.of_counts(listed, survived, typical.inserted + listed * mass.loading * days)


def finished(state: ForecasterState, stock: Stock, typical: ForecastPath) -> Forecast:
    """Forecast of every day from 1 on, with mass events, bands and status."""
    days = np.arange(1.0, len(typical.precision) + 1)
    expected = with_mass(state.mass, typical, stock.listed, days)
    if stock.listed:
        low, high = banded(stock.listed, expected, state.bands)
    else:
        low, high = banded_empty(expected, state.bands[0].miss)
    status, arrivals = status_of(state, stock), state.aged.arrivals
    return Forecast(stock.listed, typical, expected, low, high, state.bands, status, arrivals)


def status_of(state: ForecasterState, stock: Stock) -> tuple[str, ...]:
    """Words for what a reader must know; none in the ordinary case."""
    words = {
        "one-snapshot": state.mass.records == 0,
        "empty": stock.listed == 0,
        "weak": state.trained < _WEAK_DAYS or state.removals < _WEAK_REMOVALS,
        "small": 0 < stock.listed < _SMALL,
        "rekey?": state.rekeyed,
    }
    return tuple(word for word, holds in words.items() if holds)
