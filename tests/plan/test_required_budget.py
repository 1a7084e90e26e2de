"""The visits that a wanted freshness takes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from recrawl.errors import InvalidParameter
from recrawl.plan import OBJECTIVES, Freshness, Limits, Rates, allocate
from recrawl.plan.required_budget import visits_needed

pages = st.lists(st.tuples(st.floats(0.2, 20), st.floats(0.05, 500)), min_size=1, max_size=8)
shares = st.floats(0.02, 0.98)
objectives = st.sampled_from(sorted(OBJECTIVES))


def gamma(rows):
    shape, exposure = (np.array(each) for each in zip(*rows, strict=True))
    return Rates.gamma(shape, exposure)


def test_pages_that_are_alike_are_visited_alike():
    """Twice a day each: a page that changes once a day is fresh for (1 - e^-0.5) / 0.5."""
    needed = visits_needed([1.0, 1.0, 1.0], 2 * (1 - np.exp(-0.5)))

    assert needed.visits == pytest.approx(6.0, rel=1e-5)
    assert needed.suffices


def test_a_rate_that_is_unsure_is_integrated_over():
    """Shape 2, 10 days: over 10 days between visits a copy is fresh for (1 - 1 / 2) / 1."""
    needed = visits_needed(Rates.gamma([2.0], [10.0]), 0.5)

    assert needed.visits == pytest.approx(0.1, rel=1e-5)


def test_floors_may_do():
    """A visit a day in any case keeps 1 - 1 / e fresh, which is more than half."""
    needed = visits_needed([1.0], 0.5, limits=Limits(least=1.0))

    assert needed.visits == 1.0
    assert needed.freshness == pytest.approx(1 - np.exp(-1))


def test_caps_may_not_do():
    """A visit a day at most."""
    needed = visits_needed([1.0, 1.0], 0.9, limits=Limits(most=1.0))

    assert not needed.suffices
    assert needed.visits == pytest.approx(2.0)
    assert needed.freshness == pytest.approx(1 - np.exp(-1))


def test_a_host_that_is_full_leaves_the_rest_to_others():
    """Page 0 gets one visit a day at most: 0.632. Page 1 must then be fresh for 0.968."""
    limits = Limits(host=[0, 1], host_most=[1.0, np.inf])
    needed = visits_needed([1.0, 1.0], 0.8, objective=Freshness(), limits=limits)
    rest = 1.6 - (1 - np.exp(-1))
    other = brentq(lambda visits: visits * (1 - np.exp(-1 / visits)) - rest, 0.1, 1e3)

    assert needed.visits == pytest.approx(1 + other, rel=1e-5)


def test_hosts_may_keep_a_target_out_of_reach():
    limits = Limits(host=[0, 0], host_most=2.0)
    needed = visits_needed([1.0, 1.0], 0.9, limits=limits)

    assert not needed.suffices
    assert needed.visits == pytest.approx(2.0)
    assert needed.freshness == pytest.approx(1 - np.exp(-1), abs=1e-6)


def test_pages_that_never_change_need_nothing():
    assert visits_needed([0.0, 0.0], 0.99).visits == 0.0


def test_no_pages_need_nothing():
    assert visits_needed([], 0.99).visits == 0.0


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, float("nan")])
def test_a_share_lies_between_0_and_1(share):
    with pytest.raises(InvalidParameter, match="freshness must be between 0 and 1"):
        visits_needed([1.0], share)


@settings(max_examples=60, deadline=None)
@given(pages, shares, objectives)
def test_a_plan_with_the_answer_is_as_fresh_as_was_wanted(rows, share, objective):
    rates, aim = gamma(rows), OBJECTIVES[objective]
    needed = visits_needed(rates, share, objective=aim)
    plan = allocate(rates, needed.visits, objective=aim)

    assert needed.suffices
    assert plan.mean_freshness == pytest.approx(share, abs=2e-5)


@settings(max_examples=40, deadline=None)
@given(pages, shares, shares, objectives)
def test_more_freshness_costs_more(rows, one, other, objective):
    low, high = (
        visits_needed(gamma(rows), share, objective=OBJECTIVES[objective]).visits
        for share in sorted((one, other))
    )

    assert low <= high * (1 + 1e-5)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_scipy_finds_the_same(share):
    """Each page is visited when its value reaches a price; the price is searched for."""
    rates = np.array([0.2, 1.0, 3.0])
    aim = Freshness()

    def visits(price):
        found = []
        for rate in rates:
            if price >= 1 / rate:
                found.append(0.0)
                continue
            x = brentq(lambda x, rate=rate: (1 - (1 + x) * np.exp(-x)) / rate - price, 1e-9, 700)
            found.append(rate / x)
        return np.array(found)

    def fresh(price):
        x = rates / np.maximum(visits(price), 1e-300)
        return np.mean(-np.expm1(-x) / x) - share

    price = brentq(fresh, 1e-6, 4.99, xtol=1e-12)
    assert visits_needed(rates, share, objective=aim).visits == pytest.approx(
        visits(price).sum(), rel=1e-4
    )


def test_a_page_that_is_never_visited_is_never_fresh():
    """Whatever the exposure: half a day here, where `Rates.gamma` means 2.4 changes a day."""
    plan = allocate(Rates.gamma([1.2, 9.0], [0.5, 300.0]), 0.03, objective=Freshness())

    assert plan.visits_per_day[0] == 0
    assert plan.freshness[0] == pytest.approx(0.0, abs=1e-9)


def test_weights_take_visits_from_pages_that_matter_less():
    """The share is of all pages alike, so a plan by weight needs more visits to reach it."""
    rates, weight = [1.0, 1.0, 1.0], [9.0, 1.0, 1.0]
    needed = visits_needed(rates, 0.6, weight=weight)
    plan = allocate(rates, needed.visits, weight=weight)

    assert plan.freshness.mean() == pytest.approx(0.6, rel=1e-4)
    assert needed.visits > visits_needed(rates, 0.6).visits
    assert visits_needed(rates, 0.6, weight=[5, 5, 5]) == pytest.approx(visits_needed(rates, 0.6))
