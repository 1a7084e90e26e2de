"""What a crawl believes of each of its pages, and when it will visit them next.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.settings.pools import terms
from recrawl.units import epoch_days, instant_after_epoch, instants_after_epoch
from recrawl.visits.status import PageStatus, VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints, Statuses
    from recrawl.entries.store import ReadStore
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.state.snapshot import PoolSnapshot, Snapshot

_FIGURES = ("rate", "low", "high", "shape", "exposure", "fresh")
_BLOCK = 1 << 15
# A price is found from so many pages, drawn by lot, as what is reached in this part of a mean gap.
_PRICED, _AHEAD = 2_000, 0.25
_LOWEST, _HIGHEST, _HALVINGS = 1e-12, 1e12, 32  # of the search for a price


@dataclass(frozen=True, slots=True, eq=False)
class PageRows:
    """What is known of pages: one row per page, nan and NaT where nothing is.

    Args:
        status: Numbers of `PageStatus`.
        visits: Visits made.
        changes: How many of them found a change.
        rate: Changes a day, while the section is as active as usual.
        low: Lower end of its band.
        high: Upper end.
        shape: Shape of the Gamma distribution with the same mean and variance as the rate.
        exposure: Its exposure, in days.
        fresh: Chance that the copy is fresh.
        last_visit: When page and copy were last compared.
        last_change: When a visit last found a change.
        weight: How much a fresh copy matters.
    """

    status: Statuses
    visits: Ints
    changes: Ints
    rate: Floats
    low: Floats
    high: Floats
    shape: Floats
    exposure: Floats
    fresh: Floats
    last_visit: Instants
    last_change: Instants
    weight: Floats

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.status)

    def take(self, rows: Ints) -> PageRows:
        """Some of the pages."""
        return PageRows(*(getattr(self, name)[rows] for name in self.__slots__))


def page_rows(sight: Snapshot, reader: ReadStore) -> PageRows:
    """All pages of a crawl as it was looked at."""
    count = len(sight.rule)
    figures = {name: np.full(count, np.nan) for name in _FIGURES}
    for pool in sight.pools:
        if pool.state is not None:
            _believe(pool, sight.now, figures)
    weights = np.array([each.weight for each in terms(sight.settings)])
    visits, changes, last_change = _counted(reader, count)
    gone = ~np.isin(sight.columns.status, (PageStatus.COPIED, PageStatus.SUSPECTED))
    figures["fresh"][gone] = np.nan
    return PageRows(
        status=sight.columns.status,
        visits=visits,
        changes=changes,
        **figures,
        last_visit=instants_after_epoch(np.where(np.isnan(sight.last), np.inf, sight.last)),
        last_change=last_change,
        weight=weights[sight.rule],
    )


def believed(sight: Snapshot, page: int) -> Beliefs | None:
    """What is believed of one page, counted from 0; None where it has no copy."""
    for pool in sight.pools:
        rows = np.flatnonzero(pool.pages == page)
        if len(rows) and pool.state is not None:
            return Beliefs.of(pool.state, rows, sight.now)
    return None


def _believe(pool: PoolSnapshot, now: float, figures: dict[str, Floats]) -> None:
    """Write down what is believed of the pages of a pool."""
    state, rows = pool.state, np.arange(len(pool.pages))
    assert state is not None  # noqa: S101 - asked before

    def work(some: slice) -> None:
        beliefs, pages = Beliefs.of(state, rows[some], now), pool.pages[some]
        figures["rate"][pages], figures["fresh"][pages] = beliefs.rate, beliefs.fresh
        figures["shape"][pages], figures["exposure"][pages] = beliefs.as_one
        figures["low"][pages], figures["high"][pages] = beliefs.rate_band()

    over_blocks(work, len(rows), _BLOCK)


def _counted(reader: ReadStore, pages: int) -> tuple[Ints, Ints, Instants]:
    """Visits to each page, changes that they found, and the last of these."""
    visits, changes = np.zeros(pages, np.int64), np.zeros(pages, np.int64)
    last = np.full(pages, np.datetime64("NaT", "us"))
    for some in reader.outcomes():
        known = some.page < pages
        page, found = some.page[known], some.outcome[known] == VisitOutcome.CHANGED
        visits += np.bincount(page, minlength=pages)
        changes += np.bincount(page[found], minlength=pages)
        last[page[found]] = some.at[known][found]  # in order: the last one stays
    return visits, changes, last


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What visits to the pages of a pool are worth that its budget pays for.

    Args:
        price: Value of a visit from which on it is made; infinite where none is.
        waiting: Values of the pages that are worth as much already, rising.
        coming: When some of the others reach it that do so soon, rising, in days after 1970.
        each: How many pages each of these stands for.
        until: Until when that is soon.
        visits_a_day: What the budget allows.
    """

    price: float
    waiting: Floats
    coming: Floats
    each: float
    until: float
    visits_a_day: float

    @classmethod
    def of(cls, sight: Snapshot, pool: PoolSnapshot, pages: int) -> Prices:
        """Find the price of a pool of so many pages.

        As many pages as the budget pays for in the part of a mean gap to come reach it in that
        time. The value of the best page now says little: where hosts announce changes it is far
        above what other pages ever reach.
        """
        visits, none = pool.budget.visits_a_day(pages), np.empty(0)
        if pool.state is None or visits <= 0:
            return cls(np.inf, none, none, 1.0, sight.now, visits)
        until = sight.now + _AHEAD * pages / visits
        least = np.array([each.minimum for each in terms(sight.settings)])[sight.rule[pool.pages]]
        free = _free(sight)[pool.pages]
        # Pages that their terms keep back do not compete, unless there are no others.
        soon = free & (pool.state.last + least <= until)
        rows = np.flatnonzero(soon if soon.any() else free)
        if not len(rows):
            return cls(np.inf, none, none, 1.0, until, visits)
        some = rows
        if len(rows) > _PRICED:
            some = np.random.default_rng(len(rows)).choice(rows, _PRICED, replace=False)
        each = len(rows) / len(some)
        wanted = min(visits * (until - sight.now) / each, len(some))
        price = _price(sight, pool.state, some, until, wanted)
        values, due = _values(sight, pool.state, rows), _reached(sight, pool.state, some, price)
        later = (_values(sight, pool.state, some) < price) & (due <= until)
        waiting = np.sort(values[values >= price])
        return cls(price, waiting, np.sort(due[later]), each, until, visits)

    def turn(self, values: Floats, reached: Floats, now: float) -> Floats:
        """When it is the turn of pages, by their values and by when these reach the price."""
        if self.visits_a_day <= 0:
            return np.full(len(values), np.inf)
        better = len(self.waiting) - np.searchsorted(self.waiting, values, side="right")
        sooner = len(self.waiting) + self.each * np.searchsorted(self.coming, reached)
        before = np.where(values >= self.price, better, sooner)
        soon = (values >= self.price) | (reached <= self.until)
        return np.where(soon, now + before / self.visits_a_day, reached)


