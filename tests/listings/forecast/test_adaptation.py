"""Adaptive updates: the vectors, finite differences, the guards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recrawl.listings.forecast.adaptation import (
    adapt_as_published,
    adapt_guarded,
    believable,
    expand,
)
from recrawl.listings.forecast.autoregression import Autoregression

SERIES = Autoregression(-0.02, np.array([0.6]), (1,))
PAST = np.array([-0.06])
DAYS = 12


def total(series, past=PAST, days=DAYS):
    return float(np.sum(series.forecast(past, days)))


def test_ar_update():
    """tau .2, a -.02, beta .6, d0 -.06, 12 days, -.9 seen: the gap goes from -.28503 to -.17547."""
    moved = adapt_as_published(SERIES, PAST, DAYS, -0.9, learning=0.2)

    assert moved.constant == pytest.approx(-0.0221710, abs=1e-6)
    assert moved.slopes[0] == pytest.approx(0.6331766, abs=1e-6)
    assert -0.9 - total(SERIES) == pytest.approx(-0.28503, abs=1e-5)
    assert -0.9 - total(moved) == pytest.approx(-0.17547, abs=1e-5)


def test_two_steps_close_the_gap_as_a_plane_would():
    """1 - (1 - tau)^2 of it to first order: -.18242 would be left."""
    now = expand(SERIES, PAST, DAYS)
    moved = adapt_as_published(SERIES, PAST, DAYS, -0.9, learning=0.2)
    plane = (
        now.total
        + now.by_constant * (moved.constant - SERIES.constant)
        + float(now.by_slope @ (moved.slopes - SERIES.slopes))
    )

    assert -0.9 - plane == pytest.approx(-0.18242, abs=1e-5)


def test_ar_guard():
    """Seen -.9: a1 -.022171; seen -3: the gap is clipped to -.615967 and a1 is -.024692."""
    assert adapt_guarded(SERIES, PAST, DAYS, -0.9).constant == pytest.approx(-0.022171, abs=1e-6)
    assert adapt_guarded(SERIES, PAST, DAYS, -3.0).constant == pytest.approx(-0.024692, abs=1e-6)
    assert abs(total(SERIES)) + 0.001 == pytest.approx(0.615967, abs=1e-6)
    assert adapt_guarded(SERIES, PAST, DAYS, -3.0).slopes is SERIES.slopes


def test_one_lag_has_the_closed_form():
    """A(a) is the sum of (1 - beta^j) / (1 - beta)."""
    closed = sum((1 - 0.6**j) / 0.4 for j in range(1, DAYS + 1))

    assert expand(SERIES, PAST, DAYS).by_constant == pytest.approx(closed, rel=1e-12)


@given(
    st.floats(-0.1, -0.001),
    st.lists(st.floats(-0.3, 0.4), min_size=0, max_size=3),
    st.integers(1, 20),
)
def test_derivatives_are_finite_differences(constant, slopes, days):
    lags = (1, 2, 7)[: len(slopes)]
    series = Autoregression(constant, np.array(slopes), lags)
    past = np.linspace(-0.05, -0.02, 7)
    assume(np.all(series.forecast(past, days) < -1e-5))
    found, step = expand(series, past, days), 1e-7

    higher = total(replace(series, constant=constant + step), past, days)
    lower = total(replace(series, constant=constant - step), past, days)
    assert found.by_constant == pytest.approx((higher - lower) / (2 * step), rel=1e-4)
    for row in range(len(slopes)):
        change = np.eye(len(slopes))[row] * step
        higher = total(replace(series, slopes=series.slopes + change), past, days)
        lower = total(replace(series, slopes=series.slopes - change), past, days)
        assert found.by_slope[row] == pytest.approx((higher - lower) / (2 * step), abs=1e-5)


def test_slopes_are_taken_in_turn_with_the_gap_that_is_left():
    """Three parameters close 1 - (1 - tau)^3 of the gap to first order."""
    series = Autoregression(-0.02, np.array([0.3, 0.2]), (1, 2))
    past = np.array([-0.05, -0.06])
    now = expand(series, past, 6)
    moved = adapt_as_published(series, past, 6, now.total - 1e-4, learning=0.2)

    assert total(moved, past, 6) - now.total == pytest.approx(-1e-4 * (1 - 0.8**3), rel=1e-2)


def test_a_forecast_held_at_0_has_no_slope_and_is_not_moved():
    series = Autoregression(0.05, np.array([0.1]), (1,))
    past = np.array([0.0])

    assert expand(series, past, 5).by_constant == 0
    assert adapt_guarded(series, past, 5, -1.0) is series
    assert adapt_as_published(series, past, 5, -1.0).slopes.tolist() == [0.1]


@given(st.floats(-20, 0), st.floats(-0.9, 0.9), st.floats(-0.5, 0))
def test_what_is_learnt_stays_stationary_and_falling(seen, slope, last):
    series = Autoregression(-0.02, np.array([slope]), (1,))
    past = np.array([last])

    for moved in (
        adapt_as_published(series, past, 7, seen),
        adapt_guarded(series, past, 7, seen),
    ):
        assert np.sum(np.abs(moved.slopes)) <= 0.99 + 1e-12
        assert moved.mean_decay <= 0


def test_one_mass_event_throws_the_published_series_and_not_the_guarded():
    """Decay is slow and 95 % vanish at once: (7) divides by next to nothing."""
    series, past = Autoregression(-0.001, np.array([0.2]), (1,)), np.array([-0.001])

    assert adapt_as_published(series, past, 7, -3.0).quality(past, 7)[-1] < 0.6
    assert adapt_guarded(series, past, 7, -3.0).quality(past, 7)[-1] > 0.98


def test_a_guarded_series_remembers_at_most_twice_what_it_expected():
    assert believable(-3.0, -0.5) == pytest.approx(-1.002)
    assert believable(-0.4, -0.5) == -0.4
