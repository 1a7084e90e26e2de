"""Lifetimes of objects, interval-censored and left-truncated by crawls, as ages with counts.

An object is first seen at one crawl and missed at another, so its arrival lies between two crawls
and so does its removal. Ages are counted from the middle of the arrival's interval:

    arrived in (0, 1], last seen on day 4, gone by day 5:   low 3.5, high 4.5
    arrived in (0, 1], still listed on day 9:               low 8.5, high infinite

An object that is removed before any crawl is never seen, so those that were seen had reached the
age at their first crawl: here half a day. They are observed from there on (`entry`); counting the
days before would make lifetimes seem longer than they are.

An object that was there at the first crawl has an unknown age. It is watched from that
crawl on, with age 0 there and `known` False; only a survival without memory may read it so.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidHistory

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.cycles import Cycle
    from recrawl.listings.data.spells import Listing

_FEW = 1_000_000  # counters that cost nothing to speak of


@dataclass(frozen=True, slots=True, eq=False)
class Lifetimes:
    """Ages between which objects were removed, one row per object or per set of equal ages.

    Args:
        low: Oldest age at which the objects were seen.
        high: Age at which they were known to be gone; infinite where they are still listed,
            and equal to `low` where the time of removal is known.
        entry: Age from which they were watched.
        count: How many objects the row stands for.
        known: Whether the ages are counted from arrival.

    Examples:
        >>> lifetimes = Lifetimes.of([3.5, 8.5], [4.5, np.inf])
        >>> lifetimes.removals, lifetimes.exposure
        (1.0, 12.5)
    """

    low: Floats
    high: Floats
    entry: Floats
    count: Floats
    known: Bools

    @classmethod
    def of(
        cls,
        low: object,
        high: object,
        *,
        entry: object = 0.0,
        count: object = 1.0,
        known: object = True,
    ) -> Lifetimes:
        """Build from numbers or columns, checked for contradictions."""
        ages = np.broadcast_arrays(*(np.asarray(x, np.float64) for x in (low, high, entry, count)))
        youngest, oldest, first, copies = (np.atleast_1d(column) for column in ages)
        for row in np.flatnonzero(~((first >= 0) & (first <= youngest) & (youngest <= oldest)))[:1]:
            raise InvalidHistory(
                f"lifetime {row}: entry, low and high must rise from 0 "
                f"(got {first[row]}, {youngest[row]}, {oldest[row]})"
            )
        for row in np.flatnonzero(~(np.isfinite(youngest) & (copies >= 0)))[:1]:
            raise InvalidHistory(
                f"lifetime {row}: low must be finite and the count not negative "
                f"(got {youngest[row]}, {copies[row]})"
            )
        flags = np.broadcast_to(np.asarray(known, np.bool_), youngest.shape)
        return cls(youngest, oldest, first, copies, flags)

    @classmethod
    def from_dates(
        cls, arrived_after: Floats, arrived_by: Floats, last_seen: Floats, gone_by: Floats
    ) -> Lifetimes:
        """Read the days between which each object arrived and was removed.

        `arrived_after` is minus infinity for objects that were there at the first crawl, `gone_by`
        infinite or nan for those still listed.

        >>> day = np.array
        >>> lifetimes = Lifetimes.from_dates(day([0.0, -np.inf]), day([1.0, 0.0]), day([4.0, 9.0]),
        ...                              day([5.0, np.nan]))
        >>> lifetimes.low, lifetimes.high, lifetimes.known
        (array([3.5, 9. ]), array([4.5, inf]), array([ True, False]))
        >>> lifetimes.entry
        array([0.5, 0. ])
        """
        known = np.isfinite(arrived_after)
        arrival = np.where(known, (np.where(known, arrived_after, 0) + arrived_by) / 2, arrived_by)
        gone = np.where(np.isnan(gone_by), np.inf, gone_by)
        return cls.of(last_seen - arrival, gone - arrival, entry=arrived_by - arrival, known=known)

    @classmethod
    def from_listing(cls, listing: Listing) -> Lifetimes:
        """One row per spell of a listing, in its order.

        >>> from recrawl.listings.data.spells import Listing
        >>> days = np.array(["2026-01-01", "2026-01-02", "2026-01-04"], "datetime64[us]")
        >>> lifetimes = Lifetimes.from_listing(Listing.of(["a", "b"], days, [(0, 0, 2), (1, 1, 3)]))
        >>> lifetimes.low, lifetimes.high, lifetimes.known
        (array([1. , 2.5]), array([ 3., inf]), array([False,  True]))
        """
        crawls = listing.crawls
        day = (crawls - crawls[:1]) / np.timedelta64(1, "D")
        after = np.where(listing.first > 0, day[np.maximum(listing.first - 1, 0)], -np.inf)
        gone = np.where(listing.listed, np.inf, day[np.minimum(listing.gone, len(day) - 1)])
        return cls.from_dates(after, day[listing.first], day[listing.gone - 1], gone)

    @classmethod
    def from_cycles(cls, cycles: list[Cycle]) -> Lifetimes:
        """What each cycle saw of each cohort: those that lived through it and those that did not.

        An object counts once in every cycle it begins, watched from its age there: left
        truncation accounts for that.
        """
        pieces = [_of_cycle(cycle) for cycle in cycles]
        empty = np.empty(0)
        columns = [np.concatenate([empty, *part]) for part in zip(*pieces, strict=True)] or [
            empty
        ] * 5
        low, high, entry, count, known = columns
        kept = count > 0
        return cls.of(
            low[kept], high[kept], entry=entry[kept], count=count[kept], known=known[kept] > 0
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.low)

    @property
    def objects(self) -> float:
        """How many objects there are."""
        return float(np.sum(self.count))

    @property
    def removed(self) -> Bools:
        """Whether each row's objects are gone."""
        return np.isfinite(self.high)

    @property
    def age(self) -> Floats:
        """Age at removal, taken in the middle of its interval, or the oldest age seen."""
        return np.where(
            self.removed, (self.low + np.where(self.removed, self.high, 0)) / 2, self.low
        )

    @property
    def removals(self) -> float:
        """How many objects were removed."""
        return float(np.sum(self.count[self.removed]))

    @property
    def exposure(self) -> float:
        """Days listed under watch by all objects together."""
        return float(np.sum(self.count * (self.age - self.entry)))

    def take(self, rows: Ints | Bools) -> Lifetimes:
        """Only the named rows."""
        return Lifetimes(
            self.low[rows], self.high[rows], self.entry[rows], self.count[rows], self.known[rows]
        )

    def with_known_age(self) -> Lifetimes:
        """Only objects whose age counts from arrival."""
        return self if self.known.all() else self.take(self.known)

    def binned(self, width: float = 0.25) -> Lifetimes:
        """Ages rounded to multiples of `width` days, and equal rows put together.

        A million objects of a source crawled daily make a few thousand rows. A removal between two
        ages stays between two, so that no object is removed at its age of entry.

        >>> lifetimes = Lifetimes.of([3.5, 3.6, 3.5], [4.5, 4.5, 4.5]).binned(0.5)
        >>> lifetimes.low, lifetimes.count
        (array([3.5]), array([3.]))
        """
        if not len(self):
            return self
        low, entry = _in_steps(self.low, width), _in_steps(self.entry, width)
        high = _in_steps(np.where(self.removed, self.high, 0.0), width)
        high = np.maximum(high, low + (self.high > self.low))
        # From the oldest age seen to the one at which they were gone, and one; 0 if still listed.
        wait = np.where(self.removed, high - low + 1, 0)
        columns = (low, wait, entry, self.known.astype(np.int64))
        sizes = [int(column.max()) + 1 for column in columns]
        key = np.ravel_multi_index(columns, sizes)
        keys, count = _counted(key, self.count, int(np.prod(sizes)))
        low, wait, entry, known = np.unravel_index(keys, sizes)
        return Lifetimes(
            low=low.astype(np.float64) * width,
            high=np.where(wait > 0, (low + wait - 1) * width, np.inf),
            entry=entry.astype(np.float64) * width,
            count=count,
            known=known > 0,
        )


def _in_steps(ages: Floats, width: float) -> Ints:
    return np.rint(ages / width).astype(np.int64)


def _counted(key: Ints, weight: Floats, keys: int) -> tuple[Ints, Floats]:
    """Each key once, and the sum of its weights."""
    if keys <= 4 * len(key) + _FEW:  # no need to sort
        some = np.flatnonzero(np.bincount(key, minlength=keys))
        return some, np.bincount(key, weight, keys)[some].astype(np.float64)
    some, row = np.unique(key, return_inverse=True)
    return some, np.bincount(row, weight, len(some)).astype(np.float64)


def _of_cycle(cycle: Cycle) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Low, high, entry, count and known of a cycle's cohorts: the remaining, then the removed."""
    stock, days = cycle.stock, float(cycle.days)
    known = stock.before >= 0
    age = np.where(known, stock.day - (stock.seen + stock.before) / 2, 0.0)
    twice = np.concatenate([age, age])
    removed = np.arange(len(twice)) >= len(age)
    return (
        np.where(removed, twice, twice + days),
        np.where(removed, twice + days, np.inf),
        twice,
        np.concatenate([stock.count - cycle.deleted, cycle.deleted]),
        np.concatenate([known, known]).astype(np.float64),
    )
