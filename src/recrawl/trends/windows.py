"""Consistent windows: stretches of a page's life in which its rate moves one way.

The gaps between change points of one window stay equal (`constant`), get shorter (`increasing`: the
rate goes up) or longer (`decreasing`). What increases is always the rate.

By likelihood, the default, windows are the best partition of all (`recrawl.trends.partition`). As
published, a window begins with three points; their two inner gaps say which of the three it is. It
goes on as long as the next gap agrees, or disagrees by less than a threshold. A point that fails
begins the next window. Windows of fewer than four points are shared out between their neighbours.

All pages are processed at once: their first points, then all second ones, and so on. `WindowTimes`
has the points on the clock of their windows, as every fit inside a window reads them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import expand_ranges, sums
from recrawl.checks import check_at_least, check_choice
from recrawl.errors import InvalidParameter
from recrawl.rates.ranks import most_first
from recrawl.trends.partition import best_partition
from recrawl.trends.points import gaps_between

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints, Statuses
    from recrawl.trends.points import Points

LEAST_POINTS = 4  # of a window

Reading = Literal["likelihood", "point", "count", "budget", "envelope"]
READINGS: tuple[Reading, ...] = ("likelihood", "point", "count", "budget", "envelope")


class State(IntEnum):
    """How a window's rate moves."""

    CONSTANT = 0
    INCREASING = 1  # gaps get shorter
    DECREASING = 2  # gaps get longer
    SHORT = 3  # too few points to say


STATE_NAMES = [state.name.lower() for state in State]


@dataclass(frozen=True, slots=True)
class Windowing:
    """How points are cut into windows.

    Args:
        threshold: What must be exceeded to end a window, in the unit of `reading`.
        reading: `"likelihood"`: what one more window must gain, in units of the logarithm of the
            page's points. As published, what disagrees with the state of a window: `"point"`, by
            how many days a gap may differ from the one before; `"count"`, how many gaps may;
            `"budget"`, by how many days all of them together; `"envelope"`, by how many days a
            gap may differ from the first, shortest or longest one so far, so that a window
            cannot drift. The papers leave open which they mean; `"count"` fits their tables best.
        backward: Begin with the last three points of a page and walk back; not by likelihood,
            which has no direction.
        tie: Days by which gaps may differ and still be equal.

    References:
        Singh (2007). Estimating the rate of web page updates. IJCAI.
    """

    threshold: float = 3.0
    reading: Reading = "likelihood"
    backward: bool = False
    tie: float = 1e-9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(READINGS, reading=self.reading)
        check_at_least(0, threshold=self.threshold, tie=self.tie)
        if self.backward and self.reading == "likelihood":
            raise InvalidParameter("backward needs another reading: likelihood has no direction")


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """Windows of many pages, end to end, over the points they were cut from.

    Args:
        offsets: Point at which each window begins, and where the last one ends.
        page: Page of each window.
        state: Numbers of `State`.
    """

    offsets: Ints
    page: Ints
    state: Statuses

    def __len__(self) -> int:
        """Return the number of windows."""
        return len(self.page)

    def part(self, some: slice) -> Windows:
        """A stretch of the windows."""
        offsets = self.offsets[some.start : some.stop + 1]
        return Windows(offsets, self.page[some], self.state[some])

    @property
    def points(self) -> Ints:
        """Points of each window."""
        return np.diff(self.offsets)

    @property
    def state_names(self) -> list[str]:
        """State of each window in words."""
        return [STATE_NAMES[code] for code in self.state.tolist()]

    def origins(self, points: Points) -> Floats:
        """Where the time of each window begins: at the point before it, or at its page's origin."""
        begins = self.offsets[:-1]
        first = begins == points.offsets[self.page]
        return np.where(first, 0.0, points.times[np.maximum(begins - 1, 0)])