@dataclass(frozen=True, slots=True, eq=False)
class NextVisits:
    """When pages of a crawl will be visited next.

    A set time holds. Otherwise a page is visited when a visit is worth the price, within the bounds
    that its rule sets; of pages that are worth it already, those that are worth most come first.

    Args:
        sight: The crawl.
        prices: Price of each pool.
        row: Row of each page in the state of its pool, -1 where it has none.
    """

    sight: Snapshot
    prices: list[Prices]
    row: Ints

    @classmethod
    def of(cls, sight: Snapshot) -> NextVisits:
        """Find the prices."""
        row = np.full(len(sight.rule), -1)
        pool_of = np.array([each.pool for each in terms(sight.settings)])[sight.rule]
        counts = np.bincount(pool_of, minlength=len(sight.pools))
        prices = []
        for number, pool in enumerate(sight.pools):
            row[pool.pages] = np.arange(len(pool.pages))
            prices.append(Prices.of(sight, pool, int(counts[number])))
        return cls(sight, prices, row)

    def at(self, pages: Ints) -> Instants:
        """When some pages are visited next; NaT where the budget decides, or nobody."""
        sight = self.sight
        every = terms(sight.settings)
        rule = sight.rule[pages]
        due = np.full(len(pages), np.inf)
        pool_of = np.array([each.pool for each in every])[rule]
        free = _free(sight)[pages] & (self.row[pages] >= 0)
        for number, pool in enumerate(sight.pools):
            ours = np.flatnonzero(free & (pool_of == number))
            if len(ours):
                due[ours] = self._due(pool, self.row[pages[ours]], self.prices[number])
        for number in np.unique(rule[free]).tolist():
            term, ours = every[number], np.flatnonzero(free & (rule == number))
            last = sight.last[pages[ours]]
            if term.interval:
                due[ours] = last + term.interval
            bounded = np.clip(due[ours], last + term.minimum, last + term.maximum)
            due[ours] = [term.opens(max(at, sight.now)) for at in bounded.tolist()]
        appointed = epoch_days(sight.columns.next_at[pages])
        ruled = rule < len(sight.settings.rules)
        due = np.where(free & ~np.isnan(appointed), np.minimum(appointed, due), due)
        due = np.where(ruled & ~free & ~np.isnan(appointed), appointed, due)
        due = np.maximum(due, sight.now)
        return instants_after_epoch(np.where(ruled, due, np.inf))

    def _due(self, pool: PoolSnapshot, rows: Ints, prices: Prices) -> Floats:
        """When it is the turn of pages, by what visits to them are worth."""
        due, sight = np.empty(len(rows)), self.sight
        assert pool.state is not None  # noqa: S101 - it has rows
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            reached = _reached(sight, pool.state, some, prices.price)
            values = _values(sight, pool.state, some)
            due[start : start + len(some)] = prices.turn(values, reached, sight.now)
        return due


def _reached(sight: Snapshot, state: RecrawlState, rows: Ints, price: float) -> Floats:
    """When the value of each page reaches the price; infinite where it never does."""
    due = epoch_days(sight.policy.due(state, rows, price))
    return np.where(np.isnan(due), np.inf, due)


def _values(sight: Snapshot, state: RecrawlState, rows: Ints) -> Floats:
    """What a visit to each page is worth now."""
    return sight.policy.value(state, rows, instant_after_epoch(sight.now))


def _price(sight: Snapshot, state: RecrawlState, rows: Ints, until: float, wanted: float) -> float:
    """The price that so many of some pages reach until an instant, and no more."""

    def reach(price: float) -> bool:
        return int(np.count_nonzero(_reached(sight, state, rows, price) <= until)) >= wanted

    high = float(_values(sight, state, rows).max()) or 1.0
    while reach(high) and high < _HIGHEST:
        high *= 2
    low = high * _LOWEST
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if reach(middle) else (low, middle)
    return low


def _free(sight: Snapshot) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which pages have a copy and are left to the policy, if need be until a set time at most."""
    columns, every = sight.columns, terms(sight.settings)
    well = (columns.status == PageStatus.COPIED) & (columns.failures == 0)
    bounded = np.array([not term.interval and term.maximum < np.inf for term in every])
    return np.asarray(well & (np.isnat(columns.next_at) | bounded[sight.rule]))
