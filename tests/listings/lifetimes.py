"""Lifetimes to try estimators on: random arrivals, crawls at equal distances, then an end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.lifetimes import Lifetimes

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats


def watched(
    rng: np.random.Generator, objects: int, *, window: float, lifetime: Callable[[int], Floats]
) -> Lifetimes:
    """Lifetimes watched without a break from arrival to the end of a window."""
    arrival, age = rng.uniform(0, window, objects), lifetime(objects)
    alive = arrival + age > window
    return Lifetimes.of(np.where(alive, window - arrival, age), np.where(alive, np.inf, age))


def crawled(
    rng: np.random.Generator,
    objects: int,
    *,
    gap: float,
    window: float,
    lifetime: Callable[[int], Floats],
) -> Lifetimes:
    """Lifetimes as crawls every `gap` days see them; what is removed before one is never seen."""
    arrival, age = rng.uniform(0, window, objects), lifetime(objects)
    after = np.floor(arrival / gap) * gap
    gone = np.ceil((arrival + age) / gap) * gap
    seen = (gone - gap >= after + gap) & (after + gap <= window)
    last = np.minimum(gone - gap, window)
    gone = np.where(gone <= window, gone, np.inf)
    return Lifetimes.from_dates(after[seen], after[seen] + gap, last[seen], gone[seen])


# Twelve lifetimes between crawls, and twelve at known ages with known entries, for which lifelines
# 0.30.3 (WeibullFitter, KaplanMeierFitter, npmle) gave the figures in the tests.
BETWEEN = Lifetimes.of(
    [1, 2, 2, 4, 5, 7, 7, 9, 12, 15, 3, 6],
    [2, 3, 4, 5, 7, 9, np.inf, 11, np.inf, np.inf, 5, 8],
)
AGES = np.array([1.0, 2, 2, 4, 5, 7, 7, 9, 12, 15, 3, 6])
GONE = np.array([1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1], np.bool_)
ENTRIES = np.array([0.0, 0, 1, 2, 0, 3, 0, 4, 5, 0, 0, 1])
KNOWN = Lifetimes.of(AGES, np.where(GONE, AGES, np.inf))
ENTERED = Lifetimes.of(AGES, np.where(GONE, AGES, np.inf), entry=ENTRIES)
