"""Spending curves of workers in, one price out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.plan import Harmonic, Limits, Rates, allocate
from recrawl.plan.allocation import pages_to_plan
from recrawl.plan.budget import Budget
from recrawl.plan.shared_price import (
    FURTHEST,
    SlotDemand,
    SpendingCurve,
    budget_per_page,
    budget_shares,
    curve_of_values,
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


def prices_around(price):
    return price * 1.5 ** np.arange(-3.0, 4)


def test_a_curve_of_values_has_the_pages_that_are_worth_each_of_its_prices():
    """Prices are values of the best, the two best, the four best, ... and of all."""
    values = np.sort(np.random.default_rng(0).lognormal(size=100))[::-1]
    curve = curve_of_values(values, 0.25, at_any_price=3.0)

    inner = curve.prices[1:-2]
    assert inner.tolist() == values[[99, 63, 31, 15, 7, 3, 1, 0]].tolist()
    for price in inner:
        assert curve.at(price) == pytest.approx(3 + np.count_nonzero(values >= price) / 0.25)
    assert curve.at(2 * values[0]) == pytest.approx(3.0, abs=1e-3)
    assert curve.at(values[-1] / 100) == pytest.approx(3 + 400)


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [2.0], [2.0, 2.0, 2.0], [1.0, 0.0]])
def test_a_curve_of_few_or_equal_values(values):
    curve = curve_of_values(np.array(values), 1.0, at_any_price=5.0)
    worth = sum(each > 0 for each in values)

    assert curve.at(min([each for each in values if each > 0], default=1.0)) == pytest.approx(
        5.0 + worth, abs=1e-3
    )


@given(
    st.lists(st.lists(st.floats(1e-3, 1e3), max_size=60), min_size=1, max_size=6),
    st.integers(1, 40),
)
def test_slots_share_what_one_process_would_visit(slots, best):
    """With the price of all, each slot wants about as many pages as it has among the best of all.

    Curves are exact at powers of two, and between them at most a factor of two off.
    """
    values = np.sort(np.concatenate([*map(np.array, slots)]))[::-1]
    if best > len(values):
        return
    demands = {
        number: SlotDemand(curve_of_values(np.sort(each)[::-1], 1.0, 0.0), len(each), 0)
        for number, each in enumerate(slots)
    }
    price, shares = budget_shares(demands, Budget(float(best)))

    assert sum(each.visits_a_day for each in shares.values()) == pytest.approx(best)
    assert np.count_nonzero(values >= 2 * price) <= 2 * best
    assert 2 * np.count_nonzero(values >= price / 2) >= best


def test_many_new_pages_do_not_drive_the_price_away():
    """More new pages than the budget pays for want a visit at any price, day after day."""
    curve = curve_of_values(np.array([4.0, 2.0, 1.0]), 1.0, at_any_price=500.0)
    for _ in range(1000):
        price, _ = budget_shares({0: SlotDemand(curve, 600, 0)}, Budget(100.0))

    assert price <= 4.0 * 1.1**2 * FURTHEST * (1 + 1e-9)


demand = st.builds(
    lambda worth, spent, live, pages: SlotDemand(
        square_root(worth, prices_around(1.0)), pages, spent, live
    ),
    st.floats(0.01, 1e3),
    st.integers(0, 50),
    st.booleans(),
    st.integers(1, 100),
)


@given(st.lists(demand, min_size=1, max_size=12), st.floats(0.05, 500))
def test_all_slots_together_never_spend_more_than_the_budget(demands, budget):
    """What they may spend of a window, with what was spent, is the budget in whole visits."""
    if not any(each.live for each in demands):
        return
    _, shares = budget_shares(dict(enumerate(demands)), Budget(budget))
    spent = sum(each.spent for each in demands)
    (window,) = {each.window for each in shares.values()}
    more = sum(share.most - demands[slot].spent for slot, share in shares.items())

    assert window == max(1.0, 1 / budget)
    assert more == max(int(budget * window - spent + 1e-9), 0)
    assert all(share.most >= demands[slot].spent for slot, share in shares.items())


def test_a_budget_of_less_than_a_visit_a_day_is_spent_too():
    """One visit in four days, whichever of two slots makes it."""
    curve = square_root(1.0, prices_around(1.0))
    fresh = {slot: SlotDemand(curve, 5, 0) for slot in (0, 1)}
    _, shares = budget_shares(fresh, Budget(0.25))

    assert sorted(each.most for each in shares.values()) == [0, 1]
    assert {each.window for each in shares.values()} == {4.0}


def test_whole_visits_go_round():
    """Nine slots of ten want a third of a visit each: nobody is always passed over."""
    curve = square_root(1.0, prices_around(1.0))
    got = np.zeros(10)
    for spent in range(300):
        demands = {slot: SlotDemand(curve, 5, 0) for slot in range(10)}
        demands[10] = SlotDemand(curve, 5, spent, live=False)
        _, shares = budget_shares(demands, Budget(spent + 3.0))
        got += [shares[slot].most for slot in range(10)]

    assert got == pytest.approx(90.0, abs=6)


def test_the_gap_is_that_of_all_pages():
    curve = square_root(1.0, prices_around(1.0))
    demands = {0: SlotDemand(curve, 30, 0), 1: SlotDemand(curve, 10, 0, live=False)}

    assert budget_per_page(demands, Budget(20.0)) == Budget(0.5, "page")
    assert budget_per_page(demands, Budget(0.2, "page")) == Budget(0.2, "page")
    assert budget_per_page({}, Budget(20.0)) == Budget(20.0)


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
        curves = [curve_of(asked, [each.spending(at).total[0] for at in asked]) for each in pages]
        price = shared_price(curves, 1000.0)

    assert price == pytest.approx(whole.price, rel=2e-3)
    assert sum(each.spending(price).total[0] for each in pages) == pytest.approx(1000.0, rel=1e-3)


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
