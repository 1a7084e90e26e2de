"""What a live crawl does next: new pages, set times and the policy's order, budgets and hosts.

The agenda is a state machine without a clock. Pages are numbers from 0 on, in the order in which
they were found; instants are days after 1970. The life of a page is

    found -> new -> leased -> copied -> waiting -> leased -> seen -> waiting ...
                       |                              |
                       +--- failed, gone, refused ----+--> put off to a set time -> leased ...

Pages share budgets by *pool*, and each pool has a frontier of its own. A lease goes to

1. pages whose set time has come (fixed and longest intervals), oldest first;
2. in turns, new pages, pages that failed or were gone and are to be tried again, and the pages that
   the policy finds most worth a visit.

*In turns* means one for one while they wait at free hosts and the budget has room for them. So a
crawl that finds more new pages than it can copy still spends a part of its visits on the copies
that it has, one that has much to revisit still grows, and pages that fail for ever do not starve
the others. Where only one kind waits, or the hosts of the others must wait, that one goes on alone;
and revisits never go faster than evenly over the day, while the others may. Pools take turns at
being asked first.

No lease is given for a host that must wait, and none beyond the budget of its pool. Whatever is
possible is done before anything later. The least days between visits hold for visits that failed
too, and so do the hours.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.frontier.backoff import recheck_after, retry_after, robots_recheck_after
from recrawl.frontier.frontier import UNINFORMATIVE, ObservedChange
from recrawl.frontier.page_table import NOT_ADMITTED, PageTable
from recrawl.frontier.pool import Pool
from recrawl.settings.terms import JITTER
from recrawl.visits.status import WITH_A_COPY, PageStatus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.frontier.frontier import Frontier
    from recrawl.frontier.host_table import HostTable
    from recrawl.frontier.queue import Queue
    from recrawl.plan.budget import Budget
    from recrawl.settings.terms import VisitTerms

# Plain numbers: looked up at every visit.
_NEW, _COPIED = int(PageStatus.NEW), int(PageStatus.COPIED)
_STATUSES = tuple(PageStatus)  # each at the place of its number
_GONE = (PageStatus.SUSPECTED, PageStatus.GONE)
_HERE = (PageStatus.NEW, PageStatus.COPIED)


class Lease(NamedTuple):
    """Leave to visit a page now.

    Attributes:
        page: Number of the page.
        host: Its host.
        first: Whether there is no copy of it yet.
        at: When it was given.
    """

    page: int
    host: int
    first: bool
    at: float


@dataclass(frozen=True, slots=True, eq=False)
class KnownPages:
    """Facts about pages: one row per page.

    Args:
        host: Host of each.
        term: Number of its terms.
        status: Where it stands in its life.
        failures: How many visits in a row have failed, or found it gone.
        set: Its set time; infinite where it has none.
        factor: What the weight of its terms is multiplied by; None for 1.
    """

    host: Ints
    term: Ints
    status: Ints
    failures: Ints
    set: Floats
    factor: Floats | None = None


class Agenda:
    """Pages of a live crawl, and what to visit next.

    Args:
        hosts: When each host may be asked.
        terms: On which terms pages are visited; pages name them by number.
        random: Spreads intervals.

    Examples:
        Two pages of a host that may be asked once a minute:

        >>> from recrawl.frontier.frontier import Frontier
        >>> from recrawl.frontier.host_table import HostTable
        >>> from recrawl.settings.terms import VisitTerms
        >>> from recrawl.plan.budget import Budget
        >>> from recrawl.policies.rivals.uniform import uniform
        >>> random, minute = np.random.default_rng(0), 1 / 1440
        >>> agenda = Agenda(HostTable(delay=minute), [VisitTerms()], random)
        >>> budget = Budget.read("24/1d")
        >>> agenda.add_pool(Frontier(uniform(), budget, random), budget, now=100.0)
        0
        >>> host = agenda.hosts.add()
        >>> agenda.found(np.array([host, host]), np.array([0, 0]))
        array([0, 1])
        >>> [lease] = agenda.take(100.0, most=5)
        >>> lease
        Lease(page=0, host=0, first=True, at=100.0)
        >>> agenda.answered(lease, 100.0)
        >>> agenda.copied(lease.page, "https://example.org/", 100.0)
        >>> agenda.take(100.0, most=5), round((agenda.ready(100.0) - 100) / minute, 3)
        ([], 1.0)
    """

    def __init__(
        self, hosts: HostTable, terms: Sequence[VisitTerms], random: np.random.Generator
    ) -> None:
        self.hosts = hosts
        self._random = random
        self._table = PageTable(hosts, terms)
        self._pool_of_term: Ints = np.array([each.pool for each in terms], np.int64)
        self._pools: list[Pool] = []
        self._queues: list[Queue] = []  # of all pools
        self._first = 0
        self._had_duplicates = False

    def __len__(self) -> int:
        """Count the pages."""
        return len(self._table)

    def add_pool(self, frontier: Frontier, budget: Budget, now: float) -> int:
        """One more budget, and the frontier of its pages; returns its number."""
        number = len(self._pools)
        self._pools.append(Pool(frontier, budget, self._table, number, now))
        self._queues.extend(self._pools[-1].queues)
        return number

    @property
    def pools(self) -> int:
        """How many budgets there are."""
        return len(self._pools)

    def budget_pool(self, number: int) -> Pool:
        """A budget by its number, and who shares it."""
        return self._pools[number]

    def pool(self, term: int) -> Pool:
        """The budget that pays for pages on some terms, and who shares it."""
        return self._pools[int(self._pool_of_term[term])]

    def frontier(self, pool: int) -> Frontier:
        """What orders the pages of a pool that have a copy; all of them are in it afterwards."""
        copies = self._pools[pool].copies
        copies.admit()
        return copies.frontier

    @property
    def factors(self) -> Floats:
        """What the weight of each page's terms is multiplied by."""
        return self._table.factor

    def pages(self, pool: int) -> Ints:
        """The pages in the rows of a pool's frontier."""
        return self._pools[pool].copies.page.copy()

    def found(self, host: Ints, term: Ints, factor: Floats | None = None) -> Ints:
        """Take in pages of which there is no copy yet; returns their numbers.

        Args:
            host: Host of each.
            term: Number of each page's terms.
            factor: What the weight of each page's terms is multiplied by; None for 1.
        """
        pages = self._table.add(host, term, factor)
        pool = self._pool_of_term[np.asarray(term, np.int64)]
        for number in np.unique(pool).tolist():
            self._pools[number].found(pages[pool == number])
        return pages

    def resume(self, known: KnownPages, pools: Sequence[Ints], last: Sequence[Floats]) -> None:
        """Take up a crawl again; call before anything was found.

        Args:
            known: What was known of all pages.
            pools: The pages in the rows of each pool's frontier, in order.
            last: When each of them was last visited.
        """
        table = self._table
        pages = table.add(known.host, known.term, known.factor)
        table.status[:] = known.status
        self._had_duplicates = bool(np.any(table.status == PageStatus.DUPLICATE))
        table.failures[:] = known.failures
        table.set[:] = known.set
        pool_of = self._pool_of_term[table.term]
        for number, (rows, days) in enumerate(zip(pools, last, strict=True)):
            self._pools[number].resume(pages[pool_of == number], rows, days)

    def withdraw(self, page: int) -> None:
        """Leave a page out of the crawl until it is readmitted. Idempotent."""
        if not self._table.withdrawn[page]:
            self._table.withdrawn[page] = True
            self._pool(page).withdraw(page)

    def readmit(
        self, page: int, term: int, status: PageStatus, now: float, copied: tuple[str, float] | None
    ) -> None:
        """Take a page in again that was withdrawn, or had no rule when the crawl was taken up.

        Args:
            page: Number of the page.
            term: Number of its terms.
            status: Where it stands in its life.
            now: The instant.
            copied: Its address and when it was last visited, if there is a copy of it.
        """
        table = self._table
        table.withdrawn[page] = False
        table.term[page], table.status[page], table.failures[page] = term, status, 0
        self._had_duplicates |= status == PageStatus.DUPLICATE
        pool = self._pool(page)
        if copied is not None and table.row[page] == NOT_ADMITTED:
            pool.enter(page, *copied, np.nan)
        pool.readmit(page, now)

    def is_withdrawn(self, page: int) -> bool:
        """Whether a page is left out of the crawl."""
        return bool(self._table.withdrawn[page])

    def drop(self, page: int) -> None:
        """Take back the lease of a page that was withdrawn meanwhile."""
        self._table.leased[page] = False

    # What to do next.

    def take(self, now: float, most: int) -> list[Lease]:
        """Leases for what is most worth doing now; their hosts count as asked from now on.

        Args:
            now: The instant.
            most: How many leases.
        """
        leases: list[Lease] = []
        for pool in self._pools[self._first :] + self._pools[: self._first]:
            while len(leases) < most and (page := pool.take(now)) is not None:
                leases.append(self._lease(page, now))
        self._first = (self._first + 1) % max(len(self._pools), 1)  # where leases are scarce
        return leases

    def ready(self, now: float) -> float:
        """Instant at which something may be done, as far as is known; call when `take` has none."""
        return min((pool.ready(now) for pool in self._pools), default=inf)

    def end_with_orders(self) -> None:
        """Visit no page again just because all were visited: for a crawl that ends then."""
        for pool in self._pools:
            pool.end_with_order()

    def waiting(self, now: float, until: float) -> bool:
        """Whether something would be done now if its host were free, and its host will be soon.

        Call when `take` has none.

        Args:
            now: The instant.
            until: When it must be free at the latest.
        """
        return any(pool.waiting(now, until) for pool in self._pools)

    def ready_for(self, page: int, now: float) -> float:
        """Instant at which a page may be visited out of its turn, as far as is known.

        Its host, its hours and its budget must allow it, and a page that failed or was not there
        waits for its set time. Infinite where nothing pays for it.
        """
        table = self._table
        bucket = self._pool(page).bucket
        if table.leased[page] or table.withdrawn[page]:
            return inf
        waits = self.failures(page) or self.status(page) not in _HERE
        at = max(self.set_time(page), now) if waits else now
        at = max(at, self.hosts.ready(int(table.host[page])), bucket.ready(now, first=True))
        return table.terms_of(page).opens(at) if at < inf else inf

    def lease(self, page: int, now: float) -> Lease:
        """Lease a page out of its turn; call when `ready_for` says that it may be visited now."""
        self._pool(page).lease_early(page, now)
        return self._lease(page, now)

    def _lease(self, page: int, now: float) -> Lease:
        table = self._table
        # Of a page that others visited before, the policy knows something, and there is no copy.
        first = bool(table.row[page] == NOT_ADMITTED or table.status[page] == _NEW)
        return Lease(page, int(table.host[page]), first, now)

    # What became of it.

    def answered(self, lease: Lease, now: float, wait: float | None = None) -> None:
        """Note that the request to a lease's host has ended."""
        self.hosts.end(lease.host, now, wait)
        self.freed(lease.host)

    def freed(self, host: int) -> None:
        """Look again at a host of which a request has ended, whether for a page or robots.txt."""
        for queue in self._queues:
            if host in queue.lines:
                queue.freed(host)

    def copied(self, page: int, address: str, now: float, *, age: float = np.nan) -> None:
        """Learn that there is a first copy of a page.

        A page that the policy knows already, as others visited it before, may have changed since or
        not: the first copy does not tell.

        Args:
            page: Number of the page.
            address: Its address.
            now: When it was copied.
            age: Days since it changed; nan where that is unknown.
        """
        self._done(page, _COPIED, 0)
        pool = self._pool(page)
        if not pool.enter(page, address, now, age):
            pool.copies.learn(page, now, UNINFORMATIVE)
        self._reschedule(pool, page, now)

    def seen(
        self,
        page: int,
        now: float,
        *,
        changed: bool,
        age: float = np.nan,
        false_changes: float = 0.0,
    ) -> None:
        """Learn what a visit to a page with a copy showed.

        Args:
            page: Number of the page.
            now: When it was visited.
            changed: Whether it had changed.
            age: Days since it changed; nan where that is unknown.
            false_changes: Chance that the visit would report a change of the unchanged page.
        """
        self._done(page, _COPIED, 0)
        pool = self._pool(page)
        pool.copies.learn(page, now, ObservedChange(changed, age, false_changes))
        self._reschedule(pool, page, now)

    def rate(self, page: int, now: float) -> float:
        """Changes a day that are expected of a page since its last visit; nan if unknown."""
        return self._pool(page).copies.rate(page, now)

    def audited(self, page: int, now: float) -> None:
        """Count a second request of a visit against the budget."""
        self._pool(page).bucket.spend(now, first=False)

    def announced(
        self, pages: Ints, named: Floats, reliability: tuple[Floats, Floats], now: float
    ) -> None:
        """Let the policy know what a host announces of pages that have a copy.

        Args:
            pages: Pages that the host would name if they had changed.
            named: Chance that each page which it names has changed; 0 where it does not.
            reliability: Recall and false alarms a day of the host of each page.
            now: When it was asked.
        """
        for pool, some in self._pools_of(pages):
            each = reliability[0][some], reliability[1][some]
            pool.copies.announced(pages[some], named[some], each, now)

    def hinted(self, pages: Ints, right: Floats) -> None:
        """Let the policy know of hints that pages have changed.

        Args:
            pages: The pages.
            right: Chance that each hint is right.
        """
        for pool, some in self._pools_of(pages):
            pool.hinted(pages[some], right[some])

    def unannounced_changes(self, pages: Ints) -> Floats:
        """Changes that visits would have met unannounced if hosts announced none."""
        changes = np.zeros(len(pages))
        for pool, some in self._pools_of(pages):
            changes[some] = pool.copies.unannounced_changes(pages[some])
        return changes

    def failed(self, page: int, now: float) -> float:
        """Learn that a visit said nothing of its page; returns when the page is tried again."""
        failures = int(self._table.failures[page]) + 1
        self._done(page, self.status(page), failures)
        return self._postpone(page, now, retry_after(failures))

    def gone(self, page: int, now: float) -> float:
        """Learn that there is no such page; returns when it is looked at again.

        A copy stands until a second visit has confirmed it; of other pages there is none to lose.
        """
        had = self.status(page)
        times = self.failures(page) + 1 if had in _GONE else 1
        suspected = had is PageStatus.COPIED
        self._done(page, PageStatus.SUSPECTED if suspected else PageStatus.GONE, times)
        return self._postpone(page, now, recheck_after(times))

    def refused(self, page: int, now: float) -> float:
        """Learn that robots.txt forbids a page; returns when it is asked about again."""
        times = self.failures(page) + 1 if self.status(page) is PageStatus.REFUSED else 1
        self._done(page, PageStatus.REFUSED, times)
        return self._postpone(page, now, robots_recheck_after(times))

    def moved(self, page: int, now: float) -> float:
        """Learn that a page is elsewhere; returns when it is looked at again."""
        times = self.failures(page) + 1 if self.status(page) is PageStatus.MOVED else 2
        self._done(page, PageStatus.MOVED, times)
        return self._postpone(page, now, recheck_after(times))

    def duplicate(self, page: int, now: float) -> float:
        """Learn that a page is a copy of another; returns when it is looked at again."""
        times = self.failures(page) + 1 if self.status(page) is PageStatus.DUPLICATE else 2
        self._done(page, PageStatus.DUPLICATE, times)
        self._had_duplicates = True
        return self._postpone(page, now, recheck_after(times))

    def recheck(self, page: int, now: float) -> None:
        """Let a page be looked at again now, ahead of its set time."""
        if not self._table.leased[page] and not self._table.withdrawn[page]:
            self._pool(page).schedule_at(page, now)

    def release_lease(self, page: int, at: float) -> None:
        """Take back a lease that was not used, and give it again from an instant on."""
        self._table.leased[page] = False
        if not self._table.withdrawn[page]:
            self._pool(page).schedule_at(page, at)

    def hosts_of(self, pages: Ints) -> Ints:
        """Hosts of some pages."""
        return np.asarray(self._table.host[pages])

    def new_pages(self, page: int) -> tuple[int, float]:
        """New pages that wait beside a page, and visits a day that they and others share."""
        pool = self._pool(page)
        return pool.new_pages, pool.bucket.visits_a_day

    def term(self, page: int) -> int:
        """Number of a page's terms."""
        return int(self._table.term[page])

    def terms_of(self, pages: Ints) -> Ints:
        """Numbers of the terms of some pages."""
        return self._table.term[pages]

    def count(self, status: PageStatus) -> int:
        """How many pages stand at one place in their lives."""
        return int(np.count_nonzero((self._table.status == status) & ~self._table.withdrawn))

    @property
    def had_duplicates(self) -> bool:
        """Whether any page is a copy of another, or has been."""
        return self._had_duplicates

    def status(self, page: int) -> PageStatus:
        """Where a page stands in its life."""
        return _STATUSES[int(self._table.status[page])]

    def standing(self, page: int) -> tuple[PageStatus, int]:
        """Where a page stands in its life, and how many visits in a row have failed."""
        table = self._table
        return _STATUSES[int(table.status[page])], int(table.failures[page])

    def have_copies(self, pages: Ints) -> Bools:
        """Which of some pages have a copy that is kept fresh."""
        return np.isin(self._table.status[pages], WITH_A_COPY) & ~self._table.withdrawn[pages]

    def failures(self, page: int) -> int:
        """How many visits in a row have failed, or found the page gone."""
        return int(self._table.failures[page])

    def set_time(self, page: int) -> float:
        """Set time of a page; infinite where it has none."""
        return float(self._table.set[page])

    def _pool(self, page: int) -> Pool:
        return self._pools[self._table.terms_of(page).pool]

    def _pools_of(self, pages: Ints) -> Iterator[tuple[Pool, Ints]]:
        """The pools that some pages are of, and the places of these among them."""
        pool = self._pool_of_term[self._table.term[pages]]
        for number in np.unique(pool).tolist():
            yield self._pools[number], np.flatnonzero(pool == number)

    def _done(self, page: int, status: int, failures: int) -> None:
        self._table.leased[page] = False
        self._table.status[page], self._table.failures[page] = status, failures

    def _reschedule(self, pool: Pool, page: int, now: float) -> None:
        """Let a page that has a copy take its turn again, on its terms."""
        terms = self._table.terms_of(page)
        if self._table.row[page] >= 0:
            pool.copies.hand_to_policy(page, now)
        days = terms.interval or terms.maximum
        if days < inf:
            pool.schedule_at(page, now + max(self._spread(days), terms.minimum), hold=False)

    def _postpone(self, page: int, now: float, days: float) -> float:
        """Put a page off; nothing else decides on it until then."""
        days = max(self._spread(days), self._table.terms_of(page).minimum)
        return self._pool(page).schedule_at(page, now + days)

    def _spread(self, days: float) -> float:
        return days * (1 - JITTER * float(self._random.random()))
