"""Spending curves of workers in, one price out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.plan import Harmonic, Limits, Rates, allocate
from recrawl.plan.allocation import pages_to_plan
from recrawl.plan.shared_price import (
    FURTHEST,
    SpendingCurve,
    aimed_spending,
    prices_around,
    shared_price,
)


def curve_of(prices, visits):
    return SpendingCurve(np.array(prices), np.array(visits))


def square_root(worth, prices):
    """A worker that spends worth / sqrt(price)."""
    return SpendingCurve(prices, worth / np.sqrt(prices))


def test_two_workers_by_hand():
    """10 / sqrt(p) + 20 / sqrt(p) = 15 at p = 4, though neither published there."""
    one, other = square_root(10.0, np.array([1.0, 9.0])), square_root(20.0, np.array([0.25, 1.0]))

    assert shared_price([one, other], 15.0) == pytest.approx(4.0)
    assert one.at(4.0) + other.at(4.0) == pytest.approx(15.0)


def test_a_worker_at_its_limit_leaves_the_rest_to_the_others():
    """One spends 6 at any price, the other 8 / p: of 10 visits it gets 4, at price 2."""
    level = curve_of([1.0, 4.0], [6.0, 6.0])
    other = curve_of([1.0, 4.0], [8.0, 2.0])

    assert shared_price([level, other], 10.0) == pytest.approx(2.0)


def test_a_worker_that_would_stop_spends_next_to_nothing_beyond():
    curve = curve_of([1.0, 2.0, 4.0], [8.0, 4.0, 0.0])

    assert curve.at(2.0) == pytest.approx(4.0)
    assert curve.at(4.0) < 1e-6
    assert curve.at(16.0) < 1e-6


def test_a_price_goes_only_so_far_beyond_what_was_asked():
    """Level curves spend the same at any price: the next ones are asked for further out."""
    level = [curve_of([1.0, 2.0], [5.0, 5.0])]

    assert shared_price(level, 10.0) == 1 / FURTHEST
    assert shared_price(level, 1.0) == 2 * FURTHEST


def test_prices_lie_around_the_last_one():
    prices = prices_around(3.0)

    assert prices[len(prices) // 2] == 3.0
    assert np.diff(np.log(prices)) == pytest.approx(np.log(1.5))


def test_what_is_missing_is_made_up_for_within_an_hour_and_bounds():
    """100 visits in an hour are 2,400 a day; never more than a quarter of the budget."""
    assert aimed_spending(1e5, spent=50_000.0, days=0.5) == 1e5
    assert aimed_spending(1e5, spent=49_900.0, days=0.5) == pytest.approx(102_400.0)
    assert aimed_spending(1e5, spent=10_000.0, days=0.5) == 1.25e5
    assert aimed_spending(1e5, spent=90_000.0, days=0.5) == 0.75e5


def test_a_small_budget_is_not_moved_by_chance():
    """400 visits of a budget of 1,000 take 0.4 days: 5 that are missing are 12.5 a day."""
    assert aimed_spending(1000.0, spent=495.0, days=0.5) == pytest.approx(1012.5)


worth = st.floats(min_value=0.01, max_value=1e6)
workers = st.lists(st.tuples(worth, st.floats(min_value=-3, max_value=3)), min_size=1, max_size=8)


@given(workers, st.floats(min_value=-2, max_value=2))
def test_the_budget_is_spent(workers, price):
    """Whatever prices workers have published at: their curves are powers everywhere."""
    curves = [square_root(each, prices_around(np.exp(place))) for each, place in workers]
    budget = sum(each for each, _ in workers) / np.exp(price / 2)

    found = shared_price(curves, budget)

    assert found == pytest.approx(np.exp(price), rel=1e-6)
    assert sum(curve.at(found) for curve in curves) == pytest.approx(budget, rel=1e-6)


@given(workers, worth, st.floats(min_value=1.01, max_value=10))
def test_more_budget_means_a_lower_price(workers, budget, more):
    curves = [square_root(each, prices_around(np.exp(place))) for each, place in workers]

    assert shared_price(curves, budget * more) <= shared_price(curves, budget)


@given(workers, worth, st.randoms())
def test_the_order_of_workers_does_not_matter(workers, budget, random):
    curves = [square_root(each, prices_around(np.exp(place))) for each, place in workers]
    other = random.sample(curves, len(curves))

    assert shared_price(other, budget) == pytest.approx(shared_price(curves, budget), rel=1e-6)


def test_workers_with_pages_find_the_price_of_one_process():
    """Real demand, ten workers of unlike pages: curves by the planner, twice around the price."""
    random = np.random.default_rng(0)
    rates = np.exp(random.normal(-3, 1.5, 20_000))
    worker = np.searchsorted(np.quantile(rates, np.arange(1, 10) / 10), rates)
    whole = allocate(rates, 1000.0, objective=Harmonic())
    pages = [
        pages_to_plan(Rates.known(rates[worker == each]), Harmonic(), Limits())
        for each in range(10)
    ]

    price = 50 * whole.price  # a first guess
    for _ in range(3):
        asked = prices_around(price)
        curves = [curve_of(asked, [each.total(at) for at in asked]) for each in pages]
        price = shared_price(curves, 1000.0)

    assert price == pytest.approx(whole.price, rel=2e-3)
    assert sum(each.total(price) for each in pages) == pytest.approx(1000.0, rel=1e-3)


@pytest.mark.parametrize(
    ("prices", "visits"),
    [
        ([1.0], [1.0]),
        ([1.0, 2.0], [1.0]),
        ([2.0, 1.0], [1.0, 1.0]),
        ([0.0, 1.0], [1.0, 1.0]),
        ([1.0, 2.0], [1.0, 2.0]),
        ([1.0, 2.0], [1.0, -1.0]),
        ([1.0, 2.0], [np.inf, 1.0]),
        ([1.0, 2.0], [np.nan, 1.0]),
    ],
)
def test_what_is_no_curve_is_refused(prices, visits):
    with pytest.raises(InvalidParameter, match="a spending curve must"):
        curve_of(prices, visits)


def test_impossible_questions_are_refused():
    curve = curve_of([1.0, 2.0], [2.0, 1.0])

    with pytest.raises(InvalidParameter, match="curve of one worker"):
        shared_price([], 1.0)
    with pytest.raises(InvalidParameter, match="budget must be a positive"):
        shared_price([curve], 0.0)
    with pytest.raises(InvalidParameter, match="price must be a positive"):
        prices_around(0.0)