def consistent_windows(points: Points, windowing: Windowing | None = None) -> Windows:
    """Cut the points of every page into windows; a page without points has none.

    Examples:
        A gap every fifty days, then every other day, then every fifty days again:

        >>> from recrawl.trends.points import Points
        >>> times = np.cumsum([50.0] * 15 + [2.2] * 13 + [50.0] * 8)
        >>> points = Points(times, np.array([0, 36]), times[-1:])
        >>> consistent_windows(points).points
        array([15, 13,  8])

        As published, gaps of a day, then gaps that grow; nothing that disagrees is allowed:

        >>> times = np.cumsum([1.0, 1, 1, 1, 2, 3, 4, 5, 6])
        >>> points = Points(times, np.array([0, 9]), times[-1:])
        >>> found = consistent_windows(points, Windowing(0, "count"))
        >>> found.points, found.state_names
        (array([4, 5]), ['constant', 'decreasing'])
    """
    windowing = windowing or Windowing()
    if windowing.reading == "likelihood":
        return _likeliest(points, windowing.threshold)
    marked, state = _cut(points, windowing)
    rows = np.flatnonzero(marked)
    if windowing.backward:  # a walk back begins where a window ends
        size = np.diff(rows, prepend=-1)
    else:
        size = np.diff(np.append(rows, len(points.times)))
    windows = _merged(points, rows, size, state[rows])
    _name_grown(points, windows, windowing)
    return windows


def _likeliest(points: Points, threshold: float) -> Windows:
    """Windows of the best partition."""
    rows, turns = best_partition(points, threshold=threshold, least=LEAST_POINTS)
    page = np.searchsorted(points.offsets, rows, side="right") - 1
    state = np.array([State.CONSTANT, State.INCREASING, State.DECREASING], np.uint8)[turns]
    windows = Windows(np.append(rows, len(points.times)), page, state)
    state[windows.points < LEAST_POINTS] = State.SHORT
    return windows


def _cut(points: Points, windowing: Windowing) -> tuple[Bools, Statuses]:
    """Whether each point begins a window on the way, and the state of the window there."""
    begins = np.zeros(len(points.times), np.bool_)
    state = np.full(len(points.times), State.SHORT, np.uint8)
    # A place beyond the last point, for walks that begin there.
    gaps = np.append(points.gaps, 0.0)
    over_blocks(
        lambda pages: _Walk.over(points.offsets[pages.start : pages.stop + 1], windowing).cut(
            gaps, begins, state
        ),
        len(points),
    )
    return begins, state


@dataclass(slots=True, eq=False)
class _Walk:
    """Where the walk through each page of a block stands."""

    windowing: Windowing
    firsts: Ints  # row of each page's first point on the way, most points first
    ranks: list[int]
    size: Ints  # points of the window so far
    reference: Floats  # gap to compare with
    used: Floats  # what of the threshold is used up
    kind: Statuses  # state of the window
    begun: Ints  # row at which it begins

    @classmethod
    def over(cls, edges: Ints, windowing: Windowing) -> _Walk:
        order, ranks = most_first(np.diff(edges))
        firsts = (edges[1:] - 1 if windowing.backward else edges[:-1])[order]
        pages = len(order)
        return cls(
            windowing,
            firsts,
            ranks,
            np.zeros(pages, np.int64),
            np.zeros(pages),
            np.zeros(pages),
            np.full(pages, State.SHORT, np.uint8),
            firsts.copy(),
        )

    def cut(self, gaps: Floats, begins: Bools, state: Statuses) -> None:
        """Walk through all pages and mark where windows begin."""
        backward = self.windowing.backward
        for rank, left in enumerate(self.ranks):
            rows = self.firsts[:left] - rank if backward else self.firsts[:left] + rank
            fresh, third = self._step(gaps[rows + 1] if backward else gaps[rows], left)
            self.begun[:left][fresh] = rows[fresh]
            begins[rows[fresh]] = True
            state[self.begun[:left][third]] = self.kind[:left][third]

    def _step(self, gap: Floats, left: int) -> tuple[Ints, Ints]:
        """Take one point more: which pages begin a window with it, and which now have a state."""
        size, reference = self.size[:left], self.reference[:left]
        used, kind = self.used[:left], self.kind[:left]
        longer = reference - gap if self.windowing.backward else gap - reference
        third = np.flatnonzero(size == 2)  # noqa: PLR2004 - two points before it
        kind[third] = kinds_of(longer[third], self.windowing.tie)

        odd = self._disagreement(longer, kind) * (size >= LEAST_POINTS - 1)
        wrong = odd > self.windowing.tie
        fails, cost = self._fails(odd, wrong, used)
        fresh = np.flatnonzero(fails | (size == 0))
        used += cost
        used[fresh] = 0
        size += 1
        size[fresh] = 1
        if self.windowing.reading == "envelope":
            self._keep_extreme(gap, left)
        else:
            reference[:] = gap
        return fresh, third

    @staticmethod
    def _disagreement(longer: Floats, kind: Statuses) -> Floats:
        """Days by which a gap is not what its window's state says."""
        odd = np.abs(longer)
        odd[(kind == State.INCREASING) & (longer < 0)] = 0
        odd[(kind == State.DECREASING) & (longer > 0)] = 0
        return odd

    def _fails(self, odd: Floats, wrong: Bools, used: Floats) -> tuple[Bools, Floats]:
        """Whether a point may not belong to the window, and what it uses up if it does."""
        threshold = self.windowing.threshold
        if self.windowing.reading == "count":
            return wrong & (used + 1 > threshold), wrong.astype(np.float64)
        odd = odd * wrong
        if self.windowing.reading in ("point", "envelope"):
            return wrong & (odd >= threshold), np.zeros(len(odd))
        return wrong & (used + odd >= threshold), odd

    def _keep_extreme(self, gap: Floats, left: int) -> None:
        """Compare with the first gap, the shortest or the longest one so far."""
        size, reference, kind = self.size[:left], self.reference[:left], self.kind[:left]
        early = size <= LEAST_POINTS - 1  # the two gaps that give the state
        shorter = np.minimum(reference, gap)
        longer = np.maximum(reference, gap)
        reference[:] = np.where(
            early,
            gap,
            np.where(
                kind == (State.DECREASING if self.windowing.backward else State.INCREASING),
                shorter,
                np.where(kind == State.CONSTANT, reference, longer),
            ),
        )


