"""A world: pages that are found, change and vanish at known times.

Rows are pages in the order in which they are found. The changes of all pages lie end to end, as
in visit histories, and `offsets` says where each page begins:

    changes  t1 t5 t6 | t2 | t3 t9      page 0 has three changes, page 1 one, page 2 two
    offsets  0          3    4       6

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidHistory
from recrawl.policies.pages import Pages
from recrawl.units import MICROSECONDS_A_DAY, days_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.plan.budget import Budget

_BITS = 63  # of a number that is not negative


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Pages and all their changes.

    Args:
        address: Address or path of each page.
        first_seen: When each page is found and first copied, never falling.
        removed_at: When each page is gone; NaT where it stays.
        weight: How much each page matters.
        changes: When pages change, rising within a page, inside of its life.
        offsets: Where each page's changes begin.
        end: Until when the world is known.
        scored_from: From when on scores count.
        first_age: Days from each page's last change to when it is found; nan where it had none.
        version: Version of its page that each change leads to, from 1 on: 0 is what is there when
            the page is found. None where each change leads to a new one.
    """

    address: tuple[str, ...]
    first_seen: Instants
    removed_at: Instants
    weight: Floats
    changes: Instants
    offsets: Ints
    end: np.datetime64
    scored_from: np.datetime64
    first_age: Floats
    version: Ints | None = None

    @classmethod
    def of(  # noqa: PLR0913 - pages, and all that happens to them
        cls,
        address: Sequence[str],
        first_seen: Instants,
        changes: tuple[Ints, Instants],
        *,
        removed_at: Instants | None = None,
        weight: Floats | None = None,
        end: np.datetime64 | None = None,
        first_age: Floats | None = None,
        reverts: Bools | None = None,
    ) -> World:
        """A world from pages in any order and changes as pairs of a page's row and an instant.

        Changes outside of the life of their page, or after the end, are left out; the last one
        before a page is found says how old the page is then.

        Args:
            address: Address of each page.
            first_seen: When each is found.
            changes: Row of the page of each change, and when it happens.
            removed_at: When each page is gone; NaT where it stays.
            weight: How much each page matters.
            end: Until when the world is known; the last change or removal if not given.
            first_age: Days from each page's last change to when it is found; by the changes before
                that if not given.
            reverts: Which changes lead back to the version before; none if not given.

        Examples:
            >>> day = np.datetime64("2026-01-01", "us") + np.arange(9) * np.timedelta64(1, "D")
            >>> world = World.of(["/b", "/a"], day[[1, 0]], (np.array([0, 1, 0]), day[[5, 2, 4]]))
            >>> world.address, world.offsets
            (('/a', '/b'), array([0, 1, 3]))
            >>> world.live_days, world.rates
            (array([5., 4.]), array([0.2, 0.5]))
        """
        if not len(address):
            raise InvalidHistory("a world must have a page (got none)")
        order = np.argsort(first_seen, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        found = np.asarray(first_seen, "datetime64[us]")[order]
        gone = np.full(len(order), "NaT", "datetime64[us]") if removed_at is None else removed_at
        gone = np.asarray(gone, "datetime64[us]")[order]
        row, at = rank[changes[0]], np.asarray(changes[1], "datetime64[us]")
        age = _ages_when_found(found, row, at) if first_age is None else first_age[order]
        inside = (at > found[row]) & ~(at >= gone[row])
        last = _last(found[0], at[inside], gone) if end is None else end.astype("datetime64[us]")
        inside &= at <= last
        row, at = row[inside], at[inside]
        back = None if reverts is None else reverts[inside][np.lexsort((at, row))]
        row, at = in_order(row, at)
        ones = np.ones(len(order))
        return cls(
            address=tuple(address[page] for page in order.tolist()),
            first_seen=found,
            removed_at=gone,
            weight=ones if weight is None else np.asarray(weight, np.float64)[order],
            changes=at,
            offsets=np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(order)))]),
            end=last,
            scored_from=found[0],
            first_age=age,
            version=None if back is None else _versions(row, back),
        )

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.address)

    def versions(self, rows: Ints, reached: Ints) -> Ints:
        """What some pages are, where so many changes have come.

        Args:
            rows: The pages.
            reached: Where in the world's changes the next one of each stands.

        Returns:
            Numbers that are equal where a page is the same.
        """
        if self.version is None:
            return reached
        before = np.where(reached > self.offsets[rows], self.version[reached - 1], 0)
        return np.asarray(before, np.int64)

    @property
    def start(self) -> np.datetime64:
        """When the first page is found."""
        start: np.datetime64 = self.first_seen[0]
        return start

    @property
    def days(self) -> float:
        """How long the world is known."""
        return float((self.end - self.start).astype(np.int64)) / MICROSECONDS_A_DAY

    @property
    def last_moment(self) -> Instants:
        """Until when each page counts: it is gone, or the world ends."""
        return np.fmin(self.removed_at, self.end)  # the end where NaT

    @property
    def live_days(self) -> Floats:
        """How long each page lives."""
        return np.maximum(days_between(self.first_seen, self.last_moment), 0.0)

    @property
    def scored_days(self) -> Floats:
        """How long each page lives from when scores count."""
        counts_from = np.maximum(self.first_seen, self.scored_from)
        return np.maximum(days_between(counts_from, self.last_moment), 0.0)

    @property
    def change_counts(self) -> Ints:
        """Changes of each page."""
        return np.diff(self.offsets)

    @property
    def rates(self) -> Floats:
        """True rate of each page: changes / live days; 0 for a page that does not live."""
        live = self.live_days
        return np.divide(self.change_counts, live, out=np.zeros(len(live)), where=live > 0)

    @property
    def row_of_change(self) -> Ints:
        """Page of each change."""
        return np.repeat(np.arange(len(self)), self.change_counts)

    @property
    def pages(self) -> Pages:
        """The pages as a policy is told of them."""
        return Pages.of(self.address, self.first_seen, weight=self.weight)

    def after(self, warm_up: float) -> World:
        """The same world, where the first days do not count for scores."""
        waited = np.timedelta64(round(warm_up * MICROSECONDS_A_DAY), "us")
        return replace(self, scored_from=self.start + waited)

    def budget(self, budget: Budget) -> Budget:
        """A budget where visits a change have become visits a page and day.

        Examples:
            >>> from recrawl.plan.budget import Budget
            >>> day = np.datetime64("2026-01-01", "us") + np.arange(11) * np.timedelta64(1, "D")
            >>> world = World.of(["/"], day[:1], (np.array([0, 0]), day[[5, 10]]))
            >>> world.budget(Budget.read("3/change"))
            Budget(visits=0.6, each='page')
        """
        page_days = float(self.live_days.sum())
        return budget.for_changes(changes=len(self.changes), page_days=page_days)


