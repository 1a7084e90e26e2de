r"""How likely objects of each age, group and weekday are to vanish, learnt a cycle at a time.

An object of age $a$ and group $g$ vanishes on weekday $k$ with the hazard

$$ \theta_t \, w_k \, f_g \, h(a) , $$

so that of $n_{ag}$ objects $\sum n_{ag} \exp(-\theta W f_g (H(a+d) - H(a)))$ are still listed after
$d$ days, with $H(a) = \sum_{i<a} h(i)$ and $W$ the mean of $w$ over those days. Objects of unknown
age have a hazard of their own. All tables here have a row for each of the 181 classes of age.

What is known of births and deaths is only between which synchronisations they fell, so one pass of
expectation-maximisation a cycle shares them out over the ages they may have had.

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
    """Cumulative hazard of each class over the coming days: a row for each number of days.

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
        gain: Cumulative hazard by class: a row for each level, or one for all.
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
class Tally:
    """Events and exposure so far, fading: by age and by group.

    Args:
        deaths: Deaths by class of age, V.
        exposure: Days lived by class of age, X, weighted by level, weekday and group.
        group_deaths: Deaths by group.
        group_expected: Deaths that were to be expected of each group, were it like all.
    """

    deaths: Floats
    exposure: Floats
    group_deaths: Floats
    group_expected: Floats

    @classmethod
    def empty(cls, groups: int) -> Tally:
        """Nothing yet."""
        return cls(*np.zeros((2, CLASSES)), *np.zeros((2, groups)))

    def add(self, other: Tally, days: float) -> Tally:
        """What there was, faded by `days`, and what has come."""
        keep = 0.5 ** (days / _HALF_LIFE)
        return Tally(
            self.deaths * keep + other.deaths,
            self.exposure * keep + other.exposure,
            self.group_deaths * keep + other.group_deaths,
            self.group_expected * keep + other.group_expected,
        )

    def times(self, share: float) -> Tally:
        """So many times everything."""
        return Tally(
            self.deaths * share,
            self.exposure * share,
            self.group_deaths * share,
            self.group_expected * share,
        )

    @property
    def mean(self) -> float:
        r"""Mean hazard, $\bar h = (\sum V + .5) / (\sum X + 30)$."""
        deaths, exposure = float(np.sum(self.deaths)), float(np.sum(self.exposure))
        return (deaths + _FIRST_EVENTS) / (exposure + _FIRST_EXPOSURE)


@dataclass(frozen=True, slots=True)
class Hazards:
    r"""Hazards by age and group, or one for all.

    $$ h = \frac{V + 3}{X + 3 / \bar h}, \qquad f_g = \frac{D_g + 40}{E_g + 40} . $$

    Ages are merged from 0 upwards until a class holds 15 deaths.

    Args:
        by_age: Whether ages and groups differ; otherwise all have the mean hazard.

    Examples:
        >>> age_hazard(np.array(18.0), np.array(400.0), 0.03).round(6)
        np.float64(0.042)
        >>> group_factor(np.array(60.0), np.array(40.0))
        np.float64(1.25)
    """

    by_age: bool = True

    def curve(self, tally: Tally) -> Floats:
        """Hazard a day of each class of age."""
        mean = tally.mean
        if not self.by_age:
            return np.full(CLASSES, mean)
        label = _merged(tally.deaths[:AGELESS])
        deaths = _sums(label, tally.deaths[:AGELESS])
        exposure = _sums(label, tally.exposure[:AGELESS])
        curve = np.empty(CLASSES)
        curve[:AGELESS] = age_hazard(deaths, exposure, mean)[label]
        curve[AGELESS] = age_hazard(tally.deaths[AGELESS], tally.exposure[AGELESS], mean)
        return curve

    def factors(self, tally: Tally) -> Floats:
        """Factor of each group."""
        if not self.by_age:
            return np.ones(len(tally.group_deaths))
        return group_factor(tally.group_deaths, tally.group_expected)


def age_hazard(deaths: Floats, exposure: Floats, mean: float) -> Floats:
    """Hazard of a class, drawn to the mean by three deaths' worth."""
    hazard: Floats = (deaths + _AGE_WEIGHT) / (exposure + _AGE_WEIGHT / mean)
    return hazard


def group_factor(deaths: Floats, expected: Floats) -> Floats:
    """Factor of a group, drawn to 1 by forty deaths' worth."""
    factor: Floats = (deaths + _GROUP_WEIGHT) / (expected + _GROUP_WEIGHT)
    return factor


def _merged(deaths: Floats) -> Ints:
    """Class of each age, merged from 0 upwards; what is left at the end joins the last."""
    running = np.cumsum(deaths)
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
class Model:
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
class Unsure:
    """Rows of a stock that may be in several classes of age, and what became of them.

    Args:
        ages: Ages of each row.
        dead: How many of each row were gone.
        living: How many were still there.
    """

    ages: Ages
    dead: Floats
    living: Floats

    def expected(self, dies: Floats) -> tuple[Floats, Floats]:
        """Expected dead and living by class and group, given the share that dies of each."""
        lives = 1.0 - dies
        dead = self.ages.spread(_ratio(self.dead, self.ages.total(dies))) * dies
        living = self.ages.spread(_ratio(self.living, self.ages.total(lives))) * lives
        return dead, living


