"""The autoregressive forecasters over cycles."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.listings.data.cycles import Cycle, Stock
from recrawl.listings.forecast.ar_forecaster import Autoregressive, decay


def cycle(day, days=1, *, listed=100.0, deleted=5.0, inserted=5.0):
    stock = Stock(day, np.array([0]), np.array([-1]), np.array([0]), np.array([listed]))
    return Cycle(stock, day + days, np.array([deleted]), np.array([inserted]), day % 7)


DAILY = [cycle(day) for day in range(40)]
BOTH = ["ar", "ar-published"]


def test_a_cycle_decays_by_the_logarithm_of_its_quality():
    """5 of 100 vanish, 5 come: 95 of 100 either way; all gone counts half an object."""
    assert decay(cycle(0, 3), "copy")[0] == 3
    assert decay(cycle(0, 3), "copy")[1] == pytest.approx(np.log(0.95))
    assert decay(cycle(0, inserted=95.0), "source")[1] == pytest.approx(np.log(0.5))
    assert decay(cycle(0, deleted=100.0), "copy")[1] == pytest.approx(np.log(0.5 / 101))
    assert np.isnan(decay(cycle(0, listed=0.0, deleted=0.0), "copy")[1])


@pytest.mark.parametrize("method", BOTH)
def test_a_steady_source_is_forecast_as_it_was(method):
    forecaster = Autoregressive(method)
    ahead = forecaster.forecast(forecaster.start(DAILY, 1), DAILY[-1].stock, 7)

    assert ahead.expected.precision == pytest.approx(0.95 ** np.arange(1, 8))
    assert ahead.expected.recall == pytest.approx(0.95 ** np.arange(1, 8))
    assert ahead.expected.deleted[0] == pytest.approx(5)


@pytest.mark.parametrize("method", BOTH)
@pytest.mark.parametrize("interpolation", ["uniform", "model"])
def test_a_source_that_speeds_up_is_followed(method, interpolation):
    """Cycles of seven days at twice the decay."""
    forecaster = Autoregressive(method, interpolation=interpolation)
    state = forecaster.start(DAILY, 1)
    for start in range(40, 400, 7):
        state = forecaster.learn(state, cycle(start, 7, deleted=50.0, inserted=50.0))

    ahead = forecaster.forecast(state, DAILY[-1].stock, 7)
    assert ahead.expected.precision[-1] == pytest.approx(0.5, abs=0.03)


def test_one_mass_closure_hardly_moves_the_guarded_series():
    forecaster = Autoregressive()
    state = forecaster.start(DAILY, 1)
    shocked = forecaster.learn(state, cycle(40, 7, deleted=99.0))

    before = forecaster.forecast(state, DAILY[-1].stock, 7).typical.precision[-1]
    after = forecaster.forecast(shocked, DAILY[-1].stock, 7).typical.precision[-1]
    assert after > before - 0.08


@pytest.mark.parametrize("method", BOTH)
def test_nothing_to_learn_from_changes_nothing(method):
    forecaster = Autoregressive(method)
    state = forecaster.start(DAILY, 1)
    empty = cycle(40, 7, listed=0.0, deleted=0.0, inserted=0.0)

    assert forecaster.learn(state, empty).precision is state.precision
    ahead = forecaster.forecast(forecaster.start([], 1), DAILY[-1].stock, 3)
    assert ahead.typical.precision.tolist() == [1, 1, 1]


def test_slopes_of_a_guarded_series_stay_below_their_bound():
    """Decays that drift slowly look like a slope near one."""
    drifting = [cycle(day, deleted=float(2 + day // 4)) for day in range(80)]
    state = Autoregressive().start(drifting, 1)
    published = Autoregressive("ar-published").start(drifting, 1)

    assert np.sum(np.abs(state.precision.series.slopes)) <= 0.9 + 1e-12
    assert np.sum(np.abs(published.precision.series.slopes)) <= 0.99 + 1e-12
    assert len(state.precision.past) == state.precision.series.reach


def test_training_with_gaps_is_spread_over_its_days():
    """A cycle of three days counts as three equal ones."""
    state = Autoregressive().start([cycle(day, 3, deleted=15.0) for day in range(0, 60, 3)], 1)

    assert state.precision.series.mean_decay == pytest.approx(np.log(0.85) / 3)
