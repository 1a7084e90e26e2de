"""Memories of a level, and weekdays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.forecast.drifting_level import HALF_LIVES, DriftingLevel
from recrawl.listings.forecast.weekdays import Week, coming, running_mean


def test_levels_of_three_cycles():
    """Vector `bank`."""
    bank = DriftingLevel.empty()
    for days, level, weight in [(7, 1.2, 25), (7, 0.8, 30), (3, 2, 9)]:
        bank = bank.add(days, level * weight, weight)

    expected = [1.100603, 1.096697, 1.095646, 1.095360, 1.095278, 1.095238]
    np.testing.assert_allclose(bank.levels(20.0), expected, atol=1e-6)


@given(st.floats(0.05, 20))
def test_levels_go_to_what_is_seen_as_data_grow(level):
    bank = DriftingLevel.empty()
    for _ in range(50):
        bank = bank.add(7, level * 1e6, 1e6)

    np.testing.assert_allclose(bank.levels(20.0), level, rtol=1e-3)


def test_memories_start_alike_and_the_one_that_forecasts_best_wins():
    bank = DriftingLevel.empty()
    np.testing.assert_allclose(bank.shares, 1 / len(HALF_LIVES))
    for _ in range(20):
        bank = bank.judge(7, np.array([0.1, 0.1, 0.1, 0.0, 0.1, 0.1]), 0.05)

    assert bank.shares.argmax() == 3
    assert bank.shares[3] > 0.9


def test_one_wild_error_is_capped_after_five_cycles():
    """min(e^2, 9 s) / (2 s) is 4.5 at most."""
    bank = DriftingLevel.empty()
    for _ in range(5):
        bank = bank.judge(1, np.zeros(6), 0.0)
    before = bank.loss
    after = bank.judge(1, np.full(6, 100.0), 100.0)

    np.testing.assert_allclose(after.loss - before * 0.5 ** (1 / 120), 4.5)
    assert after.variance == pytest.approx(1.8 * bank.variance)


def test_a_short_memory_follows_a_jump_faster():
    bank = DriftingLevel.empty()
    for level in [1.0] * 30 + [3.0] * 3:
        bank = bank.add(7, level * 50, 50.0)

    levels = bank.levels(20.0)
    assert np.all(np.diff(levels) < 0)
    assert levels[0] > 2


def test_factors_of_a_week():
    """Vector `week`."""
    week = Week(20.0, np.array([30.0, 60, 55, 55, 50, 40, 20]), np.full(7, 44.0))

    expected = [0.7778, 1.2444, 1.1667, 1.1667, 1.0889, 0.9333, 0.6222]
    np.testing.assert_allclose(week.factors, expected, atol=1e-4)


def test_a_week_without_events_is_flat():
    np.testing.assert_allclose(Week.empty(20.0).factors, 1.0)


def test_a_cycle_of_a_week_cannot_change_the_shape():
    """Its events are shared by the factors so far, so it tells nothing of weekdays."""
    week = Week(1e-9, np.array([2.0, 4, 4, 4, 4, 2, 1]), np.full(7, 3.0))
    after = week.add(2, 7, 21.0, 3.0)

    np.testing.assert_allclose(after.factors, week.factors, rtol=1e-6)


def test_daily_cycles_find_the_weekend():
    week = Week.empty(20.0)
    for day in range(700):
        week = week.add(day % 7, 1, 2.0 if day % 7 >= 5 else 10.0, 7.0)

    assert week.factors[5:].mean() / week.factors[:5].mean() == pytest.approx(0.2, abs=0.05)
    assert week.factors.mean() == pytest.approx(1.0)


def test_coming_weekdays_and_means():
    assert coming(6, 3).tolist() == [6, 0, 1]
    np.testing.assert_allclose(running_mean(np.array([2.0, 1.0, 0.0])), [2.0, 1.5, 1.0])
