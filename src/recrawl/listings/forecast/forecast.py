"""What a copy of a listing will be worth on each of the coming days.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.quality import precision, recall
from recrawl.listings.models.negative_binomial import NegativeBinomialArrivals

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.forecast.bands import ForecastBand

METRICS = ("precision", "recall", "deleted", "inserted", "listed")
QUALITIES = ("precision", "recall")
_HOURS = 24
_ROUNDING = 1e-6  # what it leaves of a whole count
_ALL_THERE = 1e-9  # logarithm of a recall that is 1


@dataclass(frozen=True, slots=True, eq=False)
class ForecastPath:
    """Five figures for each of the coming days.

    Args:
        precision: Share of the copy that is still listed.
        recall: Share of what is listed that is in the copy.
        deleted: Objects of the copy that are no longer listed.
        inserted: Objects listed that are not in the copy.
        listed: Objects listed.
    """

    precision: Floats
    recall: Floats
    deleted: Floats
    inserted: Floats
    listed: Floats

    @classmethod
    def of_counts(cls, stock: float, survived: Floats, inserted: Floats) -> ForecastPath:
        """From how many of the stock are left and how many came.

        >>> outlook = ForecastPath.of_counts(10, np.array([8.0]), np.array([4.0]))
        >>> outlook.precision, outlook.recall.round(6), outlook.listed
        (array([0.8]), array([0.666667]), array([12.]))
        """
        listed = survived + inserted
        return cls(
            precision(survived, stock), recall(survived, listed), stock - survived, inserted, listed
        )

    @classmethod
    def of_quality(cls, stock: float, kept: Floats, found: Floats) -> ForecastPath:
        """From precision and recall: what they say of the counts of a stock that is not empty.

        >>> outlook = ForecastPath.of_quality(10, np.array([0.8]), np.array([2 / 3]))
        >>> outlook.deleted.round(6), outlook.inserted.round(6)
        (array([2.]), array([4.]))
        """
        survived = stock * kept
        inserted = survived * (1.0 / np.maximum(found, 1e-12) - 1.0)
        return cls(kept, found, stock - survived, inserted, survived + inserted)

    def at(self, days: Floats, stock: float) -> ForecastPath:
        """The same figures after some other days, hours included, from 1, 2, ... days.

        Between whole days the logs of precision and recall are taken as linear, as of what decays
        at a constant rate, and counts where the copy is empty.

        >>> outlook = ForecastPath.of_quality(100, np.array([0.81]), np.array([0.64]))
        >>> half = outlook.at(np.array([0.5]), 100)
        >>> half.precision.round(6), half.recall.round(6)
        (array([0.9]), array([0.8]))
        """
        rows = np.ceil(days).astype(np.int64) - 1
        there = _rows(self, rows)
        if stock:
            qualities = between(self.precision, days), between(self.recall, days)
            partly = ForecastPath.of_quality(stock, *qualities)
        else:
            came = np.interp(days, np.arange(len(self.inserted) + 1), [0.0, *self.inserted])
            partly = ForecastPath(there.precision, there.recall, there.deleted, came, came)
        whole = days == np.floor(days)
        return ForecastPath(
            *(np.where(whole, getattr(there, name), getattr(partly, name)) for name in METRICS)
        )

    @classmethod
    def unknown(cls, days: int) -> ForecastPath:
        """Nothing can be said."""
        return cls(*np.full((len(METRICS), days), np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Forecast for 1, 2, ... days after a sync.

    Args:
        stock: Objects that the sync found.
        typical: What an ordinary cycle brings.
        expected: The same with mass events; what promises and schedules rest on.
        low: Low ends of the bands of the outcomes.
        high: High ends.
        bands: Bands of precision and recall, for other levels; none where a method has none.
        status: Words for what a reader must know: `empty`, `one-snapshot`, `weak`, `small`,
            `rekey?`; none of them is the ordinary case.
        arrivals: Objects that come a day; nan where a method does not know.
    """

    stock: float
    typical: ForecastPath
    expected: ForecastPath
    low: ForecastPath
    high: ForecastPath
    bands: tuple[ForecastBand, ForecastBand] | None = None
    status: tuple[str, ...] = ()
    arrivals: float = nan

    def __len__(self) -> int:
        """How many days ahead it reaches."""
        return len(self.typical.precision)

    @property
    def days(self) -> Floats:
        """Days since the sync: 1, 2, ..."""
        return np.arange(1.0, len(self) + 1)

    def at(self, days: Floats) -> tuple[ForecastPath, ForecastPath, ForecastPath, ForecastPath]:
        """What is typical, expected, and the ends of bands, after some days, hours included.

        Args:
            days: Days since the sync, more than 0 and no more than it reaches.
        """
        typical, expected = (path.at(days, self.stock) for path in (self.typical, self.expected))
        rows = np.ceil(days).astype(np.int64) - 1
        low, high = _rows(self.low, rows), _rows(self.high, rows)
        hours = np.flatnonzero(days != np.floor(days))
        if len(hours) and self.bands is not None:
            bands = self._of_hours(days[hours], _rows(low, hours), _rows(high, hours))
            for path, end in zip((low, high), bands, strict=True):
                for name in METRICS:
                    getattr(path, name)[hours] = getattr(end, name)
        return typical, expected, low, high

    def _of_hours(
        self, days: Floats, low: ForecastPath, high: ForecastPath
    ) -> tuple[ForecastPath, ForecastPath]:
        """Bands after parts of days, from those of the ends of these days.

        What has gone or come by an hour has by a later one: no band goes further than theirs.
        """
        assert self.bands is not None  # noqa: S101 - asked before
        if not self.stock:
            return banded_empty(self.expected.at(days, self.stock), self.bands[0].miss)
        for later in range(_HOURS - 1, -1, -1):
            until = np.minimum(days + later / _HOURS, np.ceil(days))
            expected = self.expected.at(until, self.stock)
            low, high = _within(
                self.stock, (low, high), banded(self.stock, expected, self.bands, until)
            )
        return low, high

    def floor(self, metric: str, confidence: float) -> Floats:
        """Quality that is reached or exceeded with a confidence, on each day.

        Args:
            metric: `precision` or `recall`.
            confidence: Probability between a half and 1.
        """
        path: Floats = getattr(self.expected, metric)
        if self.bands is None or self.stock == 0:
            return path
        size = self.stock if metric == "precision" else self.expected.listed
        band = self.bands[QUALITIES.index(metric)]
        return band.raw(path, size, self.days, 1.0 - confidence)


