"""The published static forecaster over cycles."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.listings.data.cycles import Cycle, Stock
from recrawl.listings.forecast.survival_forecaster import Survival
from recrawl.listings.models.delta_method import recall_after
from recrawl.listings.models.weibull import WeibullSurvival


def steady(rng, shape, days=150, arrivals=60):
    """Daily cycles of a source whose objects live as a Weibull with scale 20 says."""
    arrival = np.repeat(np.arange(-400.0, days), arrivals) + rng.uniform(
        0, 1, (days + 400) * arrivals
    )
    removal = arrival + 20 * rng.weibull(shape, len(arrival))
    seen, cycles = np.ceil(arrival).astype(int), []
    for day in range(days - 1):
        cohorts, counts, gone = [], [], []
        there = (seen <= day) & (removal > day)
        lost = there & (removal <= day + 1)
        first = np.where(seen <= 0, 0, seen)
        for cohort in np.unique(first[there]):
            cohorts.append(cohort)
            counts.append(np.sum(there & (first == cohort)))
            gone.append(np.sum(lost & (first == cohort)))
        came = np.sum((seen == day + 1) & (removal > day + 1))
        cohort = np.array(cohorts)
        stock = Stock(
            day,
            cohort,
            np.where(cohort == 0, -1, cohort - 1),
            np.zeros(len(cohort), int),
            np.array(counts, float),
        )
        cycles.append(Cycle(stock, day + 1, np.array(gone, float), np.array([float(came)]), 0))
    return cycles


def test_the_exponential_forecast_is_the_papers():
    rng = np.random.default_rng(1)
    cycles = steady(rng, 1.0, days=60)
    forecaster = Survival()
    state = forecaster.start(cycles, 1)
    stock = cycles[-1].stock
    ahead = forecaster.forecast(state, stock, 10)

    assert state.survival.rate == pytest.approx(0.05, rel=0.05)
    days = np.arange(1.0, 11)
    assert ahead.expected.precision == pytest.approx(np.exp(-state.survival.rate * days))
    assert ahead.expected.recall == pytest.approx(
        recall_after(days, state.survival.rate, state.arrivals, stock.listed)
    )
    assert forecaster.learn(state, cycles[0]) is state
    assert forecaster.method == "survival"


def test_the_weibull_knows_that_old_objects_are_safer():
    """Half the newborn are removed in the first days; the stock decays far more slowly."""
    rng = np.random.default_rng(2)
    cycles = steady(rng, 0.6)
    forecaster = Survival("weibull")
    state = forecaster.start(cycles[:120], 1)
    ahead = forecaster.forecast(state, cycles[119].stock, 1)
    seen = np.mean([cycle.survived / cycle.stock.listed for cycle in cycles[100:]])

    assert isinstance(state.survival, WeibullSurvival)
    assert state.survival.shape == pytest.approx(0.6, abs=0.06)
    assert ahead.expected.precision[0] == pytest.approx(seen, abs=0.01)
    assert ahead.expected.precision[0] > state.survival.survival(np.array([1.0]))[0]
    assert ahead.expected.listed[0] == pytest.approx(cycles[119].stock.listed, rel=0.05)
    assert forecaster.method == "survival-weibull"


@pytest.mark.parametrize("curve", ["exponential", "weibull"])
def test_without_training_nothing_is_expected_to_move(curve):
    stock = Stock(0, np.array([0]), np.array([-1]), np.array([0]), np.array([10.0]))
    forecaster = Survival(curve)
    ahead = forecaster.forecast(forecaster.start([], 1), stock, 3)

    assert ahead.expected.precision.tolist() == [1, 1, 1]
    assert ahead.expected.recall.tolist() == [1, 1, 1]


def test_an_empty_stock_has_a_precision_of_1():
    none = np.empty(0, np.int64)
    forecaster = Survival()
    state = forecaster.start(steady(np.random.default_rng(3), 1.0, days=30), 1)
    ahead = forecaster.forecast(state, Stock(9, none, none, none, np.empty(0)), 2)

    assert ahead.expected.precision.tolist() == [1, 1]
    assert ahead.expected.recall.tolist() == [0, 0]
