"""Cycles between syncs of a listing: the stock at one sync, and what was left at the next.

Time is a grid of one instant per day; days are counted from the first. A *cohort* is all spells
that were first seen at the same sync, `seen`; the one before was `before`, so they
arrived in between, on any day alike. Where they were there at the first crawl, or came through
a change of keys, `before` is -1: their age is unknown.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Stock:
    """Objects that a sync found, counted: one row per cohort and group.

    Args:
        day: Day of the sync.
        seen: Day of the sync that first saw the cohort.
        before: Day of the one before that; -1 where the age is unknown.
        group: Group of the objects.
        count: How many they are.
    """

    day: int
    seen: Ints
    before: Ints
    group: Ints
    count: Floats

    @property
    def listed(self) -> float:
        """How many objects there are."""
        return float(np.sum(self.count))


@dataclass(frozen=True, slots=True, eq=False)
class Cycle:
    """From one sync to the next.

    Args:
        stock: What the first found.
        end: Day of the second.
        deleted: How many of each row of the stock were gone at the second.
        inserted: How many of each group were there then and not before.
        weekday: Weekday of the first, Monday is 0.
    """

    stock: Stock
    end: int
    deleted: Floats
    inserted: Floats
    weekday: int

    @property
    def start(self) -> int:
        """Day of the first sync."""
        return self.stock.day

    @property
    def days(self) -> int:
        """How long it took."""
        return self.end - self.stock.day

    @property
    def survived(self) -> float:
        """How many objects of the stock were still there."""
        return self.stock.listed - float(np.sum(self.deleted))

    @property
    def listed(self) -> float:
        """How many objects the second sync found."""
        return self.survived + float(np.sum(self.inserted))
