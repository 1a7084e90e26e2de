"""Pages in the order that lets a block of them be worked through rank by rank.

Pages differ in how many gaps they have. Sorted by that, most first, the pages that still have a
gap of rank k are always a prefix, so a loop over ranks works on plain slices.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.visits.arrays import Ints


def most_first(counts: Ints) -> tuple[Ints, list[int]]:
    """Order of pages by count, largest first, and how many pages reach each rank.

    >>> most_first(np.array([1, 3, 0]))
    (array([1, 0, 2]), [2, 1, 1])
    """
    most = int(counts.max(initial=0))
    fewer = most - counts
    # numpy sorts small integers by radix, several times faster.
    small = fewer.astype(np.uint16) if most < 2**16 else fewer
    order = np.argsort(small, kind="stable")
    reached = np.cumsum(np.bincount(fewer, minlength=most + 1))
    return order, reached[:most][::-1].tolist()
