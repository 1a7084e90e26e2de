r"""Hazards of removal by age, group and weekday, learned by one EM step per cycle.

An object of age $a$ and group $g$ vanishes on weekday $k$ with the hazard

$$ \theta_t \, w_k \, f_g \, h(a) , $$

so that of $n_{ag}$ objects $\sum n_{ag} \exp(-\theta W f_g (H(a+d) - H(a)))$ are still listed after
$d$ days, with $H(a) = \sum_{i<a} h(i)$ and $W$ the mean of $w$ over those days. Objects of unknown
age have a hazard of their own. All tables here have one row per class of age, 181 in all.

Of arrivals and removals only the two syncs around them are known, so one EM step per cycle
distributes them over the possible ages.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.ages import AGELESS, CLASSES, OLDEST, Ages

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.cycles import Cycle

# Chosen on four listings, one set for all of them.
_HALF_LIFE = 400.0
_LEAST_EVENTS = 15.0
_AGE_WEIGHT = 3.0
_GROUP_WEIGHT = 40.0
_FIRST_EVENTS, _FIRST_EXPOSURE = 0.5, 30.0


def gained(curve: Floats, days: Ints) -> Floats:
    """Cumulative hazard of each class over the coming days: one row per number of days.

    >>> gained(np.full(181, 0.01), np.array([1, 10]))[:, [0, 179, 180]].round(6)
    array([[0.01, 0.01, 0.01], [0.1 , 0.1 , 0.1 ]])
    """
    longest = int(np.max(days, initial=0))
    running = np.zeros(AGELESS + longest + 1)
    np.cumsum(curve[:AGELESS], out=running[1 : AGELESS + 1])
    running[AGELESS + 1 :] = running[AGELESS] + curve[OLDEST] * np.arange(1, longest + 1)
    table = np.empty((len(days), CLASSES))
    for row, ahead in zip(table, days.tolist(), strict=True):
        row[:AGELESS] = running[ahead : ahead + AGELESS] - running[:AGELESS]
    table[:, AGELESS] = curve[AGELESS] * days
    return table


def surviving(count: Floats, gain: Floats, factor: Floats, level: Floats) -> Floats:
    """How many of a stock are still listed: one number for each level.

    Args:
        count: Objects by class of age and group.
        gain: Cumulative hazard by class: one row per level, or one for all.
        factor: Factor of each group.
        level: What multiplies all of them.
    """
    rate = (gain[:, :, None] * factor).reshape(len(gain), -1)
    return np.exp(rate * -level[:, None]) @ count.ravel()


def implied_level(count: Floats, gain: Floats, factor: Floats, deleted: float) -> float:
    """Level at which just as many vanish as were seen to, by Newton's method.

    The number left is convex and falls as the level rises, so steps from 0 never go too far.

    Args:
        count: Objects by class of age and group.
        gain: Cumulative hazard of each class over the cycle, weekdays included.
        factor: Factor of each group.
        deleted: How many vanished: more than 0 and fewer than there were.
    """
    number, rate = count.ravel(), (gain[:, None] * factor).ravel()
    slope, left = number * rate, float(np.sum(number)) - deleted
    level = 0.0
    for _ in range(100):
        there = np.exp(rate * -level)
        step = float((number @ there - left) / (slope @ there))
        level += step
        if step <= 1e-12 * level:
            break
    return level


@dataclass(frozen=True, slots=True, eq=False)
class HazardTally:
    """Events and exposure so far, fading: by age and by group.

    Args:
        removals: Removals by class of age, V.
        exposure: Days listed by class of age, X, weighted by level, weekday and group.
        group_removals: Removals by group.
        group_expected: Removals that were to be expected of each group, were it like all.
    """

    removals: Floats
    exposure: Floats
    group_removals: Floats
    group_expected: Floats

    @classmethod
    def empty(cls, groups: int) -> HazardTally:
        """Nothing yet."""
        return cls(*np.zeros((2, CLASSES)), *np.zeros((2, groups)))

    def add(self, other: HazardTally, days: float) -> HazardTally:
        """What there was, faded by `days`, and what has come."""
        keep = 0.5 ** (days / _HALF_LIFE)
        return HazardTally(
            self.removals * keep + other.removals,
            self.exposure * keep + other.exposure,
            self.group_removals * keep + other.group_removals,
            self.group_expected * keep + other.group_expected,
        )

    def times(self, share: float) -> HazardTally:
        """So many times everything."""
        return HazardTally(
            self.removals * share,
            self.exposure * share,
            self.group_removals * share,
            self.group_expected * share,
        )

    @property
    def mean(self) -> float:
        r"""Mean hazard, $\bar h = (\sum V + .5) / (\sum X + 30)$."""
        removals, exposure = float(np.sum(self.removals)), float(np.sum(self.exposure))
        return (removals + _FIRST_EVENTS) / (exposure + _FIRST_EXPOSURE)


@dataclass(frozen=True, slots=True)
class Hazards:
    r"""Hazards by age and group, or one for all.

    $$ h = \frac{V + 3}{X + 3 / \bar h}, \qquad f_g = \frac{D_g + 40}{E_g + 40} . $$

    Ages are merged from 0 upwards until a class holds 15 removals.

    Args:
        by_age: Whether ages and groups differ; otherwise all have the mean hazard.

    Examples:
        >>> age_hazard(np.array(18.0), np.array(400.0), 0.03).round(6)
        np.float64(0.042)
        >>> group_factor(np.array(60.0), np.array(40.0))
        np.float64(1.25)
    """

    by_age: bool = True

    def curve(self, tally: HazardTally) -> Floats:
        """Hazard a day of each class of age."""
        mean = tally.mean
        if not self.by_age:
            return np.full(CLASSES, mean)
        label = _merged(tally.removals[:AGELESS])
        removals = _sums(label, tally.removals[:AGELESS])
        exposure = _sums(label, tally.exposure[:AGELESS])
        curve = np.empty(CLASSES)
        curve[:AGELESS] = age_hazard(removals, exposure, mean)[label]
        curve[AGELESS] = age_hazard(tally.removals[AGELESS], tally.exposure[AGELESS], mean)
        return curve

    def factors(self, tally: HazardTally) -> Floats:
        """Factor of each group."""
        if not self.by_age:
            return np.ones(len(tally.group_removals))
        return group_factor(tally.group_removals, tally.group_expected)


def age_hazard(removals: Floats, exposure: Floats, mean: float) -> Floats:
    """Hazard of a class, drawn to the mean by three removals' worth."""
    return (removals + _AGE_WEIGHT) / (exposure + _AGE_WEIGHT / mean)


