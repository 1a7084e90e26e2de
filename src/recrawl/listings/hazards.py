r"""How likely objects of each age, group and weekday are to vanish, learnt a cycle at a time.

An object of age $a$ and group $g$ vanishes on weekday $k$ with the hazard

$$ \theta_t \, w_k \, f_g \, h(a) , $$

so that of $n_{ag}$ objects $\sum n_{ag} \exp(-\theta W f_g (H(a+d) - H(a)))$ are still listed after
$d$ days, with $H(a) = \sum_{i<a} h(i)$ and $W$ the mean of $w$ over those days. Ages are whole days
from 0 to 179, the last standing for all above; one more class holds objects whose age is unknown
and has a hazard of its own. All tables here have a row for each of these 181 classes.

What is known of births and deaths is only between which synchronisations they fell, so one pass of
expectation-maximisation a cycle shares them out over the ages they may have had.

Pure.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.cycles import UNKNOWN

if TYPE_CHECKING:
    from recrawl.listings.cycles import Cycle, Stock
    from recrawl.visits.arrays import Floats, Ints

OLDEST = 179
AGELESS = OLDEST + 1
CLASSES = OLDEST + 2

# Chosen on four listings, one set for all of them.
_HALF_LIFE = 400.0
_LEAST_EVENTS = 15.0
_AGE_WEIGHT = 3.0
_GROUP_WEIGHT = 40.0
_FIRST_EVENTS, _FIRST_EXPOSURE = 0.5, 30.0


@dataclass(frozen=True, slots=True, eq=False)
class Ages:
    """Age classes that the rows of a stock may be in, all of a row equally likely.

    Args:
        first: Youngest class of each row.
        stop: One more than its oldest.
        beyond: How many of its ages lie beyond the oldest class and count there.
        group: Group of each row.
        groups: How many groups there are.
    """

    first: Ints
    stop: Ints
    beyond: Floats
    group: Ints
    groups: int

    @classmethod
    def of(cls, stock: Stock, groups: int) -> Ages:
        """Ages at the stock's own day: `day - seen` to `day - before - 1`."""
        known = stock.before != UNKNOWN
        low = np.where(known, stock.day - stock.seen, AGELESS)
        high = np.where(known, stock.day - stock.before, CLASSES)
        first = np.where(known, np.minimum(low, OLDEST), AGELESS)
        stop = np.where(known, np.minimum(high, AGELESS), CLASSES)
        beyond = (high - low) - (stop - first)
        return cls(first, stop, beyond.astype(np.float64), stock.group, groups)

    @property
    def width(self) -> Floats:
        """How many ages each row may have."""
        return (self.stop - self.first) + self.beyond

    def spread(self, value: Floats) -> Floats:
        """Add the value of each row to each of its ages: a table of classes and groups."""
        size = (CLASSES + 1) * self.groups
        starts = np.bincount(self.first * self.groups + self.group, value, size)
        stops = np.bincount(self.stop * self.groups + self.group, value, size)
        table: Floats = np.cumsum((starts - stops).reshape(-1, self.groups), axis=0)[:CLASSES]
        table[OLDEST] += np.bincount(self.group, value * self.beyond, self.groups)
        return np.maximum(table, 0.0)  # differences leave a little below 0

    def total(self, table: Floats) -> Floats:
        """Sum of a table of classes and groups over the ages of each row."""
        running = np.zeros((CLASSES + 1, self.groups))
        np.cumsum(table, axis=0, out=running[1:])
        inside = running[self.stop, self.group] - running[self.first, self.group]
        total: Floats = inside + self.beyond * table[OLDEST, self.group]
        return total


def by_age(stock: Stock, groups: int) -> Floats:
    """Expected number of objects by class of age and group.

    A cohort seen on day 17, the synchronisation before on day 10, is 7 to 13 days old on day 24:

    >>> from recrawl.listings.cycles import Stock
    >>> one = lambda number: np.array([number])
    >>> stock = Stock(24, one(17), one(10), one(0), one(7.0))
    >>> by_age(stock, 1)[6:15, 0].round(6)
    array([0., 1., 1., 1., 1., 1., 1., 1., 0.])
    """
    ages = Ages.of(stock, groups)
    return ages.spread(stock.count / ages.width)


