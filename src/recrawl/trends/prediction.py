r"""Visits that follow a forecast: what they would have found, and how many would have been in vain.

A page is visited when the next change is expected. If it changed since the last visit, the latest
change joins what is known of the page; if not, the visit was premature, and only time has passed.
Everything starts after a page's fourth change and goes on to the end of its record.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.rates.cho import Cho
from recrawl.rates.matloff import Matloff
from recrawl.trends.windows import LEAST_POINTS

if TYPE_CHECKING:
    from recrawl.rates.accuracy import Counting
    from recrawl.trends.points import Points
    from recrawl.visits.arrays import Bools, Floats, Ints

FORECASTERS = ("ratio", "weibull", "duane", "cho", "matloff")

_HALVINGS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """What visits that follow a forecast found, a row a page.

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

    References:
        Singh (2007). Estimating the rate of web page updates. IJCAI.
    """

    forecaster: str = "weibull"
    share: float = 1.0
    decreasing: float = 0.7
    period: float = 1.0
    least: float = 0.5

    def __post_init__(self) -> None:
        """Refuse parameters that mean nothing."""
        if self.forecaster not in FORECASTERS:
            message = f"forecaster must be one of {', '.join(FORECASTERS)} (got {self.forecaster})"
            raise InvalidParameter(message)
        for name in ("share", "decreasing", "period", "least"):
            value = getattr(self, name)
            if not 0 < value < np.inf:
                message = f"{name} must be a positive, finite number (got {value})"
                raise InvalidParameter(message)


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
    pages = np.flatnonzero(points.points_of_page > LEAST_POINTS)
    observed, premature = np.zeros(len(points), np.int64), np.zeros(len(points), np.int64)
    known = _Known.of(points, pages)
    while len(known.page):
        wait = np.maximum(known.wait(forecasting), forecasting.least)
        known = known.take(np.flatnonzero(known.now + wait <= points.end[known.page] + 1e-9), wait)
        found = known.visit(points)
        observed[known.page] += found
        premature[known.page] += ~found
    changes = np.maximum(points.points_of_page - LEAST_POINTS, 0)
    return Detection(changes, observed, premature)


def at_equal_visits(points: Points, forecasting: Forecasting, visits: int) -> Detection:
    """The same, waiting longer or shorter so that all pages together get about so many visits.

    Rare visits are precise and frequent ones find much; only at equal visits do forecasts compare.
    """
    low, high = np.log(1e-3), np.log(1e3)
    found = follow(points, forecasting)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        scale = float(np.exp(middle))
        found = follow(
            points,
            Forecasting(
                forecasting.forecaster,
                scale * forecasting.share,
                scale * forecasting.decreasing,
                forecasting.period,
                forecasting.least,
            ),
        )
        if int(found.visits.sum()) > visits:
            low = middle
        else:
            high = middle
    return found


@dataclass(slots=True, eq=False)
class _Known:
    """What is known of each page on the way: sums over the points that were found."""

    page: Ints
    row: Ints  # of the next point
    now: Floats
    count: Floats
    last: Floats
    logs: Floats  # sum of ln s
    squares: Floats  # of ln s
    heights: Floats  # sum of ln(s / i)
    products: Floats

    @classmethod
    def of(cls, points: Points, pages: Ints) -> _Known:
        nothing = np.zeros(len(pages))
        known = cls(pages, points.offsets[:-1][pages], *(nothing.copy() for _ in range(7)))
        for _ in range(LEAST_POINTS):
            known.row += 1
            known.learn(points, np.arange(len(pages)))
        known.now = known.last.copy()
        return known

    def learn(self, points: Points, some: Ints) -> None:
        """Add the latest point to what is known."""
        time = points.times[self.row[some] - 1]
        log = np.log(time)
        self.count[some] += 1
        height = log - np.log(self.count[some])
        self.last[some] = time
        self.logs[some] += log
        self.squares[some] += log * log
        self.heights[some] += height
        self.products[some] += log * height

    def visit(self, points: Points) -> Bools:
        """Look at every page now; return which had changed."""
        ends = points.offsets[1:][self.page]
        before = self.row.copy()
        going = np.arange(len(self.page))
        while len(going):
            inside = going[self.row[going] < ends[going]]
            going = inside[points.times[self.row[inside]] <= self.now[inside]]
            self.row[going] += 1
        found = self.row > before
        self.learn(points, np.flatnonzero(found))
        return found

    def wait(self, forecasting: Forecasting) -> Floats:
        """Days until the next change is expected, as far as they should be waited."""
        forecaster = forecasting.forecaster
        share = np.full(len(self.page), forecasting.share)
        if forecaster == "weibull":
            logs = np.maximum(self.count * np.log(self.last) - self.logs, 1e-12)
            beta = (self.count - 2) / logs
            share[beta < 1] = forecasting.decreasing
            power = np.exp((1 - beta) * np.log(self.now / self.last))
            return share * self.last / (self.count * beta) * power
        if forecaster == "duane":
            mean = self.logs / self.count
            square = self.squares / self.count - mean * mean
            product = self.products / self.count - mean * self.heights / self.count
            slope = product / np.maximum(square, 1e-12)
            share[slope > 0] = forecasting.decreasing
            return share * np.exp(self.heights / self.count + slope * (np.log(self.now) - mean))
        if forecaster == "ratio":
            return share * self.last / self.count
        count = self.count.astype(np.int64)
        gaps = np.maximum(np.rint(self.last / forecasting.period).astype(np.int64), count)
        method: Counting = Cho() if forecaster == "cho" else Matloff()
        return share * forecasting.period / method.changes_a_gap(count, gaps)

    def take(self, rows: Ints, wait: Floats) -> _Known:
        """Only the named pages, after their wait."""
        return _Known(
            self.page[rows],
            self.row[rows],
            (self.now + wait)[rows],
            self.count[rows],
            self.last[rows],
            self.logs[rows],
            self.squares[rows],
            self.heights[rows],
            self.products[rows],
        )
