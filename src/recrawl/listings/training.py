"""What the daily stocks of training say of longer windows.

A cohort is known by the day it was first seen, so what is left on day t + d of the stock of day t
is all that was first seen by t. (Objects that left and came back in between have a new first day
and are missed.)

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.bands import WINDOWS, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.listings.cycles import Cycle, Stock


def training_windows(
    training: Sequence[Cycle], rekeys: Sequence[int]
) -> tuple[list[Window], list[Window]]:
    """Windows for precision and for recall, all that overlap, without changes of keys.

    Args:
        training: Cycles in order.
        rekeys: Days at which a change of keys was found.
    """
    stocks = {cycle.start: cycle.stock for cycle in training}
    changes = np.asarray(rekeys, dtype=np.int64)
    kept, found = [], []
    for day, stock in stocks.items():
        for days in WINDOWS:
            later = stocks.get(day + days)
            broken = np.any((changes > day) & (changes <= day + days))
            if later is None or broken or not stock.listed:
                continue
            there = _seen_by(later, day)
            kept.append(Window(days, there, stock.listed))
            found.append(Window(days, there, later.listed))
    return kept, found


def _seen_by(stock: Stock, day: int) -> float:
    """Objects first seen on a day or before."""
    return float(np.sum(stock.count[stock.seen <= day]))
