"""Allocation: known values, identities, properties, and a plain optimiser as oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.plan import (
    OBJECTIVES,
    Detected,
    Freshness,
    Harmonic,
    Limits,
    Rates,
    allocate,
    allocate_randomised,
    proportional,
    square_root,
    uniform,
)
from tests.plan.oracles import best_loss, drawn

FIVE = np.arange(1.0, 6.0)
NAMES = list(OBJECTIVES)

rate_lists = st.lists(st.floats(-3, 3).map(lambda p: float(10**p)), min_size=1, max_size=8)
objectives = st.sampled_from(NAMES).map(OBJECTIVES.get)


def test_five_pages_for_freshness():
    """Cho and Garcia-Molina's example: f = (1.15, 1.36, 1.35, 1.14, 0)."""
    plan = allocate(FIVE, 5, objective=Freshness())

    assert plan.visits_per_day == pytest.approx([1.15, 1.36, 1.35, 1.14, 0], abs=0.005)
    assert plan.mean_freshness == pytest.approx(0.3739, abs=5e-5)
    assert uniform(FIVE, 5).mean_freshness == pytest.approx(0.3651, abs=5e-5)
    assert proportional(FIVE, 5).mean_freshness == pytest.approx(0.3167, abs=5e-5)


def test_five_pages_for_age():
    plan = allocate(FIVE, 5, objective=OBJECTIVES["age"])

    assert plan.visits_per_day == pytest.approx([0.835, 0.968, 1.034, 1.071, 1.093], abs=5e-4)


def test_five_pages_at_random_instants():
    plan = allocate_randomised(FIVE, 5, objective=Freshness())

    assert plan.visits_per_day == pytest.approx([1.386, 1.374, 1.133, 0.772, 0.335], abs=5e-4)


def test_detected_changes_go_with_the_rate_and_missed_ones_with_its_root():
    detected = allocate(FIVE, 5, objective=Detected()).visits_per_day
    missed = allocate(FIVE, 5, objective=OBJECTIVES["missed"]).visits_per_day

    assert detected == pytest.approx(FIVE / 3)
    assert missed == pytest.approx(square_root(FIVE, 5).visits_per_day)


def test_four_thousand_pages():
    """The table of rival rules: uniform, proportional, square root, randomised rates, optimum."""
    rates = np.exp(np.random.default_rng(7).normal(np.log(0.1), 1.6, 4000))
    table = {
        0.1: (0.586, 0.284, 0.540, 0.615),
        0.3: (0.762, 0.598, 0.774, 0.790),
        0.6: (0.845, 0.763, 0.871, 0.874),
    }
    for share, expected in table.items():
        budget = share * len(rates)
        plans = [rule(rates, budget) for rule in (uniform, proportional, square_root)]
        plans.append(allocate(rates, budget, objective=Freshness()))

        assert [plan.mean_freshness for plan in plans] == pytest.approx(expected, abs=6e-4)


