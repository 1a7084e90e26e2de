"""An expert that counts on hazards: what is left of a stock, and what will have come.

Two of them stand side by side: one with the mean hazard for all objects, one with hazards by age
and group. Each follows a level of its own, and arrivals of its own, since what has come and is
still there depends on how fast newcomers die.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.quality import recall
from recrawl.listings.forecast.drifting_level import Bank
from recrawl.listings.forecast.forecast import Outlook
from recrawl.listings.forecast.hazards import Model, Tally, gained, implied_level, surviving
from recrawl.listings.forecast.inflow import arrivals, lasting, mean_arrivals
from recrawl.listings.forecast.weekdays import running_mean

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.forecast.hazards import AgedCycle, Hazards

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
class Start:
    """Where a forecast starts.

    Args:
        listed: How many objects there are.
        count: Those by class of age and by the groups that the expert tells apart.
        weekday: Factor of deaths on each day ahead.
        coming: Factor of arrivals on each day ahead.
    """

    listed: float
    count: Floats
    weekday: Floats
    coming: Floats


@dataclass(frozen=True, slots=True, eq=False)
class HazardExpert:
    """What one of the two has learnt.

    Args:
        hazards: Whether ages and groups differ.
        tally: Deaths and exposure by age and group.
        curve: Hazard by class of age, from the tally.
        factor: Factor of each group, from the tally.
        level: Memories of the level.
        inflow: Memories of arrivals a day.
    """

    hazards: Hazards
    tally: Tally
    curve: Floats
    factor: Floats
    level: Bank
    inflow: Bank

    @classmethod
    def empty(cls, hazards: Hazards, groups: int) -> HazardExpert:
        """Nothing learnt yet."""
        tally = Tally.empty(groups)
        curve, factor = hazards.curve(tally), hazards.factors(tally)
        return cls(hazards, tally, curve, factor, Bank.empty(), Bank.empty())

    def with_tally(self, tally: Tally) -> HazardExpert:
        """The same with other deaths and exposure, and the hazards that follow from them."""
        curve, factor = self.hazards.curve(tally), self.hazards.factors(tally)
        return replace(self, tally=tally, curve=curve, factor=factor)

    @property
    def theta(self) -> float:
        """Level now."""
        return self.level.level(_LEVEL_PRIOR)

    @property
    def arrivals(self) -> float:
        """Arrivals a day now."""
        return mean_arrivals(self.inflow)

    def outlook(self, start: Start, days: Ints) -> Outlook:
        """Look some numbers of days ahead.

        Args:
            start: Where to look from.
            days: Numbers of days, the last the longest.
        """
        level = self.theta * running_mean(start.weekday)
        left = surviving(start.count, gained(self.curve, days), self.factor, level[days - 1])
        there = lasting(self.curve, level, start.coming)
        return Outlook.of_counts(start.listed, left, self.arrivals * there[days - 1])

    def learn_deaths(
        self, cycle: AgedCycle, weekday: Floats, *, clip: bool
    ) -> tuple[HazardExpert, float]:
        """Learn level, ages and groups from a cycle whose stock was not empty.

        A clipped cycle moves the level no more than so many times up or down, and says no more
        than cycles of its length have said: objects that come and go in bulk are not so many
        witnesses as there are of them, and a stock that has just grown must not outvote all that
        was known before.

        Returns:
            The expert, and by what the deaths were multiplied where they were clipped.
        """
        seen = _Deaths.of(self, cycle, weekday)
        level, scale, weight = seen.level, 1.0, seen.weight
        if clip:
            times, spare = most_times(cycle.days), _SPARE / max(weight, 1e-12)
            level = min(level, times * (self.theta + spare))
            scale = level / seen.level
            level = max(level, self.theta / times - spare)
            weight = min(weight, self.level.usual(cycle.days))
        bank = self.level.judge(cycle.days, seen.errors, seen.error)
        bank = bank.add(cycle.days, level * weight, weight)
        # The level as it is now known: a high level must not look like high hazards.
        model = Model(self.curve, self.factor, bank.level(_LEVEL_PRIOR), weekday)
        share = weight / seen.weight if seen.weight > 0 else 1.0
        said = cycle.shared_out(model, scale).times(share)
        return replace(self, level=bank).with_tally(self.tally.add(said, cycle.days)), scale

    def learn_arrivals(
        self, cycle: AgedCycle, weekday: Floats, coming: Floats, *, clip: bool
    ) -> tuple[HazardExpert, float]:
        """Learn arrivals from a cycle, judged by recall given who survived.

        Returns:
            The expert, and the arrivals, clipped.
        """
        days, inserted = cycle.days, cycle.inserted
        level = self.theta * running_mean(weekday)
        there = float(lasting(self.curve, level, coming)[-1])
        hoped = self.arrivals * there
        came = np.append(arrivals(self.inflow) * there, [hoped, inserted])
        *each, mean, actual = recall(cycle.survived, cycle.survived + came)
        if clip:
            inserted = min(inserted, most_times(days) * (hoped + _SPARE))
        bank = self.inflow.judge(days, np.array(each) - actual, float(mean - actual))
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
    def of(cls, expert: HazardExpert, cycle: AgedCycle, weekday: Floats) -> _Deaths:
        count, factor = cycle.count, expert.factor
        gain = gained(expert.curve, np.array([cycle.days]))[0] * float(np.mean(weekday))
        deleted, listed = cycle.deleted, cycle.listed
        theta = expert.theta
        levels = np.append(expert.level.levels(_LEVEL_PRIOR), [theta, 1.0])
        left = surviving(count, gain[None], factor, levels)
        errors = (left - cycle.survived) / listed
        if deleted <= 0:
            level = _NONE_GONE
        elif deleted >= listed:
            level = _ALL_GONE * max(theta, _LEAST_LEVEL)
        else:
            level = implied_level(count, gain, factor, deleted)
        weight = listed - float(left[-1])
        return cls(level, weight, errors[:-2], float(errors[-2]))
