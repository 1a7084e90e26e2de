r"""Visits that follow a forecast: what they would have found, and how many would have been in vain.

A page is visited when the next change is expected. If it changed since the last visit, the latest
change joins what is known of the page; if not, the visit was premature, and only time has passed.
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
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.rates.accuracy import Counting
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
    """The same, waiting longer or shorter so that all pages together get about so many visits.

    Rare visits are precise and frequent ones find much; only at equal visits do forecasts compare.
    """
    low, high = np.log(1e-3), np.log(1e3)
    best = follow(points, forecasting)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        scale = float(np.exp(middle))
        share, decreasing = scale * forecasting.share, scale * forecasting.decreasing
        found = follow(points, replace(forecasting, share=share, decreasing=decreasing))
        if abs(int(found.visits.sum()) - visits) < abs(int(best.visits.sum()) - visits):
            best = found
        if int(found.visits.sum()) > visits:
            low = middle
        else:
            high = middle
    return best


@dataclass(slots=True, eq=False)
class _Walk:
    """Where the visits to each page stand, and sums over the points that they found."""

    forecasting: Forecasting
    page: Ints
    row: Ints  # of the next point
    stop: Ints  # row after the last point
    end: Floats
    now: Floats
    count: Floats
    last: Floats
    logs: Floats  # sum of ln s
    squares: Floats  # of ln s
    heights: Floats  # sum of ln(s / i)
    products: Floats
    origin: Floats  # where the window's time begins
    kind: Floats  # 1 where its gaps get longer, -1 where they get shorter, 0 where they stay
    odd: Ints  # points of the window that disagree with it
    recent: Floats  # the last five points found, one row per page, the latest at the end

    @classmethod
    def over(cls, points: Points, pages: Ints, forecasting: Forecasting) -> _Walk:
        """Every page after its first points."""
        row, stop = points.offsets[:-1][pages].copy(), points.offsets[1:][pages]
        sums: list[Any] = [np.zeros(len(pages)) for _ in range(9)]
        sums += [np.zeros(len(pages), np.int64), np.zeros((len(pages), LEAST_POINTS + 1))]
        walk = cls(forecasting, pages, row, stop, points.end[pages] + _HAIR, *sums)
        for number in range(LEAST_POINTS):
            walk.row += 1
            time = points.times[walk.row - 1]
            walk.recent[:, number + 1] = time
            walk.add(np.arange(len(pages)), time)
        walk.kind = _turns(walk.recent)[:, 1]
        walk.now = walk.last.copy()
        return walk

    def step(self, points: Points, observed: Ints, premature: Ints) -> None:
        """Wait, look at every page whose record goes on, and count what was found."""
        self.now += np.maximum(self.wait(), self.forecasting.least)
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
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[rows])

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
        """Add the latest point to what is known, as far as the forecaster needs it."""
        time = points.times[self.row[some] - 1]
        if self.forecasting.rewindow:
            self.recent[some] = np.column_stack([self.recent[some, 1:], time])
            anew = self._anew(some)
            self.add(some[~anew], time[~anew] - self.origin[some[~anew]])
            self._begin(some[anew])
        else:
            self.add(some, time)

    def _anew(self, some: Ints) -> Bools:
        """Whether the latest point does not belong to its window, but begins one of its own."""
        turns = _turns(self.recent[some])
        wrong = ~_agrees(self.kind[some], turns[:, -1])
        self.odd[some] += wrong
        own = _agrees(turns[:, -2], turns[:, -1])
        return wrong & (self.odd[some] > self.forecasting.threshold) & own

    def _begin(self, fresh: Ints) -> None:
        """Begin a window with the last four points, the one before them being its origin."""
        self.origin[fresh], self.odd[fresh] = self.recent[fresh, 0], 0
        self.kind[fresh] = _turns(self.recent[fresh])[:, 1]
        for column in (self.count, self.last, self.logs, self.squares, self.heights, self.products):
            column[fresh] = 0
        for number in range(1, LEAST_POINTS + 1):
            self.add(fresh, self.recent[fresh, number] - self.origin[fresh])

    def add(self, some: Ints, time: Floats) -> None:
        """Add a point, so long after the window's origin."""
        self.count[some] += 1
        self.last[some] = time
        if self.forecasting.forecaster not in ("weibull", "duane"):
            return
        log = np.log(time)
        self.logs[some] += log
        if self.forecasting.forecaster == "duane":
            height = log - np.log(self.count[some])
            self.squares[some] += log * log
            self.heights[some] += height
            self.products[some] += log * height

    def wait(self) -> Floats:
        """Days until the next change is expected, as far as they should be waited."""
        if self.forecasting.forecaster == "weibull":
            return self._by_weibull()
        if self.forecasting.forecaster == "duane":
            return self._by_duane()
        if self.forecasting.forecaster == "ratio":
            return self.forecasting.share * self.last / self.count
        count, period = self.count.astype(np.int64), self.forecasting.period
        gaps = np.maximum(np.rint(self.last / period).astype(np.int64), count)
        method: Counting = Cho() if self.forecasting.forecaster == "cho" else Matloff()
        return self.forecasting.share * period / method.changes_a_gap(count, gaps)

    def _by_weibull(self) -> Floats:
        logs = np.maximum(self.count * np.log(self.last) - self.logs, _HAIR)
        beta = (self.count - 2) / logs
        with np.errstate(over="ignore"):  # as good as never
            power = np.exp((1 - beta) * np.log((self.now - self.origin) / self.last))
            return self._share(beta < 1) * self.last / (self.count * beta) * power

    def _by_duane(self) -> Floats:
        mean = self.logs / self.count
        square = self.squares / self.count - mean * mean
        product = self.products / self.count - mean * self.heights / self.count
        slope = product / np.maximum(square, _HAIR)
        with np.errstate(over="ignore"):
            wait = np.exp(
                self.heights / self.count + slope * (np.log(self.now - self.origin) - mean)
            )
            return self._share(slope > 0) * wait

    def _share(self, decreasing: Bools) -> Floats:
        """Share of the expected time to wait."""
        steady, falling = self.forecasting.share, self.forecasting.decreasing
        return np.where(decreasing, falling, steady)


def _turns(recent: Floats) -> Floats:
    """1, -1 or 0 where a gap between points is longer than the one before, shorter, or as long."""
    longer = np.diff(recent, n=2, axis=1)
    return np.sign(np.where(np.abs(longer) > _HAIR, longer, 0.0))


def _agrees(kind: Floats, turn: Floats) -> Bools:
    """Whether a gap is what its window says: as long as the one before, or off in its direction."""
    agrees: Bools = (turn == kind) | ((turn == 0) & (kind != 0))
    return agrees


_COLUMNS = [field.name for field in fields(_Walk) if field.name != "forecasting"]
