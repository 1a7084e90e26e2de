"""Worlds that are made up: pages of known average rates that change in different ways.

Each maker takes the rates of the pages, changes a day, and keeps to them on average; what differs
is when changes come. Pages have addresses in folders of twenty; only in the world `sections` does
it mean anything to share one.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.simulate.world import World
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.arrays.types import Floats, Instants, Ints

START = np.datetime64("2026-01-05T00:00", "us")  # a Monday
SECTION = 20  # pages in a folder

# How busy the hours of a day and the days of a week are, in the world `weekly`.
_BY_HOUR = np.where((np.arange(24) >= 8) & (np.arange(24) < 18), 4.0, 1.0)  # noqa: PLR2004
_BY_WEEKDAY = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.3, 0.3])

_BEFORE = 10  # mean gaps that go by before a renewal process is looked at
_TOGETHER = 0.6  # share of a page's changes that come with its section's
_JOIN = 0.5  # chance that a page changes when its section does
_SWEEP = 1 / 24  # days that a change of a section takes to reach all its pages
# What fits into the memory of a large machine, and into the calendar.
_MOST_PAGES = 100_000_000
_MOST_CHANGES = 1_000_000_000
_LONGEST = 36_525

_LIFE = 0.5  # mean life of a page, as a share of the time that is looked at


def log_normal_rates(
    pages: int, *, every: float, spread: float, random: np.random.Generator
) -> Floats:
    """Rates whose logarithms are normal.

    Args:
        pages: How many.
        every: Days between changes of the page in the middle.
        spread: Standard deviation of the logarithm; 1.5 spans about three orders of magnitude.
        random: Where chance comes from.

    Examples:
        >>> random = np.random.default_rng(0)
        >>> log_normal_rates(2, every=10.0, spread=0.0, random=random)
        array([0.1, 0.1])
    """
    _check("pages", pages, 1, _MOST_PAGES)
    _check("every", every, 1e-6, 1e6)
    _check("spread", spread, 0, 10)
    return np.exp(spread * random.standard_normal(pages)) / every


def poisson(rates: Floats, *, days: float, random: np.random.Generator) -> World:
    """Pages that change at any time with the same chance, whatever came before.

    Examples:
        >>> world = poisson(np.full(1000, 0.5), days=20.0, random=np.random.default_rng(0))
        >>> round(len(world.changes) / 1000 / 20, 2)
        0.5
    """
    row = np.repeat(np.arange(len(rates)), random.poisson(rates * days))
    at = random.uniform(0, days, len(row))
    return _world(row, at, days, random.exponential(1 / rates))


def renewal(
    rates: Floats, *, days: float, random: np.random.Generator, shape: float = 0.5
) -> World:
    """Pages whose gaps between changes follow a gamma distribution.

    Args:
        rates: Changes a day of each page.
        days: How long the pages are looked at.
        random: Where chance comes from.
        shape: 1 is Poisson; below, changes come in bunches, above, they are regular.
    """
    return _renewed(rates, days, random, lambda count: random.gamma(shape, 1 / shape, count))


def weibull(
    rates: Floats, *, days: float, random: np.random.Generator, shape: float = 0.6
) -> World:
    """Pages whose gaps between changes follow a Weibull distribution; `shape` as in `renewal`."""
    from scipy.special import gamma  # heavy

    mean = float(gamma(1 + 1 / shape))
    return _renewed(rates, days, random, lambda count: random.weibull(shape, count) / mean)


def weekly(rates: Floats, *, days: float, random: np.random.Generator) -> World:
    """Pages that change in working hours more than at night, and little at weekends."""
    hours = np.arange(int(np.ceil(days * 24)) + 1)
    busy = _BY_HOUR[hours % 24] * _BY_WEEKDAY[hours // 24 % 7]
    busy /= np.mean(np.outer(_BY_WEEKDAY, _BY_HOUR))
    passed = np.concatenate([[0.0], np.cumsum(busy) / 24])  # days on the clock of the pages
    edges = np.arange(len(passed)) / 24
    whole = float(np.interp(days, edges, passed))
    row = np.repeat(np.arange(len(rates)), random.poisson(rates * whole))
    at = np.interp(random.uniform(0, whole, len(row)), passed, edges)
    return _world(row, at, days, _days_before_monday(random.exponential(1 / rates)))


def bursty(
    rates: Floats,
    *,
    days: float,
    random: np.random.Generator,
    followers: float = 0.6,
    within: float = 1.0,
) -> World:
    """Pages whose changes draw further changes after them: a self-exciting process.

    Args:
        rates: Changes a day of each page.
        days: How long the pages are looked at.
        random: Where chance comes from.
        followers: Changes that each change draws on average, below 1.
        within: Days after which they come on average.

    References:
        Hawkes and Oakes (1974). A cluster process representation of a self-exciting process.
        Journal of Applied Probability 11(3), 493-503.
    """
    before = _BEFORE * within / (1 - followers)  # what came earlier draws no more
    count = random.poisson(rates * (1 - followers) * (days + before))
    row = np.repeat(np.arange(len(rates)), count)
    at = random.uniform(-before, days, len(row))
    rows, times = [row], [at]
    while len(row):
        drawn = random.poisson(followers, len(row))
        row, at = np.repeat(row, drawn), np.repeat(at, drawn)
        at += random.exponential(within, len(at))
        row, at = row[at < days], at[at < days]
        rows.append(row)
        times.append(at)
    row, at = np.concatenate(rows), np.concatenate(times)
    older = before + random.exponential(1 / (rates * (1 - followers)))
    return _world(
        row[at >= 0], at[at >= 0], days, np.fmin(_last_before(row, at, len(rates)), older)
    )


def sections(rates: Floats, *, days: float, random: np.random.Generator) -> World:
    """Pages that change by themselves, and together with the others of their folder.

    Six in ten changes of a page come when its section changes: each page then changes with a
    chance of a half, within an hour. The pages of a section have the same rate.
    """
    pages = len(rates)
    section = np.arange(pages) // SECTION
    rate = rates[section * SECTION]  # that of the first page of the section
    count = random.poisson(rate[::SECTION] * _TOGETHER / _JOIN * days)
    sweep = np.repeat(np.arange(len(count)), count)
    begins = random.uniform(0, days, len(sweep))
    sizes = np.minimum(SECTION, pages - sweep * SECTION)
    row = np.repeat(sweep * SECTION, sizes) + _counted(sizes)
    at = np.repeat(begins, sizes) + random.uniform(0, _SWEEP, len(row))
    joins = random.random(len(row)) < _JOIN
    alone = np.repeat(np.arange(pages), random.poisson(rate * (1 - _TOGETHER) * days))
    row = np.concatenate([row[joins], alone])
    at = np.concatenate([at[joins], random.uniform(0, days, len(alone))])
    return _world(row, at, days, random.exponential(1 / rate))


def turnover(rates: Floats, *, days: float, random: np.random.Generator) -> World:
    """Poisson pages that are born and removed; lives are exponential, half the time on average.

    As many are there at any time, on average: some from the start, the others are born later.
    """
    pages, life = len(rates), _LIFE * days
    old = random.random(pages) < life / (life + days)
    old[0] = True  # time begins with a page
    born = np.where(old, 0.0, random.uniform(0, days, pages))
    lives = random.exponential(life, pages)
    row = np.repeat(np.arange(pages), random.poisson(rates * lives))
    at = born[row] + random.random(len(row)) * lives[row]
    gone = np.where(born + lives < days, _instants(born + lives), np.datetime64("NaT", "us"))
    return World.of(
        _addresses(pages),
        _instants(born),
        (row, _instants(at)),
        removed_at=gone,
        end=_instants(np.array([days]))[0],
        first_age=np.where(old, random.exponential(1 / rates), np.nan),
    )


WORLDS: Mapping[str, Callable[..., World]] = {
    "poisson": poisson,
    "renewal": renewal,
    "weibull": weibull,
    "weekly": weekly,
    "bursty": bursty,
    "sections": sections,
    "turnover": turnover,
}


def make_world(name: str, rates: Floats, *, days: float, random: np.random.Generator) -> World:
    """A world by its name.

    Examples:
        >>> world = make_world("weekly", np.ones(3), days=14.0, random=np.random.default_rng(0))
        >>> len(world), world.days
        (3, 14.0)
    """
    if name not in WORLDS:
        message = f"world must be one of {', '.join(WORLDS)} (got {name!r})"
        raise InvalidParameter(message)
    _check("days", days, 1e-6, _LONGEST)
    _check("rates * days, all changes together,", float(rates.sum()) * days, 0, _MOST_CHANGES)
    return WORLDS[name](rates, days=days, random=random)


def _check(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        message = f"{name} must be a number from {least:g} to {most:g} (got {value:g})"
        raise InvalidParameter(message)


def _renewed(
    rates: Floats, days: float, random: np.random.Generator, gaps: Callable[[int], Floats]
) -> World:
    """Pages whose gaps are drawn one after the other, each with mean 1 / rate.

    Drawing begins some mean gaps earlier, at a moment of its own for each page: where pages stand
    in their gaps when the world begins is then a matter of chance.
    """
    page = np.arange(len(rates))
    reached = -(_BEFORE + random.random(len(rates))) / rates
    rows, times, age = [], [], np.full(len(rates), np.nan)
    while len(page):
        expected = rates[page] * (days - reached)
        count = (expected + 2 * np.sqrt(expected) + 1).astype(np.int64)
        row = np.repeat(page, count)
        passed = np.cumsum(gaps(len(row)) / rates[row])
        ends = np.cumsum(count) - 1
        earlier = np.concatenate([[0.0], passed[ends[:-1]]])
        at = passed + np.repeat(reached - earlier, count)
        age = np.fmin(age, _last_before(row, at, len(rates)))
        inside = (at >= 0) & (at < days)
        rows.append(row[inside])
        times.append(at[inside])
        going_on = at[ends] < days
        page, reached = page[going_on], at[ends][going_on]
    return _world(np.concatenate(rows), np.concatenate(times), days, age)


def _world(row: Ints, at: Floats, days: float, first_age: Floats) -> World:
    """Pages that are there all the time, so old when time begins; changes after are left out."""
    pages, end = len(first_age), _instants(np.array([days]))[0]
    found = np.full(pages, START)
    return World.of(_addresses(pages), found, (row, _instants(at)), end=end, first_age=first_age)


def _last_before(row: Ints, at: Floats, pages: int) -> Floats:
    """Days from the last change of each page before time begins; nan where there is none."""
    age, before = np.full(pages, np.inf), at < 0
    np.minimum.at(age, row[before], -at[before])
    return np.where(np.isinf(age), np.nan, age)


def _days_before_monday(passed: Floats) -> Floats:
    """Days that go by backwards from a Monday, for days on the clock of weekly pages.

    >>> _days_before_monday(np.array([7.0, 14.0]))
    array([ 7., 14.])
    """
    busy = np.outer(_BY_WEEKDAY, _BY_HOUR).ravel()[::-1]
    clock = np.concatenate([[0.0], np.cumsum(busy / busy.mean()) / 24])
    weeks, rest = np.divmod(passed, 7.0)
    return 7.0 * weeks + np.interp(rest, clock, np.arange(len(clock)) / 24)


def _addresses(pages: int) -> list[str]:
    return [f"section-{page // SECTION}/page-{page}" for page in range(pages)]


def _counted(sizes: Ints) -> Ints:
    """0, 1, 2, ... anew for each size."""
    return np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _instants(days: Floats) -> Instants:
    """So many days after the start."""
    elapsed = days * MICROSECONDS_A_DAY
    whole = np.rint(elapsed, out=elapsed).astype(np.int64)
    whole += START.astype(np.int64)
    return whole.view("datetime64[us]")
