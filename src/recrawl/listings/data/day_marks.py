"""Days on which a listing did something out of the ordinary: closures, loads, changes of keys.

For scoring only: the marks know the days around each day, which no forecaster may. A day is
marked if it removes, or adds, at least max(10, a fifth of the stock) more objects than is usual,
which is the median daily share of the 61 days around it times the stock. With the median a
source that turns over a fifth a day is ordinary.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.grid import DayGrid

LEAST_OBJECTS = 10.0
LEAST_SHARE = 0.2
DAYS_AROUND = 30


@dataclass(frozen=True, slots=True, eq=False)
class DayMarks:
    """What is out of the ordinary, one row per day.

    Args:
        closure: More is removed than usual.
        load: More is added than usual.
        gap: The list is not known.

    Examples:
        Of 100 objects 2 go and 2 come on most days; day 3 adds 20 more, day 5 both:

        >>> gone, new = np.array([0, 2, 2, 2, 2, 22, 2]), np.array([0, 2, 2, 22, 2, 22, 2])
        >>> marks = DayMarks.of_counts(np.full(7, 100.0), gone, new, np.zeros(7, bool))
        >>> np.flatnonzero(marks.closure), np.flatnonzero(marks.load), np.flatnonzero(marks.rekey)
        (array([5]), array([3, 5]), array([5]))
    """

    closure: Bools
    load: Bools
    gap: Bools

    @classmethod
    def of(cls, grid: DayGrid) -> DayMarks:
        """Marks of a grid's days."""
        return cls.of_counts(grid.listed.astype(np.float64), grid.deleted, grid.inserted, grid.gap)

    @classmethod
    def of_counts(cls, listed: Floats, deleted: Ints, inserted: Ints, gap: Bools) -> DayMarks:
        """Marks from how many objects each day lists, and has lost and gained since the last."""
        if not len(listed):
            return cls(gap, gap, gap)
        stock = np.concatenate([listed[:1], listed[:-1]])
        counted = ~gap & (np.arange(len(gap)) > 0)
        return cls(_far(deleted, stock, counted), _far(inserted, stock, counted), gap)

    @property
    def rekey(self) -> Bools:
        """Days that both remove and add: the keys changed, not the objects."""
        return self.closure & self.load

    def regular(self, start: Ints, end: Ints) -> Bools:
        """Which cycles hold neither a marked day nor a gap."""
        return ~_any(self.closure | self.load, start, end) & ~_any(self.gap, start - 1, end)

    def scored(self, start: Ints, end: Ints) -> Bools:
        """All cycles that neither begin nor end in a gap, nor hold a change of keys."""
        return ~self.gap[start] & ~self.gap[end] & ~_any(self.rekey, start, end)


@dataclass(frozen=True, slots=True)
class Rekey:
    """A change of keys.

    Args:
        day: Day of the sync that found it.
        lost: Share of the stock that was removed.
        gained: New objects, as a share of the stock.
    """

    day: int
    lost: float
    gained: float


def _far(moved: Ints, stock: Floats, counted: Bools) -> Bools:
    """Days on which far more objects moved than usual."""
    share = np.where(counted, moved / np.maximum(stock, 1.0), np.nan)
    padded = np.pad(share, DAYS_AROUND, constant_values=np.nan)
    around = np.lib.stride_tricks.sliding_window_view(padded, 2 * DAYS_AROUND + 1)
    usual = np.zeros(len(share))
    known = ~np.isnan(around).all(axis=1)
    usual[known] = np.nanmedian(around[known], axis=1)
    least = np.maximum(LEAST_OBJECTS, LEAST_SHARE * stock)
    # A share of 0.38 less one of 0.18 is a hair under 0.2; counts are whole.
    return counted & (moved - usual * stock >= least - 1e-9)


def _any(marked: Bools, start: Ints, end: Ints) -> Bools:
    """Whether a day after `start`, up to `end`, is marked."""
    before = np.concatenate([[0], np.cumsum(marked)])
    return before[np.asarray(end) + 1] > before[np.asarray(start) + 1]
