"""Ranges of a flat array: expanded into rows, and summed.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Ints


def begins(column: Any) -> Bools:  # noqa: ANN401 - an array of anything
    """Which rows begin a run of equal values.

    >>> begins(np.array([7, 7, 8, 7]))
    array([ True, False,  True,  True])
    """
    first = np.ones(len(column), np.bool_)
    first[1:] = column[1:] != column[:-1]
    return first


def expand_ranges(starts: Ints, lengths: Ints) -> Ints:
    """Rows of all ranges, one range after the other.

    >>> expand_ranges(np.array([7, 2]), np.array([2, 3]))
    array([7, 8, 2, 3, 4])
    """
    ends = np.cumsum(lengths)
    rows = np.repeat(starts - ends + lengths, lengths)
    rows += np.arange(len(rows))
    return rows


def sums(values: Any, offsets: Ints, dtype: type = np.float64) -> Any:  # noqa: ANN401 - of `dtype`
    """Sum of the values from each offset to the next.

    >>> sums(np.array([1.0, 2.0, 3.0]), np.array([0, 2, 2, 3]))
    array([3., 0., 3.])
    """
    totals: Any = np.zeros(len(offsets) - 1, dtype)
    some = offsets[1:] > offsets[:-1]
    # reduceat gives an empty range its neighbour's first value: leave such ranges out.
    if some.any():
        totals[some] = np.add.reduceat(values, offsets[:-1][some], dtype=dtype)
    return totals
