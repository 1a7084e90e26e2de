"""Which ages the objects of a stock may have.

Ages are whole days from 0 to 179, the last standing for all above; one more class holds objects
whose age is unknown. All tables here have one row per class, 181 in all, and one column per
group.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.cycles import UNKNOWN

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.cycles import Stock

OLDEST = 179
AGELESS = OLDEST + 1
CLASSES = OLDEST + 2


@dataclass(frozen=True, slots=True, eq=False)
class Ages:
    """Age classes that the rows of a stock may be in, all of a row equally likely.

    Args:
        first: Youngest class of each row.
        stop: One more than its oldest.
        beyond: How many of its ages lie beyond the oldest class and count there.
        group: Group of each row.
        groups: How many groups there are.
    """

    first: Ints
    stop: Ints
    beyond: Floats
    group: Ints
    groups: int

    @classmethod
    def of(cls, stock: Stock, groups: int) -> Ages:
        """Ages at the stock's own day: `day - seen` to `day - before - 1`.

        Args:
            stock: What a sync found.
            groups: How many groups there are; if it is one, all objects are in it.
        """
        low, high = stock.day - stock.seen, stock.day - stock.before
        first, stop = np.minimum(low, OLDEST), np.minimum(high, AGELESS)
        beyond = ((high - low) - (stop - first)).astype(np.float64)
        unknown = stock.before == UNKNOWN
        first[unknown], stop[unknown], beyond[unknown] = AGELESS, CLASSES, 0.0
        group = stock.group if groups > 1 else np.zeros_like(stock.group)
        return cls(first, stop, beyond, group, groups)

    def rows(self, wanted: Ints) -> Ages:
        """Some of the rows."""
        return Ages(
            self.first[wanted],
            self.stop[wanted],
            self.beyond[wanted],
            self.group[wanted],
            self.groups,
        )

    @property
    def width(self) -> Floats:
        """How many ages each row may have."""
        return (self.stop - self.first) + self.beyond

    def spread(self, value: Floats) -> Floats:
        """Add the value of each row to each of its ages: a table of classes and groups."""
        size = (CLASSES + 1) * self.groups
        starts = np.bincount(self.first * self.groups + self.group, value, size)
        stops = np.bincount(self.stop * self.groups + self.group, value, size)
        table: Floats = np.cumsum((starts - stops).reshape(-1, self.groups), axis=0)[:CLASSES]
        table[OLDEST] += np.bincount(self.group, value * self.beyond, self.groups)
        return np.maximum(table, 0.0)  # differences leave a little below 0

    def total(self, table: Floats) -> Floats:
        """Sum of a table of classes and groups over the ages of each row."""
        running = np.zeros((CLASSES + 1, self.groups))
        np.cumsum(table, axis=0, out=running[1:])
        inside = running[self.stop, self.group] - running[self.first, self.group]
        total: Floats = inside + self.beyond * table[OLDEST, self.group]
        return total


def by_age(stock: Stock, groups: int) -> Floats:
    """Expected number of objects by class of age and group.

    A cohort seen on day 17, the sync before on day 10, is 7 to 13 days old on day 24:

    >>> from recrawl.listings.data.cycles import Stock
    >>> one = lambda number: np.array([number])
    >>> stock = Stock(24, one(17), one(10), one(0), one(7.0))
    >>> by_age(stock, 1)[6:15, 0].round(6)
    array([0., 1., 1., 1., 1., 1., 1., 1., 0.])
    """
    ages = Ages.of(stock, groups)
    return ages.spread(stock.count / ages.width)
