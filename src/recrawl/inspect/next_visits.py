"""When pages of a crawl will be visited next: the one answer of `pages`, `history` and `status`.

A crawl is simulated from its snapshot until the pages in question are visited
(`recrawl.simulate.next_visit`); `why` explains the same visit. Of a crawl too large for that, one
page is simulated among a sample of the others, and times of many pages follow from the *price*:
a page is visited when a visit is worth it, within the bounds that its rule sets; of pages that are
worth it already, those that are worth most come first.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.inspect.scenario import MOST_PAGES, build_scenario
from recrawl.policies.policy import Priced
from recrawl.settings.pools import terms
from recrawl.simulate.next_visit import first_visit, simulate_next_visit, simulate_next_visits
from recrawl.units import epoch_days, instant_after_epoch, instants_after_epoch
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.entries.store import ReadStore
    from recrawl.settings.terms import VisitTerms
    from recrawl.state.snapshot import PoolSnapshot, Snapshot

_SIMULATED_ALONE = 3  # pages of a large crawl, each in a virtual crawl of its own
_BLOCK = 1 << 15
_GAPS = 3  # mean gaps for which the turns of a policy without values are gone through
# A price is found from so many pages, drawn at random: what is reached in this part of a mean gap.
_PRICED, _AHEAD = 2_000, 0.25
_LOWEST, _HIGHEST, _HALVINGS = 1e-12, 1e12, 32  # of the search for a price


def next_visits(snapshot: Snapshot, store: ReadStore, pages: Ints) -> Instants:
    """When some pages are visited next, none before now; NaT where they are not scheduled."""
    if not len(pages):
        return instants_after_epoch(np.empty(0))
    if len(snapshot.rule) <= MOST_PAGES:
        scenario = build_scenario(snapshot, store, int(pages[0]))
        found = [each.at for each in simulate_next_visits(scenario, pages.tolist())]
    elif len(pages) <= _SIMULATED_ALONE:
        scenarios = (build_scenario(snapshot, store, page) for page in pages.tolist())
        found = [simulate_next_visit(each).at for each in scenarios]
    else:
        return priced_next_visits(snapshot, pages)
    return instants_after_epoch(np.maximum(found, snapshot.now))


def priced_next_visits(snapshot: Snapshot, pages: Ints) -> Instants:
    """The same, reckoned from what visits are worth; NaT for new pages, too."""
    return PricedVisits.of(snapshot).at(pages)


def next_visit_of_any(snapshot: Snapshot, store: ReadStore) -> float:
    """When the next visit is made, to whichever page; infinite where none is scheduled."""
    if not len(snapshot.rule):
        return np.inf
    return first_visit(build_scenario(snapshot, store, 0, most=len(snapshot.rule)))


@dataclass(frozen=True, slots=True, eq=False)
class _Prices:
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
    def of(cls, snapshot: Snapshot, pool: PoolSnapshot, pages: int) -> _Prices:
        """Find the price of a pool of so many pages.

        As many pages as the budget pays for in the part of a mean gap to come reach it in that
        time. The value of the best page now says little: where hosts announce changes it is far
        above what other pages ever reach.
        """
        visits, none = pool.budget.visits_a_day(pages), np.empty(0)
        if pool.learned is None or visits <= 0 or not isinstance(snapshot.policy, Priced):
            return cls(np.inf, none, none, 1.0, snapshot.now, visits)
        until = snapshot.now + _AHEAD * pages / visits
        least = np.array([each.minimum for each in terms(snapshot.settings)])[
            snapshot.rule[pool.pages]
        ]
        free = _free(snapshot)[pool.pages]
        # Pages that their terms keep back do not compete, unless there are no others.
        soon = free & (pool.learned.last + least <= until)
        rows = np.flatnonzero(soon if soon.any() else free)
        if not len(rows):
            return cls(np.inf, none, none, 1.0, until, visits)
        some = rows
        if len(rows) > _PRICED:
            some = np.random.default_rng(len(rows)).choice(rows, _PRICED, replace=False)
        each = len(rows) / len(some)
        wanted = min(visits * (until - snapshot.now) / each, len(some))
        price = _price(snapshot, pool.learned, some, until, wanted)
        values, due = (
            _values(snapshot, pool.learned, rows),
            _reached(snapshot, pool.learned, some, price),
        )
        later = (_values(snapshot, pool.learned, some) < price) & (due <= until)
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
class PricedVisits:
    """When pages of a large crawl will be visited next, by what visits are worth.

    Args:
        snapshot: The crawl.
        prices: Price of each pool.
        row: Row of each page in the state of its pool, -1 where it has none.
    """

    snapshot: Snapshot
    prices: list[_Prices]
    row: Ints

    @classmethod
    def of(cls, snapshot: Snapshot) -> PricedVisits:
        """Find the prices."""
        row = np.full(len(snapshot.rule), -1)
        pool_of = np.array([each.pool for each in terms(snapshot.settings)])[snapshot.rule]
        counts = np.bincount(pool_of, minlength=len(snapshot.pools))
        prices = []
        for number, pool in enumerate(snapshot.pools):
            row[pool.pages] = np.arange(len(pool.pages))
            prices.append(_Prices.of(snapshot, pool, int(counts[number])))
        return cls(snapshot, prices, row)

    def at(self, pages: Ints) -> Instants:
        """When some pages are visited next; NaT where they are not scheduled, or new."""
        snapshot = self.snapshot
        every = terms(snapshot.settings)
        rule = snapshot.rule[pages]
        due = np.full(len(pages), np.inf)
        pool_of = np.array([each.pool for each in every])[rule]
        free = _free(snapshot)[pages] & (self.row[pages] >= 0)
        for number, pool in enumerate(snapshot.pools):
            ours = np.flatnonzero(free & (pool_of == number))
            if len(ours):
                due[ours] = self._due(pool, self.row[pages[ours]], self.prices[number])
        ours = np.flatnonzero(free)
        due[ours] = _on_terms(every, rule[ours], snapshot.last[pages[ours]], due[ours])
        due[ours] = _opening(every, rule[ours], np.maximum(due[ours], snapshot.now))
        appointed = epoch_days(snapshot.columns.next_at[pages])
        ruled = rule < len(snapshot.settings.rules)
        due = np.where(free & ~np.isnan(appointed), np.minimum(appointed, due), due)
        due = np.where(ruled & ~free & ~np.isnan(appointed), appointed, due)
        due = np.maximum(due, snapshot.now)
        return instants_after_epoch(np.where(ruled, due, np.inf))

    def _due(self, pool: PoolSnapshot, rows: Ints, prices: _Prices) -> Floats:
        """When it is the turn of pages, by what visits to them are worth, or by their due times."""
        due, snapshot = np.empty(len(rows)), self.snapshot
        if not isinstance(snapshot.policy, Priced):
            return _by_due_time(snapshot, pool, prices.visits_a_day)[rows]
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            values = _values(snapshot, pool.learned, some)
            reached = np.full(len(some), snapshot.now)
            later = np.flatnonzero(values < prices.price)
            reached[later] = _reached(snapshot, pool.learned, some[later], prices.price)
            due[start : start + len(some)] = prices.turn(values, reached, snapshot.now)
        return due


def _on_terms(every: Sequence[VisitTerms], rule: Ints, last: Floats, due: Floats) -> Floats:
    """When pages are due within the bounds of their rules, by their last visits."""
    interval, least, most = (
        np.array([getattr(each, name) for each in every])[rule]
        for name in ("interval", "minimum", "maximum")
    )
    return np.clip(np.where(interval > 0, last + interval, due), last + least, last + most)


def _opening(every: Sequence[VisitTerms], rule: Ints, at: Floats) -> Floats:
    """The first instants from some on that lie within the hours of the pages' rules."""
    for row in np.flatnonzero(np.array([each.hours is not None for each in every])[rule]).tolist():
        at[row] = every[rule[row]].opens(float(at[row]))
    return at


