"""What a crawl believes of each of its pages, and when it will visit them next.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.crawl.wishes import terms
from recrawl.policies.beliefs import Beliefs
from recrawl.report.pages import PageRows
from recrawl.units import epoch_days, instants_after_epoch
from recrawl.visits.blocks import over_blocks
from recrawl.visits.status import Outcome, PageStatus

if TYPE_CHECKING:
    from recrawl.crawl.looking import PoolSight, Sight
    from recrawl.store.reader import Reader
    from recrawl.visits.arrays import Floats, Instants, Ints

_FIGURES = ("rate", "low", "high", "shape", "exposure", "fresh")
_BLOCK = 1 << 15


def page_rows(sight: Sight, reader: Reader) -> PageRows:
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


def believed(sight: Sight, page: int) -> Beliefs | None:
    """What is believed of one page, counted from 0; None where it has no copy."""
    for pool in sight.pools:
        rows = np.flatnonzero(pool.pages == page)
        if len(rows) and pool.state is not None:
            return Beliefs.of(pool.state, rows, sight.now)
    return None


def _believe(pool: PoolSight, now: float, figures: dict[str, Floats]) -> None:
    """Write down what is believed of the pages of a pool."""
    state, rows = pool.state, np.arange(len(pool.pages))
    assert state is not None  # noqa: S101 - asked before

    def work(some: slice) -> None:
        beliefs, pages = Beliefs.of(state, rows[some], now), pool.pages[some]
        figures["rate"][pages], figures["fresh"][pages] = beliefs.rate, beliefs.fresh
        figures["shape"][pages], figures["exposure"][pages] = beliefs.as_one
        figures["low"][pages], figures["high"][pages] = beliefs.rate_band()

    over_blocks(work, len(rows), _BLOCK)


def _counted(reader: Reader, pages: int) -> tuple[Ints, Ints, Instants]:
    """Visits to each page, changes that they found, and the last of these."""
    visits, changes = np.zeros(pages, np.int64), np.zeros(pages, np.int64)
    last = np.full(pages, np.datetime64("NaT", "us"))
    for some in reader.outcomes():
        known = some.page <= pages
        page, found = some.page[known] - 1, some.outcome[known] == Outcome.CHANGED
        visits += np.bincount(page, minlength=pages)
        changes += np.bincount(page[found], minlength=pages)
        last[page[found]] = some.at[known][found]  # in order: the last one stays
    return visits, changes, last


@dataclass(frozen=True, slots=True, eq=False)
class NextVisits:
    """When pages of a crawl will be visited next.

    A set time holds. Otherwise a page is visited when a visit is worth the *price*, what the visit
    is worth now that comes next, within the bounds that its rule sets. Where a crawl has stood
    still that price is high, and visits will come sooner than is said.

    Args:
        sight: The crawl.
        prices: Price of each pool.
        row: Row of each page in the state of its pool, -1 where it has none.
    """

    sight: Sight
    prices: list[float]
    row: Ints

    @classmethod
    def of(cls, sight: Sight) -> NextVisits:
        """Find the prices."""
        row = np.full(len(sight.rule), -1)
        prices = []
        for pool in sight.pools:
            row[pool.pages] = np.arange(len(pool.pages))
            prices.append(_price(sight, pool))
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

    def _due(self, pool: PoolSight, rows: Ints, price: float) -> Floats:
        """When the values of pages reach the price."""
        due = np.empty(len(rows))
        assert pool.state is not None  # noqa: S101 - it has rows
        for start in range(0, len(rows), _BLOCK):
            some = slice(start, start + _BLOCK)
            due[some] = epoch_days(self.sight.policy.due(pool.state, rows[some], price))
        return np.where(np.isnan(due), np.inf, due)


def _price(sight: Sight, pool: PoolSight) -> float:
    """What the visit is worth that comes next; infinite where there is none."""
    rows = np.flatnonzero(_free(sight)[pool.pages])
    if pool.state is None or not len(rows):
        return float("inf")
    now = instants_after_epoch(np.array([sight.now]))[0]
    return float(sight.policy.value(pool.state, rows, now).max())


def _free(sight: Sight) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which pages have a copy and are left to the policy, if need be until a set time at most."""
    columns, every = sight.columns, terms(sight.settings)
    well = (columns.status == PageStatus.COPIED) & (columns.failures == 0)
    bounded = np.array([not term.interval and term.maximum < np.inf for term in every])
    return np.asarray(well & (np.isnat(columns.next_at) | bounded[sight.rule]))
