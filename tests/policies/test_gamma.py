"""The expected value over a Gamma rate, and the prior that pages share."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Histories
from recrawl.plan.objectives import OBJECTIVES, Freshness, Harmonic
from recrawl.plan.solver.demand import log_due
from recrawl.policies.due import due_at_price
from recrawl.policies.gamma import GammaPolicy, GammaState, fitted_prior
from recrawl.rates.gamma_state import gamma_states
from recrawl.units import epoch_days
from tests.policies.crawls import GAP, START, later, outcomes, pages_at, visits

ROW = np.array([0])


@given(visits)
def test_a_page_alone_has_the_state_of_its_history(seen):
    """Fewer than fifty pages: the first prior stays, shape 1/2 and half a gap of exposure."""
    policy = GammaPolicy(Freshness())
    state, now = policy.start(pages_at(0.0), START, GAP), 0.0
    for gap, changed in seen:
        now += gap
        state = policy.seen(state, ROW, later(now), outcomes(changed))
    gaps, changed = zip(*seen, strict=True)
    history = Histories.from_lists([(gaps, changed)])
    expected = gamma_states(history, np.array([0.5]), np.array([GAP / 2]))

    np.testing.assert_allclose(np.ravel(state.known(ROW)), np.ravel(expected), rtol=1e-5)


def test_values_are_those_of_the_reference():
    """EV of freshness at (.5, 15) after 7 days is .551744: a gap of 30 days begins there."""
    policy = GammaPolicy(Freshness())
    state = policy.start(pages_at(0.0, weight=np.array([3.0])), START, 30.0)

    assert policy.value(state, ROW, later(7.0)[0]) == pytest.approx([3 * 0.551744], rel=1e-5)


def test_the_mean_rate_stands_in_if_asked():
    """Rate 1/30 a day, ten days: harmonic value 10 - 30 (1 - e^(-1/3))."""
    policy = GammaPolicy(Harmonic(), plug_in=True)
    state = policy.start(pages_at(0.0), START, 30.0)

    assert policy.value(state, ROW, later(10.0)[0]) == pytest.approx([10 - 30 * -np.expm1(-1 / 3)])


def test_a_second_look_at_once_shows_nothing():
    policy = GammaPolicy(Freshness())
    state = policy.start(pages_at(0.0), START, GAP)
    state = policy.seen(state, ROW, later(0.0), outcomes(changed=True))

    assert np.ravel(state.known(ROW)).tolist() == [0.5, GAP / 2]


def test_dated_changes_count_their_age_only():
    policy = GammaPolicy(Freshness())
    state = policy.start(pages_at(0.0), START, GAP)
    state = policy.seen(state, ROW, later(7.0), outcomes([True], [2.0]))

    assert np.ravel(state.known(ROW)) == pytest.approx([1.5, GAP / 2 + 2])


def made_state(shape, exposure, prior=(0.5, 5.0)):
    none = np.zeros(len(shape))
    return GammaState(none, shape - prior[0], exposure - prior[1], none + 1, prior, GAP, 0.0)


def test_the_prior_matches_the_mean_and_the_mean_logarithm():
    """The fixed point: pages known perfectly, with rates from a Gamma of shape 0.8."""
    rates = np.random.default_rng(3).gamma(0.8, 1 / 20, 20_000)
    state = made_state(1e7 * rates, np.full(20_000, 1e7))

    assert fitted_prior(state) == pytest.approx((0.8, 20.0), rel=0.03)


def test_few_pages_leave_the_prior_alone():
    assert fitted_prior(made_state(np.full(49, 3.0), np.full(49, 9.0))) == (0.5, 5.0)


def test_pages_all_alike_make_the_narrowest_prior():
    shape, exposure = fitted_prior(made_state(np.full(60, 1e6), np.full(60, 1e7)))

    assert [shape, shape / exposure] == pytest.approx([5.0, 0.1])


def test_the_prior_is_fitted_on_the_way():
    """Sixty pages, a visit each: after a sixteenth of a gap the prior follows them."""
    policy = GammaPolicy(Freshness())
    state = policy.start(pages_at(*np.zeros(60)), START, GAP)
    state = policy.seen(
        state, np.arange(60), np.repeat(later(5.0), 60), outcomes(np.arange(60) < 2)
    )

    assert state.prior != (0.5, GAP / 2)
    assert state.prior[0] / state.prior[1] < 0.1  # less than a change a gap
    assert policy.with_mean_gap(state, 99.0).prior == state.prior


def test_the_first_prior_follows_the_gap():
    policy = GammaPolicy(Freshness())
    state = policy.start(pages_at(0.0), START, GAP)

    assert policy.with_mean_gap(state, 99.0).prior == (0.5, 49.5)


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5), st.floats(1e-3, 1e3))
def test_due_is_where_a_rising_value_meets_the_price(speeds, price):
    """Values rise as v t^2: due after the square root of price / v."""
    v, last = np.array(speeds), epoch_days(later(np.arange(len(speeds), dtype=float)))
    due = due_at_price(lambda at, some: v[some] * (at - last[some]) ** 2, last, price)

    np.testing.assert_allclose(epoch_days(due) - last, np.sqrt(price / v), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_pages_are_due_as_planned(name):
    """The planner solves for the days in closed form, page by page the same as a search."""
    policy = GammaPolicy(OBJECTIVES[name])
    weight = np.array([1.0, 2.0, 5.0])
    state = policy.start(pages_at(*np.zeros(3), weight=weight), START, GAP)
    rows = np.arange(2)
    state = policy.seen(state, rows, np.repeat(later(9.0), 2), outcomes([True, False]))
    shape, exposure = state.known(np.arange(3))
    wanted = 0.4 / weight / exposure**policy.objective.power
    planned = exposure * np.exp(log_due(policy.objective, shape, wanted))

    due = epoch_days(policy.due(state, np.arange(3), 0.4)) - epoch_days(START)
    np.testing.assert_allclose(due, np.array([9.0, 9.0, 0.0]) + planned, rtol=1e-8)


def test_due_handles_steps_and_the_ends():
    """Worth the price at once; from the third day on; never."""

    def value_at(at, rows):
        return np.choose(rows, [9.0, 5.0 * (at >= 3.0), 0.0])

    due = epoch_days(due_at_price(value_at, np.zeros(3), 5.0))

    np.testing.assert_allclose(due, [0.0, 3.0, np.nan], atol=1e-9)


def test_a_page_is_due_at_the_same_instant_whoever_is_asked_for_besides():
    speeds = np.geomspace(1e-3, 1e3, 50)

    def due_of(rows):
        return due_at_price(lambda at, some: speeds[rows[some]] * at**3, np.zeros(len(rows)), 2.0)

    together = due_of(np.arange(50))

    assert np.array_equal([due_of(np.array([row]))[0] for row in range(50)], together)