def _by_due_time(snapshot: Snapshot, pool: PoolSnapshot, visits_a_day: float) -> Floats:
    """When it is the turn of each page with a copy: the most overdue first, one after the other.

    A page that is visited is due again as long after that as it was after its last visit.
    """
    due = _reached(snapshot, pool.learned, np.arange(len(pool.pages)), np.inf)
    due[~_free(snapshot)[pool.pages]] = np.inf
    turn = np.full(len(due), np.inf)
    if visits_a_day <= 0:
        return turn
    interval = due - pool.learned.last
    queue = [(at, row) for row, at in enumerate(due.tolist()) if at < np.inf]
    heapify(queue)
    missing, most = len(queue), _GAPS * len(queue)
    for number in range(1, most + 1):
        now, row = snapshot.now + number / visits_a_day, queue[0][1]
        if np.isinf(turn[row]):
            turn[row], missing = now, missing - 1
        if not missing:
            break
        heapreplace(queue, (now + float(interval[row]), row))
    late = np.isinf(turn) & (due < np.inf)
    turn[late] = np.maximum(due[late], snapshot.now + most / visits_a_day)
    return turn


def _reached(snapshot: Snapshot, state: Any, rows: Ints, price: float) -> Floats:  # noqa: ANN401
    """When the value of each page reaches the price; infinite where it never does."""
    due = epoch_days(snapshot.policy.due(state, rows, price))
    return np.where(np.isnan(due), np.inf, due)


def _values(snapshot: Snapshot, state: Any, rows: Ints) -> Floats:  # noqa: ANN401
    """What a visit to each page is worth now."""
    assert isinstance(snapshot.policy, Priced)  # noqa: S101 - asked before
    return snapshot.policy.value(state, rows, instant_after_epoch(snapshot.now))


def _price(
    snapshot: Snapshot,
    state: Any,  # noqa: ANN401 - the policy's own
    rows: Ints,
    until: float,
    wanted: float,
) -> float:
    """The price that so many of some pages reach until an instant, and no more."""

    def reach(price: float) -> bool:
        return int(np.count_nonzero(_reached(snapshot, state, rows, price) <= until)) >= wanted

    high = float(_values(snapshot, state, rows).max()) or 1.0
    highest = _HIGHEST * max(high, 1.0)  # weights make values of any size
    while reach(high) and high < highest:
        high *= 2
    low = high * _LOWEST
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if reach(middle) else (low, middle)
    return low


def _free(snapshot: Snapshot) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which pages have a copy and are left to the policy, if need be until a set time at most."""
    columns, every = snapshot.columns, terms(snapshot.settings)
    well = (columns.status == PageStatus.COPIED) & (columns.failures == 0)
    bounded = np.array([not term.interval and term.maximum < np.inf for term in every])
    return np.asarray(well & (np.isnat(columns.next_at) | bounded[snapshot.rule]))