def _name_grown(points: Points, windows: Windows, windowing: Windowing) -> None:
    """Give windows that only their neighbours made long enough the state of their first points."""
    grown = np.flatnonzero((windows.state == State.SHORT) & (windows.points >= LEAST_POINTS))
    first, times = windows.offsets[:-1][grown], points.times
    longer = (times[first + 2] - times[first + 1]) - (times[first + 1] - times[first])
    windows.state[grown] = kinds_of(longer, windowing.tie)


def kinds_of(longer: Floats, tie: float) -> Statuses:
    """State of windows whose second inner gap is so much longer than their first."""
    kinds = np.full(len(longer), State.CONSTANT, np.uint8)
    kinds[longer < -tie] = State.INCREASING
    kinds[longer > tie] = State.DECREASING
    return kinds


def _merged(points: Points, rows: Ints, size: Ints, state: Statuses) -> Windows:
    """Share out windows that are too short between their neighbours, from left to right.

    Args:
        points: What was cut.
        rows: Some point of each window.
        size: Points of each window.
        state: State of each window.
    """
    page = np.searchsorted(points.offsets, rows, side="right") - 1
    kept = np.ones(len(rows), np.bool_)
    edges = np.searchsorted(page, np.arange(len(points) + 1))
    order, ranks = most_first(np.diff(edges))
    firsts, lasts = edges[:-1][order], edges[1:][order] - 1
    before = np.full(len(order), -1)  # the window to the left that stays
    for rank, left in enumerate(ranks):
        row = firsts[:left] + rank
        short = size[row] < LEAST_POINTS
        has_left, has_right = before[:left] >= 0, row < lasts[:left]
        gone = np.flatnonzero(short & (has_left | has_right))
        to_left = np.where(has_right[gone], size[row[gone]] // 2, size[row[gone]])
        to_left *= has_left[gone]
        size[before[gone]] += to_left * has_left[gone]
        right = np.minimum(row[gone] + 1, len(size) - 1)
        size[right] += (size[row[gone]] - to_left) * has_right[gone]
        kept[row[gone]] = False
        stays = np.flatnonzero(~short)
        before[stays] = row[stays]
    size, page, state = size[kept], page[kept], state[kept]
    state[size < LEAST_POINTS] = State.SHORT
    return Windows(np.concatenate([[0], np.cumsum(size)]), page, state)


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
