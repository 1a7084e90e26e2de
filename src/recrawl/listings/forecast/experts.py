r"""Experts on how a copy of a listing decays, and how their forecasts are averaged.

Two count on hazards, side by side: one with the mean hazard for all objects, one with hazards by
age and group. Each follows a level of its own, and arrivals of its own, since what has come and is
still there depends on how fast newcomers are removed. Of one newcomer per day

$$ e(d) = \sum_{j=1}^{d} w'_{k(j)} \, e^{-\theta W H(d-j)} $$

are there after $d$ days. Their hazards are those of age 0 on, 3 to 10 times those of a stock of job
postings. The dispersion of arrivals is in `negative_binomial`.

The third takes quality as one rate of decay, no matter where it comes from:

$$ \hat q(d) = e^{-rd}, \qquad y = -\ln\frac{x + 1/2}{n + 1/2} \Big/ d, \qquad
   r \leftarrow r + (1 - .8^{\min(d, 14) / 7})\, \mathrm{clip}(y - r,\ -r,\ r + .5 / (n d)) . $$

Cheap, and the best of three for recall over 14 days where loads are frequent.

They are averaged by how well each has done lately, for each metric apart:

$$ L_i \leftarrow 2^{-d/120} L_i + \frac{\min(e_i^2, 9 s^2)}{2 s^2}, \qquad
   \hat q = \frac{\sum_i e^{-L_i} \hat q_i}{\sum_i e^{-L_i}}, $$

with $s^2$ the typical squared error, followed by the median expert.

References:
    Cesa-Bianchi and Lugosi (2006). Prediction, learning, and games. Cambridge University Press,
    chapter 2.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log, sqrt
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.quality import recall
from recrawl.listings.forecast.drifting_level import DriftingLevel, shares_of
from recrawl.listings.forecast.forecast import ForecastPath
from recrawl.listings.forecast.hazards import (
    HazardModel,
    HazardTally,
    gained,
    implied_level,
    surviving,
)
from recrawl.listings.forecast.weekdays import running_mean

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.forecast.hazards import AgedCycle, Hazards

_WEEK = 7.0
# All that follow were chosen on four listings, one set for all of them.
_LEVEL_PRIOR = 20.0
_ALL_GONE, _LEAST_LEVEL = 4.0, 0.5
_NONE_GONE = 1e-3
_SPARE = 3.0
# Arrivals: their prior, and what stands for a source at which nothing ever arrived.
_ARRIVALS_PRIOR, _HALF_AN_ARRIVAL = 5.0, 0.5
# Decay: what is kept in a week, the longest cycle that counts, and what may be added.
_KEEP, _LONGEST, _MARGIN = 0.8, 14.0, 0.5
# Mixture: the half-life of losses, caps, and the error of a first cycle without any.
_LOSS_HALF_LIFE = 120.0
_CAP, _RISE, _FLOOR = 9.0, 4.0, 1e-5
_LEAST_VARIANCE = 1e-12


def most_times(days: float) -> float:
    r"""How many times a forecast a cycle may be learned as, $1 + \sqrt{7/d}$.

    >>> [round(most_times(days), 4) for days in (1, 3, 7, 14)]
    [3.6458, 2.5275, 2.0, 1.7071]
    """
    return 1.0 + sqrt(_WEEK / days)


@dataclass(frozen=True, slots=True, eq=False)
class ForecastStart:
    """Where a forecast starts.

    Args:
        listed: How many objects there are.
        count: Those by class of age and by the groups that the expert tells apart.
        weekday: Factor of removals on each day ahead.
        coming: Factor of arrivals on each day ahead.
    """

    listed: float
    count: Floats
    weekday: Floats
    coming: Floats


@dataclass(frozen=True, slots=True, eq=False)
class HazardExpert:
    """What one of the two has learned.

    Args:
        hazards: Whether ages and groups differ.
        tally: Removals and exposure by age and group.
        curve: Hazard by class of age, from the tally.
        factor: Factor of each group, from the tally.
        level: Memories of the level.
        inflow: Memories of arrivals a day.
    """

    hazards: Hazards
    tally: HazardTally
    curve: Floats
    factor: Floats
    level: DriftingLevel
    inflow: DriftingLevel

    @classmethod
    def empty(cls, hazards: Hazards, groups: int) -> HazardExpert:
        """Nothing learned yet."""
        tally = HazardTally.empty(groups)
        curve, factor = hazards.curve(tally), hazards.factors(tally)
        return cls(hazards, tally, curve, factor, DriftingLevel.empty(), DriftingLevel.empty())

    def with_tally(self, tally: HazardTally) -> HazardExpert:
        """The same with other removals and exposure, and the hazards that follow from them."""
        curve, factor = self.hazards.curve(tally), self.hazards.factors(tally)
        return replace(self, tally=tally, curve=curve, factor=factor)

    @property
    def theta(self) -> float:
        """Level now."""
        return self.level.level(_LEVEL_PRIOR)

    @property
    def arrivals(self) -> float:
        """Arrivals a day now."""
        return self.inflow.level(_ARRIVALS_PRIOR, _mean_arrivals(self.inflow))

    def outlook(self, start: ForecastStart, days: Ints) -> ForecastPath:
        """Look some numbers of days ahead.

        Args:
            start: Where to look from.
            days: Numbers of days, the last the longest.
        """
        level = self.theta * running_mean(start.weekday)
        left = surviving(start.count, gained(self.curve, days), self.factor, level[days - 1])
        there = lasting(self.curve, level, start.coming, days)
        return ForecastPath.of_counts(start.listed, left, self.arrivals * there)

    def learn_removals(
        self, cycle: AgedCycle, weekday: Floats, *, clip: bool
    ) -> tuple[HazardExpert, float]:
        """Learn level, ages and groups from a cycle whose stock was not empty.

        A clipped cycle moves the level by at most the factor `most_times`, and weighs no more than
        cycles of its length have weighed: objects that come and go in bulk are not independent,
        and a stock that has just grown must not outweigh all earlier evidence.

        Returns:
            The expert, and by what the removals were multiplied where they were clipped.
        """
        seen = _Removals.of(self, cycle, weekday)
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
        model = HazardModel(self.curve, self.factor, bank.level(_LEVEL_PRIOR), weekday)
        share = weight / seen.weight if seen.weight > 0 else 1.0
        said = cycle.expected_tally(model, scale).times(share)
        return replace(self, level=bank).with_tally(self.tally.add(said, cycle.days)), scale

    def learn_arrivals(
        self, cycle: AgedCycle, weekday: Floats, coming: Floats, *, clip: bool
    ) -> tuple[HazardExpert, float]:
        """Learn arrivals from a cycle, judged by recall given the survivors.

        Returns:
            The expert, and the arrivals, clipped.
        """
        days, inserted = cycle.days, cycle.inserted
        level = self.theta * running_mean(weekday)
        there = float(lasting(self.curve, level, coming, np.array([days]))[0])
        hoped = self.arrivals * there
        each_memory = self.inflow.levels(_ARRIVALS_PRIOR, _mean_arrivals(self.inflow))
        came = np.append(each_memory * there, [hoped, inserted])
        *each, mean, actual = recall(cycle.survived, cycle.survived + came)
        if clip:
            inserted = min(inserted, most_times(days) * (hoped + _SPARE))
        bank = self.inflow.judge(days, np.array(each) - actual, float(mean - actual))
        return replace(self, inflow=bank.add(days, inserted, there)), inserted


@dataclass(frozen=True, slots=True, eq=False)
class _Removals:
    """What a cycle says of the level of an expert.

    Args:
        level: Level that explains the removals seen.
        weight: Removals expected at level 1.
        errors: Error of each memory in precision.
        error: Error of their mean.
    """

    level: float
    weight: float
    errors: Floats
    error: float

    @classmethod
    def of(cls, expert: HazardExpert, cycle: AgedCycle, weekday: Floats) -> _Removals:
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


def lasting(curve: Floats, level: Floats, weekday: Floats, days: Ints) -> Floats:
    """Expected newcomers after some numbers of days if one came a day.

    Each number costs work in proportion to it: a cycle asks for its own length alone.

    Args:
        curve: Hazard by age.
        level: What multiplies it, weekdays included, by number of days ahead.
        weekday: Factor of arrivals on each day ahead.
        days: Numbers of days, none longer than `weekday`.

    Examples:
        >>> curve = np.array([0.10, 0.05, 0.05, 0.02])
        >>> week = np.array([0.5, 1.2, 1.3])
        >>> newcomers = lasting(curve, np.full(3, 1.2), week, np.array([1, 2, 3]))
        >>> newcomers.round(6), (12 * newcomers[-1]).round(6)
        (array([0.5    , 1.64346, 2.78194]), np.float64(33.383276))
    """
    longest = len(weekday)
    known = curve[: min(longest, len(curve))]
    hazard = np.concatenate([known, np.full(longest - len(known), known[-1])])
    cumulative = np.concatenate([[0.0], np.cumsum(hazard)])[:longest]
    oldest_first = cumulative[::-1]
    return np.array(
        [
            weekday[:ahead] @ np.exp(oldest_first[longest - ahead :] * -level[ahead - 1])
            for ahead in days.tolist()
        ]
    )


def _mean_arrivals(bank: DriftingLevel) -> float:
    """Mean arrivals a day over all that was seen, to which each memory is drawn."""
    events, days = float(bank.events[-1]), float(bank.weight[-1])
    return max(events, _HALF_AN_ARRIVAL) / max(days, 1.0)


@dataclass(frozen=True, slots=True)
class DecayExpert:
    """Quality that decays at one rate: one metric.

    Args:
        rate: Log decay a day.
        cycles: How many cycles of training it is the mean of.

    Examples:
        Of 100 objects 80 are left after 7 days; had only 30 been left, it would be clipped:

        >>> decay = DecayExpert(0.03)
        >>> round(decay.learn(80, 100, 7).rate, 6), round(decay.learn(30, 100, 7).rate, 6)
        (0.03034, 0.036143)
    """

    rate: float = 0.0
    cycles: int = 0

    def train(self, there: float, size: float, days: float) -> DecayExpert:
        """Take one more cycle of training into the mean."""
        cycles = self.cycles + 1
        return DecayExpert(
            self.rate + (_log_decay(there, size) / days - self.rate) / cycles, cycles
        )

    def learn(self, there: float, size: float, days: float) -> DecayExpert:
        """Follow what a cycle after training has shown."""
        step = 1.0 - _KEEP ** (min(days, _LONGEST) / _WEEK)
        error = _log_decay(there, size) / days - self.rate
        most = self.rate + _MARGIN / (max(size, 1.0) * days)
        return DecayExpert(self.rate + step * min(max(error, -self.rate), most), self.cycles)

    def path(self, days: Floats) -> Floats:
        """Quality after each number of days."""
        return np.exp(-self.rate * days)


def _log_decay(there: float, size: float) -> float:
    """Log decay of a count, kept finite where nothing is left."""
    return max(-log((there + 0.5) / (size + 0.5)), 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class Mixture:
    """Losses of the experts for one metric.

    Args:
        losses: Fading loss of each.
        variance: Typical squared error; 0 before the first cycle.

    Examples:
        >>> mixture = Mixture(np.zeros(3)).judge(7, np.array([0.02, 0.01, 0.03]))
        >>> mixture.shares.round(6)
        array([0.33442 , 0.486578, 0.179002])
    """

    losses: Floats
    variance: float = 0.0

    @property
    def shares(self) -> Floats:
        """Weight of each expert."""
        return shares_of(self.losses)

    def judge(self, days: float, errors: Floats) -> Mixture:
        """Learn how far off each expert was."""
        squares = errors**2
        middle = float(np.median(squares))
        before = self.variance or max(middle, _LEAST_VARIANCE)
        losses = self.losses * 0.5 ** (days / _LOSS_HALF_LIFE)
        losses = losses + np.minimum(squares, _CAP * before) / (2 * before)
        variance = 0.9 * before + 0.1 * min(middle, _RISE * before + _FLOOR)
        return Mixture(losses, variance)
