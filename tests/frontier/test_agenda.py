"""What a live crawl does next: hand calculations."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier
from recrawl.frontier.host_table import HostTable
from recrawl.plan.budget import Budget
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.rivals.uniform import uniform
from recrawl.settings.terms import VisitTerms
from recrawl.visits.status import PageStatus
from tests.frontier.crawls import GRAIN, MINUTE, START, crawl, found, played, visit
from tests.frontier.toys import Worth


def test_set_times_come_first_then_new_pages_and_revisits_in_turns():
    agenda = crawl(VisitTerms(), VisitTerms(interval=0.5), budget="96/1d", hosts=9)
    found(agenda, *[(host, 0) for host in range(4)], (4, 1))
    for lease in agenda.take(START, 5):
        visit(agenda, lease, START)
    found(agenda, *[(host, 0) for host in range(5, 9)])

    leases = agenda.take(START + 0.5, 20)
    assert leases[0].page == 4
    assert [lease.first for lease in leases[1:]] == [False, True] * 4


def test_pages_that_matter_more_are_copied_first_then_those_found_first():
    agenda = crawl(VisitTerms(), VisitTerms(weight=2.0), hosts=4)
    found(agenda, (3, 0), (2, 1), (1, 1), (0, 0))

    assert [lease.page for lease in agenda.take(START, 9)] == [1, 2, 0, 3]


def test_a_host_that_must_wait_holds_up_nobody_else():
    agenda = crawl(hosts=2, delay=1.0)
    found(agenda, (0, 0), (0, 0), (1, 0))

    assert [lease.page for lease in agenda.take(START, 9)] == [0, 2]
    assert agenda.take(START + 9, 9) == []


def test_pools_take_turns_at_being_asked_first():
    random = np.random.default_rng(0)
    agenda = Agenda(HostTable(delay=0.0), [VisitTerms(), VisitTerms(pool=1)], random)
    for _ in range(2):
        spent = Budget.read("24/1d")
        agenda.add_pool(Frontier(uniform(), spent, random), spent, now=START)
    hosts = [agenda.hosts.add() for _ in range(8)]
    found(agenda, *[(host, host % 2) for host in hosts])

    firsts = [agenda.take(START, 1)[0].page % 2 for _ in range(6)]
    assert firsts == [0, 1, 0, 1, 0, 1]


def test_an_agenda_without_pages_or_pools_has_nothing_to_do():
    empty = Agenda(HostTable(delay=0.0), [VisitTerms()], np.random.default_rng(0))
    assert (empty.take(START, 5), empty.ready(START)) == ([], inf)
    idle = crawl()
    assert (idle.take(START, 5), idle.ready(START), len(idle)) == ([], inf, 0)


def test_a_page_that_fails_is_tried_again_and_its_failures_are_forgotten_when_it_answers():
    agenda = crawl(budget="9999/1d")
    found(agenda, (0, 0))
    [lease] = agenda.take(START, 1)
    agenda.answered(lease, START)
    again = agenda.failed(lease.page, START)
    assert START + 9 * MINUTE < again <= START + 10 * MINUTE
    assert (agenda.failures(0), agenda.status(0), agenda.set_time(0)) == (1, PageStatus.NEW, again)

    assert agenda.take(again - 1e-6, 1) == []
    [lease] = agenda.take(again, 1)
    assert lease.first
    visit(agenda, lease, again)
    assert (agenda.failures(0), agenda.status(0)) == (0, PageStatus.COPIED)


def test_a_page_that_is_gone_is_gone_when_it_was_looked_at_twice():
    agenda = crawl()
    found(agenda, (0, 0))
    visit(agenda, agenda.take(START, 1)[0], START)
    statuses, now = [], START + 3.0
    for _ in range(3):
        [lease] = agenda.take(now, 1)
        agenda.answered(lease, now)
        now = agenda.gone(lease.page, now)
        statuses.append(agenda.status(0))
    assert statuses == [PageStatus.SUSPECTED, PageStatus.GONE, PageStatus.GONE]

    [lease] = agenda.take(now, 1)
    visit(agenda, lease, now)
    assert agenda.status(0) is PageStatus.COPIED


@pytest.mark.parametrize("before", ["new", "moved", "refused"])
def test_a_page_without_a_copy_is_gone_at_once(before):
    """There is no copy that a second visit could save, and none to be counted."""
    agenda = crawl()
    found(agenda, (0, 0))
    [lease] = agenda.take(START, 1)
    agenda.answered(lease, START)
    now = START
    if before != "new":
        now = getattr(agenda, before)(lease.page, START)
        [lease] = agenda.take(now, 1)
        agenda.answered(lease, now)
    agenda.gone(lease.page, now)

    assert agenda.status(0) is PageStatus.GONE


@pytest.mark.parametrize(("end", "days"), [("refused", [1, 2, 4]), ("moved", [1, 2, 4])])
def test_refused_and_moved_pages_are_asked_about_ever_more_rarely(end, days):
    agenda = crawl()
    found(agenda, (0, 0))
    now = START
    for wait in days:
        [lease] = agenda.take(now, 1)
        agenda.answered(lease, now)
        again = getattr(agenda, end)(lease.page, now)
        assert 0.95 * wait <= again - now <= wait
        now = again


def test_the_least_days_between_visits_hold_for_failures_and_longest_intervals_too():
    """Ten minutes until the next attempt would be too soon, and so would 0.95 days."""
    agenda = crawl(VisitTerms(minimum=1.0, maximum=1.0))
    found(agenda, (0, 0))
    [lease] = agenda.take(START, 1)
    agenda.answered(lease, START)
    assert agenda.failed(0, START) == START + 1
    made = played(agenda, start=START + 1, days=5.5)

    assert np.diff([now for now, _ in made]) == pytest.approx(np.ones(5))


def test_a_lease_that_was_given_back_is_given_again():
    """Nothing else decides on the page until then, though it has a copy."""
    agenda = crawl(budget="999/1d")
    found(agenda, (0, 0))
    visit(agenda, agenda.take(START, 1)[0], START)
    [lease] = agenda.take(START + 1, 1)
    agenda.answered(lease, START + 1)
    agenda.release_lease(lease.page, START + 1.5)

    assert [agenda.take(START + 1 + day, 1) for day in (0.1, 0.3, 0.49)] == [[], [], []]
    assert len(agenda.take(START + 1.5, 1)) == 1


def test_a_page_that_was_just_visited_at_its_set_time_does_not_get_a_turn_as_well():
    """The policy's order was made before."""
    agenda = crawl(
        VisitTerms(), VisitTerms(maximum=1.0), policy=Worth(), budget="640/1d", hosts=1, delay=GRAIN
    )
    found(agenda, (0, 1), *[(0, 0)] * 30)
    played(agenda, days=1.5)
    again = agenda.set_time(0)
    made = [now for now, page in played(agenda, start=START + 1.5, days=3.0) if page == 0]

    assert again < inf
    assert np.diff(made).min() > 0.02


