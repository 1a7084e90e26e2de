"""Pages that share a budget, and which of them comes next.

A page is in one of four places: lent; put off to a *set time*; *new*, in the queue of pages without
a copy; or in the frontier, whose policy decides. The policy's order is made once a tick, from all
pages that come into question then, and read as far as hosts that must wait make it necessary.
Whatever comes back while it holds is in the next one.

Pure.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.frontier.book import NEVER, NOT_IN, ON_ITS_WAY
from recrawl.frontier.frontier import tick_of
from recrawl.frontier.queue import Queue
from recrawl.frontier.spending import Spending
from recrawl.policies.growing import longer
from recrawl.policies.pages import Pages
from recrawl.units import MICROSECONDS_A_DAY, instants_after_epoch
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.frontier.book import Book
    from recrawl.frontier.frontier import Frontier
    from recrawl.plan.budget import Budget
    from recrawl.policies.pages import Outcomes
    from recrawl.visits.arrays import Bools, Floats, Instants, Ints

# Longest intervals are cut by up to this share, so that pages copied together part.
JITTER = 0.05
_AT_ONCE = 0.0  # a set time that is long past
_READ_AT_ONCE = 64
_KINDS = 3  # of pages that take turns
# Plain numbers: names of an enumeration are slow to look up.
_NEW, _COPIED, _REFUSED = (
    int(each) for each in (PageStatus.NEW, PageStatus.COPIED, PageStatus.REFUSED)
)


class Pool:
    """Pages that share a budget.

    Args:
        frontier: What orders those that have a copy.
        budget: What all of them may cost.
        book: What is known of them.
        number: Of the pool.
        now: The instant.

    Attributes:
        spending: What they have cost.
        page: Number of the page in each row of the frontier.
    """

    def __init__(
        self, frontier: Frontier, budget: Budget, book: Book, number: int, now: float
    ) -> None:
        self.frontier = frontier
        self.spending = Spending(0.0, now=now)
        self.page: Ints = np.empty(0, np.int64)
        self._budget = budget
        self._book = book
        self._hours = [each for each in book.terms if each.pool == number and each.hours]
        self._pages = 0
        self._times: list[tuple[float, int]] = []
        self._set, self._retries, self._new, self._turns = (Queue(book.hosts) for _ in range(4))
        self._kind = 0  # of what was lent last, among those that take turns
        # New pages that wait for their hours, and when the first of these begin.
        self._asleep: list[int] = []
        self._opens = inf
        # Pages copied for the first time and not yet in the frontier: page, address, instant.
        self._copied: list[tuple[int, str, float]] = []
        # The policy's order, how far it was read, until when it holds, and what was lent since.
        self._order: Ints = np.empty(0, np.int64)
        self._read = 0
        self._ends = inf
        self._lent: set[int] = set()
        self._told: set[int] = set()  # rows of visits that the policy may not have learnt from

    # Pages come.

    def found(self, pages: Ints) -> None:
        """Take in pages without a copy."""
        self._grow(len(pages))
        self._put_new(pages)
        self.frontier.expect(len(self._new))

    def resume(self, pages: Ints, rows: Ints, last: Floats) -> None:
        """Take in pages that the book knows already.

        Args:
            pages: All of them.
            rows: Those in the rows of the frontier, in order.
            last: When each of these was last visited.
        """
        book = self._book
        self._grow(len(pages))
        self.page = np.array(rows, np.int64)
        book.row[self.page] = np.arange(len(rows))
        if len(rows):
            self._ends = -inf
        status, free = book.status[pages], book.set[pages] == NEVER
        self._put_new(pages[free & (status == _NEW)])
        self.frontier.expect(len(self._new))
        fixed = np.array([each.interval > 0 for each in book.terms])[book.term[pages]]
        # Of pages that were lent when the crawl ended nobody may have decided when to go on.
        nobody = (book.row[pages] == NOT_IN) | fixed | (book.failures[pages] > 0)
        nobody |= status != _COPIED
        nobody &= free & (status != _NEW) & (status != _REFUSED)
        book.set[pages[nobody]] = _AT_ONCE
        put_off = pages[book.set[pages] < NEVER]
        book.called[put_off] = book.set[put_off]
        self._times = list(zip(book.set[put_off].tolist(), put_off.tolist(), strict=True))
        heapify(self._times)
        self._place(self.page, last)

    def _grow(self, pages: int) -> None:
        self._pages += pages
        self.spending.pace(self._budget.visits_a_day(self._pages))

    def _put_new(self, pages: Ints) -> None:
        """Let pages without a copy wait, those that matter most first, then as they were found."""
        book = self._book
        rank = (-book.weight[book.term[pages]]).tolist()
        for each in zip(rank, pages.tolist(), book.host[pages].tolist(), strict=True):
            self._new.put(*each)

    @property
    def new_pages(self) -> int:
        """How many pages without a copy wait."""
        return len(self._new) + len(self._asleep)

    # What comes next.

    def take(self, now: float) -> int | None:
        """Lend the page that is to be visited next; None where none may be now."""
        self._call(now)
        if self.spending.ready(now, first=True) > now:
            return None
        page = self._set_page(self._set, now)
        if page is None:
            page = self._in_turn(now)
        if page is not None:
            self._lend(page, now)
        return page

    def ready(self, now: float) -> float:
        """Instant at which a page may be lent, as far as is known; call when `take` has none."""
        wake = self._times[0][0] if self._times else inf
        allowed = self.spending.ready(now, first=True)
        waiting = (self._set.ready(), self._retries.ready(), self._new.ready(), self._opens)
        wake = min(wake, max(allowed, min(waiting)))
        allowed = self.spending.ready(now, first=False)
        unread = self._read < len(self._order)
        return min(wake, max(allowed, min(-inf if unread else self._turns.ready(), self._ends)))

    def waiting(self, now: float, until: float) -> bool:
        """Whether a page would be lent now if its host were free, and its host will be soon.

        Call when `take` has none.

        Args:
            now: The instant.
            until: When it must be free at the latest.
        """
        queues = (self._set, self._retries, self._new)
        if self.spending.ready(now, first=True) <= now and any(
            queue.ready() <= until for queue in queues
        ):
            return True
        unread = self._read < len(self._order)
        soon = unread or self._turns.ready() <= until
        return self.spending.ready(now, first=False) <= now and soon

    def freed(self, host: int) -> None:
        """Look again at a host of which a request has ended."""
        self._set.freed(host)
        self._retries.freed(host)
        self._new.freed(host)
        self._turns.freed(host)

    def put_off(self, page: int, at: float, *, hold: bool = True) -> float:
        """Set a time for a page, within its hours; returns it.

        Args:
            page: Number of the page.
            at: The instant.
            hold: Whether nothing else decides on the page until then.
        """
        book = self._book
        at = book.terms_of(page).opens(at)
        row = int(book.row[page])
        if hold and row >= 0:
            self.frontier.hold(row)
        book.set[page] = at
        if at < book.called[page]:  # otherwise it is looked at before, and then put off again
            book.called[page] = at
            heappush(self._times, (at, page))
        return at

    def _call(self, now: float) -> None:
        """Call up pages whose set time has come."""
        book = self._book
        while self._times and self._times[0][0] <= now:
            at, page = heappop(self._times)
            if book.called[page] != at:
                continue  # it was called up sooner
            book.called[page] = NEVER
            at = float(book.set[page])
            if at <= now:
                queue = self._retries if book.failures[page] else self._set
                queue.put(at, page, int(book.host[page]))
            elif at < NEVER:
                book.called[page] = at
                heappush(self._times, (at, page))

    def _set_page(self, queue: Queue, now: float) -> int | None:
        """A page of a queue whose set time has come."""
        book = self._book
        while (page := queue.take(now)) is not None:
            if book.set[page] > now:
                continue  # it was visited in the meantime
            if book.terms_of(page).opens(now) <= now:
                return page
            self.put_off(page, now, hold=False)  # its hours are over; it stays as it was held
        return None

    def _in_turn(self, now: float) -> int | None:
        """A page to try again, a new one or one that is worth a visit, in turns where all wait."""
        for step in range(1, _KINDS + 1):
            kind = (self._kind + step) % _KINDS
            match kind:
                case 0:
                    page = self._worth_most(now)
                case 1:
                    page = self._new_page(now)
                case _:
                    page = self._set_page(self._retries, now)
            if page is not None:
                self._kind = kind
                return page
        return None

    def _new_page(self, now: float) -> int | None:
        if now >= self._opens:
            asleep, self._asleep, self._opens = self._asleep, [], inf
            self._put_new(np.array(asleep, np.int64))
        while (page := self._new.take(now)) is not None:
            opens = self._book.terms_of(page).opens(now)
            if opens <= now:
                return page
            self._asleep.append(page)
            self._opens = min(self._opens, opens)
        return None

    def _worth_most(self, now: float) -> int | None:
        if now < self._ends and not len(self._turns) and self._read == len(self._order):
            return None
        if self.spending.ready(now, first=False) > now:
            return None
        if now >= self._ends:
            self._put_in_order(now)
        while True:
            page = self._turns.take(now)
            if page is None:
                if not self._read_on():
                    return None
            elif page not in self._lent and self._book.terms_of(page).opens(now) <= now:
                return page

    def _lend(self, page: int, now: float) -> None:
        book = self._book
        row = int(book.row[page])
        if row >= 0:
            self.frontier.hold(row)
            self._lent.add(page)
        book.out[page] = True
        book.set[page] = NEVER
        book.hosts.ask(int(book.host[page]), now)
        self.spending.spend(now, first=row == NOT_IN)

    # The policy's order.

    def _put_in_order(self, now: float) -> None:
        """Ask the policy for its order until the next tick."""
        self.admit()
        self._turns.clear()
        self._lent.clear()
        self._learn_all()
        self._read = 0
        self._ends = min([now + self._tick(), *(each.begins(now) for each in self._hours)])
        days = self._ends - now
        instant = _instants(now)[0]
        rows = self.frontier.ranked(
            instant, len(self.page), fits=lambda rows: self._fits(self.page[rows], now, days)
        )
        self._order = self.page[rows]

    def _tick(self) -> float:
        pages, visits = len(self.page) + len(self._copied), self.spending.visits_a_day
        return tick_of(pages / visits) if pages and visits > 0 else inf

    def _read_on(self) -> bool:
        """Let the next pages of the order wait for their hosts; False where there are none."""
        pages = self._order[self._read : self._read + _READ_AT_ONCE]
        hosts = self._book.host[pages].tolist()
        for rank, (page, host) in enumerate(zip(pages.tolist(), hosts, strict=True), self._read):
            self._turns.put(rank, page, host)
        self._read += len(pages)
        return len(pages) > 0

    def _fits(self, pages: Ints, now: float, days: float) -> Bools:
        """Which of some pages, best first, may be visited in the days to come."""
        book = self._book
        if not self._hours:
            return self._room(book.host[pages], now, days)
        fit = np.array([each.opens(now) <= now for each in book.terms])[book.term[pages]]
        fit[fit] = self._room(book.host[pages[fit]], now, days)
        return fit

    def _room(self, host: Ints, now: float, days: float) -> Bools:
        """Which of some pages of hosts, best first, the hosts have room for in the days to come."""
        order = np.argsort(host, kind="stable")
        ordered = host[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        counts = np.diff(starts, append=len(ordered))
        room = np.ones(len(starts), np.int64)
        several = np.flatnonzero(counts > 1)
        hosts = self._book.hosts
        room[several] = [
            hosts.room(each, now, days) + 1 for each in ordered[starts[several]].tolist()
        ]
        if (room >= counts).all():
            return np.ones(len(host), np.bool_)
        fit = np.empty(len(host), np.bool_)
        fit[order] = np.arange(len(host)) - np.repeat(starts, counts) < np.repeat(room, counts)
        return fit

    # What visits show.

    def enter(self, page: int, address: str, now: float) -> None:
        """Take in a page of which there is a first copy."""
        book = self._book
        if book.row[page] != NOT_IN:
            return
        book.row[page] = ON_ITS_WAY
        self._copied.append((page, address, now))
        if book.set[page] == _AT_ONCE:  # nobody knew of it
            book.set[page] = NEVER
        if self._ends == inf:
            self._ends = now + self._tick()

    def learn(self, page: int, now: float, outcomes: Outcomes) -> None:
        """Let the policy learn from a visit to a page that has a copy."""
        if self._book.row[page] == ON_ITS_WAY:
            self.admit()
        row = int(self._book.row[page])
        if row < 0:
            raise InvalidParameter(f"page {page}: must have a copy before it is seen again")
        if row in self._told:  # a policy learns from one visit to a page at a time
            self._learn_all()
        self._told.add(row)
        self.frontier.seen(np.array([row]), _instants(now), outcomes)

    def learn_many(self, pages: Ints, at: Floats, outcomes: Outcomes) -> None:
        """Let the policy learn from visits to pages that have a copy, each once."""
        if not len(pages):
            return
        self.admit()
        self._learn_all()
        self.frontier.seen(self._book.row[pages], instants_after_epoch(at), outcomes)
        self._place(pages, at)

    def told(self, pages: Ints, count: Floats, word: tuple[Floats, Floats], now: float) -> None:
        """Let the policy know what a host says of pages; those without a copy do not count."""
        self.admit()
        self._learn_all()
        row = self._book.row[pages]
        some = np.flatnonzero(row >= 0)
        self.frontier.told(
            row[some], count[some], (word[0][some], word[1][some]), _instants(now)[0]
        )

    def _learn_all(self) -> None:
        _ = self.frontier.state  # it has learnt from all visits when it tells
        self._told.clear()

    def admit(self) -> None:
        """Let the frontier know of pages that have a copy since the last time."""
        if not self._copied:
            return
        book = self._book
        numbers, addresses, when = zip(*self._copied, strict=True)
        self._copied = []
        pages, at = np.array(numbers), instants_after_epoch(np.array(when))
        found = Pages.of(addresses, at, weight=book.weight[book.term[pages]])
        self.frontier.expect(len(self._new))
        book.row[pages] = self.frontier.add(found, at.max())
        self.page = longer(self.page, pages)
        self._place(pages, np.array(when))

    def _place(self, pages: Ints, last: Floats) -> None:
        """Say of pages that come into the frontier who decides on them."""
        book = self._book
        bound = np.array([bool(each.interval or each.minimum) for each in book.terms])
        special = bound[book.term[pages]] | (book.failures[pages] > 0) | book.out[pages]
        special |= (book.status[pages] != _COPIED) | (book.set[pages] < NEVER)
        for each in zip(pages[special].tolist(), last[special].tolist(), strict=True):
            self.place(*each)

    def place(self, page: int, last: float) -> None:
        """Say of a page who decides on it, after a visit on the day `last`."""
        book = self._book
        put_off = book.set[page] < last + book.terms_of(page).maximum * (1 - JITTER)
        elsewhere = book.failures[page] > 0 or book.status[page] != _COPIED
        if book.out[page] or elsewhere or put_off:
            self.frontier.hold(int(book.row[page]))
        else:
            self.let_go(page, last)

    def let_go(self, page: int, last: float) -> None:
        """Let the policy decide on a page again, on its terms, after a visit on the day `last`."""
        terms, row = self._book.terms_of(page), int(self._book.row[page])
        if terms.interval:
            self.frontier.hold(row)
        else:
            self.frontier.release(row, last + terms.minimum if terms.minimum else -inf)


def _instants(now: float) -> Instants:
    return np.array([round(now * MICROSECONDS_A_DAY)], "datetime64[us]")
