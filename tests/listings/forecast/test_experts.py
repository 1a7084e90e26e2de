"""Experts: arrivals, decay at one rate, and how their forecasts are averaged."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.forecast.ages import CLASSES
from recrawl.listings.forecast.drifting_level import DriftingLevel
from recrawl.listings.forecast.experts import (
    DecayExpert,
    HazardExpert,
    Mixture,
    lasting,
    most_times,
)
from recrawl.listings.forecast.hazards import Hazards


def test_newcomers_after_three_days():
    """Vector `arrive`."""
    curve = np.full(CLASSES, 0.02)
    curve[:3] = 0.10, 0.05, 0.05
    there = lasting(curve, np.full(3, 1.2), np.array([0.5, 1.2, 1.3]), np.array([3]))[0]

    assert there == pytest.approx(2.781940, abs=1e-6)
    assert 12 * there == pytest.approx(33.383276, abs=1e-6)
    assert 36.070680 / (36.070680 + 12 * there) == pytest.approx(0.519347, abs=1e-6)


def test_newcomers_without_hazard_are_all_arrivals():
    ones = np.ones(200)

    np.testing.assert_allclose(lasting(np.zeros(CLASSES), ones, ones, np.array([200])), [200])


def arrivals(bank):
    """Arrivals a day of an expert that has seen those of a bank."""
    return replace(HazardExpert.empty(Hazards(), 1), inflow=bank).arrivals


def test_arrivals_go_to_their_mean():
    bank = DriftingLevel.empty()
    for _ in range(200):
        bank = bank.add(1, 37.9, 1.0)

    assert arrivals(bank) == pytest.approx(37.9, rel=1e-6)


def test_no_arrival_ever_leaves_a_small_rate():
    bank = DriftingLevel.empty()
    for _ in range(100):
        bank = bank.add(1, 0.0, 1.0)

    assert 0 < arrivals(bank) < 0.5


@pytest.mark.parametrize(("days", "times"), [(1, 3.6458), (3, 2.5275), (7, 2.0), (14, 1.7071)])
def test_how_much_of_a_surprise_is_learnt(days, times):
    """Vector `clip`."""
    assert most_times(days) == pytest.approx(times, abs=1e-4)


def test_the_decay_expert_follows_and_is_clipped():
    """Vector `direct`."""
    assert DecayExpert(0.03).learn(80, 100, 7).rate == pytest.approx(0.030340, abs=1e-6)
    assert DecayExpert(0.03).learn(30, 100, 7).rate == pytest.approx(0.036143, abs=1e-6)


@given(st.floats(0, 1), st.integers(0, 500), st.integers(1, 500), st.integers(1, 40))
def test_the_decay_expert_never_grows_the_copy(rate, there, size, days):
    after = DecayExpert(rate).learn(min(there, size), size, days)

    assert after.rate >= 0
    assert np.all(np.diff(after.path(np.arange(1.0, 31.0))) <= 0)


def test_training_takes_the_mean():
    decay = DecayExpert().train(90, 100, 1).train(80, 100, 1)

    assert decay.rate == pytest.approx(-np.log(90.5 / 100.5 * 80.5 / 100.5) / 2)


def test_weights_after_the_first_cycle():
    """Vector `mix`."""
    mixture = Mixture(np.zeros(3)).judge(7, np.sqrt([0.0004, 0.0001, 0.0009]))

    np.testing.assert_allclose(mixture.shares, [0.334420, 0.486578, 0.179002], atol=1e-6)


def test_experts_start_alike():
    np.testing.assert_allclose(Mixture(np.zeros(3)).shares, 1 / 3)


def test_perfect_experts_do_not_divide_by_nothing():
    mixture = Mixture(np.zeros(3)).judge(7, np.zeros(3)).judge(7, np.array([0.0, 0.1, 0.0]))

    assert np.all(np.isfinite(mixture.shares))


@given(st.lists(st.lists(st.floats(-1, 1), min_size=3, max_size=3), min_size=1, max_size=30))
def test_weights_are_shares(errors):
    mixture = Mixture(np.zeros(3))
    for each in errors:
        mixture = mixture.judge(7, np.array(each))

    assert mixture.shares.sum() == pytest.approx(1)
    assert np.all(mixture.shares >= 0)
