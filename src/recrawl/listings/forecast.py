"""What a copy of a listing will be worth on each of the coming days.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.negative_binomial import NegativeBinomialArrivals
from recrawl.listings.quality import precision, recall

if TYPE_CHECKING:
    from recrawl.listings.bands import Band
    from recrawl.visits.arrays import Floats

METRICS = ("precision", "recall", "deleted", "inserted", "listed")
QUALITIES = ("precision", "recall")
_ALL_THERE = 1e-9  # logarithm of a recall that is 1


@dataclass(frozen=True, slots=True, eq=False)
class Outlook:
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
    def of_counts(cls, stock: float, survived: Floats, inserted: Floats) -> Outlook:
        """From how many of the stock are left and how many came.

        >>> outlook = Outlook.of_counts(10, np.array([8.0]), np.array([4.0]))
        >>> outlook.precision, outlook.recall.round(6), outlook.listed
        (array([0.8]), array([0.666667]), array([12.]))
        """
        listed = survived + inserted
        return cls(
            precision(survived, stock), recall(survived, listed), stock - survived, inserted, listed
        )

    @classmethod
    def of_quality(cls, stock: float, kept: Floats, found: Floats) -> Outlook:
        """From precision and recall: what they say of the counts of a stock that is not empty.

        >>> outlook = Outlook.of_quality(10, np.array([0.8]), np.array([2 / 3]))
        >>> outlook.deleted.round(6), outlook.inserted.round(6)
        (array([2.]), array([4.]))
        """
        survived = stock * kept
        inserted = survived * (1.0 / np.maximum(found, 1e-12) - 1.0)
        return cls(kept, found, stock - survived, inserted, survived + inserted)

    @classmethod
    def unknown(cls, days: int) -> Outlook:
        """Nothing can be said."""
        return cls(*np.full((len(METRICS), days), np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Forecast for 1, 2, ... days after a synchronisation.

    Args:
        stock: Objects that the synchronisation found.
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
    typical: Outlook
    expected: Outlook
    low: Outlook
    high: Outlook
    bands: tuple[Band, Band] | None = None
    status: tuple[str, ...] = ()
    arrivals: float = nan

    def __len__(self) -> int:
        """How many days ahead it reaches."""
        return len(self.typical.precision)

    @property
    def days(self) -> Floats:
        """Days since the synchronisation: 1, 2, ..."""
        return np.arange(1.0, len(self) + 1)

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


def plain(stock: float, outlook: Outlook) -> Forecast:
    """Forecast of a method that knows neither mass events nor bands."""
    nothing = Outlook.unknown(len(outlook.precision))
    return Forecast(stock, outlook, outlook, nothing, nothing)


def banded(stock: float, expected: Outlook, bands: tuple[Band, Band]) -> tuple[Outlook, Outlook]:
    """Low and high ends of all five figures.

    Precision and recall have bands of their own. The deleted follow from precision. The inserted
    follow from recall: they are to those expected as the logarithm of recall is to that of the one
    expected. For recalls near 1 that is `N = S (1/recall - 1)` with the survivors `S` as expected;
    for recalls near 0 that would have no bound. The listed are both: their deviations are taken as
    independent, `sqrt(dS^2 + dN^2)`. All are rounded outwards to whole objects.
    """
    days = np.arange(1.0, len(expected.precision) + 1)
    low_p, high_p = bands[0].bounds(expected.precision, stock, days)
    low_r, high_r = bands[1].bounds(expected.recall, expected.listed, days)
    survived = stock - expected.deleted
    low_n, high_n = (_inserted(survived, expected, recall) for recall in (high_r, low_r))
    down = np.hypot(survived - stock * low_p, expected.inserted - low_n)
    up = np.hypot(stock * high_p - survived, high_n - expected.inserted)
    listed_low = np.maximum(np.floor(expected.listed - down), 0.0)
    listed_high = np.ceil(expected.listed + up)
    low = Outlook(low_p, low_r, _whole(stock - stock * high_p), np.floor(low_n), listed_low)
    high = Outlook(high_p, high_r, _whole(stock - stock * low_p), np.ceil(high_n), listed_high)
    return low, high


def _inserted(survived: Floats, expected: Outlook, recall: Floats) -> Floats:
    """How many newcomers a recall at the end of its band stands for."""
    least = np.maximum(recall, 1.0 / (expected.listed + 1.0))
    hoped = -np.log(np.clip(expected.recall, 1e-12, 1.0))
    scaled = expected.inserted * (-np.log(least) / np.maximum(hoped, 1e-12))
    return np.where(hoped > _ALL_THERE, scaled, survived * (1.0 / least - 1.0))


def banded_empty(expected: Outlook, miss: float) -> tuple[Outlook, Outlook]:
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
    low = Outlook(one, np.where(ends[1] > 0, none, one), none, ends[0], ends[0])
    high = Outlook(one, np.where(ends[0] > 0, none, one), none, ends[1], ends[1])
    return low, high


def _whole(count: Floats) -> Floats:
    """Counts that are whole but for rounding."""
    return np.round(count, 6) + 0.0