def test_a_set_time_that_was_missed_waits_for_the_next_hours():
    """Its host was left alone until they were over."""
    agenda = crawl(VisitTerms(interval=1.0, hours=(8, 10)))
    found(agenda, (0, 0))
    visit(agenda, agenda.take(START + 8 / 24, 1)[0], START + 8 / 24)
    agenda.hosts.block(0, START + 1 + 12 / 24)
    now = START + 1 + 12 / 24

    [(made, _)] = played(agenda, start=now, days=1.0)
    assert made == pytest.approx(START + 2 + 8 / 24)


def test_new_pages_sleep_outside_their_hours():
    agenda = crawl(VisitTerms(hours=(8, 10)), VisitTerms(), hosts=3)
    found(agenda, (0, 0), (1, 1), (2, 0))

    assert [lease.page for lease in agenda.take(START, 9)] == [1]
    opens = agenda.ready(START)
    assert opens == pytest.approx(START + 8 / 24)
    assert [lease.page for lease in agenda.take(opens, 9)] == [0, 2]


def test_finding_pages_does_not_ask_the_policy_for_another_order():
    """A crawl finds pages at every visit."""
    agenda = crawl(policy=Worth(), budget="640/1d", delay=GRAIN)
    found(agenda, *[(0, 0)] * 100)
    played(agenda, days=2)
    asked = agenda.frontier(0).ranked_at
    for _ in range(5):
        found(agenda, (0, 0))
        agenda.take(asked + GRAIN, 5)

    assert agenda.frontier(0).ranked_at == asked


