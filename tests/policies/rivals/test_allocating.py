"""Policies that divide a budget by learned rates: Cho's, LambdaCrawl, Azar's."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from recrawl.arrays.uniforms import hash_uniform
from recrawl.errors import InvalidParameter
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import Freshness
from recrawl.policies.named import policy_named
from recrawl.policies.rivals.allocating import AllocatingPolicy
from recrawl.policies.rivals.azar import BinaryDivision, azar
from recrawl.policies.rivals.censored import CensoredLearner
from recrawl.policies.rivals.cho import CountingLearner, PowerDivision, cho, cho_naive
from recrawl.policies.rivals.interval import VisitRows
from recrawl.policies.rivals.lambdacrawl import HarmonicDivision, lambdacrawl
from recrawl.policies.rivals.uniform import uniform
from recrawl.rates.likelihood import Likelihood
from recrawl.rates.published.cho import Cho
from recrawl.simulate.made import log_normal_rates, make_world
from recrawl.simulate.run import simulate
from tests.policies.crawls import GAP, START, due_days, later, outcomes, pages_at
from tests.strategies import history_of

optimiser: Any = minimize
rates_of_pages = st.lists(st.floats(1e-3, 1e2), min_size=2, max_size=8).map(np.array)
budgets = st.floats(0.1, 50)


def reference_pages():
    """Pages of policies.md 10."""
    return np.exp(np.random.default_rng(7).normal(np.log(0.1), 1.6, 4000))


@pytest.mark.parametrize(
    ("division", "freshness", "hits"),
    [
        (PowerDivision(exponent=0.0), (0.586, 0.762, 0.845), (0.591, 0.375, 0.258)),
        (PowerDivision(exponent=1.0), (0.284, 0.598, 0.763), (0.967, 0.678, 0.433)),
        (PowerDivision(), (0.540, 0.774, 0.871), (0.853, 0.575, 0.382)),
        (HarmonicDivision(), (0.587, 0.785, 0.873), (0.738, 0.510, 0.356)),
    ],
)
def test_divisions_have_the_reference_freshness(division, freshness, hits):
    """Periodic visits: freshness (f / l)(1 - e^(-l / f)), hits a visit 1 - e^(-l / f)."""
    rates = reference_pages()
    for budget, fresh, hit in zip((0.1, 0.3, 0.6), freshness, hits, strict=True):
        f = division.frequencies(rates, np.ones(4000), 4000 * budget)
        found = -np.expm1(-rates / f)
        assert f.sum() == pytest.approx(4000 * budget)
        assert (f / rates * found).mean() == pytest.approx(fresh, abs=6e-4)
        assert (f * found).sum() / f.sum() == pytest.approx(hit, abs=6e-4)


@given(rates_of_pages, budgets)
def test_the_harmonic_division_has_one_price(rates, budget):
    """One more visit is worth mu D / (rho (rho + D)) everywhere, and all of the budget is spent."""
    weight = np.arange(1.0, len(rates) + 1)
    rho = HarmonicDivision().frequencies(rates, weight, budget)
    price = weight * rates / (rho * (rho + rates))

    assert rho.sum() == pytest.approx(budget)
    np.testing.assert_allclose(price, price[0], rtol=1e-8)


def binary(rates, weight, budget, eps):
    """Azar's rates as in policies.md 8, page by page."""
    floor = eps * budget / len(rates)
    order = sorted(range(len(rates)), key=lambda i: weight[i] * rates[i] / (rates[i] + floor) ** 2)
    r, s, left = sum(np.sqrt(weight * rates)), sum(rates), budget
    rho = np.zeros(len(rates))
    for i in order:
        root = np.sqrt(weight[i] * rates[i])
        if weight[i] * rates[i] / (rates[i] + floor) ** 2 <= (r / (left + s)) ** 2:
            rho[i] = floor
            r, s, left = r - root, s - rates[i], left - floor
        else:
            rho[i] = root * (left + s) / r - rates[i]
    return rho


@given(rates_of_pages, budgets, st.sampled_from([0.0, 0.4]))
def test_the_binary_division_follows_the_published_loop(rates, budget, eps):
    """Where rounding decides on a page at the edge, it gets next to nothing either way."""
    weight = np.arange(1.0, len(rates) + 1)
    rho = BinaryDivision(eps).frequencies(rates, weight, budget)

    assert rho.sum() == pytest.approx(budget)
    if len(np.unique(rates)) == len(rates):
        np.testing.assert_allclose(rho, binary(rates, weight, budget, eps), atol=1e-6 * budget)


def staleness(rates, weight, visits):
    """Weighted staleness of visits at random times."""
    return float((weight * rates / (visits + rates)).sum())


def test_the_binary_division_is_the_best():
    """Against a general optimiser."""
    random = np.random.default_rng(2)
    for _ in range(20):
        rates, weight = random.exponential(1.0, 5) + 0.01, random.random(5) + 0.1
        rho = BinaryDivision().frequencies(rates, weight, 3.0)

        best = optimiser(
            partial(staleness, rates, weight),
            np.full(5, 0.6),
            bounds=[(0, None)] * 5,
            constraints={"type": "eq", "fun": lambda f: f.sum() - 3.0},
        )
        assert staleness(rates, weight, rho) <= best.fun + 1e-6


