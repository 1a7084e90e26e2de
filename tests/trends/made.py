"""Points and clocks made for tests: by hand, by a Weibull process, as in the reproduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.trends.clock import SiteClock
from recrawl.trends.points import Points
from recrawl.trends.windows import State, Windows, WindowTimes
from tests.strategies import Seen, history_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.visits.histories import Histories

# The hand calculation of both papers' methods: gaps of 1 to 5 days.
RISING = [1.0, 3.0, 6.0, 10.0, 15.0]
MONDAY = np.datetime64("2026-01-05", "us")


def seen_often(hits: Ints, visits: int, gap: float, kind: str) -> Histories:
    """A page visited after equal gaps, some of which hit a change: hidden, dated or counted."""
    change = {
        "hidden": Seen(gap, True),
        "dated": Seen(gap, True, gap / 2),
        "counted": Seen(gap, True, np.nan, 1),
    }[kind]
    page = [Seen(gap, False)] * visits
    for hit in hits.tolist():
        page[hit] = change
    return history_of(page)


def points_at_days(*pages: Sequence[float], end: Sequence[float] | None = None) -> Points:
    """Pages with points at these days, watched to the last one or to `end`."""
    times = np.array([day for page in pages for day in page], np.float64)
    last = [page[-1] if len(page) else 0.0 for page in pages] if end is None else end
    return Points(times, np.cumsum([0, *map(len, pages)]), np.array(last, np.float64))


def one_window_each(points: Points) -> Windows:
    """Every page as one window."""
    pages = np.flatnonzero(points.points_of_page)
    offsets = np.append(points.offsets[:-1][pages], len(points.times))
    return Windows(offsets, pages, np.full(len(pages), State.CONSTANT, np.uint8))


def times_of(*pages: Sequence[float]) -> WindowTimes:
    """Days of windows that begin at their page's origin."""
    points = points_at_days(*pages)
    return WindowTimes.of(points, one_window_each(points))


def weibull_times(pages: int, count: int, beta: float, seed: int) -> WindowTimes:
    """Windows of Weibull processes with eta 1, each watched to its last of `count` points."""
    steps = np.random.default_rng(seed).exponential(size=(pages, count))
    days: Floats = np.cumsum(steps, axis=1) ** (1 / beta)
    return regular_times(days)


def regular_times(days: Floats) -> WindowTimes:
    """A window a row."""
    pages, count = days.shape
    points = Points(days.reshape(-1), np.arange(pages + 1) * count, days[:, -1])
    return WindowTimes.of(points, one_window_each(points))


def bernoulli_days(pages: int, seed: int = 1) -> Points:
    """Pages that change on a day with a chance from Beta(1.94, 1.83), for 200 days.

    A point lies in the middle of its day: 103 a page on average, give or take 46.
    """
    random = np.random.default_rng(seed)
    chance = random.beta(1.94, 1.83, pages)
    changed = random.random((pages, 200)) < chance[:, None]
    offsets = np.concatenate([[0], np.cumsum(changed.sum(axis=1))])
    days = np.nonzero(changed)[1].astype(np.float64)
    return Points(days + 0.5, offsets, np.full(pages, 200.0))


def week(busy: slice, speed: float) -> SiteClock:
    """A clock with one speed in some hours and one in all others."""
    speeds = np.ones(168)
    speeds[busy] = speed
    return SiteClock(speeds / speeds.mean())