def test_longest_intervals_take_hardly_more_room_however_often_pages_are_visited():
    agenda = crawl(VisitTerms(maximum=30.0), budget="100/1d")
    found(agenda, (0, 0))
    assert len(played(agenda, days=9)) > 800

    assert len(agenda._pools[0]._times) < 9


def test_two_visits_to_a_page_within_a_tick_are_learnt_one_after_the_other():
    """A policy may expect that no page comes twice; the toy insists on it."""
    agenda = crawl(
        VisitTerms(interval=0.01), VisitTerms(), policy=Worth(), budget="100/1d", hosts=300
    )
    found(agenda, (0, 0), *[(host, 1) for host in range(1, 60)])
    made = played(agenda, days=2)
    state: Any = agenda.frontier(0).state

    visits = [row for row, _, _ in state.visits]
    assert visits.count(agenda.pages(0).tolist().index(0)) > 50
    assert len(visits) == len(made) - 60


def test_only_a_page_with_a_copy_can_be_seen_again():
    agenda = crawl()
    found(agenda, (0, 0))
    with pytest.raises(InvalidParameter, match="page 0: must have a copy"):
        agenda.seen(0, START, changed=True)


def test_a_crawl_spends_its_budget_evenly_and_keeps_intervals():
    """Of 240 visits a day 40 are at set times; the policy gets the rest."""
    agenda = crawl(
        VisitTerms(), VisitTerms(interval=0.5), policy=Recrawl(), budget="240/1d", hosts=5
    )
    found(agenda, *[(page % 5, int(page < 20)) for page in range(120)])
    made = played(agenda, days=10)
    hours = np.bincount([int((now - START) * 24) for now, _ in made], minlength=240)[:240]

    assert hours[120:].sum() == pytest.approx(5 * 240, rel=0.01)
    assert hours[120:].max() <= 15
    for page in range(20):
        gaps = np.diff([now for now, each in made if each == page])
        assert gaps.max() <= 0.5 * 1.05  # a few wait for each other
        assert gaps.min() >= 0.5 * 0.95


@pytest.mark.parametrize("policy", [Worth(), uniform(), Recrawl()])
def test_a_few_pages_with_a_large_budget_are_visited_without_a_pause(policy):
    """An order that was gone through once in ten seconds held for a minute."""
    second = MINUTE / 60
    agenda = crawl(policy=policy, budget="86400/1d", delay=second)
    found(agenda, *[(0, 0)] * 10)

    made = played(agenda, days=5 * MINUTE)

    at = np.array([now for now, _ in made])
    assert np.diff(at).max() < 2.5 * second
    assert len(made) > 0.9 * 300


def test_two_visits_are_learnt_one_after_the_other_where_the_policy_decides_on_no_page():
    """Its order is made in between, and is empty."""
    agenda = crawl(VisitTerms(interval=0.1), policy=Worth(), budget="100/1d")
    found(agenda, (0, 0))
    made = played(agenda, days=2)
    state: Any = agenda.frontier(0).state

    assert len(state.visits) == len(made) - 1 > 15


def test_a_page_leased_out_of_its_turn_is_not_leased_again_in_its_turn():
    """A new page that was visited early, and failed, waits for its retry alone."""
    agenda = crawl(budget="9999/1d", hosts=2)
    found(agenda, (0, 0), (1, 0))
    lease = agenda.lease(1, START)
    assert agenda.ready_for(1, START) == inf
    agenda.answered(lease, START)
    again = agenda.failed(1, START)

    assert [each.page for each in agenda.take(START, 5)] == [0]
    assert agenda.ready_for(1, START) == again > START
    assert [each.page for each in agenda.take(again, 5)] == [1]


def test_a_crawl_that_ends_when_all_were_visited_visits_none_again():
    second = MINUTE / 60
    agenda = crawl(policy=Worth(), budget="86400/1d", delay=second)
    found(agenda, *[(0, 0)] * 10)
    played(agenda, days=10.5 * second)  # first copies
    agenda.end_with_orders()

    made = played(agenda, days=MINUTE / 2)

    assert len(made) <= 10
