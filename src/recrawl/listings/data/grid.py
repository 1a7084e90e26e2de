"""A listing day by day: which objects are listed at one instant a day.

`R(t)`, the list on day t, is what the last crawl at or before that day's instant saw. A day
whose last crawl is older than 1.5 d is a *gap*: the list is not known then. Days are counted
from 0. A row is a *stretch*: an object is listed on all days from `first` to before `gone`. Where
an object left and came back between two instants no day shows it, and its two spells are one
stretch; a spell that no instant met is left out.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import days_between

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.listings.data.spells import Listing

OLDEST_CRAWL = 1.5
HORIZON = 30

_DAY = np.timedelta64(1, "D")
_HOUR = np.timedelta64(1, "h")
_ABOUT_DAILY = 0.5  # days between two crawls; with more crawls a day it does not matter
_NOTABLE = 0.05  # share of crawls
_FIRST_MONDAY = 4  # 1970 began on a Thursday


@dataclass(frozen=True, slots=True, eq=False)
class DayGrid:
    """Stretches of days in which objects are listed, in the order of objects, then of time.

    Args:
        start: Instant of day 0.
        gap: Whether each day lies in a gap.
        fresh: Whether a crawl was made since the day before; without one nothing can have changed.
        objects: How many objects the listing has.
        object: Object of each stretch.
        first: Its first day.
        gone: The first day on which it is no longer listed; the number of days where it still is.

    Examples:
        >>> from recrawl.listings.data.spells import Listing
        >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
        >>> listing = Listing.of(["a", "b", "c"], crawls, [(0, 0, 3), (1, 0, 5), (2, 1, 5)])
        >>> grid = DayGrid.of(listing)
        >>> grid.listed
        array([2, 3, 3, 2, 2])
        >>> grid.deleted, grid.inserted
        (array([0, 0, 0, 1, 0]), array([0, 1, 0, 0, 0]))
        >>> grid.both(0, 4), grid.precision(0, 4), grid.recall(0, 4)
        (1, 0.5, 0.5)
    """

    start: np.datetime64
    gap: Bools
    fresh: Bools
    objects: int
    object: Ints
    first: Ints
    gone: Ints

    @classmethod
    def of(cls, listing: Listing, *, oldest: float = OLDEST_CRAWL) -> DayGrid:
        """Grid of a listing, from its first crawl to its last; its instants are midnights, UTC.

        Where crawls are made once a day and about midnight, some before and some after, a day
        would see none of them and the next two. Then the instants are at a quieter hour.

        Args:
            listing: Objects, spells and crawls.
            oldest: A day whose last crawl is more days old than this is a gap.
        """
        crawls = listing.crawls
        if not len(crawls):
            nothing = np.empty(0, np.int64)
            none = nothing > 0
            return cls(np.datetime64(0, "us"), none, none, 0, nothing, nothing, nothing)
        begin, end = _next_instants(crawls)
        count = int((end - begin) // _DAY) + 1
        instants = begin + np.arange(count) * _DAY
        last = np.searchsorted(crawls, instants, side="right") - 1
        gap = days_between(crawls[last], instants) > oldest
        # Day on which each crawl is first the last one, and for "never" a day behind all.
        shown = np.append(np.searchsorted(instants, crawls), count)
        fresh = np.diff(last, prepend=-1) > 0
        return cls(begin, gap, fresh, len(listing), *_stretches(listing, shown))

    def __len__(self) -> int:
        """Count the days."""
        return len(self.gap)

    @property
    def instants(self) -> Instants:
        """Instant of each day."""
        return self.start + np.arange(len(self)) * _DAY

    def weekday(self, day: int) -> int:
        """Weekday on which a day's instant falls, Monday is 0."""
        since = int((self.start - np.datetime64(0, "us")) // _DAY) + day
        return (since - _FIRST_MONDAY) % 7

    @property
    def crawled(self) -> Ints:
        """Days that are no gaps: one may sync on them."""
        return np.flatnonzero(~self.gap)

    def next_crawled(self, day: int) -> int:
        """First day from `day` on that is no gap; the number of days where there is none."""
        later = np.flatnonzero(~self.gap[day:])
        return day + int(later[0]) if len(later) else len(self)

    @property
    def listed(self) -> Ints:
        """How many objects are listed on each day."""
        return np.cumsum(self._count(self.first) - self._count(self.gone))

    @property
    def inserted(self) -> Ints:
        """How many objects are listed on each day and were not on the day before."""
        counts = self._count(self.first)
        counts[:1] = 0
        return counts

    @property
    def deleted(self) -> Ints:
        """How many objects were listed on the day before and are not on each day."""
        return self._count(self.gone)

    def _count(self, days: Ints) -> Ints:
        return np.bincount(days, minlength=len(self) + 1)[: len(self)]

    def present(self, day: int) -> Ints:
        """Objects listed on a day, in order."""
        return self.object[(self.first <= day) & (day < self.gone)]

    def both(self, day: int, later: int) -> int:
        """How many objects are listed on both days, even if not all the time between."""
        there = (self.first <= day) & (day < self.gone)
        stays = there & (later < self.gone) & (self.first <= later)
        moved = np.zeros(self.objects, np.bool_)
        moved[self.object[there & ~stays]] = True
        back = (self.first <= later) & (later < self.gone) & moved[self.object]
        return int(np.count_nonzero(stays)) + int(np.count_nonzero(back))

    def precision(self, day: int, later: int) -> float:
        """Share of what was listed on `day` that is listed `later`; 1 where nothing was."""
        copied = np.count_nonzero((self.first <= day) & (day < self.gone))
        return self.both(day, later) / int(copied) if copied else 1.0

    def recall(self, day: int, later: int) -> float:
        """Share of what is listed `later` that was listed on `day`; 1 where nothing is."""
        return self.precision(later, day)

    def kept(self, horizon: int = HORIZON) -> Ints:
        """Objects of each day that are listed h days later: one row per day, h = 0 .. `horizon`.

        Beyond the last day it is 0. All days at once cost one count an h, so quality after any
        sync is then only looked up: see `Paths`.
        """
        counts = np.zeros((horizon + 1, len(self) + 1), np.int64)
        for h in range(horizon + 1):
            end = np.maximum(self.gone - h, self.first)
            counts[h] = np.bincount(self.first, minlength=len(self) + 1)
            counts[h] -= np.bincount(end, minlength=len(self) + 1)
        apart = 1
        while self._add_returns(counts, apart):
            apart += 1
        return np.cumsum(counts, axis=1)[:, :-1].T

    def _add_returns(self, counts: Ints, apart: int) -> bool:
        """Add objects that are in one stretch and, h days later, in the one `apart` rows on."""
        one = np.flatnonzero(self.object[apart:] == self.object[:-apart])
        if not len(one):
            return False
        other = one + apart
        near = self.first[other] - self.gone[one] < len(counts) - 1
        one, other = one[near], other[near]
        for h in range(1, len(counts)):
            low = np.maximum(self.first[one], self.first[other] - h)
            high = np.maximum(np.minimum(self.gone[one], self.gone[other] - h), low)
            counts[h] += np.bincount(low, minlength=counts.shape[1])
            counts[h] -= np.bincount(high, minlength=counts.shape[1])
        return True

    def only(self, wanted: Bools) -> DayGrid:
        """A grid of some objects alone, numbered anew as `Listing.only` numbers them.

        >>> from recrawl.listings.data.spells import Listing
        >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
        >>> listing = Listing.of(["a", "b", "c"], crawls, [(0, 0, 3), (1, 0, 5), (2, 1, 5)])
        >>> grid = DayGrid.of(listing).only(np.array([False, True, True]))
        >>> grid.objects, grid.object, grid.listed
        (2, array([0, 1]), array([1, 2, 2, 2, 2]))
        """
        rows = wanted[self.object]
        return replace(
            self,
            objects=int(np.count_nonzero(wanted)),
            object=(np.cumsum(wanted) - 1)[self.object[rows]],
            first=self.first[rows],
            gone=self.gone[rows],
        )


def _next_instants(crawls: Instants) -> tuple[np.datetime64, np.datetime64]:
    """Instants of the grid at or after the first crawl, and at or after the last."""
    shift = _quiet_hour(crawls) * _HOUR
    ends = crawls[[0, -1]] - shift
    days = ends.astype("datetime64[D]")
    days = (days + (days < ends)).astype("datetime64[us]") + shift
    return days[0], days[1]


def _quiet_hour(crawls: Instants) -> int:
    """Hour of the day that crawls stay away from; 0 unless daily ones lie on both sides of it."""
    if len(crawls) < 2 or np.median(days_between(crawls[:-1], crawls[1:])) < _ABOUT_DAILY:  # noqa: PLR2004
        return 0
    hour = ((crawls - crawls.astype("datetime64[D]")) // _HOUR).astype(np.int64)
    hour = np.where(crawls == crawls.astype("datetime64[D]"), 23, hour)  # just in time
    counts = np.bincount(hour, minlength=24)
    if min(counts[0], counts[23]) < _NOTABLE * len(crawls):
        return 0
    return int(np.argmin(counts + np.roll(counts, 1)))


def _stretches(listing: Listing, shown: Ints) -> tuple[Ints, Ints, Ints]:
    """Object, first day and first day without it, of each stretch."""
    first, gone = shown[listing.first], shown[listing.gone]
    met = first < gone
    row, first, gone = listing.object[met], first[met], gone[met]
    begins = np.ones(len(row), np.bool_)
    begins[1:] = (row[1:] != row[:-1]) | (first[1:] > gone[:-1])
    ends = np.roll(begins, -1)
    return row[begins], first[begins], gone[ends]


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Quality of a copy, made on any day, on each of the days after it.

    Args:
        both: Objects of each day that are still or again listed h days later: one row per day.
        listed: How many objects are listed on each day.

    Examples:
        >>> from recrawl.listings.data.spells import Listing
        >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
        >>> listing = Listing.of(["a", "b", "c"], crawls, [(0, 0, 3), (1, 0, 5), (2, 1, 5)])
        >>> paths = Paths.of(DayGrid.of(listing))
        >>> paths.precision(0, 4)
        array([1. , 1. , 1. , 0.5, 0.5])
        >>> paths.recall(1, 3)
        array([1., 1., 1.])
    """

    both: Ints
    listed: Ints

    @classmethod
    def of(cls, grid: DayGrid, horizon: int = HORIZON) -> Paths:
        """Paths of up to `horizon` days."""
        return cls(grid.kept(horizon), grid.listed)

    def precision(self, day: int, until: int) -> Floats:
        """Precision on each day from `day`, where a copy is made, to `until`."""
        from recrawl.listings.data.quality import precision

        return precision(self.both[day, : until - day + 1], self.listed[day])

    def recall(self, day: int, until: int) -> Floats:
        """Recall on each day from `day`, where a copy is made, to `until`."""
        from recrawl.listings.data.quality import recall

        return recall(self.both[day, : until - day + 1], self.listed[day : until + 1])
