"""An expert that counts on hazards: what is left of a stock, and what will have come.

Two of them stand side by side: one with the mean hazard for all objects, one with hazards by age
and group. Each follows a level of its own, and arrivals of its own, since what has come and is
still there depends on how fast newcomers die.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.hazards import (
    Model,
    Tally,
    by_age,
    gained,
    implied_level,
    shared_out,
    surviving,
)
from recrawl.listings.inflow import arrivals, lasting, mean_arrivals
from recrawl.listings.levels import Bank
from recrawl.listings.quality import recall
from recrawl.listings.weekdays import running_mean

if TYPE_CHECKING:
    from recrawl.listings.cycles import Cycle, Stock
    from recrawl.listings.hazards import Hazards
    from recrawl.visits.arrays import Floats, Ints

# Chosen on four listings, one set for all of them.
_LEVEL_PRIOR = 20.0
_ALL_GONE, _LEAST_LEVEL = 4.0, 0.5
_NONE_GONE = 1e-3
_SPARE = 3.0
_WEEK = 7.0


def most_times(days: float) -> float:
    r"""How many times a forecast a cycle may be learnt as, $1 + \sqrt{7/d}$.

    >>> [round(most_times(days), 4) for days in (1, 3, 7, 14)]
    [3.6458, 2.5275, 2.0, 1.7071]
    """
    return 1.0 + sqrt(_WEEK / days)


@dataclass(frozen=True, slots=True, eq=False)
class HazardExpert:
    """What one of the two has learnt.

    Args:
        hazards: Whether ages and groups differ.
        tally: Deaths and exposure by age and group.
        level: Memories of the level.
        inflow: Memories of arrivals a day.
        curve: Hazard by class of age, from the tally.
        factor: Factor of each group, from the tally.
    """

    hazards: Hazards
    tally: Tally
    level: Bank
    inflow: Bank
    curve: Floats = field(init=False)
    factor: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Work out hazards once for all that is asked of them."""
        object.__setattr__(self, "curve", self.hazards.curve(self.tally))
        object.__setattr__(self, "factor", self.hazards.factors(self.tally))

    @classmethod
    def empty(cls, hazards: Hazards, groups: int) -> HazardExpert:
        """Nothing learnt yet."""
        return cls(hazards, Tally.empty(groups), Bank.empty(), Bank.empty())

    @property
    def theta(self) -> float:
        """Level now."""
        return self.level.level(_LEVEL_PRIOR)

    @property
    def arrivals(self) -> float:
        """Arrivals a day now."""
        return mean_arrivals(self.inflow)

    def survivors(self, stock: Stock, days: Ints, weekday: Floats) -> Floats:
        """How many of a stock are left after each number of days.

        Args:
            stock: What a synchronisation found.
            days: Numbers of days.
            weekday: Factor of each day ahead, as many as the longest of them.
        """
        gain = gained(self.curve, days)
        level = self.theta * running_mean(weekday)[days - 1]
        return surviving(by_age(stock, len(self.factor)), gain, self.factor, level)

    def newcomers(self, days: Ints, weekday: Floats, coming: Floats) -> Floats:
        """How many others are there after each number of days.

        Args:
            days: Numbers of days.
            weekday: Factor of deaths on each day ahead.
            coming: Factor of arrivals on each day ahead.
        """
        return self.arrivals * self._lasting(weekday, coming)[days - 1]

    def _lasting(self, weekday: Floats, coming: Floats) -> Floats:
        level = self.theta * running_mean(weekday)
        return lasting(self.curve, level, coming)

    def learn_deaths(
        self, cycle: Cycle, weekday: Floats, *, clip: bool
    ) -> tuple[HazardExpert, float]:
        """Learn level, ages and groups from a cycle whose stock was not empty.

        Returns:
            The expert, and by what the deaths were multiplied where they were clipped.
        """
        seen = _Deaths.of(self, cycle, weekday)
        level, scale = seen.level, 1.0
        if clip:
            times = most_times(cycle.days)
            level = min(level, times * self.theta + _SPARE * times / max(seen.weight, 1e-12))
            scale = level / seen.level
        bank = self.level.judge(cycle.days, seen.errors, seen.error)
        bank = bank.add(cycle.days, level * seen.weight, seen.weight)
        # The level as it is now known: a high level must not look like high hazards.
        model = Model(self.curve, self.factor, bank.level(_LEVEL_PRIOR), weekday)
        tally = self.tally.add(shared_out(cycle, model, scale), cycle.days)
        return replace(self, level=bank, tally=tally), scale

    def learn_arrivals(
        self, cycle: Cycle, weekday: Floats, coming: Floats, *, clip: bool
    ) -> tuple[HazardExpert, float]:
        """Learn arrivals from a cycle, judged by recall given who survived.

        Returns:
            The expert, and the arrivals, clipped.
        """
        days, inserted = cycle.days, float(np.sum(cycle.inserted))
        there = float(self._lasting(weekday, coming)[-1])
        hoped = self.arrivals * there
        actual = recall(cycle.survived, cycle.survived + inserted)
        each = recall(cycle.survived, cycle.survived + arrivals(self.inflow) * there)
        mean = recall(cycle.survived, cycle.survived + hoped)
        if clip:
            inserted = min(inserted, most_times(days) * (hoped + _SPARE))
        bank = self.inflow.judge(days, each - actual, float(mean - actual))
        return replace(self, inflow=bank.add(days, inserted, there)), inserted


@dataclass(frozen=True, slots=True, eq=False)
class _Deaths:
    """What a cycle says of the level of an expert.

    Args:
        level: Level that explains the deaths seen.
        weight: Deaths expected at level 1.
        errors: Error of each memory in precision.
        error: Error of their mean.
    """

    level: float
    weight: float
    errors: Floats
    error: float

    @classmethod
    def of(cls, expert: HazardExpert, cycle: Cycle, weekday: Floats) -> _Deaths:
        factor = expert.factor
        count = by_age(cycle.stock, len(factor))
        gain = gained(expert.curve, np.array([cycle.days]))[0] * float(np.mean(weekday))
        deleted, listed = float(np.sum(cycle.deleted)), cycle.stock.listed
        levels = np.append(expert.level.levels(_LEVEL_PRIOR), [expert.theta, 1.0])
        left = surviving(count, np.tile(gain, (len(levels), 1)), factor, levels)
        errors = (left - cycle.survived) / listed
        if deleted <= 0:
            level = _NONE_GONE
        elif deleted >= listed:
            level = _ALL_GONE * max(expert.theta, _LEAST_LEVEL)
        else:
            level = implied_level(count, gain, factor, deleted)
        weight = listed - float(left[-1])
        return cls(level, weight, errors[:-2], float(errors[-2]))
