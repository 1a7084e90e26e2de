"""Pages that share a budget, and which of them comes next.

A page is in one of four places: leased; put off to a *set time*; *new*, in the queue of pages
without a copy; or in the frontier, whose policy decides.

Pure.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.frontier.copied_pages import CopiedPages
from recrawl.frontier.page_table import NEVER, NOT_ADMITTED
from recrawl.frontier.queue import Queue
from recrawl.frontier.ranking import Ranking
from recrawl.frontier.token_bucket import TokenBucket
from recrawl.plan.budget import Budget
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.frontier.frontier import Frontier
    from recrawl.frontier.page_table import PageTable
    from recrawl.plan.shared_price import BudgetShare

_AT_ONCE = 0.0  # a set time that is long past
_KINDS = 3  # of pages that take turns
_MOST_LOOKS = 0.25  # of the budget that may go to looks for new pages; a decision, not tuned
# Plain numbers: names of an enumeration are slow to look up.
_NEW, _COPIED, _REFUSED = (
    int(each) for each in (PageStatus.NEW, PageStatus.COPIED, PageStatus.REFUSED)
)


class Pool:
    """Pages that share a budget.

    Args:
        frontier: What orders those that have a copy.
        budget: What all of them may cost.
        table: Status, host and set time of each.
        number: Of the pool.
        now: The instant.

    Attributes:
        bucket: What they have cost, and may cost.
        copies: Those that have a copy.
        looks: What looks for new pages have cost, and may cost: a part of the budget.
    """

    def __init__(
        self, frontier: Frontier, budget: Budget, table: PageTable, number: int, now: float
    ) -> None:
        self.bucket = TokenBucket(0.0, now=now)
        self.looks = TokenBucket(0.0, now=now)
        self._budget = budget
        self._table = table
        self._pages = 0
        self._times: list[tuple[float, int]] = []
        self._set, self._retries, self._new = (Queue(table.hosts) for _ in range(3))
        self._kind = 0  # of what was leased last, among those that take turns
        # New pages that wait for their hours, and when the first of these begin.
        self._asleep: list[int] = []
        self._opens = inf
        self._early: set[int] = set()  # new pages that were leased out of their turn
        self.copies = CopiedPages(frontier, table, self._new)
        hours = [each for each in table.terms if each.pool == number and each.hours]
        self._ranking = Ranking(self.copies, self.bucket, table, hours)

    # Pages come.

    def found(self, pages: Ints) -> None:
        """Take in pages without a copy."""
        self._grow(len(pages))
        self._put_new(pages)
        self.copies.frontier.expect(len(self._new))

    def resume(self, pages: Ints, rows: Ints, last: Floats) -> None:
        """Take in pages that the table has already.

        Args:
            pages: All of them.
            rows: Those in the rows of the frontier, in order.
            last: When each of these was last visited.
        """
        table = self._table
        self._grow(len(pages))
        self.copies.resume(rows)
        if len(rows):
            self._ranking.renew()
        status, free = table.status[pages], table.set[pages] == NEVER
        self._put_new(pages[free & (status == _NEW)])
        self.copies.frontier.expect(len(self._new))
        # A page that was leased when the crawl died has no set time, and may be one that the policy
        # does not decide on either: not in the frontier, at a fixed interval, failed or gone. It is
        # visited at once. New pages wait in their queue; a refused page without a time stays so.
        at_interval = np.array([each.interval > 0 for each in table.terms])[table.term[pages]]
        left_to_policy = (table.row[pages] != NOT_ADMITTED) & ~at_interval
        left_to_policy &= (table.failures[pages] == 0) & (status == _COPIED)
        abandoned = free & ~left_to_policy & (status != _NEW) & (status != _REFUSED)
        table.set[pages[abandoned]] = _AT_ONCE
        scheduled = pages[table.set[pages] < NEVER]
        table.called[scheduled] = table.set[scheduled]
        self._times = list(zip(table.set[scheduled].tolist(), scheduled.tolist(), strict=True))
        heapify(self._times)
        self.copies.place_many(rows, last)

    def enter(self, page: int, address: str, now: float, age: float) -> bool:
        """Take in a page of which there is a first copy, so many days after its last change.

        False where it is in already.
        """
        entered = self.copies.enter(page, address, now, age)
        if entered:
            self._ranking.begin(now)
        return entered

    def withdraw(self, page: int) -> None:
        """Leave out a page, wherever it waits; one that is leased is left to who visits it."""
        table = self._table
        if table.status[page] == _NEW and table.set[page] == NEVER and not table.leased[page]:
            self._early.add(page)  # passed over when its turn comes
        self.copies.hold(page)
        self._ranking.lease_out(page)
        table.set[page] = NEVER
        self._grow(-1)

    def readmit(self, page: int, at: float) -> None:
        """Take in a page again that was left out: it is visited from an instant on."""
        self._grow(1)
        if not self._table.leased[page]:
            self.schedule_at(page, at)

    def _grow(self, pages: int) -> None:
        self._pages += pages
        self.bucket.set_rate(self._budget.visits_a_day(self._pages))
        self.looks.set_rate(_MOST_LOOKS * self.bucket.visits_a_day)

    def share_budget(self, share: BudgetShare) -> None:
        """Go on with a share of a budget that others spend, too.

        What the policy goes by is the mean gap of all pages that share it, wherever they are.
        """
        self._budget = Budget(share.visits_a_day)
        self.copies.frontier.set_budget(share.each_page)
        self._ranking.gap = 1 / share.each_page.visits_a_day(1)
        self._grow(0)
        self.bucket.cap(share.most, share.window)

    def end_tick(self, now: float) -> None:
        """Let the policy learn what was found in a tick that is over, though nothing is due yet.

        A slot that may spend little would otherwise hear of a burst only at its next visit.
        """
        if self._ranking.is_over(now):
            self.copies.admit()
            self.copies.learn_all()

    def await_share(self) -> None:
        """Spend nothing before there is a share."""
        self.bucket.cap(0)

    def _put_new(self, pages: Ints) -> None:
        """Let pages without a copy wait, those that matter most first, then as they were found."""
        table = self._table
        rank = (-table.weight(pages)).tolist()
        for each in zip(rank, pages.tolist(), table.host[pages].tolist(), strict=True):
            self._new.put(*each)

    @property
    def pages(self) -> int:
        """How many pages share the budget."""
        return self._pages

    def fits(self, pages: Ints, now: float, days: float) -> Bools:
        """Which of some pages, best first, their hours and hosts allow in the days to come."""
        return self._ranking.fits(pages, now, days)

    @property
    def new_pages(self) -> int:
        """How many pages without a copy wait."""
        return len(self._new) + len(self._asleep)

    def hinted(self, pages: Ints, right: Floats) -> None:
        """Let the policy know of hints that pages changed, and soon rank the pages anew."""
        self.copies.hinted(pages, right)
        self._ranking.renew_soon()

    # Looks for new pages.

    def end_with_order(self) -> None:
        """Make no order anew because all of it was visited, but when its tick ends."""
        self._ranking.renews_when_done = False

    def simulate(self, ticks: float) -> None:
        """Order pages for a virtual crawl: nobody asks for the price, and an order holds longer.

        Args:
            ticks: For how many ticks.
        """
        self._ranking.keeps_price, self._ranking.ticks = False, ticks

    @property
    def price(self) -> float:
        """What the last of the visits is worth that are made; nan where nobody knows."""
        return self._ranking.price

    def ready_to_look(self, now: float, *, fixed: bool) -> float:
        """Instant from which the budget allows a look for new pages.

        Args:
            now: The instant.
            fixed: Whether a person wants looks so often, whatever part of the budget they take.
        """
        ready = self.bucket.ready(now, first=True)
        return ready if fixed else max(ready, self.looks.ready(now, first=True))

    def look(self, now: float) -> None:
        """Pay for a look: later revisits wait for that."""
        self.bucket.spend(now, first=False)
        self.looks.spend(now, first=False)

    # What comes next.

    def take(self, now: float) -> int | None:
        """Lend the page that is to be visited next; None where none may be now."""
        self._call(now)
        if self.bucket.ready(now, first=True) > now:
            return None
        page = self._set_page(self._set, now)
        if page is None:
            page = self._in_turn(now)
        if page is not None:
            self._lease_out(page, now)
        return page

    def ready(self, now: float) -> float:
        """Instant at which a page may be leased, as far as is known; call when `take` has none."""
        wake = self._times[0][0] if self._times else inf
        allowed = self.bucket.ready(now, first=True)
        waiting = (self._set.ready(), self._retries.ready(), self._new.ready(), self._opens)
        wake = min(wake, max(allowed, min(waiting)))
        allowed = self.bucket.ready(now, first=False)
        return min(wake, max(allowed, self._ranking.ready()))

    def waiting(self, now: float, until: float) -> bool:
        """Whether a page would be leased now if its host were free, and its host will be soon.

        Call when `take` has none.

        Args:
            now: The instant.
            until: When it must be free at the latest.
        """
        queues = (self._set, self._retries, self._new)
        if self.bucket.ready(now, first=True) <= now and any(
            queue.ready() <= until for queue in queues
        ):
            return True
        return self.bucket.ready(now, first=False) <= now and self._ranking.waiting(until)

    @property
    def queues(self) -> tuple[Queue, ...]:
        """Where its pages wait for their hosts."""
        return self._set, self._retries, self._new, self._ranking.turns

    def schedule_at(self, page: int, at: float, *, hold: bool = True) -> float:
        """Set a time for a page, within its hours; returns it.

        Args:
            page: Number of the page.
            at: The instant.
            hold: Whether nothing else decides on the page until then.
        """
        table = self._table
        at = table.terms_of(page).opens(at)
        if hold:
            self.copies.hold(page)
        table.set[page] = at
        if at < table.called[page]:  # otherwise it is looked at before, and then put off again
            table.called[page] = at
            heappush(self._times, (at, page))
        return at

    def _call(self, now: float) -> None:
        """Call up pages whose set time has come."""
        table = self._table
        while self._times and self._times[0][0] <= now:
            at, page = heappop(self._times)
            if table.called[page] != at:
                continue  # it was called up sooner
            table.called[page] = NEVER
            at = float(table.set[page])
            if at <= now:
                queue = self._retries if table.failures[page] else self._set
                queue.put(at, page, int(table.host[page]))
            elif at < NEVER:
                table.called[page] = at
                heappush(self._times, (at, page))

    def _set_page(self, queue: Queue, now: float) -> int | None:
        """A page of a queue whose set time has come."""
        table = self._table
        while (page := queue.take(now)) is not None:
            if table.set[page] > now:
                continue  # it was visited in the meantime
            if table.terms_of(page).opens(now) <= now:
                return page
            self.schedule_at(page, now, hold=False)  # its hours are over; it stays as it was held
        return None

    def _in_turn(self, now: float) -> int | None:
        """A page to try again, a new one or one that is worth a visit, in turns where all wait."""
        for step in range(1, _KINDS + 1):
            kind = (self._kind + step) % _KINDS
            match kind:
                case 0:
                    page = self._ranking.take(now, others_wait=bool(self.new_pages))
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
        table = self._table
        while (page := self._new.take(now)) is not None:
            if page in self._early:
                self._early.remove(page)
                continue
            opens = table.terms_of(page).opens(now)
            if opens <= now:
                return page
            self._asleep.append(page)
            self._opens = min(self._opens, opens)
        return None

    def lease_early(self, page: int, now: float) -> None:
        """Lease a page out of its turn; a new one is passed over when its turn comes."""
        table = self._table
        if table.status[page] == _NEW and table.set[page] == NEVER:
            self._early.add(page)
        self._lease_out(page, now)

    def _lease_out(self, page: int, now: float) -> None:
        table = self._table
        self.copies.hold(page)
        self._ranking.lease_out(page)
        table.leased[page] = True
        table.set[page] = NEVER
        table.hosts.begin(int(table.host[page]), now)
        self.bucket.spend(now, first=bool(table.row[page] == NOT_ADMITTED))