def group_factor(removals: Floats, expected: Floats) -> Floats:
    """Factor of a group, drawn to 1 by forty removals' worth."""
    return (removals + _GROUP_WEIGHT) / (expected + _GROUP_WEIGHT)


def _merged(removals: Floats) -> Ints:
    """Class of each age, merged from 0 upwards; what is left at the end joins the last."""
    running = np.cumsum(removals)
    last, goal = float(running[-1]), _LEAST_EVENTS
    begins = np.zeros(len(running), np.int64)
    for age, total in enumerate(running.tolist(), start=1):
        if last - total < _LEAST_EVENTS:
            break
        if total >= goal:
            begins[age] = 1
            goal = total + _LEAST_EVENTS
    return np.cumsum(begins)


@dataclass(frozen=True, slots=True, eq=False)
class HazardModel:
    """Hazards as they stand, for the days of one cycle.

    Args:
        curve: Hazard by class of age.
        factor: Factor of each group.
        level: What multiplies all of them.
        weekday: Factor of each day of the cycle.
    """

    curve: Floats
    factor: Floats
    level: float
    weekday: Floats


@dataclass(frozen=True, slots=True, eq=False)
class UncertainAges:
    """Rows of a stock that may be in several classes of age, and what became of them.

    Args:
        ages: Ages of each row.
        removed: How many of each row were gone.
        remaining: How many were still there.
    """

    ages: Ages
    removed: Floats
    remaining: Floats

    def expected(self, chance: Floats) -> tuple[Floats, Floats]:
        """Expected removed and remaining objects by class and group, given the chance of each."""
        stays = 1.0 - chance
        removed = self.ages.spread(_ratio(self.removed, self.ages.total(chance))) * chance
        remaining = self.ages.spread(_ratio(self.remaining, self.ages.total(stays))) * stays
        return removed, remaining


