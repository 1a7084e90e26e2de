"""What the policy believes of pages, and how sure it is of all of them together."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from recrawl.plan.budget import Budget
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.beliefs import Beliefs, ExpectedFreshness, freshness, let_clocks_run
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.simulate.made import log_normal_rates, make_world
from recrawl.simulate.run import Simulation
from recrawl.units import epoch_days, instants_after_epoch

BEGAN = 20_000.0
_positive = st.floats(0.01, 100.0)


def one(shape, exposure, elapsed, waited=None):
    """Beliefs on a page with one memory."""
    return Beliefs(
        np.ones((1, 1)),
        np.array([[shape]]),
        np.array([[exposure]]),
        np.array([elapsed]),
        np.array([elapsed if waited is None else waited]),
    )


def crawl(pages=40):
    """A policy and its state after a visit to every page, a day apart for the last."""
    policy = Recrawl()
    first = instants_after_epoch(np.full(pages, BEGAN))
    addresses = [f"https://a.org/s{row // 10}/p{row}.html" for row in range(pages)]
    state = policy.start(Pages.of(addresses, first), first[0], gap=4.0)
    rows = np.arange(pages)
    later = instants_after_epoch(BEGAN + 3 + rows / pages)
    state = policy.seen(state, rows, later, Outcomes.existence(rows % 3 == 0))
    return policy, state


def test_a_page_of_one_memory_has_the_closed_forms():
    """2 changes in 10 days, 5 days ago: (10 / 15) ** 2 fresh, 5 - 10 * (1 - 10 / 15) days old."""
    page = one(2.0, 10.0, 5.0)

    assert page.rate == pytest.approx([0.2])
    assert page.fresh == pytest.approx([4 / 9])
    assert page.age == pytest.approx([5 - 10 / 3])
    low, high = page.rate_band()
    assert low == pytest.approx(stats.gamma.ppf(0.05, 2) / 10, rel=1e-3)
    assert high == pytest.approx(stats.gamma.ppf(0.95, 2) / 10, rel=1e-3)


@given(_positive, _positive, _positive)
def test_age_is_the_integral_of_the_chance_that_it_is_older(shape, exposure, waited):
    """Of a copy that went stale before u days were over, from the last visit on."""
    steps = exposure / shape * 10.0 ** np.arange(-3, 12)  # around where the chance rises
    edges = [0.0, *steps[steps < waited].tolist(), waited]
    chance = lambda u: 1 - (exposure / (exposure + u)) ** shape  # noqa: E731 - integrated below
    whole = sum(integrate.quad(chance, *ends)[0] for ends in pairwise(edges))

    assert one(shape, exposure, waited).age[0] == pytest.approx(whole, rel=1e-5, abs=1e-7)


@given(_positive, _positive, _positive)
def test_an_hour_on_a_fast_clock_ages_a_copy_within_the_hour(shape, exposure, elapsed):
    page = one(shape, exposure, elapsed, waited=1 / 24)

    assert 0 <= page.age[0] <= 1 / 24


@given(_positive, _positive, _positive)
def test_the_pull_of_a_clock_is_a_slope(shape, exposure, elapsed):
    little = 1e-6
    before, after = (one(shape, exposure, elapsed * (1 + each)).fresh[0] for each in (0, little))

    assert one(shape, exposure, elapsed).pull[0] == pytest.approx(
        (before - after) / little, rel=1e-3, abs=1e-6
    )


def test_a_page_just_visited_is_fresh_and_of_no_age():
    page = one(1.0, 10.0, 0.0)

    assert (page.fresh, page.age, page.pull) == (1, 0, 0)


def test_chances_and_rates_are_those_of_the_policy():
    policy, state = crawl()
    now, rows = BEGAN + 4.1, np.arange(40)
    let_clocks_run(state, now)
    beliefs = Beliefs.of(state, rows, now)

    np.testing.assert_allclose(
        beliefs.fresh, policy.fresh(state, rows, instants_after_epoch(np.array([now]))[0])
    )
    corrected = state.corrections.factor(rows)
    np.testing.assert_allclose(beliefs.rate, policy.rates(state, rows) * beliefs.speed / corrected)


def test_a_rate_is_in_days_and_not_in_days_of_the_clock():
    """A clock that runs at half speed halves the rate, its band, and what one Gamma says of it."""
    page = one(2.0, 10.0, 3.0)
    slow = replace(page, speed=0.5)

    assert slow.rate == pytest.approx(page.rate / 2)
    assert np.ravel(slow.rate_band()) == pytest.approx(np.ravel(page.rate_band()) / 2)
    assert slow.as_one[0] == pytest.approx(page.as_one[0])
    assert slow.as_one[1] == pytest.approx(2 * page.as_one[1])
    assert slow.fresh == page.fresh


def test_a_burst_fades_while_nobody_looks():
    _, state = crawl()
    before = state.clocks.pace_now(np.arange(len(state.sections)))
    let_clocks_run(state, BEGAN + 40)
    after = state.clocks.pace_now(np.arange(len(state.sections)))

    assert np.abs(before - 1).max() > 0.05
    assert np.abs(after - 1).max() < 0.01


def test_independent_crawls_add_up():
    both = ExpectedFreshness(10, 5.0, 2.0, 3.0) + ExpectedFreshness(2, 1.0, 1.0, 0.5)

    assert both == ExpectedFreshness(12, 6.0, 3.0, 3.5)
    assert ExpectedFreshness(1, 0.99, 1.0, 0.0).band() == (0.0, 1.0)


def test_no_pages_are_no_copies():
    _, state = crawl()

    assert freshness(state, BEGAN + 5, rows=np.empty(0, np.int64)) == ExpectedFreshness()


def test_a_draw_tells_what_all_pages_would_and_says_that_it_is_less_sure():
    """The mean of many draws is that of all pages; each lies in its band nearly always."""
    _, state = crawl(400)
    now = BEGAN + 6
    whole = freshness(state, now)
    random = np.random.default_rng(0)
    draws = [
        freshness(state, now, rows=random.choice(400, 40, replace=False), of=400)
        for _ in range(200)
    ]

    fresh = np.array([draw.fresh for draw in draws])
    assert fresh.mean() == pytest.approx(whole.fresh, rel=0.01)
    assert np.mean([draw.variance for draw in draws]) > whole.variance
    assert np.mean(np.abs(fresh - whole.fresh) < 1.645 * np.std(fresh)) > 0.8
    assert all(draw.copies == 400 for draw in draws)


@pytest.mark.parametrize("kind", ["poisson", "sections"])
def test_the_band_holds_what_is_true(kind):
    """In a world where pages change together, one of independent pages would hold it never."""
    random = np.random.default_rng(3)
    world = make_world(
        kind, log_normal_rates(200, every=10.0, spread=1.2, random=random), days=60, random=random
    )
    simulation = Simulation(
        world, Recrawl(), Budget(0.2, "page"), random=np.random.default_rng(4), step=0.5
    )
    held = []
    for number, share in enumerate(simulation.steps()):
        if share < 0.3 or number % 4:
            continue
        now = float(epoch_days(world.start)) + share * world.days
        state: Any = simulation._frontier.state
        found = freshness(state, now)
        observer = simulation.observer
        observer.timeline.advance(instants_after_epoch(np.array([now]))[0])
        true = np.count_nonzero(observer.timeline.reached == observer.copied)
        low, high = found.band()
        held.append(low <= true / len(world) <= high)

    assert np.mean(held) > 0.8


def test_a_band_is_wider_where_the_clock_is_unsure():
    """A sure rate on a clock that is off by a tenth: the band is that of the clock alone."""
    one = np.ones((1, 1))
    sure = Beliefs(one, 1e8 * one, 1e9 * one, np.zeros(1), np.zeros(1), unsure=0.01)

    (low,), (high,) = sure.rate_band(0.9)

    assert sure.rate == pytest.approx([0.1])
    assert [low, high] == pytest.approx([0.1 - 1.645 * 0.01, 0.1 + 1.645 * 0.01], rel=0.02)
    assert sure.as_one[0] == pytest.approx([1e8], rel=1e-3)
