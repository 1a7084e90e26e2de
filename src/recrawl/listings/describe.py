r"""Figures that describe a listing: arrivals, lifetimes of groups, statuses.

The rate at which objects vanish is removals over days listed, $\hat\alpha = D / E$: unlike the
inverse of the mean lifetime it is right although many objects are still listed. Days count from the
crawl that first saw an object: removed before, it would never have been seen. A removal lies
between two crawls and is taken to be half-way.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import gamma_quantile
from recrawl.listings.data.attributes import MISSING, MOST_VALUES, Numbers
from recrawl.listings.data.day_marks import DayMarks, Rekey
from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.groups.partition import Categories
from recrawl.listings.models.aging import aging
from recrawl.listings.models.exponential import ExponentialSurvival
from recrawl.listings.models.gamma_arrivals import GammaArrivals
from recrawl.listings.models.kaplan_meier import kaplan_meier, supported_start
from recrawl.listings.models.weibull import profile, weibull

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.attributes import Attribute
    from recrawl.listings.data.grid import DayGrid
    from recrawl.listings.data.spells import Listing
    from recrawl.listings.models.aging import Aging
    from recrawl.listings.models.kaplan_meier import SurvivalCurve
    from recrawl.listings.models.weibull import WeibullSurvival

FEWEST_DAYS = 14
FEWEST_REMOVALS = 10
FEWEST_LISTED = 30

_LEVEL = 0.9  # of the bands of rates
_CELL = 0.25  # days: ages this close are one
_QUARTERS = np.array([0.25, 0.5, 0.75])
_MOST_NUMBERS = 12  # more different numbers are shown as quartiles


@dataclass(frozen=True, slots=True)
class LifetimeModel:
    """The published models of lifetimes, fitted to a group.

    Args:
        exponential: Survival without memory.
        weibull: Survival by a power of age.
        gain: Twice the log-likelihood that the power adds; by chance above 3.84 one time in twenty.
    """

    exponential: ExponentialSurvival
    weibull: WeibullSurvival
    gain: float


def fitted_lifetimes(lifetimes: Lifetimes) -> LifetimeModel | None:
    """Fit both survival models to objects of known age; None where none of them was removed.

    >>> ages = np.repeat([1.0, 2.0, 3.0, 4.0], 25)
    >>> found = fitted_lifetimes(Lifetimes.of(ages, ages))
    >>> round(found.exponential.rate, 4), round(found.weibull.shape, 2), found.gain > 3.84
    (0.4, 2.45, True)
    """
    known = lifetimes.with_known_age()
    if not known.removals or not known.exposure:
        return None
    power = weibull(known)
    rate, height = profile(known, 1.0)
    plain = ExponentialSurvival(rate, known.removals, known.exposure)
    return LifetimeModel(plain, power, max(2 * (power.height - height), 0.0))


@dataclass(frozen=True, slots=True)
class Arrivals:
    """New objects a day.

    Args:
        mean: New objects a day.
        dispersion: Variance of a day's number over its mean; 1 for a Poisson process, more where
            objects come in batches. Nan where there are too few days.
        days: Days that were seen.
        gamma: The published model of a day's number.
    """

    mean: float
    dispersion: float
    days: int
    gamma: GammaArrivals


def arrivals(grid: DayGrid) -> Arrivals:
    """New objects a day, those that came in a gap shared over its days.

    >>> from recrawl.listings.data.grid import DayGrid
    >>> from recrawl.listings.data.spells import Listing
    >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
    >>> spells = [(0, 0, 3), (1, 1, 5), (2, 1, 5), (3, 3, 5), (4, 4, 5)]
    >>> found = arrivals(DayGrid.of(Listing.of(list("abcde"), crawls, spells)))
    >>> found.mean, round(found.dispersion, 4)
    (1.0, 0.6667)
    """
    return arrivals_of_counts(grid.inserted[1:], whole_days(grid))


def arrivals_of_counts(counts: Ints, whole: Bools) -> Arrivals:
    """New objects a day, from those of each day and whether it neither begins nor ends in a gap."""
    if not len(counts):
        return Arrivals(float("nan"), float("nan"), 0, GammaArrivals.fit(np.empty(0)))
    seen = counts[whole].astype(np.float64)
    mean = float(np.mean(seen)) if len(seen) else 0.0
    spread = float(np.var(seen, ddof=1)) / mean if len(seen) > 1 and mean > 0 else float("nan")
    each_day = float(np.sum(counts)) / len(counts)
    return Arrivals(each_day, spread, len(counts), GammaArrivals.fit(seen))


def whole_days(grid: DayGrid) -> Bools:
    """Which days, from the second on, neither begin nor end in a gap."""
    return ~grid.gap[1:] & ~grid.gap[:-1]


@dataclass(frozen=True, slots=True, eq=False)
class RemovalRates:
    """How fast objects are removed, one row per group.

    Args:
        removals: How many spells ended.
        exposure: Days under observation, from the crawl that first saw an object, all together.
        rate: Removals per day and object; 0 where none was removed, nan without exposure.
        low: Lower end of a band that holds the rate with 90 %, removals being Poisson.
        high: Upper end; where none was removed, the rate that would have shown no removal with
            probability 0.05, 3 / exposure.
        lifetimes: Ages between which the objects of each were removed, close ones as one.
        starts: Age of each from which on enough crawls tell of lifetimes.
    """

    removals: Ints
    exposure: Floats
    rate: Floats
    low: Floats
    high: Floats
    lifetimes: list[Lifetimes]
    starts: list[float]

    @property
    def curves(self) -> list[SurvivalCurve]:
        """Kaplan and Meier's curve of each group."""
        pairs = zip(self.lifetimes, self.starts, strict=True)
        return [kaplan_meier(part, start=start) for part, start in pairs]

    @property
    def aging(self) -> list[Aging]:
        """Whether age matters, for each group."""
        return [aging(part) for part in self.lifetimes]

    @property
    def mean_lifetime(self) -> Floats:
        """Mean days from appearance to removal; nan where nothing vanishes."""
        return mean_lifetime(self.rate)


