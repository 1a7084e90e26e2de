"""Row numbers of many stretches: what it takes to move pages about in flat arrays.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.visits.arrays import Ints


def stretches(starts: Ints, lengths: Ints) -> Ints:
    """Rows from each start on, as many as its length, one stretch after the other.

    >>> stretches(np.array([7, 2]), np.array([2, 3]))
    array([7, 8, 2, 3, 4])
    """
    ends = np.cumsum(lengths)
    rows = np.repeat(starts - ends + lengths, lengths)
    rows += np.arange(len(rows))
    return rows
