"""When hosts may be asked."""

from __future__ import annotations

from math import inf

from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.host_table import HostTable


def one(together=1, **wishes):
    hosts = HostTable(delay=1.0, together=together)
    return hosts, hosts.add(**wishes)


def test_the_delay_runs_from_the_end_of_the_answer():
    hosts, host = one()
    hosts.begin(host, 10.0)
    assert hosts.ready(host) == inf

    hosts.end(host, 13.0)
    assert hosts.ready(host) == 14.0


def test_where_several_may_be_under_way_it_runs_from_the_question():
    hosts, host = one(together=2)
    hosts.begin(host, 10.0)
    assert hosts.ready(host) == 11.0
    hosts.begin(host, 11.0)
    assert hosts.ready(host) == inf

    hosts.end(host, 15.0)
    assert hosts.ready(host) == 12.0


def test_a_host_never_waits_less_than_the_crawl_wants():
    hosts, host = one(delay=0.25)
    assert hosts.delay(host) == 1.0
    hosts.set_delay(host, 0.5)
    assert hosts.delay(host) == 1.0
    hosts.set_delay(host, 3.0)
    assert hosts.delay(host) == 3.0


def test_a_longer_delay_holds_for_the_very_next_request():
    """The wish is read in the answer to the request before."""
    hosts, host = one()
    hosts.begin(host, 10.0)
    hosts.end(host, 10.5)
    hosts.set_delay(host, 5.0)

    assert hosts.ready(host) == 15.5


def test_a_shorter_delay_brings_nothing_forward():
    """Whoever was told when to come back would come too late otherwise."""
    hosts, host = one(delay=5.0)
    hosts.begin(host, 10.0)
    hosts.end(host, 10.0)
    hosts.set_delay(host, 2.0)
    assert hosts.ready(host) == 15.0

    hosts.begin(host, 15.0)
    hosts.end(host, 15.0)
    assert hosts.ready(host) == 17.0


def test_a_host_that_answers_slowly_is_asked_more_slowly():
    """Two days of delay for a day of waiting; the usual wait moves by a quarter each time."""
    hosts, host = one(latency=2.0)
    assert hosts.delay(host) == 4.0

    hosts.begin(host, 0.0)
    hosts.end(host, 6.0, latency=6.0)
    assert hosts.latency(host) == 3.0
    assert hosts.ready(host) == 12.0


def test_waits_lengthen_a_delay_sixty_times_at_most():
    hosts, host = one(latency=1000.0)

    assert hosts.delay(host) == 60.0


def test_without_a_delay_nobody_waits():
    hosts = HostTable(delay=0.0)
    host = hosts.add(latency=9.0)
    hosts.begin(host, 5.0)
    hosts.end(host, 5.0)

    assert hosts.free(host, 5.0)
    assert hosts.room(host, 5.0, 0.0) > 1e9


def test_a_host_that_said_when_to_come_back_is_left_alone():
    hosts, host = one(after=3.0)
    assert hosts.ready(host) == 3.0
    hosts.block(host, 9.0)
    hosts.block(host, 5.0)

    assert hosts.ready(host) == 9.0


def test_a_slot_taken_ahead_keeps_others_out_until_its_request_has_ended():
    """As for robots.txt and the page after it: the second is announced before it begins."""
    hosts, host = one()
    hosts.begin(host, 0.0)
    hosts.end(host, 2.0)
    hosts.begin(host, 3.0)
    assert hosts.ready(host) == inf
    hosts.sent(host, 3.5)
    hosts.end(host, 4.0)

    assert hosts.ready(host) == 5.0


def test_two_slots_taken_ahead_do_not_follow_each_other_closely():
    hosts, host = one(together=2)
    hosts.begin(host, 0.0)
    hosts.begin(host, 1.0)
    hosts.end(host, 5.0)

    assert hosts.ready(host) == 2.0
    hosts.begin(host, 5.0)
    hosts.end(host, 5.0)
    assert hosts.ready(host) == 6.0