def removal_rates(listing: Listing, codes: Ints, count: int) -> RemovalRates:
    """How fast the objects of each of some groups vanish.

    Args:
        listing: Objects and spells.
        codes: Group of each object.
        count: How many groups there are.

    Examples:
        Object a is removed after 2.5 days, b is there for all 4, c is first seen on day 1:

        >>> from recrawl.listings.data.spells import Listing
        >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
        >>> three = Listing.of(["a", "b", "c"], crawls, [(0, 0, 3), (1, 0, 5), (2, 1, 5)])
        >>> found = removal_rates(three, np.zeros(3, np.int64), 1)
        >>> found.removals, found.exposure, found.rate.round(4), found.mean_lifetime
        (array([1]), array([9.5]), array([0.1053]), array([9.5]))
    """
    lifetimes, group = Lifetimes.from_listing(listing), codes[listing.object]
    found = Categories.of(lifetimes, group, count)
    rate = np.where(found.exposure > 0, found.rate, np.nan)
    low, high = rate_band(found.removals, found.exposure)
    rows = _rows(group, count)
    parts = [lifetimes.take(each) for each in rows]
    starts = [
        supported_start(part, listing.first[each]) for part, each in zip(parts, rows, strict=True)
    ]
    return RemovalRates(
        found.removals.astype(np.int64),
        found.exposure,
        rate,
        low,
        high,
        [part.binned(_CELL) for part in parts],
        starts,
    )


def _rows(group: Ints, count: int) -> list[Ints]:
    """Rows of each group."""
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group, minlength=count))
    return np.split(order, ends[:-1]) if count else []


@dataclass(frozen=True, slots=True)
class EarlySightings:
    """Sightings of young objects that are too few to tell of lifetimes.

    Args:
        start: Age from which on there are enough.
        objects: How many objects were seen younger.
        crawls: How many crawls brought them.
    """

    start: float
    objects: int
    crawls: int


def early_sightings(listing: Listing) -> EarlySightings | None:
    """Sightings that the curve of all objects leaves out; None where it leaves out none.

    A crawl an hour after another brings 40 objects; forty daily ones bring two each:

    >>> from recrawl.listings.data.spells import Listing
    >>> hours = np.array([0, 1, *range(25, 985, 24)])
    >>> crawls = np.datetime64("2026-01-01", "us") + hours * np.timedelta64(1, "h")
    >>> spells = [(row, 1 if row < 40 else row // 2 - 18, 42) for row in range(120)]
    >>> early_sightings(Listing.of([str(row) for row in range(120)], crawls, spells))
    EarlySightings(start=0.5, objects=40, crawls=1)
    """
    lifetimes = Lifetimes.from_listing(listing)
    start = supported_start(lifetimes, listing.first)
    young = lifetimes.known & (lifetimes.entry < start - _CELL / 2)
    if not young.any():
        return None
    crawls = len(np.unique(listing.first[young]))
    return EarlySightings(start, int(np.count_nonzero(young)), crawls)


