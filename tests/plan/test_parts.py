"""The price of pages that lie in parts is that of all of them together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.plan import OBJECTIVES, Limits, Rates, allocate
from recrawl.plan.allocation import pages_to_plan
from recrawl.plan.solver.exact import most_spending
from recrawl.plan.solver.parts import PartSpending, price_of_parts


def plan_in_parts(rates, part, budget, *, objective, limits=None, weight=None):
    """Visits of all pages, found by sums over parts; and the price."""
    limits, numbers = limits or Limits(), np.unique(part)
    rows = [np.flatnonzero(part == number) for number in numbers]
    pages = [
        pages_to_plan(rates.take(some), objective, limits, None if weight is None else weight[some])
        for some in rows
    ]

    def spend(price):
        every = [PartSpending.of(each, price) for each in pages]
        return PartSpending(*map(sum, zip(*every, strict=True)))

    found = price_of_parts(
        spend,
        budget,
        start=1.0,
        floors=sum(each.costs(each.limits.floors(len(each))) for each in pages),
        most=sum(map(most_spending, pages)),
    )
    visits = np.empty(len(rates))
    for some, each in zip(rows, pages, strict=True):
        visits[some] = found.visits(each)
    return visits, found.price


def rates_of(count, seed, *, uncertain):
    random = np.random.default_rng(seed)
    rate = np.exp(random.normal(-2, 2, count))
    if not uncertain:
        return Rates.known(rate)
    shape = np.exp(random.normal(0, 1, count))
    return Rates.gamma(shape, shape / rate)


@given(
    st.integers(1, 300),
    st.integers(1, 9),
    st.integers(0, 99),
    st.floats(min_value=0.01, max_value=10),
    st.sampled_from(sorted(OBJECTIVES)),
    st.booleans(),
)
def test_visits_are_those_of_the_whole(count, parts, seed, each, objective, uncertain):
    """To eight digits: both spend the budget to ten."""
    rates = rates_of(count, seed, uncertain=uncertain)
    part = np.random.default_rng(seed).integers(0, parts, count)
    aim = OBJECTIVES[objective]
    whole = allocate(rates, each * count, objective=aim)

    visits, price = plan_in_parts(rates, part, each * count, objective=aim)

    np.testing.assert_allclose(visits, whole.visits_per_day, rtol=1e-8, atol=1e-12 * each)
    assert price == pytest.approx(whole.price, rel=1e-6)


@pytest.mark.parametrize("budget", [5.5, 40.0, 99.9, 1000.0])
def test_floors_and_caps_hold(budget):
    """Of a hundred pages each is visited once in 20 days at least, once a day at most."""
    rates, weight = rates_of(100, 3, uncertain=False), np.linspace(0, 2, 100)
    part, limits = np.arange(100) % 7, Limits(1 / 20, 1.0)
    aim = OBJECTIVES["harmonic"]
    whole = allocate(rates, budget, objective=aim, limits=limits, weight=weight)

    visits, price = plan_in_parts(rates, part, budget, objective=aim, limits=limits, weight=weight)

    np.testing.assert_allclose(visits, whole.visits_per_day, rtol=1e-8)
    assert price == pytest.approx(whole.price, rel=1e-6)


def test_a_page_at_its_cut_off_is_visited_in_part():
    """Between two prices the spending of equal pages jumps: both sides are mixed."""
    rates = Rates.known(np.full(10, 2.0))
    aim = OBJECTIVES["freshness"]
    whole = allocate(rates, 0.3, objective=aim)

    visits, _ = plan_in_parts(rates, np.arange(10) % 3, 0.3, objective=aim)

    assert visits.sum() == pytest.approx(0.3)
    np.testing.assert_allclose(visits, whole.visits_per_day, rtol=1e-6)


def test_a_budget_below_the_floors_is_refused():
    rates = rates_of(10, 0, uncertain=False)

    with pytest.raises(InvalidParameter, match=r"least visits of all pages, 5 \(got 4\)"):
        plan_in_parts(
            rates, np.arange(10), 4.0, objective=OBJECTIVES["age"], limits=Limits(0.5, 2.0)
        )
