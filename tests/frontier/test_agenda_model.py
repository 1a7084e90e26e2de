"""What a live crawl does next, against a model that searches through everything."""

from __future__ import annotations

from copy import deepcopy
from math import floor, inf
from typing import Any

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import tick_of
from recrawl.frontier.host_table import HostTable
from recrawl.plan.budget import Budget
from recrawl.policies import POLICIES
from recrawl.settings.terms import VisitTerms
from recrawl.visits.status import PageStatus
from tests.frontier.crawls import GRAIN, HARMONIC, START, Told, found, visit
from tests.frontier.toys import Worth

TERMS = (
    VisitTerms(),
    VisitTerms(interval=0.25),
    VisitTerms(minimum=0.5),
    VisitTerms(maximum=0.75, weight=3.0),
    VisitTerms(pool=1, hours=(8, 18)),
    VisitTerms(pool=1, minimum=0.5, maximum=0.5, hours=(22, 6)),
    VisitTerms(pool=1, weight=0.25),
)
POOLS = (0, 0, 0, 0, 1, 1, 1)
ENDS = ("told", "told", "told", "failed", "gone", "refused", "moved", "given_back")
policies = st.sampled_from(["recrawl", "uniform", "nutch", "worth"])
budgets = st.sampled_from(
    [Budget(30.0), Budget(400.0), Budget(0.4, "page"), Budget(6.0, "page"), Budget(50.0, "page")]
)


def policy_of(name):
    return Worth() if name == "worth" else POLICIES[name](HARMONIC)