@dataclass(frozen=True, slots=True, eq=False)
class AgedCycle:
    """A cycle by class of age and group, worked out once for all that is asked of it.

    Where synchronisations are daily nearly every row of a stock is in one class for sure, so it is
    only counted there, together with all others of that class and group.

    Args:
        days: How long it was.
        listed: Objects at its start.
        deleted: How many of them were gone at its end.
        inserted: How many others were there then.
        count: Expected number of objects at its start, by class and group.
        dead: Of those in a class for sure, how many were gone at its end, by class and group.
        living: How many of them were still there.
        unsure: All others.
        group_dead: How many of each group were gone.
    """

    days: int
    listed: float
    deleted: float
    inserted: float
    count: Floats
    dead: Floats
    living: Floats
    unsure: Unsure
    group_dead: Floats

    @classmethod
    def of(cls, cycle: Cycle, groups: int) -> AgedCycle:
        """Count a cycle; if there is but one group, all objects are in it."""
        stock = cycle.stock
        ages = Ages.of(stock, groups)
        alive = stock.count - cycle.deleted
        sure = ages.stop - ages.first == 1
        cell, size = ages.first * groups + ages.group, CLASSES * groups
        dead = _sums(cell, cycle.deleted * sure, size).reshape(-1, groups)
        living = _sums(cell, alive * sure, size).reshape(-1, groups)
        count, others = dead + living, np.flatnonzero(~sure)
        several = ages.rows(others)
        if len(others):
            count += several.spread(stock.count[others] / several.width)
        return cls(
            days=cycle.days,
            listed=stock.listed,
            deleted=float(np.sum(cycle.deleted)),
            inserted=float(np.sum(cycle.inserted)),
            count=count,
            dead=dead,
            living=living,
            unsure=Unsure(several, cycle.deleted[others], alive[others]),
            group_dead=_sums(ages.group, cycle.deleted, groups),
        )

    @property
    def whole(self) -> AgedCycle:
        """The same with all objects in one group."""
        ages = replace(self.unsure.ages, group=np.zeros_like(self.unsure.ages.group), groups=1)
        count, dead, living = (
            np.sum(table, axis=1, keepdims=True) for table in (self.count, self.dead, self.living)
        )
        return replace(
            self,
            count=count,
            dead=dead,
            living=living,
            unsure=replace(self.unsure, ages=ages),
            group_dead=np.sum(self.group_dead, keepdims=True),
        )

    @property
    def survived(self) -> float:
        """How many objects of the stock were still there."""
        return self.listed - self.deleted

    def expected_tally(self, model: Model, scale: float = 1.0) -> Tally:
        r"""What it tells of ages and groups: the expectation step of one pass of EM.

        A cohort's dead are split over the ages they may have had at its start in proportion to
        $F_a = 1 - e^{-\theta W f_g (H(a+d) - H(a))}$, its living in proportion to $1 - F_a$. A
        death that starts at age $a$ falls on day $j$ in proportion to what the hazard takes then.
        Exposure is one for each full day lived and half for the day of death, times
        $\theta w_j f_g$.

        Args:
            model: Hazards so far.
            scale: What deaths are multiplied by, where a cycle is clipped.

        References:
            Turnbull (1976). The empirical distribution function with arbitrarily grouped, censored
            and truncated data. Journal of the Royal Statistical Society B 38(3), 290-295.
        """
        gains = gained(model.curve, np.arange(self.days + 1))
        gain, hazard = gains[-1], model.level * float(np.mean(model.weekday))
        dead, living = self.dead, self.living
        if len(self.unsure.dead):
            more = self.unsure.expected(-np.expm1(-hazard * gain[:, None] * model.factor))
            dead, living = dead + more[0], living + more[1]
        deaths, exposure = _by_day(model, gains, dead * scale, living)
        expected = -np.expm1(-hazard * gain) @ self.count
        return Tally(deaths, exposure, self.group_dead * scale, expected)


def _by_day(model: Model, gains: Floats, dead: Floats, living: Floats) -> tuple[Floats, Floats]:
    """Deaths and exposure by the age at which they fell, from those by age at the start."""
    dying, dying_weight = np.sum(dead, axis=1), dead @ model.factor
    living_weight = living @ model.factor
    days = len(model.weekday)
    if days == 1:  # most cycles of training; all deaths fall on the one day
        return dying, (living_weight + dying_weight / 2) * (model.level * model.weekday[0])
    left = np.exp(-model.level * gains)
    falls = _ratio(left[:-1] - left[1:], 1.0 - left[-1])
    later = _ratio(left[1:] - left[-1], 1.0 - left[-1])
    deaths, exposure = np.zeros(CLASSES), np.zeros(CLASSES)
    for day in range(days):
        lived = living_weight + dying_weight * (later[day] + falls[day] / 2)
        _shift(exposure, lived * (model.level * model.weekday[day]), day)
        _shift(deaths, dying * falls[day], day)
    return deaths, exposure


def _shift(table: Floats, value: Floats, days: int) -> None:
    """Add the value of each class to the class it will be in after some days."""
    days = min(days, OLDEST)
    table[days:AGELESS] += value[: AGELESS - days]
    table[OLDEST] += np.sum(value[AGELESS - days : AGELESS])
    table[AGELESS] += value[AGELESS]


def _sums(label: Ints, value: Floats, length: int = 0) -> Floats:
    """Sum of the values under each label."""
    sums: Floats = np.bincount(label, value, length).astype(np.float64)
    return sums


def _ratio(above: Floats, below: Floats) -> Floats:
    """One over the other, 0 where there is nothing to share out."""
    ratio: Floats = np.divide(above, below, out=np.zeros_like(above), where=below > 0)
    return ratio
