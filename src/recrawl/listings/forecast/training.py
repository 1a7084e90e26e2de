"""What the daily stocks of training say of longer windows.

A cohort is known by the day it was first seen, so what is left on day t + d of the stock of day t
is all that was first seen by t. (Objects that left and came back in between have a new first day
and are missed.)

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.bands import WINDOWS, Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.listings.data.cycles import Cycle, Stock


def training_windows(
    training: Sequence[Cycle], rekeys: Sequence[int]
) -> tuple[list[Window], list[Window]]:
    """Windows for precision and for recall, all that overlap, without changes of keys.

    Args:
        training: Cycles in order.
        rekeys: Days at which a change of keys was found.
    """
    stocks = {cycle.start: cycle.stock for cycle in training}
    seen_by = {day: _seen_by(stock) for day, stock in stocks.items()}
    kept, found = [], []
    for day, now in seen_by.items():
        listed = now[-1]
        for days in WINDOWS:
            later = seen_by.get(day + days)
            broken = any(day < change <= day + days for change in rekeys)
            if later is None or broken or not listed:
                continue
            kept.append(Window(days, later[day], listed))
            found.append(Window(days, later[day], later[-1]))
    return kept, found


def _seen_by(stock: Stock) -> list[float]:
    """Objects of a stock first seen by each day; by the last all are."""
    first_seen = np.bincount(stock.seen, stock.count, stock.day + 1)
    counts: list[float] = np.cumsum(first_seen).tolist()
    return counts
