"""The order in which the policy of a pool would visit its pages, made anew once a tick.

The order has all pages that come into question until the next tick, and is read as far as hosts
that must wait make it necessary. Whatever comes back while it holds is in the next one.

Pure.
"""

from __future__ import annotations

from math import inf, isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.equal_keys import Groups
from recrawl.frontier.frontier import LEAST_TICK, tick_of
from recrawl.frontier.queue import Queue
from recrawl.units import SECONDS_A_DAY, instant_after_epoch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Ints
    from recrawl.frontier.copied_pages import CopiedPages
    from recrawl.frontier.page_table import PageTable
    from recrawl.frontier.token_bucket import TokenBucket
    from recrawl.settings.terms import VisitTerms

_READ_AT_ONCE = 64
# Scoring costs some milliseconds and about a microsecond per page. So no order is made within a
# second of the last, nor within the time in which its pages are scored at this many a second.
_LEAST_ORDER, _SCORED_A_DAY = 1 / SECONDS_A_DAY, 20_000 * SECONDS_A_DAY
_FOLLOW = 1 / 8  # how fast the price follows the newest order


def least_order(pages: int) -> float:
    """Days for which an order of so many pages holds at least, to bound what scoring costs.

    >>> [round(least_order(pages) * 86_400) for pages in (20, 100_000, 10_000_000)]
    [1, 5, 60]
    """
    return min(max(pages / _SCORED_A_DAY, _LEAST_ORDER), LEAST_TICK)