def gained(curve: Floats, days: Ints) -> Floats:
    """Cumulative hazard of each class over the coming days: a row for each number of days.

    >>> gained(np.full(181, 0.01), np.array([1, 10]))[:, [0, 179, 180]].round(6)
    array([[0.01, 0.01, 0.01], [0.1 , 0.1 , 0.1 ]])
    """
    longest = int(np.max(days, initial=0))
    running = np.zeros(AGELESS + longest + 1)
    running[1 : AGELESS + 1] = np.cumsum(curve[:AGELESS])
    running[AGELESS + 1 :] = running[AGELESS] + curve[OLDEST] * np.arange(1, longest + 1)
    table = np.empty((len(days), CLASSES))
    age = np.arange(AGELESS)
    table[:, :AGELESS] = running[age + days[:, None]] - running[age]
    table[:, AGELESS] = curve[AGELESS] * days
    return table


def surviving(count: Floats, gain: Floats, factor: Floats, level: Floats) -> Floats:
    """How many of a stock are still listed: one number for each row of `gain`.

    Args:
        count: Objects by class of age and group.
        gain: Cumulative hazard by number of days and class.
        factor: Factor of each group.
        level: What multiplies all of them, for each number of days.
    """
    row, column = np.nonzero(count)
    exponent = gain[:, row] * (factor[column] * -level[:, None])
    return np.exp(exponent) @ count[row, column]


def implied_level(count: Floats, gain: Floats, factor: Floats, deleted: float) -> float:
    """Level at which just as many vanish as were seen to, by Newton's method.

    The number left is convex and falls as the level rises, so steps from 0 never go too far.

    Args:
        count: Objects by class of age and group.
        gain: Cumulative hazard of each class over the cycle, weekdays included.
        factor: Factor of each group.
        deleted: How many vanished: more than 0 and fewer than there were.
    """
    row, column = np.nonzero(count)
    number, rate = count[row, column], gain[row] * factor[column]
    left = float(np.sum(number)) - deleted
    level = 0.0
    for _ in range(100):
        there = number * np.exp(-rate * level)
        step = float((np.sum(there) - left) / np.sum(there * rate))
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

    @property
    def half(self) -> Tally:
        """Half of everything."""
        return Tally(
            self.deaths / 2, self.exposure / 2, self.group_deaths / 2, self.group_expected / 2
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
    running = np.cumsum(deaths).tolist()
    last, stop, stops = running[-1], 0, []
    while True:
        taken = running[stop - 1] if stop else 0.0
        stop = bisect_left(running, taken + _LEAST_EVENTS) + 1
        if stop >= len(running) or last - running[stop - 1] < _LEAST_EVENTS:
            break
        stops.append(stop)
    return np.searchsorted(stops, np.arange(len(running)), side="right")


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


def shared_out(cycle: Cycle, model: Model, scale: float = 1.0) -> Tally:
    r"""What a cycle tells of ages and groups: one pass of expectation-maximisation.

    A cohort's dead are split over the ages they may have had at its start in proportion to
    $F_a = 1 - e^{-\theta W f_g (H(a+d) - H(a))}$, its living in proportion to $1 - F_a$. A death
    that starts at age $a$ falls on day $j$ in proportion to what the hazard takes on that day.
    Exposure is one for each full day lived and half for the day of death, times
    $\theta w_j f_g$.

    Args:
        cycle: What the two synchronisations saw.
        model: Hazards so far.
        scale: What deaths are multiplied by, where a cycle is clipped.

    References:
        Turnbull (1976). The empirical distribution function with arbitrarily grouped, censored
        and truncated data. Journal of the Royal Statistical Society B 38(3), 290-295.
    """
    groups = len(model.factor)
    ages = Ages.of(cycle.stock, groups)
    gain = gained(model.curve, np.array([cycle.days]))[0]
    hazard = model.level * float(np.mean(model.weekday))
    dies = -np.expm1(-hazard * gain[:, None] * model.factor)
    deleted = cycle.deleted * scale
    dead = ages.spread(_ratio(deleted, ages.total(dies))) * dies
    lives = 1.0 - dies
    living = ages.spread(_ratio(cycle.stock.count - cycle.deleted, ages.total(lives))) * lives

    deaths, exposure = _by_day(model, dead, living)
    alike = -np.expm1(-hazard * gain[:, None])
    expected = np.sum(by_age(cycle.stock, groups) * alike, axis=0)
    found = _sums(cycle.stock.group, deleted, groups)
    return Tally(deaths, exposure, found, expected)


def _by_day(model: Model, dead: Floats, living: Floats) -> tuple[Floats, Floats]:
    """Deaths and exposure by the age at which they fell, from those by age at the start."""
    days = len(model.weekday)
    gain = gained(model.curve, np.arange(days + 1))
    left = np.exp(-model.level * gain)
    falls = _ratio(left[:-1] - left[1:], 1.0 - left[-1])
    later = _ratio(left[1:] - left[-1], 1.0 - left[-1])
    dying, dying_weight = np.sum(dead, axis=1), dead @ model.factor
    living_weight = living @ model.factor
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