def _ages_when_found(found: Instants, row: Ints, at: Instants) -> Floats:
    """Days from the last change of each page before it is found; nan where there is none."""
    age = np.full(len(found), np.inf)
    before = at <= found[row]
    np.minimum.at(age, row[before], days_between(at[before], found[row[before]]))
    return np.where(np.isinf(age), np.nan, age)


def _versions(row: Ints, back: Bools) -> Ints:
    """Version that each change leads to, by page and time.

    A change that leads back swaps the present version with the one before it, so that a page may go
    to and fro between two. Where there is none before, it leads to a new one.

    >>> _versions(np.zeros(5, np.int64), np.array([True, False, True, True, False])).tolist()
    [1, 2, 1, 2, 3]
    """
    versions, page = [], -1
    now = before = newest = 0
    for each, leads_back in zip(row.tolist(), back.tolist(), strict=True):
        if each != page:
            page, now, before, newest = each, 0, 0, 0
        if leads_back and before != now:
            now, before = before, now
        else:
            newest += 1
            now, before = newest, now
        versions.append(now)
    return np.array(versions, np.int64)


def _last(start: np.datetime64, changes: Instants, removed_at: Instants) -> np.datetime64:
    """The last change or removal."""
    known = [
        start,
        *(some.max() for some in (changes, removed_at[~np.isnat(removed_at)]) if len(some)),
    ]
    last: np.datetime64 = max(known)
    return last


def in_order(rows: Ints, times: Instants, *, by_time: bool = False) -> tuple[Ints, Instants]:
    """Pairs of a row and a time by row, then by time; or the other way round.

    Both make one number where they fit into it: sorting numbers is several times as fast as
    sorting pairs, and takes less memory.

    Examples:
        >>> times = np.array(["2026-01-03", "2026-01-02", "2026-01-01"], "datetime64[us]")
        >>> in_order(np.array([1, 1, 0]), times)[0]
        array([0, 1, 1])
    """
    if not len(rows):
        return rows, times
    first = times.min()
    elapsed = (times - first).astype(np.int64, copy=False)
    of_row, of_time = int(rows.max()).bit_length(), int(elapsed.max()).bit_length()
    if of_row + of_time > _BITS:
        order = np.lexsort((rows, times) if by_time else (times, rows))
        return rows[order], times[order]
    low = of_row if by_time else of_time
    key = elapsed << low if by_time else rows << low
    key |= rows if by_time else elapsed
    del elapsed
    key.sort()
    upper = key >> low
    key &= (1 << low) - 1
    sorted_rows, sorted_times = (key, upper) if by_time else (upper, key)
    sorted_times += first.astype(np.int64)
    return sorted_rows, sorted_times.view("datetime64[us]")


class Timeline:
    """A world as time goes on: how far each page's changes have come.

    Attributes:
        reached: For each page, where in the world's changes its next one stands.

    Examples:
        >>> day = np.datetime64("2026-01-01", "us") + np.arange(9) * np.timedelta64(1, "D")
        >>> world = World.of(["/a", "/b"], day[[0, 0]], (np.array([0, 0, 1]), day[[2, 4, 3]]))
        >>> unfolding = Timeline(world)
        >>> unfolding.advance(day[3])
        >>> unfolding.reached - world.offsets[:-1]
        array([1, 1])
    """

    def __init__(self, world: World) -> None:
        self._row, times = in_order(world.row_of_change, world.changes, by_time=True)
        self._at = times.view(np.int64)
        self._next = 0
        self.reached: Ints = world.offsets[:-1].copy()

    def advance(self, now: np.datetime64) -> None:
        """Let time go on until now; what happens at this very moment has happened."""
        until = int(self._at.searchsorted(now.view(np.int64), side="right"))
        if until > self._next:
            np.add.at(self.reached, self._row[self._next : until], 1)
            self._next = until