def mean_lifetime(rate: Floats) -> Floats:
    """Mean days from appearance to removal; nan where nothing vanishes.

    >>> mean_lifetime(np.array([0.1, 0.0]))
    array([10., nan])
    """
    days: Floats = np.divide(1.0, rate, out=np.full(len(rate), np.nan), where=rate > 0)
    return days


def rate_band(removals: Ints | Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """Band that holds a rate with 90 %, removals being Poisson; up to 3 / days without any.

    >>> low, high = rate_band(np.array([0, 10]), np.array([100.0, 100.0]))
    >>> low.round(4), high.round(4)
    (array([0.    , 0.0543]), array([0.03 , 0.1696]))
    """
    tail = (1 - _LEVEL) / 2
    some = np.maximum(removals, 1).astype(np.float64)
    days = np.where(exposure > 0, exposure, np.nan)
    low = np.where(removals > 0, gamma_quantile(some, tail) / days, 0.0 * days)
    high = np.where(removals > 0, gamma_quantile(some + 1, 1 - tail) / days, 3.0 / days)
    return low, high


def kinds(column: Attribute) -> tuple[Ints, list[str]]:
    """Value of each object as a code, and the values; many numbers as quarters, rare text as one.

    >>> kinds(Numbers(np.arange(100.0)))[1]
    ['to 24.75', 'to 49.5', 'to 74.25', 'above 74.25']
    """
    if isinstance(column, Numbers):
        known = column.numbers[~column.missing]
        some = np.unique(known[: 100 * _MOST_NUMBERS])
        if len(some) > _MOST_NUMBERS:
            return _quarters(column, known)
    codes, values = column.values()
    if len(values) <= MOST_VALUES:
        return codes, values
    counts = np.bincount(codes, minlength=len(values))
    most = np.argsort(-counts, kind="stable")[: MOST_VALUES - 1]
    number = np.full(len(values), len(most), np.int64)
    number[most] = np.arange(len(most))
    return number[codes], [*(values[code] for code in most.tolist()), "(others)"]


def _quarters(column: Numbers, known: Floats) -> tuple[Ints, list[str]]:
    edges = np.unique(np.quantile(known, _QUARTERS))
    codes = np.searchsorted(edges, column.numbers)
    texts = [_shown(edge, dated=column.dated) for edge in edges.tolist()]
    names = [*(f"to {text}" for text in texts), f"above {texts[-1]}"]
    if not column.missing.any():
        return codes, names
    return np.where(column.missing, len(names), codes), [*names, MISSING]


def _shown(number: float, *, dated: bool) -> str:
    return str(np.datetime64(int(number), "D")) if dated else f"{number:.6g}"


def statuses(listing: Listing, grid: DayGrid) -> tuple[str, ...]:
    """Warnings to show before any figure of a listing; none of them is an error.

    `empty`, `one-snapshot`: no rate is known. `weak`: fewer than 14 days or 10 removals. `small`:
    fewer than 30 objects are listed, so bands are mostly counting noise. `rekey?`: on some day
    the list was exchanged, as if keys had changed; `rekeys` says when.

    >>> from recrawl.listings.data.grid import DayGrid
    >>> from recrawl.listings.data.spells import Listing
    >>> crawls = np.arange("2026-01-05", "2026-01-06", dtype="datetime64[D]")
    >>> listing = Listing.of(["a"], crawls, [(0, 0, 1)])
    >>> statuses(listing, DayGrid.of(listing))
    ('one-snapshot',)
    """
    if listing.status != "ok":
        return (listing.status,)
    found = []
    removals = int(np.count_nonzero(~listing.listed))
    if len(grid) - 1 < FEWEST_DAYS or removals < FEWEST_REMOVALS:
        found.append("weak")
    if np.count_nonzero(listing.listed) < FEWEST_LISTED:
        found.append("small")
    if DayMarks.of(grid).rekey.any():
        found.append("rekey?")
    return tuple(found) or ("ok",)


def rekeys(grid: DayGrid) -> list[Rekey]:
    """All days on which keys seem to have changed."""
    listed, deleted, inserted = grid.listed, grid.deleted, grid.inserted
    return [
        Rekey(day, float(deleted[day] / listed[day - 1]), float(inserted[day] / listed[day - 1]))
        for day in np.flatnonzero(DayMarks.of(grid).rekey).tolist()
        if listed[day - 1] > 0
    ]