def _rows(outlook: ForecastPath, rows: Ints) -> ForecastPath:
    return ForecastPath(*(getattr(outlook, name)[rows] for name in METRICS))


def _within(
    stock: float, later: tuple[ForecastPath, ForecastPath], band: tuple[ForecastPath, ForecastPath]
) -> tuple[ForecastPath, ForecastPath]:
    """A band that goes no further than one of later."""
    low, high = band
    deleted = np.minimum(high.deleted, later[1].deleted)
    inserted = np.minimum(high.inserted, later[1].inserted)
    most = np.minimum(high.listed, stock + inserted)
    least = replace(
        low,
        precision=np.maximum(low.precision, later[0].precision),
        recall=np.maximum(low.recall, later[0].recall),
        listed=np.minimum(np.maximum(low.listed, stock - deleted), most),
    )
    return least, replace(high, deleted=deleted, inserted=inserted, listed=most)


def between(quality: Floats, days: Floats) -> Floats:
    """A quality of 1, 2, ... days after some others; its log is linear between whole days."""
    with np.errstate(divide="ignore"):  # a quality of 0 has no log
        logs = np.concatenate([[0.0], np.log(quality)])
    return np.asarray(np.exp(np.interp(days, np.arange(len(logs)), logs)))


def plain(stock: float, outlook: ForecastPath) -> Forecast:
    """Forecast of a method that has neither mass events nor bands."""
    nothing = ForecastPath.unknown(len(outlook.precision))
    return Forecast(stock, outlook, outlook, nothing, nothing)


def banded(
    stock: float,
    expected: ForecastPath,
    bands: tuple[ForecastBand, ForecastBand],
    days: Floats | None = None,
) -> tuple[ForecastPath, ForecastPath]:
    """Low and high ends of all five figures, after 1, 2, ... days if no others are given.

    Precision and recall have bands of their own. The deleted follow from precision. The inserted
    follow from recall: they are to those expected as the logarithm of recall is to that of the one
    expected. For recalls near 1 that is `N = S (1/recall - 1)` with the survivors `S` as expected;
    for recalls near 0 that would have no bound. The listed are both: their deviations are taken as
    independent, `sqrt(dS^2 + dN^2)`. All are rounded outwards to whole objects.
    """
    if days is None:
        days = np.arange(1.0, len(expected.precision) + 1)
    low_p, high_p = bands[0].bounds(expected.precision, stock, days)
    low_r, high_r = bands[1].bounds(expected.recall, expected.listed, days)
    survived = stock - expected.deleted
    low_n, high_n = (_inserted(survived, expected, recall) for recall in (high_r, low_r))
    down = np.hypot(survived - stock * low_p, expected.inserted - low_n)
    up = np.hypot(stock * high_p - survived, high_n - expected.inserted)
    listed_low = np.maximum(np.floor(expected.listed - down), 0.0)
    listed_high = np.ceil(expected.listed + up)
    came = np.floor(low_n) + 0.0  # which is never -0
    fewest = np.floor(stock - stock * high_p + _ROUNDING) + 0.0
    most = np.ceil(stock - stock * low_p - _ROUNDING) + 0.0
    low = ForecastPath(low_p, low_r, fewest, came, listed_low)
    high = ForecastPath(high_p, high_r, most, np.ceil(high_n), listed_high)
    return low, high


def _inserted(survived: Floats, expected: ForecastPath, recall: Floats) -> Floats:
    """How many newcomers a recall at the end of its band stands for."""
    least = np.maximum(recall, 1.0 / (expected.listed + 1.0))
    hoped = -np.log(np.clip(expected.recall, 1e-12, 1.0))
    scaled = expected.inserted * (-np.log(least) / np.maximum(hoped, 1e-12))
    return np.where(hoped > _ALL_THERE, scaled, survived * (1.0 / least - 1.0))


def banded_empty(expected: ForecastPath, miss: float) -> tuple[ForecastPath, ForecastPath]:
    """The same for an empty copy, of which only Poisson arrivals can be told.

    Args:
        expected: Forecast of the arrivals.
        miss: Share of outcomes that the band may miss.
    """
    ends = [
        np.array(
            [
                NegativeBinomialArrivals(mean).quantile_of_one_rate(1, tail)
                for mean in expected.inserted.tolist()
            ]
        )
        for tail in (miss / 2, 1 - miss / 2)
    ]
    none, one = np.zeros(len(ends[0])), np.ones(len(ends[0]))
    low = ForecastPath(one, np.where(ends[1] > 0, none, one), none, ends[0], ends[0])
    high = ForecastPath(one, np.where(ends[0] > 0, none, one), none, ends[1], ends[1])
    return low, high
