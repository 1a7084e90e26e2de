r"""Figures that describe a listing: arrivals, lifetimes by attribute, updates, statuses.

The rate at which objects vanish is deaths over days lived, $\hat\alpha = D / E$: unlike the
inverse of the mean life it is right although many objects are still listed. A birth or death lies
between two crawls and is taken to be half-way; objects that were there at the first crawl count
from then.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.attributes import EVERYTHING, MISSING, MOST_VALUES, Numbers
from recrawl.listings.marks import Marks
from recrawl.units import epoch_days

if TYPE_CHECKING:
    from recrawl.listings.attributes import Attribute
    from recrawl.listings.grid import Grid
    from recrawl.listings.spells import Listing
    from recrawl.visits.arrays import Floats, Ints

FEWEST_DAYS = 14
FEWEST_DEATHS = 10
FEWEST_LISTED = 30

_QUARTERS = np.array([0.25, 0.5, 0.75])
_MOST_NUMBERS = 12  # more different numbers are told by quarters


@dataclass(frozen=True, slots=True)
class Arrivals:
    """New objects a day.

    Args:
        mean: New objects a day.
        dispersion: Variance of a day's number over its mean; 1 for a Poisson process, more where
            objects come in batches. Nan where there are too few days.
        days: Days that were seen.
    """

    mean: float
    dispersion: float
    days: int


def arrivals(grid: Grid) -> Arrivals:
    """New objects a day, those that came in a gap shared over its days.

    >>> from recrawl.listings.grid import Grid
    >>> from recrawl.listings.spells import Listing
    >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
    >>> spells = [(0, 0, 3), (1, 1, 5), (2, 1, 5), (3, 3, 5), (4, 4, 5)]
    >>> found = arrivals(Grid.of(Listing.of(list("abcde"), crawls, spells)))
    >>> found.mean, round(found.dispersion, 4)
    (1.0, 0.6667)
    """
    days = max(len(grid) - 1, 0)
    if not days:
        return Arrivals(float("nan"), float("nan"), 0)
    counts = grid.inserted[1:]
    whole = counts[~grid.gap[1:] & ~grid.gap[:-1]]
    mean = float(np.mean(whole)) if len(whole) else 0.0
    spread = float(np.var(whole, ddof=1)) / mean if len(whole) > 1 and mean > 0 else float("nan")
    return Arrivals(float(np.sum(counts)) / days, spread, days)


@dataclass(frozen=True, slots=True, eq=False)
class Decay:
    """How fast objects vanish, a row a value of an attribute.

    Args:
        values: The values.
        objects: How many objects have each.
        deaths: How many spells ended.
        exposure: Days that they were listed, all together.
        rate: Deaths a day and object; 0 where none died, nan where none was listed for any time.
        upper: Where none died, the rate that would have shown no death with probability
            0.05, 3 / exposure; else nan.
    """

    values: tuple[str, ...]
    objects: Ints
    deaths: Ints
    exposure: Floats
    rate: Floats
    upper: Floats

    @property
    def mean_life(self) -> Floats:
        """Mean days from appearance to removal; infinite where none died."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.rate


def lives(listing: Listing) -> Floats:
    """Days that each spell was listed, births and deaths half-way between two crawls.

    >>> from recrawl.listings.spells import Listing
    >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
    >>> lives(Listing.of(["a", "b", "c"], crawls, [(0, 0, 3), (1, 1, 2), (2, 3, 5)]))
    array([2.5, 1. , 1.5])
    """
    at = epoch_days(listing.crawls)
    middle = np.concatenate([at[:1], (at[1:] + at[:-1]) / 2, at[-1:]])
    found: Floats = middle[listing.gone] - middle[listing.first]
    return found


def decay(listing: Listing, name: str = "") -> Decay:
    """How fast objects vanish by the values of an attribute, or all together.

    Args:
        listing: Objects and spells.
        name: An attribute; numbers of many different values are told by quarters.

    Examples:
        >>> from recrawl.listings.spells import Listing
        >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
        >>> found = decay(Listing.of(["a", "b"], crawls, [(0, 0, 3), (1, 0, 5)]))
        >>> found.deaths, found.exposure, found.rate.round(4), found.mean_life
        (array([1]), array([6.5]), array([0.1538]), array([6.5]))
    """
    codes, values = np.zeros(len(listing), np.int64), [EVERYTHING]
    if name:
        codes, values = kinds(listing.attributes[name])
    count, group = len(values), codes[listing.object]
    deaths = np.bincount(group[~listing.listed], minlength=count)
    exposure = np.bincount(group, lives(listing), minlength=count).astype(np.float64)
    some = exposure > 0
    rate = np.divide(deaths, exposure, out=np.full(count, np.nan), where=some)
    upper = np.divide(3.0, exposure, out=np.full(count, np.nan), where=some & (deaths == 0))
    return Decay(tuple(values), np.bincount(codes, minlength=count), deaths, exposure, rate, upper)


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


def statuses(listing: Listing, grid: Grid) -> tuple[str, ...]:
    """What must be said of a listing before any figure is: none of it is an error.

    `empty`, `one-snapshot`: no rate can be told. `weak`: fewer than 14 days or 10 deaths. `small`:
    fewer than 30 objects are listed, so bands are mostly counting noise. `rekey?`: on some day
    the list was exchanged, as if keys had changed; `rekeys` says when.

    >>> from recrawl.listings.grid import Grid
    >>> from recrawl.listings.spells import Listing
    >>> crawls = np.arange("2026-01-05", "2026-01-06", dtype="datetime64[D]")
    >>> listing = Listing.of(["a"], crawls, [(0, 0, 1)])
    >>> statuses(listing, Grid.of(listing))
    ('one-snapshot',)
    """
    if listing.status != "ok":
        return (listing.status,)
    found = []
    deaths = int(np.count_nonzero(~listing.listed))
    if len(grid) - 1 < FEWEST_DAYS or deaths < FEWEST_DEATHS:
        found.append("weak")
    if np.count_nonzero(listing.listed) < FEWEST_LISTED:
        found.append("small")
    if Marks.of(grid).rekey.any():
        found.append("rekey?")
    return tuple(found) or ("ok",)


@dataclass(frozen=True, slots=True)
class Rekey:
    """A day on which keys seem to have changed.

    Args:
        day: The day.
        lost: Share of the stock that was removed.
        gained: New objects, as a share of the stock.
    """

    day: int
    lost: float
    gained: float


def rekeys(grid: Grid) -> list[Rekey]:
    """All days on which keys seem to have changed."""
    listed, deleted, inserted = grid.listed, grid.deleted, grid.inserted
    return [
        Rekey(day, float(deleted[day] / listed[day - 1]), float(inserted[day] / listed[day - 1]))
        for day in np.flatnonzero(Marks.of(grid).rekey).tolist()
        if listed[day - 1] > 0
    ]