class Ranking:
    """The policy's order of the pages of a pool.

    Args:
        copies: The pages, and the frontier that orders them.
        bucket: What their visits may cost.
        table: Status, host and set time of each.
        hours: Those of the terms of the pool that have hours: an order ends where some begin.

    Attributes:
        price: What the last of the visits is worth that are made, as a mean of late; nan where
            nobody knows.
        renews_when_done: Whether the order is made anew as soon as all of it was visited.
        gap: Mean days between visits to a page of all that share the budget elsewhere, too; None
            where all of them are here.
        ticks: For how many ticks an order holds.
        keeps_price: Whether anybody asks for the price.
    """

    def __init__(
        self,
        copies: CopiedPages,
        bucket: TokenBucket,
        table: PageTable,
        hours: Sequence[VisitTerms],
    ) -> None:
        self._copies = copies
        self._bucket = bucket
        self._table = table
        self._hours = hours
        # The order, how far it was read, until when it holds, and what was leased since.
        self._order: Ints = np.empty(0, np.int64)
        self._has_order = False
        self._read = 0
        self._made, self._ends = -inf, inf
        self.renews_when_done = True
        self.gap: float | None = None
        self.ticks = 1.0
        self.keeps_price = True
        self._leased: set[int] = set()
        self.turns = Queue(table.hosts)  # pages that were read, and wait for their hosts
        self.price = nan
        self._priced = True  # whether the order has said what it says of the price

    def renew(self) -> None:
        """Make the order anew when it is next asked for."""
        self._ends = -inf

    def renew_soon(self) -> None:
        """Make the order anew, as soon as scoring the pages again costs little."""
        self._ends = min(self._ends, self._made + least_order(len(self._copies)))

    def is_over(self, now: float) -> bool:
        """Whether the order is to be made anew when a page may be visited."""
        return now >= self._ends

    def begin(self, now: float) -> None:
        """Make an order a tick from now, where none was to be made."""
        if self._ends == inf:
            self._made, self._ends = now, now + self._tick()

    def take(self, now: float, *, others_wait: bool) -> int | None:
        """The page that is most worth a visit; None where none may be made now.

        Args:
            now: The instant.
            others_wait: Whether new pages wait, so that there is something to do.
        """
        if not len(self.turns) and not self._unread and not others_wait:
            self._renew_when_done()
        if now < self._ends and not len(self.turns) and not self._unread:
            return None
        if self._bucket.ready(now, first=False) > now:
            return None
        if now >= self._ends:
            self._make(now)
        while True:
            page = self.turns.take(now)
            if page is None:
                if not self._read_on():
                    return None
            elif page not in self._leased and self._table.terms_of(page).opens(now) <= now:
                if not self._priced:  # less than one visit a tick: each is the last
                    self._set_price(self._table.row[[page]], now)
                return page

    def _renew_when_done(self) -> None:
        """Make the order anew early, as all pages of it were visited.

        Each page is in an order once. A few pages with a large budget are visited within seconds,
        and the crawl would stand still until the tick ends.
        """
        # Of an order without pages, the policy has said that none is worth a visit.
        if self.renews_when_done and (len(self._order) or not self._has_order):
            self._ends = min(self._ends, self._made + least_order(len(self._copies)))

    def lease_out(self, page: int) -> None:
        """Leave out a page of the order, as it is leased."""
        self._leased.add(page)

    def ready(self) -> float:
        """Instant at which a page may be taken, as far as is known, whatever that costs.

        Right after `take` has found none.
        """
        return min(-inf if self._unread else self.turns.ready(), self._ends)

    def waiting(self, until: float) -> bool:
        """Whether a page of the order waits for a host that is free by then, in the same way."""
        return self._unread or self.turns.ready() <= until

    @property
    def _unread(self) -> bool:
        return self._read < len(self._order)

    def _make(self, now: float) -> None:
        """Ask the policy for its order until the next tick."""
        copies = self._copies
        copies.admit()
        copies.learn_all()
        self.turns.clear()
        self._leased.clear()
        self._read = 0
        self._made = now
        self._ends = min([now + self._tick(), *(each.begins(now) for each in self._hours)])
        days = self._ends - now
        rows = copies.frontier.ranked(
            instant_after_epoch(now),
            len(copies.page),
            fits=lambda rows: self.fits(copies.page[rows], now, days),
        )
        self._order, self._has_order = copies.page[rows], True
        visits = int(min(days * self._bucket.visits_a_day, len(rows) - 1))
        self._priced = visits > 0 or not self.keeps_price
        if visits > 0 and self.keeps_price:
            self._set_price(rows[[visits]], now)

    def _set_price(self, row: Ints, now: float) -> None:
        """Take in what a visit is worth that is just about made."""
        self._priced = True
        (worth,) = self._copies.frontier.worth(row, instant_after_epoch(now)).tolist()
        self.price = worth if isnan(self.price) else self.price + _FOLLOW * (worth - self.price)

    def _tick(self) -> float:
        if self.gap is not None:
            return self.ticks * tick_of(self.gap)
        pages, visits = len(self._copies), self._bucket.visits_a_day
        return self.ticks * tick_of(pages / visits) if pages and visits > 0 else inf

    def _read_on(self) -> bool:
        """Let the next pages of the order wait for their hosts; False where there are none."""
        pages = self._order[self._read : self._read + _READ_AT_ONCE]
        hosts = self._table.host[pages].tolist()
        for rank, (page, host) in enumerate(zip(pages.tolist(), hosts, strict=True), self._read):
            self.turns.put(rank, page, host)
        self._read += len(pages)
        return len(pages) > 0

    def fits(self, pages: Ints, now: float, days: float) -> Bools:
        """Which of some pages, best first, may be visited in the days to come."""
        table = self._table
        if not self._hours:
            return self._room(table.host[pages], now, days)
        fit = np.array([each.opens(now) <= now for each in table.terms])[table.term[pages]]
        fit[fit] = self._room(table.host[pages[fit]], now, days)
        return fit

    def _room(self, host: Ints, now: float, days: float) -> Bools:
        """Which of some pages of hosts, best first, the hosts have room for in the days to come."""
        groups = Groups.of(host)
        room = np.ones(len(groups.counts), np.int64)
        several = np.flatnonzero(groups.counts > 1)
        crowded = host[groups.order[groups.starts[several]]]
        hosts = self._table.hosts
        room[several] = [hosts.room(each, now, days) + 1 for each in crowded.tolist()]
        if (room >= groups.counts).all():
            return np.ones(len(host), np.bool_)
        room_of_page = np.empty(len(host), np.int64)
        room_of_page[groups.order] = np.repeat(room, groups.counts)
        return groups.before < room_of_page
