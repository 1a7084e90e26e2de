"""The streaming estimators for visits at random times: LLN, what they share, how they compare."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl import Histories, Likelihood, Status
from recrawl.rates import LLN, SA, SAM
from tests.rates.pages import regular_page
from tests.strategies import history_of, pages

if TYPE_CHECKING:
    from recrawl.rates.estimates import Estimator


def test_changes_over_gaps_without_one():
    """p X / (k + 1 - X): six changes in ten daily visits are 6 / 5."""
    estimates = LLN().estimate(history_of(regular_page(6, 10)))

    assert estimates.rate.tolist() == [1.2]
    assert estimates.status.tolist() == [Status.OK]


def test_visits_a_day_are_those_of_the_whole_time():
    """Four gaps in eight days are half a visit a day: 0.5 * 2 / 3."""
    page = [(1.0, True), (5.0, False), (0.5, True), (1.5, False)]

    assert LLN().estimate(history_of(page)).rate == pytest.approx([1 / 3], rel=1e-12)


def test_without_a_change_the_rate_is_zero():
    """A chance of 1 - 0.05^(1/10) at most, which is so many changes a visit."""
    estimates = LLN(level=0.9).estimate(history_of(regular_page(0, 10, 2.0)))

    assert (estimates.rate.tolist(), estimates.low.tolist()) == ([0.0], [0.0])
    assert estimates.high == pytest.approx([(0.05**-0.1 - 1) / 2], rel=1e-9)
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]
    assert np.isnan([estimates.shape, estimates.exposure]).all()


@pytest.mark.parametrize("gaps", [1, 10])
def test_where_every_gap_changed_the_rate_is_the_largest_there_is(gaps):
    """p k, saturated, with no upper end."""
    estimates = LLN().estimate(history_of(regular_page(gaps, gaps, 2.0)))

    assert estimates.rate == pytest.approx([gaps / 2], rel=1e-12)
    assert estimates.high.tolist() == [np.inf]
    assert estimates.status.tolist() == [Status.SATURATED]


@pytest.mark.parametrize("method", [LLN(), SA(), SAM()])
def test_a_page_without_gaps_has_no_rate(method):
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = method.estimate(history_of([], [], first_visit=first_visit))

    assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
    assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


@pytest.mark.parametrize("method", [LLN(), SA(), SAM()])
@pytest.mark.parametrize("changed", [0, 1])
def test_a_single_gap_is_enough_for_figures(method, changed):
    estimates = method.estimate(history_of(regular_page(changed, 1, 3.0)))

    assert np.isfinite(estimates.rate).all()
    assert estimates.status.tolist() == [[Status.NO_CHANGE_SEEN], [Status.SATURATED]][changed]


@given(page=pages)
def test_the_rate_is_the_formula(page):
    """Whatever the gaps, dates and counts; nine orders of magnitude among them."""
    changed, watched = sum(gap.changed for gap in page), math.fsum(gap.gap for gap in page)
    estimates = LLN().estimate(history_of(page))

    visits_a_day = len(page) / watched
    assert estimates.rate == pytest.approx(
        [visits_a_day * changed / (len(page) + 1 - changed)], rel=1e-12
    )


@given(
    changed=st.integers(0, 40), quiet=st.integers(0, 40), level=st.sampled_from([0.5, 0.9, 0.99])
)
def test_the_band_is_clopper_and_pearsons_as_odds(changed, quiet, level):
    """A chance theta = r / (r + p) of a change means p theta / (1 - theta) changes a day."""
    n = max(changed + quiet, 1)
    x = min(changed, n)
    exact = stats.binomtest(x, n).proportion_ci(level, method="exact")
    for method in (LLN(level), SA(level=level), SAM(level=level)):
        estimates = method.estimate(history_of(regular_page(x, n, 0.5)))

        low, rate = 2 * exact.low / (1 - exact.low), estimates.rate[0]
        high = math.inf if x == n else 2 * exact.high / (1 - exact.high)
        assert estimates.low == pytest.approx([min(low, rate)], rel=1e-6)
        assert estimates.high == pytest.approx([max(high, rate)], rel=1e-6)


@given(changed=st.integers(1, 40), quiet=st.integers(0, 40))
def test_the_gamma_has_the_information_of_the_gaps(changed, quiet):
    """n (dtheta / d ln r)^2 / (theta (1 - theta)) = n theta (1 - theta), theta = r / (r + p)."""
    n = changed + quiet
    for method in (LLN(), SA(), SAM()):
        estimates = method.estimate(history_of(regular_page(changed, n, 0.5)))
        theta = estimates.rate[0] / (estimates.rate[0] + 2)

        assert estimates.shape == pytest.approx([n * theta * (1 - theta)], rel=1e-9)
        assert estimates.shape / estimates.exposure == pytest.approx(estimates.rate, rel=1e-9)


@pytest.mark.parametrize("rate", [0.2, 1.0, 4.0])
def test_visits_at_random_times_are_what_it_needs(rate):
    """With exponential gaps it settles at the rate, with regular ones far above it.

    At regular gaps the odds of a change are e^r - 1. 20,000 gaps leave a standard error of
    1 / sqrt(n theta (1 - theta)), 2 % at most.
    """
    chance = np.random.default_rng(61)
    random, regular = chance.exponential(1.0, 20_000), np.ones(20_000)
    found = []
    for gaps in (random, regular):
        changed = chance.random(20_000) < -np.expm1(-rate * gaps)
        found.append(float(LLN().estimate(Histories(gaps, changed, np.array([0, 20_000]))).rate[0]))

    assert found[0] == pytest.approx(rate, rel=0.08)
    assert found[1] == pytest.approx(math.expm1(rate), rel=0.08 * max(rate, 1))


def test_states_are_plain_sums():
    """Changes, days watched, visits; the first visit is there from the start."""
    state = LLN.start(2)
    state = LLN.update(state, np.array([2.0, 3.0]), np.array([True, False]))
    state = LLN.update(state, np.array([1.0, 1.0]), np.array([False, True]))

    assert state.tolist() == [[1.0, 3.0, 3.0], [1.0, 4.0, 3.0]]


def test_merged_states_share_the_visit_where_they_meet():
    one = LLN.update(LLN.start(1), np.array([2.0]), np.array([True]))
    other = LLN.update(LLN.start(1), np.array([5.0]), np.array([True]))

    assert LLN.merge(one, other).tolist() == [[2.0, 7.0, 3.0]]


# The table of beyond.md 3: relative rmse after 100 visits at random times, one a day.

RMSE: dict[str, tuple[Estimator, dict[float, float]]] = {
    "likelihood-plain": (Likelihood(singularity="none"), {0.3: 0.211, 1.0: 0.163, 3.0: 0.183}),
    "lln": (LLN(), {0.3: 0.240, 1.0: 0.194, 3.0: 0.234}),
    "sa": (SA(), {0.3: 0.304, 1.0: 0.206, 3.0: 0.197}),
    "sam": (SAM(), {0.3: 0.311, 1.0: 0.211, 3.0: 0.210}),
}


def visited_at_random(rate: float, runs: int) -> Histories:
    """Pages of one rate, 100 exponential gaps each."""
    chance = np.random.default_rng(62)
    gaps = chance.exponential(1.0, (runs, 100))
    changed = chance.random((runs, 100)) < -np.expm1(-rate * gaps)
    return Histories(gaps.ravel(), changed.ravel(), np.arange(runs + 1) * 100)


@pytest.mark.parametrize("rate", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("name", RMSE)
def test_errors_are_those_of_the_specification(name, rate):
    """Within 8 %: their runs are of unknown number and their step sizes not given.

    Ours are eta_k = (k + 1)^-0.75 and zeta_k = (k + 1)^-0.5. The specification supposes p = 1 to
    be known, so our rates are taken a visit; with p from the visits all are more accurate.
    The largest difference is 6 % (SA at 0.3); the simulation's own error is below 2 %.
    """
    estimator, table = RMSE[name]
    seen = visited_at_random(rate, 10_000)
    found = estimator.estimate(seen).rate
    days = seen.total(seen.gaps)
    a_visit = found if name == "likelihood-plain" else found * days / 100

    error = math.sqrt(np.mean((a_visit / rate - 1) ** 2))
    assert error == pytest.approx(table[rate], rel=0.08)
    if name != "likelihood-plain":
        assert math.sqrt(np.mean((found / rate - 1) ** 2)) < error


@pytest.mark.parametrize("rate", [0.3, 1.0, 3.0])
def test_none_of_them_beats_the_likelihood(rate):
    """The papers' advantage is cost, not accuracy; 2 % is the simulation's own error."""
    seen = visited_at_random(rate, 10_000)
    errors = {
        name: math.sqrt(np.mean((estimator.estimate(seen).rate / rate - 1) ** 2))
        for name, (estimator, _) in RMSE.items()
    }

    assert min(errors.values()) >= 0.98 * errors["likelihood-plain"]
