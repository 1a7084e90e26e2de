r"""Visits that follow a forecast: how many would have found a change, and how many would not.

A page is visited when the next change is expected. If it changed since the last visit, the latest
change is learned; if not, the visit was premature, and only time has passed.
Everything starts after a page's fourth change and goes on to the end of its record.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_choice, check_positive
from recrawl.rates.published.cho import Cho
from recrawl.rates.published.matloff import Matloff
from recrawl.trends.windows import LEAST_POINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.rates.existence_accuracy import Counting
    from recrawl.trends.points import Points

FORECASTERS = ("ratio", "weibull", "duane", "cho", "matloff")

_HALVINGS = 30
_HAIR = 1e-9  # days, and sums: what rounding may take
_SPARSE = 0.75  # share of pages below which those at their end are left out


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """What visits that follow a forecast found, one row per page.

    Args:
        changes: Changes there were from the first forecast to the end of the record.
        observed: Visits that found the page changed.
        premature: Visits that did not.
    """

    changes: Ints
    observed: Ints
    premature: Ints

    @classmethod
    def summed(cls, parts: Sequence[Detection]) -> Detection:
        """All pages of several detections in one row."""
        names = [field.name for field in fields(cls)]
        totals = [sum(int(getattr(part, name).sum()) for part in parts) for name in names]
        return cls(*(np.array([total]) for total in totals))

    @property
    def visits(self) -> Ints:
        """All visits."""
        return self.observed + self.premature

    @property
    def unobserved(self) -> Ints:
        """Changes that no visit told from a later one."""
        return self.changes - self.observed

    @property
    def precision(self) -> float:
        """Share of visits that found a change. Rare visits alone make it high."""
        return float(self.observed.sum() / max(int(self.visits.sum()), 1))

    @property
    def recall(self) -> float:
        """Share of changes that were observed."""
        return float(self.observed.sum() / max(int(self.changes.sum()), 1))


@dataclass(frozen=True, slots=True)
class Forecasting:
    """How visits follow a forecast.

    Args:
        forecaster: One of `FORECASTERS`.
        share: Share of the expected time to the next change to wait.
        decreasing: Share to wait instead where the rate falls: there the expected time grows
            while one waits.
        period: Days between visits, for the estimators of regular access.
        least: Fewest days to wait.
        rewindow: Begin a new window where a found change does not agree with the window so far
            and the last four together do; else all that is found extends the first window.
        threshold: Found changes of a window that may disagree before that.

    References:
        Singh (2007). Estimating the rate of web page updates. IJCAI.
    """

    forecaster: str = "weibull"
    share: float = 1.0
    decreasing: float = 0.7
    period: float = 1.0
    least: float = 0.5
    rewindow: bool = False
    threshold: int = 3

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(FORECASTERS, forecaster=self.forecaster)
        check_positive(share=self.share, decreasing=self.decreasing)
        check_positive(period=self.period, least=self.least)


def follow(points: Points, forecasting: Forecasting) -> Detection:
    """Let visits follow a forecast through every page's record.

    Examples:
        A change every day, found by visits every day:

        >>> from recrawl.trends.points import Points
        >>> daily = Points(np.arange(1.0, 11), np.array([0, 10]), np.array([10.0]))
        >>> found = follow(daily, Forecasting("ratio"))
        >>> found.changes, found.observed, found.premature
        (array([6]), array([6]), array([0]))
    """
    observed, premature = np.zeros(len(points), np.int64), np.zeros(len(points), np.int64)
    enough = points.points_of_page > LEAST_POINTS

    def work(block: slice) -> None:
        pages = block.start + np.flatnonzero(enough[block])
        walk = _Walk.over(points, pages, forecasting)
        while len(walk.page):
            walk.step(points, observed, premature)

    over_blocks(work, len(points))
    changes = np.maximum(points.points_of_page - LEAST_POINTS, 0)
    return Detection(changes, observed, premature)


def at_equal_visits(points: Points, forecasting: Forecasting, visits: int) -> Detection:
    """The same, waiting longer or shorter so that all pages together get about `visits` visits.

    Rare visits are precise and frequent ones find much; only at equal visits do forecasts compare.
    """

    def replay(ways: Sequence[Forecasting]) -> list[Detection]:
        return [follow(points, way) for way in ways]

    (found,) = all_at_equal_visits(replay, [forecasting], visits)
    return found


def all_at_equal_visits(
    replay: Callable[[Sequence[Forecasting]], Sequence[Detection]],
    ways: Sequence[Forecasting],
    visits: int,
) -> list[Detection]:
    """The same for several forecasts, all of them in each replay of a record.

    Args:
        replay: What visits find that follow each of some forecasts.
        ways: The forecasts.
        visits: Visits to all pages together.
    """
    low, high = np.full(len(ways), np.log(1e-3)), np.full(len(ways), np.log(1e3))
    best = list(replay(ways))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        scales = [float(np.exp(each)) for each in middle]
        tried = [
            replace(way, share=scale * way.share, decreasing=scale * way.decreasing)
            for way, scale in zip(ways, scales, strict=True)
        ]
        for number, found in enumerate(replay(tried)):
            total = int(found.visits.sum())
            if abs(total - visits) < abs(int(best[number].visits.sum()) - visits):
                best[number] = found
            side = low if total > visits else high
            side[number] = middle[number]
    return best


@dataclass(slots=True, eq=False)
class WindowSums:
    """Sums over the points of each page's current window, all that forecasters need.

    A point costs the same however many there were.

    Args:
        forecaster: One of `FORECASTERS`; sums that it does not read stay 0.
        origin: Where the window's time begins.
        count: Its points.
        last: The latest, in days since the origin.
        logs: Sum of ln s over its points, s being days since the origin.
        squares: Sum of squares of these.
        heights: Sum of ln(s / i), i being the number of a point.
        products: Sum of ln s ln(s / i).
        odd: Points that disagree with the window's state.
        kind: 1 where gaps get longer, -1 where they get shorter, 0 where they stay.
        recent: The last five points of the page, the latest at the end; only for new windows.
    """

    forecaster: str
    origin: Floats
    count: Floats
    last: Floats
    logs: Floats
    squares: Floats
    heights: Floats
    products: Floats
    odd: Ints
    kind: Floats
    recent: Floats

    @classmethod
    def empty(cls, forecaster: str, origin: Floats) -> WindowSums:
        """Windows without points."""
        columns: list[Any] = [np.zeros(len(origin)) for _ in range(8)]
        columns[6] = np.zeros(len(origin), np.int64)
        columns.append(np.repeat(origin[:, np.newaxis], LEAST_POINTS + 1, axis=1))
        return cls(forecaster, origin, *columns)

    def take(self, rows: Ints) -> WindowSums:
        """The windows of some pages."""
        columns = (getattr(self, field.name)[rows] for field in fields(self)[1:])
        return WindowSums(self.forecaster, *columns)

    def learn(self, rows: Ints, point: Floats, threshold: int | None = None) -> None:
        """Add a point to the window of each page, or begin a new window with it.

        Args:
            rows: Pages.
            point: When each changed.
            threshold: Points of a window that may disagree before a new one begins; None for
                one window for ever.
        """
        if threshold is None:
            self._add(rows, point)
            return
        self.recent[rows] = np.column_stack([self.recent[rows, 1:], point])
        anew = self._disagrees(rows, threshold)
        self._begin(rows[anew])
        rows = rows[~anew]
        self._add(rows, point[~anew])
        full = rows[self.count[rows] == LEAST_POINTS]
        self.kind[full] = _turns(self.recent[full])[:, 1]

    def _disagrees(self, rows: Ints, threshold: int) -> Bools:
        """Whether the latest point does not belong to its window, but begins one of its own."""
        turns, full = _turns(self.recent[rows]), self.count[rows] >= LEAST_POINTS
        wrong = full & ~_agrees(self.kind[rows], turns[:, -1])
        self.odd[rows] += wrong
        return wrong & (self.odd[rows] > threshold) & _agrees(turns[:, -2], turns[:, -1])

    def _begin(self, rows: Ints) -> None:
        """Begin a window with the last four points, the one before them being its origin."""
        points = self.recent[rows]
        self.origin[rows], self.odd[rows] = points[:, 0], 0
        self.kind[rows] = _turns(points)[:, 1]
        for sums in (self.count, self.logs, self.squares, self.heights, self.products):
            sums[rows] = 0
        for number in range(1, LEAST_POINTS + 1):
            self._add(rows, points[:, number])

    def _add(self, rows: Ints, point: Floats) -> None:
        since = point - self.origin[rows]
        self.count[rows] += 1
        self.last[rows] = since
        if self.forecaster not in ("weibull", "duane"):
            return
        log = np.log(since)
        self.logs[rows] += log
        if self.forecaster == "duane":
            height = log - np.log(self.count[rows])
            self.squares[rows] += log * log
            self.heights[rows] += height
            self.products[rows] += log * height

    def wait(self, now: Floats, period: float, share: float, decreasing: float) -> Floats:
        """Days to wait from `now` on: a share of the expected time to the next change.

        Args:
            now: When, on the clock of the points.
            period: Days between visits, for the estimators of regular access.
            share: Share of the expected time to wait.
            decreasing: Share to wait instead where the rate falls.
        """
        count, last, since = self.count, self.last, now - self.origin
        if self.forecaster == "weibull":
            beta = (count - 2) / np.maximum(count * np.log(last) - self.logs, _HAIR)
            with np.errstate(over="ignore"):  # as good as never
                power = np.exp((1 - beta) * np.log(np.maximum(since / last, 1.0)))
                return np.where(beta < 1, decreasing, share) * last / (count * beta) * power
        if self.forecaster == "duane":
            mean, height = self.logs / count, self.heights / count
            square = self.squares / count - mean * mean
            slope = (self.products / count - mean * height) / np.maximum(square, _HAIR)
            with np.errstate(over="ignore"):  # a line as good as vertical
                days = np.exp(height + slope * (np.log(since) - mean))
                return np.where(slope > 0, decreasing, share) * days
        if self.forecaster == "ratio":
            return share * last / count
        changes = count.astype(np.int64)
        gaps = np.maximum(np.rint(last / period).astype(np.int64), changes)
        method: Counting = Cho() if self.forecaster == "cho" else Matloff()
        return share * period / method.changes_a_gap(changes, gaps)


def _turns(recent: Floats) -> Floats:
    """1, -1 or 0 where a gap between points is longer than the one before, shorter, or as long."""
    longer = np.diff(recent, n=2, axis=1)
    return np.sign(np.where(np.abs(longer) > _HAIR, longer, 0.0))


def _agrees(kind: Floats, turn: Floats) -> Bools:
    """Whether a gap is what its window says: as long as the one before, or off in its direction."""
    agrees: Bools = (turn == kind) | ((turn == 0) & (kind != 0))
    return agrees


@dataclass(slots=True, eq=False)
class _Walk:
    """Where the visits to each page of a block stand."""

    forecasting: Forecasting
    page: Ints
    row: Ints  # of the next point
    stop: Ints  # row after the last point
    end: Floats
    now: Floats
    windows: WindowSums

    @classmethod
    def over(cls, points: Points, pages: Ints, forecasting: Forecasting) -> _Walk:
        """Every page after its first points."""
        row, stop = points.offsets[:-1][pages].copy(), points.offsets[1:][pages]
        now = np.zeros(len(pages))
        windows = WindowSums.empty(forecasting.forecaster, now.copy())
        walk = cls(forecasting, pages, row, stop, points.end[pages] + _HAIR, now, windows)
        for _ in range(LEAST_POINTS):
            walk.row += 1
            walk.learn(points, np.arange(len(pages)))
        walk.now = windows.last.copy()
        return walk

    def step(self, points: Points, observed: Ints, premature: Ints) -> None:
        """Wait, look at every page whose record goes on, and count what was found."""
        how = self.forecasting
        wait = self.windows.wait(self.now, how.period, how.share, how.decreasing)
        self.now += np.maximum(wait, how.least)
        going = self.now <= self.end
        alive = int(going.sum())
        if alive < _SPARSE * len(self.page):
            self.keep(np.flatnonzero(going))
            going = np.ones(alive, np.bool_)
        found = self.look(points) & going
        self.learn(points, np.flatnonzero(found))
        observed[self.page] += found
        premature[self.page] += going & ~found

    def keep(self, rows: Ints) -> None:
        """Forget all pages but the named ones."""
        for name in ("page", "row", "stop", "end", "now"):
            setattr(self, name, getattr(self, name)[rows])
        self.windows = self.windows.take(rows)

    def look(self, points: Points) -> Bools:
        """Go on to the latest point until now; return where there was one."""
        before = self.row.copy()
        passed = np.flatnonzero(self.row < self.stop)
        while len(passed):
            passed = passed[points.times[self.row[passed]] <= self.now[passed]]
            self.row[passed] += 1
            passed = passed[self.row[passed] < self.stop[passed]]
        return self.row > before

    def learn(self, points: Points, some: Ints) -> None:
        """Add the latest point to the window of each page."""
        threshold = self.forecasting.threshold if self.forecasting.rewindow else None
        self.windows.learn(some, points.times[self.row[some] - 1], threshold)
