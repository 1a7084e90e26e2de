"""Arrivals, direct decay, the mixture of experts, mass events."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.forecast.ages import CLASSES
from recrawl.listings.forecast.decay_expert import Decay
from recrawl.listings.forecast.drifting_level import Bank
from recrawl.listings.forecast.experts import most_times
from recrawl.listings.forecast.inflow import lasting, mean_arrivals
from recrawl.listings.forecast.mass import Counts, Flags, Mass
from recrawl.listings.forecast.mixture import Mixture


def test_newcomers_after_three_days():
    """Vector `arrive`."""
    curve = np.full(CLASSES, 0.02)
    curve[:3] = 0.10, 0.05, 0.05
    there = lasting(curve, np.full(3, 1.2), np.array([0.5, 1.2, 1.3]))[-1]

    assert there == pytest.approx(2.781940, abs=1e-6)
    assert 12 * there == pytest.approx(33.383276, abs=1e-6)
    assert 36.070680 / (36.070680 + 12 * there) == pytest.approx(0.519347, abs=1e-6)


def test_newcomers_without_hazard_are_all_arrivals():
    np.testing.assert_allclose(lasting(np.zeros(CLASSES), np.ones(200), np.ones(200))[-1], 200)


def test_arrivals_go_to_their_mean():
    bank = Bank.empty()
    for _ in range(200):
        bank = bank.add(1, 37.9, 1.0)

    assert mean_arrivals(bank) == pytest.approx(37.9, rel=1e-6)


def test_no_arrival_ever_leaves_a_small_rate():
    bank = Bank.empty()
    for _ in range(100):
        bank = bank.add(1, 0.0, 1.0)

    assert 0 < mean_arrivals(bank) < 0.5


@pytest.mark.parametrize(("days", "times"), [(1, 3.6458), (3, 2.5275), (7, 2.0), (14, 1.7071)])
def test_how_much_of_a_surprise_is_learnt(days, times):
    """Vector `clip`."""
    assert most_times(days) == pytest.approx(times, abs=1e-4)


def test_direct_decay_follows_and_is_clipped():
    """Vector `direct`."""
    assert Decay(0.03).learn(80, 100, 7).rate == pytest.approx(0.030340, abs=1e-6)
    assert Decay(0.03).learn(30, 100, 7).rate == pytest.approx(0.036143, abs=1e-6)


@given(st.floats(0, 1), st.integers(0, 500), st.integers(1, 500), st.integers(1, 40))
def test_direct_decay_never_grows_the_copy(rate, there, size, days):
    after = Decay(rate).learn(min(there, size), size, days)

    assert after.rate >= 0
    assert np.all(np.diff(after.path(np.arange(1.0, 31.0))) <= 0)


def test_training_takes_the_mean():
    decay = Decay().train(90, 100, 1).train(80, 100, 1)

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


@pytest.mark.parametrize(("deleted", "flagged"), [(38, False), (39, True)])
def test_a_mass_closure(deleted, flagged):
    """Vector `mass`: 100 objects of which 18 were to vanish."""
    assert Mass().flags(Counts(7, 100, deleted, 0), 18, 0).closure is flagged


def test_mass_events_to_be_expected():
    """Vector `mass-rate`."""
    mass = Mass(closed=0.5, days=200)

    assert mass.closing == pytest.approx(0.001923, abs=1e-6)
    assert mass.left(np.array([7.0]))[0] == pytest.approx(0.986538, abs=1e-6)


def test_at_least_a_twentieth_is_left():
    assert Mass(closed=50, days=10).left(np.array([30.0]))[0] == 0.05


def test_loads_are_marked_once_enough_is_known():
    seen = Counts(7, 100, 5, 60)

    assert not Mass(records=14).flags(seen, 5, 10).load
    assert Mass(records=15).flags(seen, 5, 10).load


def test_new_keys_are_neither_a_closure_nor_a_load():
    flags = Mass(records=20).flags(Counts(1, 100, 90, 95), 3, 3)

    assert flags == Flags(rekeyed=True)


def test_a_fast_source_is_not_taken_for_new_keys():
    """With a running hazard of .1 a week takes half of the stock."""
    seen = Counts(7, 100, 60, 60)

    assert not Mass(hazard=0.1).flags(seen, 50, 50).rekeyed
    assert Mass(hazard=0.01).flags(seen, 50, 50).rekeyed


def test_a_second_closure_in_a_row_is_a_new_regime():
    closure = Flags(closure=True)
    after = Mass(last=closure)

    assert not after.quarantine(Counts(7, 100, 60, 0), closure).closure
    assert after.quarantine(Counts(2, 100, 60, 0), closure).closure
    assert Mass().quarantine(Counts(7, 100, 60, 0), closure).closure


def test_what_is_kept_from_the_models_is_expected_again():
    mass = Mass().learn(Counts(7, 100, 60, 5), Flags(closure=True), 20, 5)

    assert mass.closed == pytest.approx(0.4)
    assert mass.loaded == 0
    assert mass.days == 7


def test_new_keys_add_nothing_to_what_is_expected():
    mass = Mass().learn(Counts(7, 100, 90, 90), Flags(rekeyed=True), 20, 5)

    assert (mass.closed, mass.loaded, mass.hazard) == (0, 0, Mass().hazard)
