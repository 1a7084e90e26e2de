"""Syncs of a listing on chosen days, one after the other, and what each sees.

A sync sees which objects are listed at that time and not what happened since the one before: an
object that left and came back between two syncs counts as listed all the time; one that is missing
from a sync and back at a later one is new.

Pure.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.listings.data.cycles import UNKNOWN, Cycle, Stock

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.attributes import ObjectGroups
    from recrawl.listings.data.grid import DayGrid

_SHORT = 1 << 16  # days that fit into 16 bits are sorted by counting


class Syncs:
    """Syncs so far: the stock that the last one found, by cohort and group.

    The cost is that of what changed since, not of what is listed: a million objects can be followed
    day by day.

    Args:
        grid: The listing day by day.
        groups: Group of each object.

    Examples:
        Objects a and b are there at the first sync, so their ages are unknown;
        c is first seen on day 3, arrived after day 0:

        >>> from recrawl.listings.data.attributes import ObjectGroups
        >>> from recrawl.listings.data.grid import DayGrid
        >>> from recrawl.listings.data.spells import Listing
        >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
        >>> listing = Listing.of(["a", "b", "c"], crawls, [(0, 0, 2), (1, 0, 5), (2, 1, 5)])
        >>> syncs = Syncs(DayGrid.of(listing), ObjectGroups.one(3))
        >>> syncs.next(0)
        >>> cycle = syncs.next(3)
        >>> cycle.stock.listed, cycle.deleted, cycle.inserted
        (2.0, array([1.]), array([1.]))
        >>> syncs.stock.seen, syncs.stock.before, syncs.stock.count
        (array([0, 3]), array([-1,  0]), array([1., 1.]))
    """

    def __init__(self, grid: DayGrid, groups: ObjectGroups) -> None:
        self._grid = grid
        self._group = groups.codes
        self._groups = max(len(groups), 1)
        self._starting, self._ending = _in_order(grid.first), _in_order(grid.gone)
        self._started, self._ended = grid.first[self._starting], grid.gone[self._ending]
        self._cohort = np.full(grid.objects, -1, np.int64)  # of each object that is listed
        self._seen: list[int] = []  # one per sync, and so one per cohort
        self._before: list[int] = []
        self._row_cohort = np.empty(0, np.int64)  # of each row of the stock
        self._row_group = np.empty(0, np.int64)
        self._count = np.empty(0, np.float64)

    @property
    def day(self) -> int:
        """Day of the last sync; -1 before the first."""
        return self._seen[-1] if self._seen else -1

    @property
    def stock(self) -> Stock:
        """What the last sync found."""
        seen, before = np.array(self._seen, np.int64), np.array(self._before, np.int64)
        cohort = self._row_cohort
        return Stock(self.day, seen[cohort], before[cohort], self._row_group, self._count)

    def next(self, day: int) -> Cycle | None:
        """Sync on a later day: the cycle that ends then, or None for the first time."""
        if not self.day < day < len(self._grid):
            raise InvalidParameter(
                f"sync must be after day {self.day} and before day {len(self._grid)} (got {day})"
            )
        stock = self.stock if self._seen else None
        gone, came = self._moves(day)
        cells = self._cohort[gone] * self._groups + self._group[gone]
        deleted = _counts(cells, len(self._seen) * self._groups)
        deleted = deleted[self._row_cohort * self._groups + self._row_group]
        inserted = _counts(self._group[came], self._groups)

        cohort = len(self._seen)
        self._before.append(self.day if self._seen else UNKNOWN)
        self._seen.append(day)
        self._cohort[gone] = -1
        self._cohort[came] = cohort
        left = self._count - deleted
        filled, new = left > 0, np.flatnonzero(inserted)
        cohorts = np.full(len(new), cohort)
        self._row_cohort = np.concatenate([self._row_cohort[filled], cohorts])
        self._row_group = np.concatenate([self._row_group[filled], new])
        self._count = np.concatenate([left[filled], inserted[new]])
        if stock is None:
            return None
        return Cycle(stock, day, deleted, inserted, self._grid.weekday(stock.day))

    def forget_ages(self, day: int | None = None) -> None:
        """Take the age of those that were first seen on a day as unknown: a re-key.

        Args:
            day: Day of a sync; the last if None.
        """
        self._before[-1 if day is None else self._seen.index(day)] = UNKNOWN

    def copy(self) -> Syncs:
        """The same syncs, to go on from here more than once."""
        other = copy(self)
        other._cohort = self._cohort.copy()  # noqa: SLF001 - of the same class
        other._seen, other._before = self._seen.copy(), self._before.copy()  # noqa: SLF001 - the same
        return other

    def _moves(self, day: int) -> tuple[Ints, Ints]:
        """Objects that are no longer listed, and those that are and were not."""
        low, high = np.searchsorted(self._ended, [self.day, day], side="right")
        ended = self._ending[low:high]
        low, high = np.searchsorted(self._started, [self.day, day], side="right")
        started = self._starting[low:high]

        # Stretches that began after the last sync came and went unseen. An object whose stretch
        # ended and that is listed again now left and came back: to the syncs it never left.
        left = self._grid.object[ended[self._grid.first[ended] <= self.day]]
        there = self._grid.object[started[self._grid.gone[started] > day]]
        known = self._cohort[there] >= 0  # left and came back
        if known.any():
            left = np.setdiff1d(left, there[known], assume_unique=True)
        return left, there[~known]


def _in_order(days: Ints) -> Ints:
    """Rows in the order of their days."""
    if len(days) and days.max() < _SHORT:
        return np.argsort(days.astype(np.uint16), kind="stable")
    return np.argsort(days, kind="stable")


def _counts(rows: Ints, length: int) -> Floats:
    return np.bincount(rows, minlength=length).astype(np.float64)


def cycles(grid: DayGrid, groups: ObjectGroups, days: Iterable[int]) -> Iterator[Cycle]:
    """Cycles between syncs on the given days, in order; one fewer than there are days.

    >>> from recrawl.listings.data.attributes import ObjectGroups
    >>> from recrawl.listings.data.grid import DayGrid
    >>> from recrawl.listings.data.spells import Listing
    >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
    >>> grid = DayGrid.of(Listing.of(["a", "b"], crawls, [(0, 0, 3), (1, 1, 5)]))
    >>> found = cycles(grid, ObjectGroups.one(2), [0, 2, 4])
    >>> [(cycle.start, cycle.days, cycle.survived) for cycle in found]
    [(0, 2, 1.0), (2, 2, 1.0)]
    """
    syncs = Syncs(grid, groups)
    for day in days:
        cycle = syncs.next(int(day))
        if cycle is not None:
            yield cycle
