"""Survival without memory: hand calculations, censoring, and what the paper's estimators miss."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.models.exponential import (
    ExponentialSurvival,
    exponential,
    exponential_at_middle,
    most_likely,
    published_rate_of_all,
    published_rate_of_complete,
)
from tests.listings.lifetimes import BETWEEN, crawled, watched

RATE = 0.05


def test_removals_over_days_lived():
    """Two removals in 2 + 5 + 13 days."""
    found = exponential_at_middle(Lifetimes.of([2.0, 4.0, 13.0], [2.0, 6.0, np.inf]))

    assert found.rate == pytest.approx(2 / 20)
    assert found.deviation == pytest.approx(0.1 / np.sqrt(2))


def test_without_a_removal_the_rate_is_0():
    found = exponential(Lifetimes.of([10.0, 20.0], [np.inf, np.inf]))

    assert (found.rate, found.deviation) == (0, 0)


def test_without_anything_watched_there_is_nothing_to_say():
    nothing = Lifetimes.of([], [])

    assert np.isnan(exponential_at_middle(nothing).rate)
    assert np.isnan(exponential(nothing).rate)


def test_objects_never_seen_twice_make_the_rate_infinite():
    assert exponential(Lifetimes.of([0.0], [1.0])).rate == np.inf


def test_a_removal_between_two_crawls_has_the_closed_form():
    """With equal gaps from arrival the rate is -ln(1 - removed / all) / gap."""
    lifetimes = Lifetimes.of([0.0, 3.0], [3.0, np.inf], count=[2, 5])

    assert exponential(lifetimes).rate == pytest.approx(-np.log(5 / 7) / 3, rel=1e-12)


def test_lifelines_finds_the_same():
    """ExponentialFitter.fit_interval_censoring on the same twelve lifetimes."""
    assert 1 / exponential(BETWEEN).rate == pytest.approx(8.916427836968236, rel=1e-8)


@given(
    st.lists(
        st.tuples(st.floats(0, 100), st.floats(0.01, 30), st.integers(1, 50), st.booleans()),
        min_size=1,
        max_size=12,
    )
)
def test_no_other_rate_is_more_likely(rows):
    """Scipy's bounded search over the logarithm as the oracle."""
    low = np.array([age for age, _, _, _ in rows])
    width = np.array([gap for _, gap, _, _ in rows])
    count = np.array([float(copies) for _, _, copies, _ in rows])
    removed = np.array([gone for _, _, _, gone in rows])
    low[0], removed[0] = low[0] + 1, True
    high = np.where(removed, low + width, np.inf)

    def loss(log_rate):
        rate = np.exp(log_rate)
        chance = np.where(removed, np.log(-np.expm1(-rate * width)), 0)
        return float(-np.sum(count * (chance - rate * low)))

    rate, height = most_likely(low, high, np.zeros(len(low)), count)
    best = minimize_scalar(loss, bounds=(-15, 10), method="bounded", options={"xatol": 1e-10})

    assert -height <= best.fun + 1e-6
    assert -height == pytest.approx(loss(np.log(rate)), rel=1e-9, abs=1e-9)


def test_censoring():
    """Of lifetimes with rate .0500 watched for 90 days the paper's make .0641 and .0685."""
    rng = np.random.default_rng(13)
    lifetimes = watched(rng, 200_000, window=90, lifetime=lambda n: rng.exponential(1 / RATE, n))

    assert exponential_at_middle(lifetimes).rate == pytest.approx(RATE, rel=0.01)
    assert exponential(lifetimes).rate == pytest.approx(RATE, rel=0.01)
    assert published_rate_of_all(lifetimes) == pytest.approx(0.0641, abs=0.0005)
    assert published_rate_of_complete(lifetimes) == pytest.approx(0.0685, abs=0.0008)


@pytest.mark.parametrize("gap", [1.0, 3.0, 6.0, 12.0])
def test_what_crawls_see_gives_the_rate(gap):
    """The likelihood at any gap; removals in the middle while rate times gap is below .3."""
    rng = np.random.default_rng(int(gap))
    lifetimes = crawled(
        rng, 200_000, gap=gap, window=240, lifetime=lambda n: rng.exponential(1 / RATE, n)
    )

    assert exponential(lifetimes).rate == pytest.approx(RATE, rel=0.01)
    if gap * RATE < 0.3:
        assert exponential_at_middle(lifetimes).rate == pytest.approx(RATE, rel=0.012)


def test_days_before_the_first_sight_are_not_days_listed():
    """Counted from the middle of the arrival, as if none were removed unseen, it is 15 % low."""
    rng = np.random.default_rng(6)
    lifetimes = crawled(
        rng, 200_000, gap=6.0, window=240, lifetime=lambda n: rng.exponential(1 / RATE, n)
    )

    assert exponential(Lifetimes.of(lifetimes.low, lifetimes.high)).rate < 0.87 * RATE


def test_an_unknown_age_does_not_matter_without_memory():
    """A stock met at random vanishes at the rate of the newborn."""
    rng = np.random.default_rng(2)
    rest = rng.exponential(1 / RATE, 50_000)
    stock = Lifetimes.of(np.minimum(rest, 30), np.where(rest < 30, rest, np.inf), known=False)

    assert exponential(stock).rate == pytest.approx(RATE, rel=0.02)


def test_the_deviation_is_what_estimates_scatter():
    rng = np.random.default_rng(3)
    found = [
        exponential(watched(rng, 300, window=90, lifetime=lambda n: rng.exponential(1 / RATE, n)))
        for _ in range(300)
    ]
    rates = np.array([each.rate for each in found])

    assert np.std(rates) == pytest.approx(np.mean([each.deviation for each in found]), rel=0.15)


def test_a_random_moment_is_like_arrival():
    curve, days = ExponentialSurvival(0.1, 5.0, 50.0), np.array([0.0, 7.0])

    assert curve.equilibrium_survival(days).tolist() == curve.survival(days).tolist()
    assert curve.cumulative_hazard(days) == pytest.approx([0.0, 0.7])