@given(rates_of_pages, budgets)
def test_the_power_division_keeps_its_floor(rates, budget):
    """A tenth of the mean before renormalising, which takes at most the other tenth."""
    f = PowerDivision(floor=0.1).frequencies(rates, np.ones(len(rates)), budget)

    assert f.sum() == pytest.approx(budget)
    assert (f >= 0.1 / 1.1 * budget / len(rates) * (1 - 1e-9)).all()


def test_pages_that_never_changed_are_all_alike():
    f = PowerDivision().frequencies(np.zeros(4), np.ones(4), 2.0)

    assert f.tolist() == [0.5] * 4


gaps_seen = st.lists(
    st.tuples(st.floats(0.01, 300), st.sampled_from(["no", "hidden", "dated"])),
    min_size=1,
    max_size=25,
)


def visit(gap, changed, age=np.nan):
    days = np.array([gap])
    return VisitRows(days, days, days, np.array([changed]), np.array([age]), GAP)


@given(gaps_seen, st.floats(0.1, 0.9))
def test_learnt_rates_are_the_most_likely(seen, share):
    """As `likelihood-plain` has them with the imaginary gaps in the history: bins cost 0.5 %."""
    learner, row = CensoredLearner(), np.array([0])
    memory = learner.begin(1)
    page: list[tuple[Any, ...]] = [(np.log(2), True), (np.log(2), False)]
    for gap, kind in seen:
        age = share * gap if kind == "dated" else np.nan
        learner.learn(memory, row, visit(gap, kind != "no", age))
        page.append((gap, kind != "no", age))
    expected = Likelihood(singularity="none").estimate(history_of(page)).rate

    np.testing.assert_allclose(learner.rates(memory), expected, rtol=5e-3)


def test_a_page_changes_once_a_day_before_anything_is_seen():
    learner = CensoredLearner()
    memory = learner.begin(2)
    memory.stale[:] = True

    assert learner.rates(memory) == pytest.approx([1.0, 1.0])


def test_counted_rates_are_those_of_the_estimator():
    """Six changes in ten gaps of two days."""
    learner, row = CountingLearner(Cho(), adaptive=True), np.array([0])
    memory = learner.begin(2)
    for number in range(10):
        learner.learn(memory, row, visit(2.0, number < 6))

    np.testing.assert_allclose(
        learner.rates(memory), [-np.log(4.5 / 10.5) / 2, np.nan], equal_nan=True
    )


def crawl(policy, steps, changed, gap=GAP):
    """State after visits to all pages, a gap apart."""
    pages = len(changed)
    state = policy.start(pages_at(*np.zeros(pages)), START, gap)
    for step in range(1, steps + 1):
        now = np.repeat(later(step * gap), pages)
        state = policy.seen(state, np.arange(pages), now, outcomes(changed))
    return state


def test_cho_estimates_once_after_five_visits():
    """Changes per gap -ln(.5 / 5.5) and -ln(2.5 / 5.5); later visits change nothing."""
    policy = cho()
    state = policy.start(pages_at(0.0, 0.0), START, GAP)
    for step in range(1, 12):
        now = np.repeat(later(step * GAP), 2)
        second = step in (1, 3, 5) or step > 5
        state = policy.seen(state, np.arange(2), now, outcomes([True, second]))
        if step == 4:
            assert np.isnan(state.frequency).all()
    roots = np.sqrt([np.log(11.0), np.log(5.5 / 2.5)])

    assert state.frequency * GAP == pytest.approx(2 * roots / roots.sum())


def test_a_page_without_a_change_in_five_visits_is_never_visited_again():
    policy = cho()
    state = crawl(policy, 5, [True, False])

    assert np.isnan(due_days(policy, state, range(2))).tolist() == [False, True]


def found_by_the_paper(world, method, *, week=7.0, visits=13):
    """Changes that section 6.4 detects: five weekly visits, one estimate, f as its square root."""
    days = (world.changes - world.start).astype(np.int64) / 86_400e6
    times = np.split(days, world.offsets[1:-1])
    first = np.array([np.histogram(each, np.arange(6) * week)[0] > 0 for each in times])
    seen = first.sum(axis=1)
    rate = seen / 5 if method == "naive" else -np.log((5 - seen + 0.5) / 5.5)
    frequency = np.sqrt(rate) / np.sqrt(rate).sum() * len(world) / week
    found = int(first.sum())
    for each, visits_a_day in zip(times, frequency.tolist(), strict=True):
        if visits_a_day:
            edges = np.arange(5 * week, visits * week + 1e-9, 1 / visits_a_day)
            found += int((np.histogram(each, edges)[0] > 0).sum()) if len(edges) > 1 else 0
    return found


