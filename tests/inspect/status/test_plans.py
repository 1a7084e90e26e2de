"""What a crawl may expect of its budget."""

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recrawl.demo.truth import truly_fresh
from recrawl.demo.virtual import VirtualExample
from recrawl.demo.world import draw_world
from recrawl.entries.entries import HostSeen
from recrawl.inspect.status import plans as overview_plans
from recrawl.inspect.status.copies import all_copies
from recrawl.inspect.status.plans import Planner, within_hosts
from recrawl.plan import OBJECTIVES, Budget, Freshness, Limits, Rates, allocate
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.settings.settings import read_settings
from recrawl.state import sampled
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_for_writing, open_store
from tests.inspect.looked import BEGAN, made, overview_of, save

NOW = BEGAN + 10.25
TEXT = 'agent = "bot (me@example.org)"\n'
SITE = '[[site]]\naddress = "https://a.org/"\n'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def fresh_every(path, asked, days):
    """Share of copies that are fresh if each page is visited every so many days, by hand."""
    with open_store(path) as reader:
        (pool,) = load_snapshot(asked, reader, NOW).pools
    assert pool.state is not None
    a, b = Beliefs.of(pool.state, np.arange(len(pool.pages)), NOW).as_one
    u = days / b
    return np.mean((1 - (1 + u) ** (1 - a)) / ((a - 1) * u))


def shares(status):
    return [each.fresh[0] for each in status.outlooks]


def test_two_pages_at_a_set_interval(path):
    """Each is visited every two days whatever the budget: G / 2 of its Gamma distribution."""
    made(path, pages=2)
    asked = read_settings(f'{TEXT}budget = "2/1d"\n{SITE}interval = "2d"\n')
    status = overview_of(asked, path, NOW)

    assert [each.times for each in status.outlooks] == [0.5, 1.0, 2.0]
    assert [each.visits for each in status.outlooks] == [1.0, 2.0, 4.0]
    assert shares(status) == pytest.approx([fresh_every(path, asked, 2.0)] * 3, rel=1e-6)


def test_a_budget_that_is_too_small_for_the_interval_is_shared_out(path):
    """A visit in four days to each of two pages is half a visit a day; half of it is one in 8."""
    made(path, pages=2)
    asked = read_settings(f'{TEXT}budget = "1/2d"\n{SITE}interval = "2d"\n')

    assert shares(overview_of(asked, path, NOW)) == pytest.approx(
        [fresh_every(path, asked, days) for days in (8.0, 4.0, 2.0)], rel=1e-6
    )


def test_a_host_that_must_be_left_alone_for_a_day_is_visited_once_a_day(path):
    """Two pages, so each every other day, however large the budget is."""
    made(path, pages=2)
    with open_for_writing(path) as store:
        store.write([HostSeen("a.org", delay=1.0)])
    asked = read_settings(f'{TEXT}budget = "100/1d"\n{SITE}interval = "1h"\n')

    assert shares(overview_of(asked, path, NOW)) == pytest.approx(
        [fresh_every(path, asked, 2.0)] * 3, rel=1e-6
    )


def test_a_host_that_is_slow_to_answer_takes_longer(path):
    """A quarter of a day until it answers, then twice that as a delay: 4 requests in 3 days."""
    made(path, pages=2)
    with open_for_writing(path) as store:
        store.write([HostSeen("a.org", delay=0.5, latency_seconds=86_400 / 4)])
    asked = read_settings(f'{TEXT}budget = "100/1d"\n{SITE}interval = "1h"\n')

    assert shares(overview_of(asked, path, NOW))[1] == pytest.approx(
        fresh_every(path, asked, 1.5), rel=1e-6
    )