class Crawling(RuleBasedStateMachine):
    """Hosts, pools, terms and policies; a search through all pages says what must come next."""

    def __init__(self):
        super().__init__()
        self.now = START
        self.under_way: list[Any] = []  # leases
        self.hops: list[int] = []
        self.pages: list[tuple[int, int]] = []  # host and term
        self.last: dict[int, float] = {}  # end of the last visit to each page
        self.back: set[int] = set()  # pages with a copy that were given back
        self.leased: list[list[float]] = [[], []]  # instants, a list a pool
        self.since: list[set[int]] = [set(), set()]  # leased since the policy gave its order
        self.kind = [0, 0]
        self.first = 0
        # One row per host: how long to wait, since when, until when, how many are under way.
        self.delay: list[float] = []
        self.asked: list[float] = []
        self.until: list[float] = []
        self.busy: list[int] = []

    @initialize(
        names=st.tuples(policies, policies),
        spent=st.tuples(budgets, budgets),
        delay=st.sampled_from([0.0, GRAIN, 32 * GRAIN]),
        together=st.integers(1, 2),
        pages=st.integers(0, 40),
    )
    def begin(self, names, spent, delay, together, pages):
        random = np.random.default_rng(1)
        self.least, self.together, self.budgets = delay, together, spent
        self.agenda: Any = Agenda(HostTable(delay=delay, together=together), TERMS, random)
        for name, budget in zip(names, spent, strict=True):
            frontier = Told(policy_of(name), budget, random)
            self.agenda.add_pool(frontier, budget, now=START)
        for _ in range(3):
            self.add_host()
        self.find([(page % 3, page % len(TERMS)) for page in range(pages)])
        for _ in range(16):
            self.take_some(40)
            for lease in list(self.under_way):
                self.finish(lease, "told", changed=lease.page % 2 == 0)
            self.now += 512 * GRAIN

    def add_host(self):
        self.agenda.hosts.add()
        self.delay.append(self.least)
        self.asked.append(-inf)
        self.until.append(-inf)
        self.busy.append(0)

    # What happens.

    @rule(some=st.lists(st.tuples(st.integers(0, 5), st.integers(0, len(TERMS) - 1)), max_size=12))
    def find(self, some):
        for host, term in some:
            while host >= len(self.delay):
                self.add_host()
            self.pages.append((host, term))
        pages = found(self.agenda, *some)
        assert pages == list(range(len(self.pages) - len(some), len(self.pages)))

    @rule(grains=st.one_of(st.integers(1, 64), st.integers(1, 4096), st.integers(1, 4096 * 3)))
    def wait(self, grains):
        self.now += grains * GRAIN

    @rule(grains=st.integers(1, 256))
    def end_all(self, grains):
        """All goes well, and some time passes."""
        for lease in list(self.under_way):
            self.finish(lease, "told", changed=lease.page % 2 == 0)
        self.now += grains * GRAIN

    @rule(times=st.integers(1, 12))
    def take_some(self, times):
        for _ in range(times):
            if not self.take_one():
                break

    @rule(most=st.integers(1, 20))
    def take_many(self, most):
        leases = self.agenda.take(self.now, most)
        assert len(leases) <= most
        for lease in leases:
            self.lease_out(lease)
        self.first = 1 - self.first
        for pool in (0, 1):
            self.since[pool] = set(self.agenda._pools[pool]._ranking._leased)
            self.kind[pool] = self.agenda._pools[pool]._kind
        if len(leases) < most:
            self.nothing_possible()

    @precondition(lambda self: self.under_way)
    @rule(drawn=st.data(), end=st.sampled_from(ENDS), changed=st.booleans())
    def end(self, drawn, end, changed):
        lease = drawn.draw(st.sampled_from(self.under_way))
        self.finish(lease, end, changed)

    @rule(host=st.integers(0, 5))
    def hop(self, host):
        if host < len(self.delay) and self.free(host):
            self.ask(host)
            self.agenda.hosts.begin(host, self.now)
            self.hops.append(host)

    def end_request(self, host):
        self.agenda.hosts.end(host, self.now)
        self.agenda.freed(host)

    @precondition(lambda self: self.hops)
    @rule()
    def end_hop(self):
        host = self.hops.pop()
        self.end_request(host)
        self.answered(host)

    @rule(host=st.integers(0, 5), grains=st.integers(0, 128))
    def slow_down(self, host, grains):
        if host < len(self.delay):
            self.delay[host] = max(grains * GRAIN, self.delay[host])
            self.agenda.hosts.set_delay(host, self.delay[host])

    @rule(host=st.integers(0, 5), grains=st.integers(1, 2048))
    def leave_alone(self, host, grains):
        if host < len(self.delay):
            self.until[host] = max(self.until[host], self.now + grains * GRAIN)
            self.agenda.hosts.block(host, self.now + grains * GRAIN)

    @rule(shares=st.lists(st.floats(0, 1), min_size=1, max_size=3))
    def sleep(self, shares):
        """Nobody is woken too late, and nobody for nothing again and again."""
        while self.take_one():
            pass
        wake = self.agenda.ready(self.now)
        assert wake > self.now
        for share in sorted(shares):
            between = self.now + share * (min(wake, self.now + 3) - self.now)
            if between < wake:
                assert deepcopy(self.agenda).take(between, 3) == []
        if wake < self.now + 3:
            self.now = wake + GRAIN - wake % GRAIN

    # What must be true.

    def free(self, host):
        ready = max(self.asked[host] + self.delay[host], self.until[host])
        return self.busy[host] < self.together and ready <= self.now

    def ask(self, host):
        assert self.free(host)
        self.busy[host] += 1
        self.asked[host] = self.now

    def answered(self, host):
        self.busy[host] -= 1
        if self.together == 1:
            self.asked[host] = self.now

    def lease_out(self, lease):
        page, (host, term) = lease.page, self.pages[lease.page]
        assert (lease.host, lease.at) == (host, self.now)
        assert page not in [other.page for other in self.under_way]
        assert TERMS[term].opens(self.now) == self.now
        least = TERMS[term].minimum
        assert self.now >= self.last.get(page, -inf) + least - 1e-9
        self.ask(host)
        pool = POOLS[term]
        self.leased[pool].append(self.now)
        self.since[pool].add(page)
        self.back.discard(page)
        self.under_way.append(lease)
        rate = self.budgets[pool].visits_a_day(sum(POOLS[term] == pool for _, term in self.pages))
        window = max(1.0, 1 / rate)
        spent = sum(at > self.now - window for at in self.leased[pool])
        assert spent <= floor(rate * window + 1e-6)

    def finish(self, lease, end, changed):
        page, term = lease.page, TERMS[self.pages[lease.page][1]]
        self.under_way.remove(lease)
        self.agenda.answered(lease, self.now)
        self.answered(lease.host)
        if end == "given_back":
            self.agenda.release_lease(page, self.now + 16 * GRAIN)
            self.back.add(page)
            return
        self.last[page] = self.now
        if end != "told":
            again = getattr(self.agenda, end)(page, self.now)
            assert again == self.agenda.set_time(page) > self.now
            return
        if lease.first:
            self.agenda.copied(page, f"https://h{lease.host}.org/s{page % 3}/{page}", self.now)
        else:
            self.agenda.seen(page, self.now, changed=changed)
        longest = term.interval or term.maximum
        if longest < inf:
            assert self.agenda.set_time(page) <= term.opens(self.now + longest)

    def ready_pages(self, pool):
        """Pages of a pool that are not leased, whose hosts are free, in their hours."""
        leased = {lease.page for lease in self.under_way}
        return [
            page
            for page, (host, term) in enumerate(self.pages)
            if POOLS[term] == pool
            and page not in leased
            and self.free(host)
            and TERMS[term].opens(self.now) == self.now
        ]

    def choices(self, pool, times, pages):
        """The page at a set time, the new page and the revisit that come next; None for none."""
        status = self.agenda.status
        due = [page for page in pages if times[page] <= self.now]
        new = [page for page in pages if times[page] == inf and status(page) is PageStatus.NEW]
        copies = self.agenda._pools[pool].copies
        frontier, row_of = copies.frontier, copies.page
        ranked = [int(row_of[row]) for row in frontier.ranking]
        turns = [page for page in ranked if page in pages and page not in self.since[pool]]
        weight = [TERMS[term].weight for _, term in self.pages]
        tried = [page for page in due if self.agenda.failures(page)]
        due = [page for page in due if not self.agenda.failures(page)]
        return (
            min(due, key=lambda page: (times[page], page), default=None),
            min(tried, key=lambda page: (times[page], page), default=None),
            min(new, key=lambda page: (-weight[page], page), default=None),
            turns[0] if turns else None,
        )

    def take_one(self):
        """Take a lease and compare it with what the model says."""
        agenda = self.agenda
        times = [agenda.set_time(page) for page in range(len(self.pages))]
        ready = [self.ready_pages(pool) for pool in (0, 1)]
        revisit = [agenda.budget_pool(pool).bucket.ready(self.now, first=False) for pool in (0, 1)]
        allowed = [agenda.budget_pool(pool).bucket.ready(self.now, first=True) for pool in (0, 1)]
        orders = [agenda._pools[pool].copies.frontier.ranked_at for pool in (0, 1)]
        leases = agenda.take(self.now, 1)
        first, self.first = self.first, 1 - self.first
        for pool in (first, 1 - first):
            if agenda._pools[pool].copies.frontier.ranked_at != orders[pool]:
                self.since[pool] = set()
                self.check_order(pool)
            if allowed[pool] > self.now:
                continue
            due, tried, new, turn = self.choices(pool, times, ready[pool])
            in_turn = {0: None if revisit[pool] > self.now else turn, 1: new, 2: tried}
            kinds = [(self.kind[pool] + step) % 3 for step in (1, 2, 3)]
            kind = next((each for each in kinds if in_turn[each] is not None), None)
            expected = due if due is not None or kind is None else in_turn[kind]
            if expected is not None:
                assert [lease.page for lease in leases] == [expected]
                if due is None and kind is not None:
                    self.kind[pool] = kind
                self.lease_out(leases[0])
                return True
        assert leases == []
        return False

    def check_order(self, pool):
        """All pages on which the policy decides are in its order, and it holds for a tick."""
        state = self.agenda._pools[pool]
        pages = state.copies.page
        if len(pages):
            tick = tick_of(len(pages) / state.bucket.visits_a_day)
            assert self.now < state._ranking._ends <= self.now + tick
        ranked = {int(pages[row]) for row in state.copies.frontier.ranking}
        leased = {lease.page for lease in self.under_way}
        for page, (_, term) in enumerate(self.pages):
            least, last = TERMS[term].minimum, self.last.get(page, inf)
            of_policy = (
                POOLS[term] == pool
                and page not in leased | self.back
                and self.agenda.status(page) is PageStatus.COPIED
                and self.agenda.failures(page) == 0
                and not TERMS[term].interval
                and last + least <= self.now + 1e-9
            )
            if not of_policy:
                assert page not in ranked
            elif last < self.now - 0.01:
                assert page in ranked

    def nothing_possible(self):
        for pool in (0, 1):
            allowed = [
                self.agenda.budget_pool(pool).bucket.ready(self.now, first=f) for f in (True, False)
            ]
            times = [self.agenda.set_time(page) for page in range(len(self.pages))]
            state = self.agenda._pools[pool]
            due, tried, new, turn = self.choices(pool, times, self.ready_pages(pool))
            assert allowed[0] > self.now or due is tried is new is None
            assert allowed[1] > self.now or turn is None
            assert allowed[1] > self.now or self.now < state._ranking._ends

    @invariant()
    def no_page_is_lost(self):
        if not self.pages:
            return
        table, leased = self.agenda._table, {lease.page for lease in self.under_way}
        for pool in self.agenda._pools:
            called = {(at, page) for at, page in pool._times}
            queues = (pool._set, pool._retries)
            queued = {p for queue in queues for line in queue.lines.values() for _, p in line}
            new = {p for line in pool._new.lines.values() for _, p in line} | set(pool._asleep)
            coming = {page for page, *_ in pool.copies._copied}
            for page, (_, term) in enumerate(self.pages):
                if self.agenda._pools[POOLS[term]] is not pool:
                    continue
                assert (page in leased) == bool(table.leased[page])
                row, set_time = int(table.row[page]), float(table.set[page])
                schedule_at = set_time < inf and (
                    page in queued
                    or (table.called[page] <= set_time and (table.called[page], page) in called)
                )
                turnable = (
                    row >= 0
                    and not pool.copies.frontier._held[row]
                    and pool.copies.page[row] == page
                )
                # The names of what is true.
                assert page in leased or schedule_at or page in new or page in coming or turnable
                assert schedule_at or set_time == inf

    def teardown(self):
        """When all goes well from now on, every page is visited once more, on two dozen days."""
        if not self.pages:
            return
        for host in self.hops:
            self.end_request(host)
        for lease in list(self.under_way):
            self.finish(lease, "told", changed=False)
        left, end, wakes = set(range(len(self.pages))), self.now + 24.0, 0
        while left and self.now < end and wakes < 250:
            leases = self.agenda.take(self.now, 10)
            for lease in leases:
                visit(self.agenda, lease, self.now)
                left.discard(lease.page)
            if not leases:
                wake = self.agenda.ready(self.now)
                assert wake > self.now
                self.now, wakes = wake, wakes + 1
        # Where set times take all that there is, others wait.
        rich = all(each.visits in (400.0, 6.0, 50.0) for each in self.budgets)
        assert not left or not rich or wakes == 250


_MANY = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestCrawling = Crawling.TestCase
TestCrawling.settings = _MANY
