"""Points on the clock of their windows: what every fit inside a window reads.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import expand_ranges, sums
from recrawl.trends.points import gaps_between

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows


@dataclass(frozen=True, slots=True, eq=False)
class WindowTimes:
    """Times of points since the beginning of their windows, window by window.

    A window begins at the last point of the window before it, or at its page's origin, so that
    its first time is above 0.

    Args:
        since: Days from the window's beginning to each point.
        logs: Logarithms of these.
        gaps: Days from the point before to each point.
        number: Number of each point in its window, from 1.
        offsets: Where each window begins, and where the last one ends.
    """

    since: Floats
    logs: Floats
    gaps: Floats
    number: Floats
    offsets: Ints

    @classmethod
    def of(cls, points: Points, windows: Windows) -> WindowTimes:
        """Points of all windows."""
        rows = slice(int(windows.offsets[0]), int(windows.offsets[-1]))
        since = points.times[rows] - np.repeat(windows.origins(points), windows.points)
        offsets = windows.offsets - windows.offsets[0]
        return cls._on_clock(since, offsets)

    @classmethod
    def of_some(cls, points: Points, windows: Windows, rows: Ints) -> WindowTimes:
        """Points of the named windows, in the order named."""
        counts = windows.points[rows]
        times = points.times[expand_ranges(windows.offsets[:-1][rows], counts)]
        since = times - np.repeat(windows.origins(points)[rows], counts)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        return cls._on_clock(since, offsets)

    @classmethod
    def _on_clock(cls, since: Floats, offsets: Ints) -> WindowTimes:
        number = np.arange(1.0, len(since) + 1)
        number -= np.repeat(offsets[:-1].astype(np.float64), np.diff(offsets))
        return cls(since, np.log(since), gaps_between(since, offsets), number, offsets)

    @property
    def count(self) -> Ints:
        """Points of each window, n."""
        return np.diff(self.offsets)

    @property
    def span(self) -> Floats:
        """Days from each window's beginning to its last point, s_n."""
        return self.since[self.offsets[1:] - 1]

    def total(self, values: Floats) -> Floats:
        """Sum of `values`, one per point, over each window."""
        total: Floats = sums(values, self.offsets)
        return total

    def spread(self, values: Floats) -> Floats:
        """`values`, one per window, for each of its points."""
        return np.repeat(values, self.count)