def test_budgets_of_their_own_go_before_the_common_one_at_a_host(path):
    """A request a day is all that the host allows, and the pages of s0 may have just that."""
    made(path, pages=20)
    asked = read_settings(
        f'{TEXT}budget = "50/1d"\n[politeness]\ndelay = "1d"\n{SITE}'
        '[[site]]\naddress = "https://a.org/s0/"\nbudget = "50/1d"\n'
    )
    alone = read_settings(
        f'{TEXT}budget = "50/1d"\n[politeness]\ndelay = "1d"\n'
        '[[site]]\naddress = "https://a.org/s0/"\n'
    )
    both, own = (overview_of(each, path, NOW) for each in (asked, alone))

    # The other ten are never visited, so they are never fresh.
    assert shares(both)[1] == pytest.approx(shares(own)[1] / 2, rel=0.05)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    objective=st.sampled_from(sorted(OBJECTIVES)),
    budget=st.floats(0.1, 500),
    maximum=st.sampled_from(["", 'maximum = "1d"\n', 'minimum = "1d"\n', 'minimum = "6h"\n']),
)
def test_more_visits_keep_more_fresh(tmp_path_factory, objective, budget, maximum):
    path = tmp_path_factory.mktemp("crawl") / "recrawl.db"
    made(path, pages=12)
    top = f'{TEXT}budget = "{budget:.3f}/1d"\nobjective = "{objective}"\n'
    status = overview_of(read_settings(top + SITE + maximum), path, NOW)

    half, once, twice = shares(status)
    assert 0 <= half <= once + 1e-9 <= twice + 2e-9 <= 1 + 3e-9
    for each in status.outlooks:
        assert 0 <= each.fresh[1] <= each.fresh[0] <= each.fresh[2] <= 1


def test_some_copies_are_planned_for_as_all_of_them(tmp_path, monkeypatch):
    """The band of some copies holds what is planned of all, in about nine of ten crawls."""
    held = []
    for pages in range(210, 400, 20):
        path = tmp_path / f"{pages}.db"
        asked = made(path, pages=pages)
        save(asked, path, NOW)
        every = overview_of(asked, path, NOW).outlooks
        with monkeypatch.context() as patched:
            patched.setattr(sampled, "LOOKED_AT", 100)
            patched.setattr(overview_plans, "_MOST_PLANNED", 60)
            some = overview_of(asked, path, NOW).outlooks
        for one, other in zip(every, some, strict=True):
            held.append(other.fresh[1] < one.fresh[0] < other.fresh[2])
            assert other.fresh[2] - other.fresh[1] > one.fresh[2] - one.fresh[1]

    assert len(held) == 30
    assert np.mean(held) >= 0.8


def test_pages_without_a_copy_share_the_budget(path):
    """One of two pages was never copied: each gets a visit a day, not two."""
    made(path, pages=2)
    asked = read_settings(f'{TEXT}budget = "2/1d"\n{SITE}')
    with open_store(path) as reader:
        planner = Planner(asked, reader, all_copies(asked, reader, NOW), NOW)
        alone, shared = (planner.outlooks([2.0], [pages])[1] for pages in (2, 4))
        half = planner.outlooks([1.0], [2])[1]

    assert shared.fresh[0] == pytest.approx(half.fresh[0], rel=1e-6)
    assert shared.fresh[0] < alone.fresh[0]


def half_way(world, budget):
    """Believed rates after 30 days of a crawl, and how fresh it truly was in the 30 after them."""
    crawl = VirtualExample(
        world, Recrawl(objective=Freshness()), Budget(budget), np.random.default_rng(4)
    )
    crawl.go_on(until=world.start + 30)
    state: Any = crawl.agenda.frontier(0).state
    beliefs = Beliefs.of(state, np.arange(len(state.last)), world.start + 30)
    looks = []
    for day in np.arange(30.25, 60, 0.5).tolist():
        crawl.go_on(until=world.start + day)
        looks.append(crawl.belief())
    fresh = truly_fresh(world, crawl.visits(), looks)
    return Rates.gamma(*beliefs.as_one), np.mean([each.mean() for each in fresh])


@pytest.mark.slow
@pytest.mark.parametrize("seed", [5])
def test_what_was_expected_of_budgets_comes_true(seed):
    """By rates learned with 60 visits a day, in crawls that had 30, 60 and 120."""
    world = draw_world(300, start=20_000.0, days=61.0, seed=seed)
    found = {budget: half_way(world, budget) for budget in (30.0, 60.0, 120.0)}
    rates, _ = found[60.0]

    for budget, (_, true) in found.items():
        plan = allocate(rates, budget, objective=Freshness())
        assert plan.mean_freshness == pytest.approx(true, abs=0.05)


def test_nothing_is_planned_before_there_is_a_copy(path):
    assert overview_of(made(path, rounds=0), path, NOW).outlooks == []


def test_floors_beyond_what_a_host_can_bear_give_way():
    """Host 0 bears 1 of the 4 visits that its pages should have, host 1 all of its 2."""
    limits = Limits(least=np.array([1.0, 3.0, 2.0]))
    held = within_hosts(limits, np.array([0, 0, 1]), np.array([1.0, 5.0]))

    assert held.least == pytest.approx(np.array([0.25, 0.75, 2.0]))
    assert held.most == np.inf
