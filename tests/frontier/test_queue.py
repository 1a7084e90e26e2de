"""Pages in order, past hosts that must wait."""

from __future__ import annotations

from math import inf

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from recrawl.frontier.host_table import HostTable
from recrawl.frontier.queue import Queue


def test_equal_ranks_come_in_the_order_of_their_numbers():
    hosts = HostTable(delay=0.0)
    queue = Queue(hosts)
    for page in (3, 1, 2):
        queue.put(5.0, page, hosts.add())

    assert [queue.take(0.0) for _ in range(4)] == [1, 2, 3, None]


def test_an_empty_queue_is_never_ready():
    hosts = HostTable(delay=1.0)
    queue = Queue(hosts)
    assert queue.ready() == inf
    queue.put(1.0, 7, hosts.add())
    assert (len(queue), queue.ready()) == (1, -inf)
    queue.clear()

    assert (len(queue), queue.ready(), queue.take(9.0)) == (0, inf, None)


def test_what_waits_for_one_host_takes_room_once():
    """However often requests to it end before the page is taken."""
    hosts = HostTable(delay=1.0)
    host = hosts.add()
    queue = Queue(hosts)
    queue.put(1.0, 7, host)
    for minute in range(1000):
        hosts.begin(host, minute * 2.0)
        hosts.end(host, minute * 2.0)
        queue.freed(host)

    assert len(queue._later) == 1
    assert queue.take(1999.0) is None or queue.take(1999.0) is None
    assert len(queue) == 0 or queue.ready() <= 2000.0


class Waiting(RuleBasedStateMachine):
    """Anything in any order, against a list that is searched."""

    def __init__(self):
        super().__init__()
        self.hosts = HostTable(delay=1.0, together=self.together)
        self.rows = [self.hosts.add() for _ in range(4)]
        self.queue = Queue(self.hosts)
        self.pages: list[tuple[float, int, int]] = []
        self.under_way: list[int] = []
        self.now = 0.0
        self.count = 0

    together = 1

    @rule(rank=st.integers(0, 5), host=st.integers(0, 3))
    def put(self, rank, host):
        self.queue.put(rank, self.count, host)
        self.pages.append((rank, self.count, host))
        self.count += 1

    @rule(ask=st.booleans())
    def take(self, ask):
        """The first whose host is free; and if none is, no sooner than the queue says."""
        free = [each for each in self.pages if self.hosts.free(each[2], self.now)]
        page = self.queue.take(self.now)
        if not free:
            assert page is None
            soonest = min((self.hosts.ready(host) for _, _, host in self.pages), default=inf)
            assert self.now < self.queue.ready() <= soonest
            return
        best = min(free)
        assert page == best[1]
        self.pages.remove(best)
        if ask:
            self.ask(best[2])

    @rule(host=st.integers(0, 3))
    def ask(self, host):
        """As a redirect does, or robots.txt."""
        if self.hosts.free(host, self.now):
            self.hosts.begin(host, self.now)
            self.under_way.append(host)

    @precondition(lambda self: self.under_way)
    @rule(drawn=st.data())
    def answered(self, drawn):
        host = drawn.draw(st.sampled_from(self.under_way))
        self.under_way.remove(host)
        self.hosts.end(host, self.now)
        self.queue.freed(host)

    @rule(quarters=st.integers(1, 12))
    def wait(self, quarters):
        self.now += quarters / 4

    @rule(host=st.integers(0, 3), quarters=st.integers(1, 20))
    def leave_alone(self, host, quarters):
        self.hosts.block(host, self.now + quarters / 4)

    @rule(host=st.integers(0, 3), delay=st.sampled_from([1.0, 2.0, 5.0]))
    def slow_down(self, host, delay):
        self.hosts.set_delay(host, delay)

    @rule()
    def clear(self):
        if self.count % 5 == 0:
            self.queue.clear()
            self.pages = []

    def teardown(self):
        """Nothing is lost: when all requests have ended, all pages come."""
        for host in self.under_way:
            self.hosts.end(host, self.now)
            self.queue.freed(host)
        self.now += 10.0
        for each in sorted(self.pages):
            assert self.queue.take(self.now) == each[1]
        assert self.queue.take(self.now) is None
        assert len(self.queue) == 0


class WaitingForSeveral(Waiting):
    together = 2


_MANY = settings(max_examples=100, stateful_step_count=50, deadline=None)
TestWaiting = Waiting.TestCase
TestWaiting.settings = _MANY
TestWaitingForSeveral = WaitingForSeveral.TestCase
TestWaitingForSeveral.settings = _MANY
