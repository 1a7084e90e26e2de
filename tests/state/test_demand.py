"""What a slot says that it would spend, and what it takes from the others."""

import numpy as np
import pytest

from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier
from recrawl.frontier.host_table import HostTable
from recrawl.plan.budget import Budget
from recrawl.plan.shared_price import BudgetShare
from recrawl.policies.recrawl.corrections import SUMS
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.policies.recrawl.prior_sums import PriorSums
from recrawl.policies.recrawl.shared_learning import SharedLearning
from recrawl.policies.rivals.uniform import uniform
from recrawl.settings.terms import VisitTerms
from recrawl.simulate.virtual_crawl import virtual_visits
from recrawl.state.demand import demand_of, learn_from_others

START, DAY_BUDGET, PAGES = 20_000.0, 40.0, 80


def crawled(until, *, ask=None, policy=None, delay=0.0):
    """A crawl of pages, of which one in four changes whenever it is visited; visits made."""
    policy = policy or Recrawl()
    random, budget = np.random.default_rng(0), Budget(DAY_BUDGET)
    agenda = Agenda(HostTable(delay=delay), [VisitTerms()], random)
    agenda.add_pool(Frontier(policy, budget, random), budget, START)
    host = agenda.hosts.add()
    agenda.found(np.full(PAGES, host), np.zeros(PAGES, np.int64))
    visits = []
    for lease in virtual_visits(agenda, START, until):
        if ask is not None:
            ask(agenda, lease.at)
        visits.append((lease.page, lease.at))
        agenda.answered(lease, lease.at)
        if lease.first:
            agenda.copied(lease.page, f"https://a.org/{lease.page}", lease.at)
        else:
            agenda.seen(lease.page, lease.at, changed=lease.page % 4 == 0)
    return agenda, visits


def test_asking_changes_nothing():
    """A crawl that is asked before each visit, for now and for later, makes the same visits."""
    policy = Recrawl()

    def ask(agenda, now):
        for at in (now, now + 0.3):
            demand_of(agenda, policy, at)

    _, asked = crawled(START + 9, ask=ask)
    _, alone = crawled(START + 9)

    assert asked == alone
    assert len(alone) > 300


def test_a_slot_wants_what_its_pages_are_worth():
    """At each price as many visits in a tick as there are pages that are worth it by its end."""
    policy = Recrawl()
    agenda, _ = crawled(START + 9, policy=policy)
    now, frontier = START + 9.0, agenda.budget_pool(0).copies.frontier
    _ = frontier.state  # all is learned
    agenda.budget_pool(0).copies.learn_all()
    tick = frontier.gap / 64
    demand = demand_of(agenda, policy, now)
    values = policy.value_ahead(frontier.state, np.arange(PAGES), now + tick)

    assert demand.pages == PAGES
    assert demand.spent == pytest.approx(DAY_BUDGET, abs=1)
    for rank in (1, 2, 4, 8, 16, 32, 64):
        price = float(np.sort(values)[-rank])
        assert demand.curve.at(price) == pytest.approx(rank / tick, rel=1e-3)


def test_a_slot_wants_no_more_than_its_hosts_take():
    """A host that may be asked once a day takes two visits in a tick at most, at any price."""
    policy = Recrawl()
    agenda, _ = crawled(START + 150, policy=policy, delay=1.0)
    demand = demand_of(agenda, policy, START + 150.0)
    tick = agenda.budget_pool(0).copies.frontier.gap / 64

    assert demand.curve.visits[0] <= 2 / tick + 1


def test_new_pages_are_wanted_at_any_price():
    agenda, _ = crawled(START + 0.1)
    new = agenda.budget_pool(0).new_pages
    demand = demand_of(agenda, Recrawl(), START + 0.1)

    assert new == PAGES - DAY_BUDGET
    assert demand.curve.at(1e6) == pytest.approx(new, rel=1e-3)


def test_a_policy_without_values_wants_a_visit_to_each_page():
    policy = uniform()
    agenda, _ = crawled(START + 5, policy=policy)
    demand = demand_of(agenda, policy, START + 5.0)

    assert demand.curve.at(1.0) == demand.curve.at(2.0) == pytest.approx(PAGES, rel=1e-3)


def test_a_slot_learns_from_all_others_and_not_from_itself():
    policy = Recrawl()
    agenda, _ = crawled(START + 9, policy=policy)
    demand = demand_of(agenda, policy, START + 9.0)
    one, two = PriorSums(10.0, 3.0, 1.0, 9.0), PriorSums(20.0, 1.0, 2.0, 19.0)
    tables = np.arange(np.prod(SUMS), dtype=float).reshape(SUMS)
    others = {1: SharedLearning(one, tables), 2: SharedLearning(two, tables)}
    said = {
        slot: type(demand)(demand.curve, 5, 0, learned=each.numbers)
        for slot, each in others.items()
    }
    said[3] = type(demand)(demand.curve, 5, 0)  # nothing was learned there
    learn_from_others(agenda, {0: demand, **said}, 0)
    state = agenda.budget_pool(0).copies.frontier.state_of_tick

    told = SharedLearning.read(demand.learned)
    assert told.prior.pages > 0
    assert told.corrections == pytest.approx(state.corrections.sums, abs=1e-4)
    assert state.relatives.others == one + two
    assert state.corrections.elsewhere == pytest.approx(2 * tables)


def test_a_share_moves_neither_the_gap_nor_the_clocks():
    """Whatever share a slot has, its policy goes by the gap of the whole crawl."""
    agenda, _ = crawled(START + 9)
    pool = agenda.budget_pool(0)
    state = pool.copies.frontier.state
    gap, width = pool.copies.frontier.gap, state.clocks.width
    each_page = Budget(DAY_BUDGET / PAGES, "page")
    pool.await_share()
    assert agenda.take(START + 9, 1) == []
    for visits in (1e-6, 3.0, 500.0):
        pool.share_budget(BudgetShare(visits, 45, 1.0, each_page))
        assert pool.bucket.visits_a_day == visits

    assert pool.copies.frontier.gap == gap
    assert state.clocks.width == width