def check(plan, rtol=1e-9):
    """Every visit is worth the price, no page left alone is worth more, the budget is spent."""
    price = np.full(len(plan), plan.price)
    if plan.host_price is not None:
        price = plan.host_price[plan.limits.host]
    free = plan.visits_per_day > 0
    if plan.limits.least is not None:
        free &= plan.visits_per_day > plan.limits.least
    if plan.limits.most is not None:
        free &= plan.visits_per_day < plan.limits.most * (1 - 1e-12)
    np.testing.assert_allclose(plan.value[free] / price[free], 1, rtol=0, atol=rtol)
    assert (plan.value[plan.starved] <= price[plan.starved] * (1 + 1e-12)).all()
    assert plan.spent == pytest.approx(plan.budget, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(rate_lists, st.floats(-3, 3), st.integers(0, 2**32))
def test_every_visit_is_worth_the_price(name, rates, log_budget, seed):
    random = np.random.default_rng(seed)
    weight, cost = random.uniform(0.1, 5, (2, len(rates)))
    budget = 10**log_budget * float(np.sum(rates))

    check(allocate(rates, budget, objective=OBJECTIVES[name], weight=weight, cost=cost))
    check(allocate_randomised(rates, budget, objective=OBJECTIVES[name], weight=weight, cost=cost))


@pytest.mark.parametrize("name", NAMES)
@given(rate_lists, st.floats(0.05, 200), st.floats(-2, 2))
def test_the_same_with_uncertain_rates(name, rates, shape, log_budget):
    gamma = Rates.gamma(np.full(len(rates), shape), shape / np.array(rates))

    check(allocate(gamma, 10**log_budget * float(np.sum(rates)), objective=OBJECTIVES[name]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [100_000, 300_000])
def test_the_same_for_very_many_pages(name, count):
    random = np.random.default_rng(5)
    rates = random.lognormal(-2, 2, count)
    weight = random.pareto(2, count) + 0.1
    check(allocate(rates, 0.3 * count, objective=OBJECTIVES[name], weight=weight))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_for_very_many_pages_with_uncertain_rates(name):
    """The last pass goes along slopes; values and the price are as good as those of a search."""
    random = np.random.default_rng(8)
    count = 100_000
    gamma = Rates.gamma(random.gamma(2, 1, count) + 0.2, random.gamma(2, 10, count) + 1)
    weight = random.pareto(2, count) + 0.1
    check(allocate(gamma, 0.3 * count, objective=OBJECTIVES[name], weight=weight))


def test_very_many_pages_with_hosts_floors_and_caps():
    random = np.random.default_rng(6)
    rates, host = random.lognormal(-2, 2, 100_000), random.integers(0, 5000, 100_000)
    limits = Limits(0.01, 5.0, host, 7.0)
    for objective in (Freshness(), Harmonic()):
        plan = allocate(rates, 30_000, objective=objective, limits=limits)
        by_host = np.bincount(host, plan.visits_per_day)

        check(plan)
        assert (by_host <= 7 * (1 + 1e-9)).all()
        assert plan.host_price is not None
        full = plan.host_price > plan.price
        assert 100 < full.sum() < 5000
        np.testing.assert_allclose(by_host[full], 7, rtol=1e-9)


def test_certain_distributions_plan_like_known_rates():
    sure = Rates.gamma(FIVE * 1e6, np.full(5, 1e6))
    for objective in OBJECTIVES.values():
        known = allocate(FIVE, 5, objective=objective).visits_per_day
        uncertain = allocate(sure, 5, objective=objective).visits_per_day
        assert uncertain == pytest.approx(known, rel=2e-5, abs=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_no_optimiser_does_better(part):
    """240 problems with floors, caps, hosts, weights and costs; scipy's SLSQP, both forms."""
    for seed in range(30 * part, 30 * part + 30):
        case = drawn(seed)
        objective = OBJECTIVES[NAMES[seed % 5]]
        for randomised in (False, True):
            spend = allocate_randomised if randomised else allocate
            plan = spend(
                case.rate,
                case.budget,
                objective=objective,
                weight=case.weight,
                cost=case.cost,
                limits=case.limits,
            )
            check(plan)
            lose = objective.random_loss if randomised else objective.loss
            visits = np.maximum(plan.visits_per_day, 1e-9)
            ours = float((case.weight * lose(case.rate, 1 / visits)).sum())
            best = best_loss(objective, case, plan.visits_per_day, randomised=randomised)
            assert ours <= best + 1e-9 * max(1, best), (seed, randomised)


@given(rate_lists, objectives, st.floats(0.1, 10), st.floats(1.01, 3))
def test_more_budget_never_loses_more(rates, objective, budget, more):
    less, rest = (allocate(rates, b, objective=objective) for b in (budget, budget * more))

    assert rest.mean_loss <= less.mean_loss * (1 + 1e-12)
    assert rest.price <= less.price


@given(rate_lists, objectives, st.floats(0.1, 10), st.floats(-3, 3))
def test_the_unit_of_time_does_not_matter(rates, objective, budget, log_scale):
    scale = 10**log_scale
    days = allocate(rates, budget, objective=objective)
    others = allocate(np.array(rates) * scale, budget * scale, objective=objective)

    np.testing.assert_allclose(others.visits_per_day, days.visits_per_day * scale, rtol=1e-6)


@given(rate_lists, objectives, st.floats(0.1, 10), st.floats(-3, 3))
def test_heavier_weights_raise_the_price_alone(rates, objective, budget, log_scale):
    scale = 10**log_scale
    plain = allocate(rates, budget, objective=objective)
    heavy = allocate(rates, budget, objective=objective, weight=np.full(len(rates), scale))

    assert heavy.price == pytest.approx(plain.price * scale, rel=1e-8)
    np.testing.assert_allclose(heavy.visits_per_day, plain.visits_per_day, rtol=1e-6)


@given(st.lists(st.floats(0.01, 10), min_size=2, max_size=8, unique=True), objectives, st.data())
def test_the_order_of_pages_does_not_matter(rates, objective, data):
    order = data.draw(st.permutations(range(len(rates))))
    plan = allocate(rates, 3.0, objective=objective)
    other = allocate(np.array(rates)[order], 3.0, objective=objective)

    np.testing.assert_allclose(other.visits_per_day, plan.visits_per_day[order], rtol=1e-7)


@given(st.floats(-6, 6), st.integers(1, 9), objectives, st.floats(-6, 3))
def test_equal_pages_are_visited_equally_often(log_rate, count, objective, log_budget):
    """Even near and beyond the cut-off, where no float price gives the right frequency."""
    rate, budget = 10**log_rate, 10 ** (log_rate + log_budget) * count
    plan = allocate(np.full(count, rate), budget, objective=objective)

    np.testing.assert_allclose(plan.visits_per_day, budget / count, rtol=1e-9)


def test_rates_from_one_end_of_floats_to_the_other():
    rates = 10.0 ** np.arange(-12, 13)
    for objective in OBJECTIVES.values():
        for budget in (1e-9, 1.0, 1e9):
            plan = allocate(rates, budget, objective=objective)
            assert plan.spent == pytest.approx(budget, rel=1e-12)
            check(plan)


def test_pages_that_never_change_or_do_not_matter_are_left_alone():
    for objective in OBJECTIVES.values():
        plan = allocate([0.0, 1.0, 2.0], 4, objective=objective, weight=[1.0, 1.0, 0.0])
        assert plan.visits_per_day == pytest.approx([0, 4, 0])
        assert plan.value[[0, 2]].tolist() == [0, 0]


def test_nothing_is_spent_where_nothing_is_worth_a_visit():
    plan = allocate([0.0, 0.0], 4)

    assert plan.spent == 0
    assert plan.price == 0
    assert plan.mean_freshness == 1


def test_no_pages_and_no_budget():
    assert len(allocate([], 5)) == 0
    assert np.isnan(allocate([], 5).mean_freshness)
    nothing = allocate([1.0, 2.0], 0, objective=Freshness())
    assert nothing.visits_per_day.tolist() == [0, 0]
    assert nothing.mean_freshness == 0


def test_caps_that_leave_some_of_the_budget():
    plan = allocate(FIVE, 50, limits=Limits(most=2.0))

    assert plan.visits_per_day.tolist() == [2.0] * 5
    assert plan.price == 0


def test_floors_are_kept_and_a_host_pays_its_own_price():
    plan = allocate(FIVE, 5, limits=Limits(least=0.9, host=[1, 1, 0, 0, 0], host_most=[3.0, 9]))

    assert plan.visits_per_day.min() >= 0.9
    assert plan.visits_per_day[2:].sum() == pytest.approx(3.0)
    assert plan.host_price is not None
    assert plan.host_price[0] > plan.price == plan.host_price[1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"budget": 1, "limits": Limits(least=0.5)}, "budget must pay for the least visits of all"),
        ({"budget": -1}, "budget must be finite and at least 0 visits per day (got -1)"),
        ({"budget": np.nan}, "budget must be finite"),
        ({"rates": [1.0, -1.0]}, "page 1: rate must be a number, at least 0 (got -1.0)"),
        ({"rates": [1.0, np.nan]}, "page 1: rate must be a number"),
        ({"rates": [[1.0]]}, "rate must have one figure per page"),
        ({"weight": [1.0]}, "weight must have one figure for each of 5 pages"),
        ({"cost": 0}, "page 0: cost must be a number, more than 0"),
        ({"limits": Limits(least=2, most=1)}, "page 0: least visits must be at most its most"),
        ({"limits": Limits(host=[0.5] * 5)}, "host must be a whole number from 0 on"),
        (
            {"limits": Limits(least=0.5, host=[0] * 5, host_most=1)},
            "host 0: most visits must pay for the least visits of its pages, 2.5 (got 1)",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(arguments, sentence):
    with pytest.raises(InvalidParameter) as error:
        allocate(**({"rates": FIVE, "budget": 5} | arguments))

    assert sentence in str(error.value)


def test_a_randomised_plan_needs_known_rates():
    with pytest.raises(InvalidParameter, match="must be known"):
        allocate_randomised(Rates.gamma([1.0], [1.0]), 1)


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_optimal_beats_every_rule(seed):
    rates = np.random.default_rng(seed).lognormal(0, 2, 50)
    for objective in OBJECTIVES.values():
        best = allocate(rates, 20, objective=objective).mean_loss
        for rule in (uniform, proportional, square_root):
            assert best <= rule(rates, 20, objective=objective).mean_loss * (1 + 1e-12)


def test_a_budget_for_all_that_is_wanted_of_uncertain_rates_is_planned_without_a_warning():
    """The price is next to nothing then, and so is what a page that matters much is asked for."""
    gamma, limits = Rates.gamma([20.0], [1.0]), Limits(most=[1.0])
    plan = allocate(gamma, 10, objective=OBJECTIVES["missed"], weight=[1e20], limits=limits)

    assert plan.visits_per_day.tolist() == [1.0]
