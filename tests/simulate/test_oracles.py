"""Oracles: what they know, and that it helps."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.plan.allocation import allocate
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.pages import Outcomes
from recrawl.policies.policy import Priced
from recrawl.policies.rivals.uniform import uniform
from recrawl.simulate.made import log_normal_rates, poisson, turnover
from recrawl.simulate.oracles import Clairvoyant, OptimalKnown
from tests.simulate.made import at, run, world

ROWS = np.arange(2)


def optimal(some, name="freshness"):
    return OptimalKnown(some.rates, OBJECTIVES[name])


def made(pages=400, days=120.0, seed=0, maker=poisson):
    random = np.random.default_rng(seed)
    rates = log_normal_rates(pages, every=10.0, spread=1.2, random=random)
    return maker(rates, days=days, random=random)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_known_rates_are_worth_what_the_objective_says(name):
    some = world([1.0, 2.0, 3.0, 4.0], [], weight=[3.0, 1.0], end=8.0)
    policy = optimal(some, name)
    state = policy.start(some.pages, some.start, 1.0)

    value = policy.value(state, ROWS, at(2.0)[0])

    expected = 3 * OBJECTIVES[name].value(np.array([0.5]), np.array([2.0]))
    assert value[0] == pytest.approx(float(expected[0]))
    assert value[1] == 0.0


def test_a_known_page_is_due_when_its_value_reaches_the_price():
    some = world([1.0, 2.0], [], end=8.0)
    policy = optimal(some)
    state = policy.start(some.pages, some.start, 1.0)
    state = policy.seen(state, ROWS[:1], at(1.0), Outcomes.existence(np.array([True])))

    price = float(policy.value(state, ROWS, at(4.0)[0])[0])
    due = policy.due(state, ROWS, price)

    assert abs(due[0] - at(4.0)[0]) < np.timedelta64(1, "s")
    assert np.isnat(due[1])


def test_pages_found_later_and_another_pace():
    some = world([1.0], [2.0], found=[0.0, 1.0], end=4.0)
    for policy in (optimal(some), Clairvoyant(some, OBJECTIVES["freshness"])):
        state = policy.start(some.pages.take(ROWS[:1]), some.start, 1.0)
        state = policy.found(state, some.pages.take(ROWS[1:]))
        state = policy.with_mean_gap(state, 2.0)

        assert isinstance(policy, Priced)
        assert (policy.value(state, ROWS, at(3.0)[0]) > 0).all()


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("freshness", 4.0),  # 1 / r
        ("harmonic", 2 * 4.0),  # n / r
        ("missed", 2 * 3 / 2 * 4.0),  # n (n + 1) / (2 r)
        ("detected", 1.0),
        ("age", 1.5 * 4.0 + 1.5**2 / 2),  # s / r + s^2 / 2
    ],
)
def test_a_clairvoyant_knows_what_each_copy_lacks(name, index):
    """Two changes in eight days; a day and a half after the first, which is not copied."""
    some = world([1.0, 2.0], [4.0], end=8.0)
    policy = Clairvoyant(some, OBJECTIVES[name])
    state = policy.start(some.pages, some.start, 1.0)

    assert policy.value(state, ROWS, at(2.5)[0]) == pytest.approx([index, 0.0])


def test_a_clairvoyant_knows_what_a_visit_copied():
    some = world([1.0, 3.0], [2.0], end=8.0)
    policy = Clairvoyant(some, OBJECTIVES["freshness"])
    state = policy.start(some.pages, some.start, 1.0)
    state = policy.seen(state, ROWS, at(2.0, 2.5), Outcomes.existence(np.array([True, False])))

    np.testing.assert_array_equal(policy.due(state, ROWS, 1.0), at(3.0, 2.0))
    assert (policy.value(state, ROWS, at(2.75)[0]) > 0).tolist() == [False, True]
    state = policy.seen(state, ROWS, at(3.0, 3.0), Outcomes.existence(np.array([True, True])))
    assert np.isnat(policy.due(state, ROWS, 1.0)).all()


def test_with_visits_enough_a_clairvoyant_finds_every_change_at_the_next_step():
    some = world([0.3, 2.6], [1.9], end=4.0)

    found = run(some, budget="100/1d", policy=Clairvoyant(some, OBJECTIVES["age"]))

    np.testing.assert_allclose(found.stale_days, [0.7 + 0.4, 0.1])
    assert found.found == found.visits == 3


@pytest.mark.parametrize("maker", [poisson, turnover])
def test_knowing_more_is_fresher(maker):
    some = made(maker=maker)
    clairvoyant = Clairvoyant(some, OBJECTIVES["freshness"])

    policies = (clairvoyant, optimal(some), uniform())
    stale = [run(some, budget="1/change", step=0.25, policy=one).staleness for one in policies]

    assert stale[0] < 0.3 * stale[1]
    assert stale[1] < 0.97 * stale[2]


@pytest.mark.parametrize(("name", "score"), [("freshness", "staleness"), ("harmonic", "harmonic")])
def test_the_optimum_of_an_objective_is_best_by_its_score(name, score):
    some = made(days=240.0)
    runs = {
        one: run(some, budget="1/change", step=0.25, policy=optimal(some, one))
        for one in ("freshness", "harmonic", "detected")
    }

    best = min(runs, key=lambda one: getattr(runs[one], score))
    assert best == name


@pytest.mark.parametrize("name", ["freshness", "harmonic", "age"])
def test_the_optimum_that_is_played_keeps_what_the_plan_promises(name):
    """Poisson pages of known rates; what is left is chance and the length of a step."""
    random = np.random.default_rng(2)
    rates = log_normal_rates(3000, every=6.0, spread=1.0, random=random)
    some = poisson(rates, days=160.0, random=random).after(40.0)
    policy = OptimalKnown(rates, OBJECTIVES[name])
    plan = allocate(rates, 600.0, objective=OBJECTIVES[name])

    found = run(some, budget="600/1d", step=0.1, policy=policy)

    assert found.freshness == pytest.approx(plan.mean_freshness, rel=0.01)
    scores = {"freshness": found.staleness, "harmonic": found.harmonic, "age": found.age}
    promised = np.average(OBJECTIVES[name].loss(rates, np.minimum(plan.interval, 1e6)))
    assert scores[name] == pytest.approx(promised, rel=0.02)
