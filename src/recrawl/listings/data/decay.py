"""How copies of a listing have decayed: precision and recall on the days after they were made.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.grid import Paths
from recrawl.listings.data.quality import precision, recall

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats
    from recrawl.listings.data.grid import DayGrid


@dataclass(frozen=True, slots=True, eq=False)
class Decay:
    """Quality of a copy, or of many together, 0, 1, ... days after it was made.

    Args:
        copies: How many copies each day rests on; 0 where the list is not known.
        precision: Share of what was copied that is still listed; nan where not known.
        recall: Share of what is listed that was copied; nan where not known.
    """

    copies: Floats
    precision: Floats
    recall: Floats


def decay_after(grid: DayGrid, day: int, until: int) -> Decay:
    """How a copy made on a day decayed over the next `until` days, as far as the list is known.

    >>> from recrawl.listings.data.grid import DayGrid
    >>> from recrawl.listings.data.spells import Listing
    >>> crawls = np.arange("2026-01-05", "2026-01-10", dtype="datetime64[D]")
    >>> listing = Listing.of(["a", "b", "c"], crawls, [(0, 0, 3), (1, 0, 5), (2, 1, 5)])
    >>> decay_after(DayGrid.of(listing), 0, 4).precision
    array([1. , 1. , 1. , 0.5, 0.5])
    """
    return _decay(grid, [day], until)


def mean_decay(grid: DayGrid, until: int) -> Decay:
    """Decay of the copies of all days together: objects kept over objects copied, or listed."""
    return _decay(grid, grid.crawled.tolist(), until)


def _decay(grid: DayGrid, days: Sequence[int], until: int) -> Decay:
    paths = Paths.of(grid, until)
    copies, kept, copied, listed = np.zeros((4, until + 1))
    for day in days:
        ahead = np.arange(min(until, len(grid) - 1 - day) + 1)
        seen = ahead[~grid.gap[day + ahead]]
        copies[seen] += 1
        kept[seen] += paths.both[day, seen]
        copied[seen] += paths.listed[day]
        listed[seen] += paths.listed[day + seen]
    known = copies > 0
    return Decay(
        copies,
        *(
            np.where(known, share(kept, whole), np.nan)
            for share, whole in ((precision, copied), (recall, listed))
        ),
    )