def test_a_request_that_is_sent_late_puts_off_those_that_have_a_slot():
    """The first waited for a connection until just before the second's slot."""
    hosts, host = one(together=3)
    hosts.begin(host, 0.0)
    hosts.begin(host, 1.0)
    hosts.sent(host, 0.75)

    assert hosts.may_send(host) == 1.75


def test_what_a_host_says_meanwhile_holds_for_those_that_have_a_slot():
    hosts, host = one(together=3)
    hosts.begin(host, 0.0)
    hosts.sent(host, 0.0)
    hosts.begin(host, 1.0)
    assert hosts.may_send(host) == 1.0

    hosts.set_delay(host, 4.0)
    assert hosts.may_send(host) == 4.0
    hosts.block(host, 9.0)
    assert hosts.may_send(host) == 9.0


def test_a_host_has_one_row_however_often_it_is_named():
    hosts = HostTable(delay=1.0, began=10.0)
    first, other = hosts.row("a.org"), hosts.row("b.org")

    assert hosts.row("a.org") == first != other
    assert hosts.names == ["a.org", "b.org"]
    assert hosts.ready(first) == 11.0  # a delay after the crawl began


def test_room_counts_the_requests_of_the_days_to_come():
    hosts, host = one(after=10.0)

    assert [hosts.room(host, 8.0, days) for days in (1.0, 2.0, 2.5, 3.0, 6.5)] == [0, 1, 1, 2, 5]
    assert len(hosts) == 1


events = st.lists(
    st.tuples(
        st.sampled_from(["ask", "answer", "slow", "alone", "wait"]),
        st.integers(0, 40).map(lambda sixteenths: sixteenths / 16),
    ),
    max_size=60,
)


@given(events, st.integers(1, 3))
def test_room_is_never_less_than_what_is_possible(happens, together):
    """However often delays change on the way, as long as none gets shorter than asked for."""
    hosts, host = one(together=together, latency=1.0)
    room, asked, now, under_way = hosts.room(host, 0.0, 20.0), 0, 0.0, 0
    for what, days in happens:
        if what == "ask" and hosts.free(host, now) and now <= 20.0:
            hosts.begin(host, now)
            asked, under_way = asked + 1, under_way + 1
        elif what == "answer" and under_way:
            hosts.end(host, now, latency=days)
            under_way -= 1
        elif what == "slow":
            hosts.set_delay(host, days)
        elif what == "alone":
            hosts.block(host, now + days)
        elif what == "wait":
            now += days

    assert asked <= room
    assert hosts.delay(host) >= 1.0


@given(events)
def test_two_requests_are_never_closer_than_the_delay_at_the_time(happens):
    hosts, host = one()
    now, last, under_way = 0.0, -inf, False
    for what, days in happens:
        if what == "ask" and hosts.free(host, now):
            assert not under_way
            assert now >= last + hosts.delay(host)
            hosts.begin(host, now)
            under_way = True
        elif what == "answer" and under_way:
            hosts.end(host, now)
            last, under_way = now, False
        elif what == "slow":
            hosts.set_delay(host, days)
        elif what == "wait":
            now += days


def test_a_host_is_left_alone_when_it_waits_for_longer_than_its_delay():
    hosts = HostTable(delay=1.0)
    host = hosts.add()
    hosts.begin(host, 0.0)
    hosts.end(host, 0.0)

    assert not hosts.is_left_alone(host, 0.0)
    hosts.block(host, 5.0)
    assert hosts.is_left_alone(host, 3.5)
    assert not hosts.is_left_alone(host, 4.0)


def test_a_host_may_have_a_delay_of_its_own():
    """Shorter or longer than the usual one; what the host asks for may raise it, not lower it."""
    hosts = HostTable(delay=1.0, delays={"slow.org": 5.0, "own.org": 0.25})
    usual, slow, own = map(hosts.row, ("a.org", "slow.org", "own.org"))

    assert [hosts.delay(row) for row in (usual, slow, own)] == [1.0, 5.0, 0.25]
    for row in (usual, slow, own):
        hosts.set_delay(row, 2.0)
    assert [hosts.delay(row) for row in (usual, slow, own)] == [2.0, 5.0, 2.0]
    hosts.set_delay(own, 0.0)
    assert hosts.delay(own) == 0.25
