"""Autoregressive decays: fits, orders, forecasts, their spread."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.forecast.autoregression import (
    Autoregression,
    choose,
    fit,
    interpolated,
    interpolated_by_model,
)


def simulated(rng, days, constant, slopes, spread):
    """Decays of a series with the given slopes by lag."""
    series = [constant / (1 - sum(slopes.values()))] * 30
    for shock in rng.normal(0, spread, days):
        series.append(constant + sum(b * series[-lag] for lag, b in slopes.items()) + shock)
    return np.array(series[30:])


def test_one_lag_by_hand():
    """Regressing -.04, -.05, -.055 on -.02, -.04, -.05: slope .5, constant -.03."""
    found = fit(np.array([-0.02, -0.04, -0.05, -0.055]), (1,))

    assert (found.constant, found.slopes[0]) == pytest.approx((-0.03, 0.5))
    assert found.variance == pytest.approx(0, abs=1e-20)


def test_too_few_days_leave_the_mean():
    """Four lags need seven days."""
    found = fit(np.array([-0.02, -0.04, -0.03]), (1, 2, 3, 4))

    assert found.lags == ()
    assert found.constant == pytest.approx(-0.03)
    assert fit(np.array([]), (1,)).constant == 0


def test_the_fit_finds_what_was_drawn():
    rng = np.random.default_rng(1)
    decays = simulated(rng, 5000, -0.02, {1: 0.4, 2: 0.2}, 0.01)
    found = fit(decays, (1, 2))

    assert found.slopes == pytest.approx([0.4, 0.2], abs=0.05)
    assert np.sqrt(found.variance) == pytest.approx(0.01, rel=0.03)


@pytest.mark.parametrize(("slopes", "lags"), [({}, 0), ({1: 0.6}, 1), ({1: 0.4, 2: 0.35}, 2)])
def test_the_order_is_found(slopes, lags):
    """In most of twenty series of 400 days; the criterion errs towards more."""
    rng = np.random.default_rng(lags)
    found = [len(choose(simulated(rng, 400, -0.02, slopes, 0.01)).lags) for _ in range(20)]

    assert np.median(found) == lags
    assert min(found) >= lags


def test_a_week_is_seen_where_asked_for():
    rng = np.random.default_rng(3)
    decays = simulated(rng, 600, -0.01, {7: 0.7}, 0.01)

    assert choose(decays, weekly=True).lags == (7,)
    assert 7 in choose(decays).lags, "seven lags do as well, at a price"


def test_orders_stay_below_a_quarter_of_the_days():
    rng = np.random.default_rng(4)
    decays = simulated(rng, 13, -0.02, {1: 0.6}, 0.01)

    assert len(choose(decays).lags) <= 3
    assert choose(np.full(40, -0.05)).lags == ()
    assert choose(np.array([])).lags == ()


def test_a_forecast_is_the_series_run_on():
    series = Autoregression(-0.01, np.array([0.5, 0.2]), (1, 3))
    past = np.array([-0.03, -0.05, -0.04])
    first = -0.01 + 0.5 * -0.04 + 0.2 * -0.03
    second = -0.01 + 0.5 * first + 0.2 * -0.05

    assert series.forecast(past, 2) == pytest.approx([first, second])
    assert series.quality(past, 2) == pytest.approx(np.exp([first, first + second]))


def test_a_short_past_is_filled_with_the_mean():
    series = Autoregression(-0.02, np.array([0.5, 0.1]), (1, 2))

    assert series.forecast(np.array([]), 3) == pytest.approx([-0.05] * 3)


@given(st.floats(-0.2, 0.2), st.floats(-0.95, 0.95), st.floats(-1, 0))
def test_quality_never_rises(constant, slope, last):
    series = Autoregression(constant, np.array([slope]), (1,))
    quality = series.quality(np.array([last]), 30)

    assert np.all(quality <= 1)
    assert np.all(np.diff(quality) <= 1e-12)


def test_the_spread_of_a_sum_is_what_series_scatter():
    """Five days of an AR(2), 20,000 times."""
    rng = np.random.default_rng(5)
    series = Autoregression(-1.0, np.array([0.5, 0.2]), (1, 2), 0.01)
    noise = rng.normal(0, 0.1, (20_000, 5))
    ahead = np.zeros((20_000, 7))
    for day in range(5):
        ahead[:, day + 2] = 0.5 * ahead[:, day + 1] + 0.2 * ahead[:, day] + noise[:, day]
    sums = np.cumsum(ahead[:, 2:], axis=1)

    assert series.variance_of_sum(5) == pytest.approx(np.var(sums, axis=0), rel=0.05)


def test_bands_hold_what_they_say():
    """Nine of ten outcomes of the series itself, seven days ahead."""
    rng = np.random.default_rng(6)
    series = Autoregression(-0.1, np.array([0.5]), (1,), 0.01**2)
    hits = 0
    for _ in range(2000):
        decays = simulated(rng, 7, -0.1, {1: 0.5}, 0.01)
        low, high = series.band(np.array([-0.2]), 7, 1.645)
        hits += low[-1] <= np.exp(np.sum(decays)) <= high[-1]

    assert hits / 2000 == pytest.approx(0.9, abs=0.02)


def test_slopes_are_kept_within_bounds():
    series = Autoregression(0.01, np.array([0.9, -0.6]), (1, 2)).with_slopes_within(0.9)

    assert np.sum(np.abs(series.slopes)) == pytest.approx(0.9)
    assert series.slopes[0] == pytest.approx(0.54)
    assert series.constant == 0


@given(st.floats(-5, 0), st.integers(1, 30))
def test_days_between_syncs_add_up_to_the_total(total, days):
    assert np.sum(interpolated(total, days)) == pytest.approx(total)
    assert np.sum(interpolated_by_model(total, np.full(days, -0.1))) == pytest.approx(total)


def test_a_cycle_lasts_a_day():
    with pytest.raises(InvalidParameter, match="days must be at least 1"):
        interpolated(-0.1, 0)


def test_slopes_that_add_up_to_one_have_no_decay_in_the_long_run():
    """Then the series has no mean to come back to."""
    assert Autoregression(-0.05, np.full(3, 1 / 3), (1, 2, 7), 0.0).mean_decay == 0
