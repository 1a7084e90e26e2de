"""Grouping of rows by equal keys.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Ints


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Rows grouped by key.

    Args:
        order: All rows, those with the lowest key first, equal keys in their original order.
        starts: Where in that order each group begins.
        counts: How many rows each group has.

    Examples:
        >>> groups = Groups.of(np.array([7, 8, 7, 7, 8]))
        >>> groups.order, groups.starts, groups.counts
        (array([0, 2, 3, 1, 4]), array([0, 3]), array([3, 2]))
        >>> groups.before
        array([0, 0, 1, 2, 1])
    """

    order: Ints
    starts: Ints
    counts: Ints

    @classmethod
    def of(cls, keys: Ints) -> Groups:
        """Group rows by keys that are not negative."""
        order = keys.argsort(kind="stable")
        (starts,) = _first_of_each(keys[order]).nonzero()
        ends = np.empty_like(starts)
        ends[:-1], ends[-1:] = starts[1:], len(keys)
        return cls(order, starts, ends - starts)

    @property
    def before(self) -> Ints:
        """How many rows of its group come before each row."""
        before = np.empty(len(self.order), np.int64)
        before[self.order] = np.arange(len(self.order)) - np.repeat(self.starts, self.counts)
        return before


def distinct(keys: Ints) -> Ints:
    """Each key once, rising: as `np.unique`, in a third of its time where there are few.

    >>> distinct(np.array([7, 8, 7, 7]))
    array([7, 8])
    """
    rising = keys.copy()
    if len(rising) <= 1:
        return rising
    rising.sort()
    return rising[_first_of_each(rising)]


def _first_of_each(rising: Ints) -> Bools:
    """Whether each key is the first of those equal to it."""
    first = np.empty(len(rising), np.bool_)
    first[:1] = True
    np.not_equal(rising[1:], rising[:-1], out=first[1:])
    return first


def nth_occurrences(keys: Ints) -> list[Ints]:
    """Rows in rounds: the first of every key, then the second of every key that has one.

    >>> nth_occurrences(np.array([7, 8, 7, 7]))
    [array([0, 1]), array([2]), array([3])]
    """
    groups = Groups.of(keys)
    before = groups.before
    return [np.flatnonzero(before == number) for number in range(groups.counts.max(initial=0))]