def test_crawls_find_as_many_changes_as_those_of_the_paper():
    """Within a frontier that breaks ties and carries visits over: 100, 114 and 118 % here."""
    random = np.random.default_rng(0)
    rates = log_normal_rates(1500, every=30.0, spread=1.5, random=random)
    world = make_world("poisson", rates, days=91.0, random=random)
    budget = Budget(1 / 7, "page")
    found = [
        simulate(world, policy, budget, random=np.random.default_rng(0)).found
        for policy in (uniform(), cho_naive(), cho(), cho(adaptive=True))
    ]
    expected = [found_by_the_paper(world, method) for method in ("naive", "cho")]

    assert found[1:3] == pytest.approx(expected, rel=0.02)
    assert 1.08 * found[0] < found[1] < found[2] < found[3]


def test_the_adaptive_cho_warms_up_with_five_visits_a_gap_apart():
    changed = [True, False, False]
    for steps in range(5):
        policy = cho(adaptive=True)
        state = crawl(policy, steps, changed)
        assert due_days(policy, state, range(3)) == pytest.approx([(steps + 1) * GAP] * 3)
    state = crawl(policy, 5, changed)

    # ln(11) per gap against 0: the roots, with floors of a tenth of their mean.
    share = np.array([3.0, 0.1, 0.1]) / 3.2 * 3
    assert state.frequency == pytest.approx(share / GAP)
    assert due_days(policy, state, range(3)) == pytest.approx(5 * GAP + GAP / share)


def test_the_naive_policy_differs_by_its_estimator():
    """Changes over visits 1 and 0.5: roots 1 and 0.7071."""
    policy: Any = policy_named("cho-naive:warm_up=2", Freshness())
    state = policy.start(pages_at(0.0, 0.0), START, GAP)
    for step, changed in ((1, [True, True]), (2, [True, False])):
        now = np.repeat(later(step * GAP), 2)
        state = policy.seen(state, np.arange(2), now, outcomes(changed))
    roots = np.sqrt([1.0, 0.5])

    assert state.frequency * GAP == pytest.approx(2 * roots / roots.sum())


def test_a_new_gap_moves_frequencies_with_it():
    policy = cho(adaptive=True)
    state = crawl(policy, 5, [True, False])
    before = state.frequency.copy()

    assert policy.with_mean_gap(state, 2 * GAP).frequency == pytest.approx(before / 2)


def test_lambdacrawl_divides_once_a_day_at_most():
    """A gap of a day: an eighth of it would be sooner."""
    policy = lambdacrawl()
    state = policy.start(pages_at(0.0, 0.0), START, 1.0)
    state = policy.seen(state, np.array([0]), later(0.9), outcomes(changed=True))
    assert np.isnan(state.frequency).all()
    state = policy.seen(state, np.array([1]), later(1.0), outcomes(changed=False))

    assert state.frequency.sum() == pytest.approx(2.0)


def test_randomised_visits_have_exponential_intervals():
    """Mean and standard deviation of the intervals are both the gap."""
    policy = lambdacrawl(randomised=True, seed=5)
    state = policy.start(pages_at(*np.zeros(5000)), START, GAP)
    wait = due_days(policy, state, range(5000))

    assert wait.mean() == pytest.approx(GAP, rel=0.05)
    assert wait.std() == pytest.approx(GAP, rel=0.05)


def test_randomised_visits_are_drawn_anew_at_each_visit():
    policy, row = lambdacrawl(randomised=True), np.array([0])
    state = policy.start(pages_at(0.0), START, GAP)
    first = due_days(policy, state)[0]
    state = policy.seen(state, row, later(0.5), outcomes(changed=False))

    assert due_days(policy, state)[0] - 0.5 != pytest.approx(first)


def test_azar_gives_up_pages_that_change_too_fast():
    """And its floor does not."""
    for floor, given_up in ((0.0, True), (0.4, False)):
        policy = azar(floor)
        state = policy.start(pages_at(*np.zeros(4)), START, GAP)
        for step in range(1, 21):
            changed = np.array([True, *[step % 2 == 0] * 3])
            now = np.repeat(later(step * GAP), 4)
            state = policy.seen(state, np.arange(4), now, outcomes(changed))
        assert np.isnan(due_days(policy, state, range(4))).tolist() == [given_up, *[False] * 3]


def test_uniforms_differ_by_seed_page_and_turn():
    rows, turn = np.arange(1000), np.zeros(1000, np.int64)
    drawn = np.concatenate(
        [hash_uniform(0, rows, turn), hash_uniform(1, rows, turn), hash_uniform(0, rows, turn + 1)]
    )

    assert len(np.unique(drawn)) == 3000
    assert (drawn > 0).all()
    assert (drawn <= 1).all()
    for one, other in ((0, 1), (0, 2), (1, 2)):
        parts = drawn.reshape(3, 1000)
        assert abs(np.corrcoef(parts[one], parts[other])[0, 1]) < 0.1


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: AllocatingPolicy(CensoredLearner(), HarmonicDivision(), least_days=-1.0),
        lambda: CensoredLearner(guess=0.0),
        lambda: CountingLearner(Cho(), warm_up=0),
        lambda: PowerDivision(exponent=-1.0),
        lambda: PowerDivision(floor=1.0),
        lambda: BinaryDivision(floor=-0.1),
    ],
)
def test_parameters_that_mean_nothing_are_refused(wrong):
    with pytest.raises(InvalidParameter, match="got"):
        wrong()