@dataclass(frozen=True, slots=True, eq=False)
class AgedCycle:
    """A cycle by class of age and group, worked out once for all that is asked of it.

    Where syncs are daily nearly every row of a stock is in one class for sure, so it is
    only counted there, together with all others of that class and group.

    Args:
        days: How long it was.
        listed: Objects at its start.
        deleted: How many of them were gone at its end.
        inserted: How many others were there then.
        count: Expected number of objects at its start, by class and group.
        removed: Of those in a class for sure, how many were gone at its end, by class and group.
        remaining: How many of them were still there.
        uncertain: Rows that may be in several classes.
        group_removed: How many of each group were gone.
    """

    days: int
    listed: float
    deleted: float
    inserted: float
    count: Floats
    removed: Floats
    remaining: Floats
    uncertain: UncertainAges
    group_removed: Floats

    @classmethod
    def of(cls, cycle: Cycle, groups: int) -> AgedCycle:
        """Count a cycle; if there is but one group, all objects are in it."""
        stock = cycle.stock
        ages = Ages.of(stock, groups)
        stayed = stock.count - cycle.deleted
        sure = ages.stop - ages.first == 1
        # Rows of one class need no EM: they are summed once into a table, whatever the hazards.
        cell, size = ages.first * groups + ages.group, CLASSES * groups
        removed = _sums(cell, cycle.deleted * sure, size).reshape(-1, groups)
        remaining = _sums(cell, stayed * sure, size).reshape(-1, groups)
        count, others = removed + remaining, np.flatnonzero(~sure)
        several = ages.rows(others)
        if len(others):
            count += several.spread(stock.count[others] / several.width)
        return cls(
            days=cycle.days,
            listed=stock.listed,
            deleted=float(np.sum(cycle.deleted)),
            inserted=float(np.sum(cycle.inserted)),
            count=count,
            removed=removed,
            remaining=remaining,
            uncertain=UncertainAges(several, cycle.deleted[others], stayed[others]),
            group_removed=_sums(ages.group, cycle.deleted, groups),
        )

    @property
    def whole(self) -> AgedCycle:
        """The same with all objects in one group."""
        ages = replace(
            self.uncertain.ages, group=np.zeros_like(self.uncertain.ages.group), groups=1
        )
        count, removed, remaining = (
            np.sum(table, axis=1, keepdims=True)
            for table in (self.count, self.removed, self.remaining)
        )
        return replace(
            self,
            count=count,
            removed=removed,
            remaining=remaining,
            uncertain=replace(self.uncertain, ages=ages),
            group_removed=np.sum(self.group_removed, keepdims=True),
        )

    @property
    def survived(self) -> float:
        """How many objects of the stock were still there."""
        return self.listed - self.deleted

    def expected_tally(self, model: HazardModel, scale: float = 1.0) -> HazardTally:
        r"""What it tells of ages and groups: the expectation step of one pass of EM.

        A cohort's removed are split over the ages they may have had at its start in proportion to
        $F_a = 1 - e^{-\theta W f_g (H(a+d) - H(a))}$, its remaining in proportion to $1 - F_a$. A
        removal that starts at age $a$ falls on day $j$ in proportion to what the hazard takes then.
        Exposure is one for each full day listed and half for the day of removal, times
        $\theta w_j f_g$.

        Args:
            model: Hazards so far.
            scale: What removals are multiplied by, where a cycle is clipped.

        References:
            Turnbull (1976). The empirical distribution function with arbitrarily grouped, censored
            and truncated data. Journal of the Royal Statistical Society B 38(3), 290-295.
        """
        gains = gained(model.curve, np.arange(self.days + 1))
        gain, hazard = gains[-1], model.level * float(np.mean(model.weekday))
        removed, remaining = self.removed, self.remaining
        if len(self.uncertain.removed):
            more = self.uncertain.expected(-np.expm1(-hazard * gain[:, None] * model.factor))
            removed, remaining = removed + more[0], remaining + more[1]
        removals, exposure = _by_day(model, gains, removed * scale, remaining)
        expected = -np.expm1(-hazard * gain) @ self.count
        return HazardTally(removals, exposure, self.group_removed * scale, expected)


def _by_day(
    model: HazardModel, gains: Floats, removed: Floats, remaining: Floats
) -> tuple[Floats, Floats]:
    """Removals and exposure by the age at which they fell, from those by age at the start."""
    leaving, leaving_weight = np.sum(removed, axis=1), removed @ model.factor
    remaining_weight = remaining @ model.factor
    days = len(model.weekday)
    if days == 1:  # most cycles of training; all removals fall on the one day
        return leaving, (remaining_weight + leaving_weight / 2) * (model.level * model.weekday[0])
    # Given that an object of some age is removed within the cycle, `falls` is the chance that it is
    # on a day and `later` that it is after it. An object is exposed on a day in full if it is
    # removed later and half if it is removed on that day.
    left = np.exp(-model.level * gains)
    falls = _ratio(left[:-1] - left[1:], 1.0 - left[-1])
    later = _ratio(left[1:] - left[-1], 1.0 - left[-1])
    removals, exposure = np.zeros(CLASSES), np.zeros(CLASSES)
    for day in range(days):
        lived = remaining_weight + leaving_weight * (later[day] + falls[day] / 2)
        _shift(exposure, lived * (model.level * model.weekday[day]), day)
        _shift(removals, leaving * falls[day], day)
    return removals, exposure


def _shift(table: Floats, value: Floats, days: int) -> None:
    """Add the value of each class to the class it will be in after some days."""
    days = min(days, OLDEST)
    table[days:AGELESS] += value[: AGELESS - days]
    table[OLDEST] += np.sum(value[AGELESS - days : AGELESS])
    table[AGELESS] += value[AGELESS]


def _sums(label: Ints, value: Floats, length: int = 0) -> Floats:
    """Sum of the values under each label."""
    return np.bincount(label, value, length).astype(np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    """One over the other, 0 where there is nothing to share out."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
