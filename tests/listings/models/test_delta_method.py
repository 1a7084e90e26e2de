"""The delta method: derivatives against finite differences, coverage against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.listings.models.delta_method import (
    DailyArrivals,
    precision_after,
    precision_bands,
    recall_after,
    recall_bands,
)
from recrawl.listings.models.exponential import ExponentialSurvival

RATE, ARRIVALS, SHAPE = 0.058, 40.0, 5.0
HISTORY, AHEAD = 45, 10


def test_parameter_variance_is_by_the_derivatives():
    """Central differences of the recall in the rate and in the arrivals."""
    days, copied = np.array([1.0, 5.0, 20.0]), 500.0
    survival, arrivals = (
        ExponentialSurvival(RATE, 900.0, 900 / RATE),
        DailyArrivals(ARRIVALS, 300.0, 30.0),
    )
    step = 1e-6
    by_rate = (
        recall_after(days, RATE + step, ARRIVALS, copied)
        - recall_after(days, RATE - step, ARRIVALS, copied)
    ) / (2 * step)
    by_arrivals = (
        recall_after(days, RATE, ARRIVALS + step, copied)
        - recall_after(days, RATE, ARRIVALS - step, copied)
    ) / (2 * step)
    expected = by_rate**2 * RATE**2 / 900 + by_arrivals**2 * 300 / 30
    found = recall_bands(days, survival, arrivals, copied)

    assert found.parameter_variance == pytest.approx(expected, rel=1e-6)
    assert found.value == pytest.approx(recall_after(days, RATE, ARRIVALS, copied))


def test_process_variance_is_what_outcomes_scatter():
    """Known rates, 20,000 outcomes."""
    rng = np.random.default_rng(1)
    kept, came = outcomes(rng, 700, 20_000)
    variance = ARRIVALS + ARRIVALS**2 / SHAPE
    found = recall_bands(
        np.array([float(AHEAD)]),
        ExponentialSurvival(RATE, 1e12, 1e12 / RATE),
        DailyArrivals(ARRIVALS, variance, 1e12),
        700.0,
    )

    assert found.process_variance[0] == pytest.approx(np.var(kept / (kept + came)), rel=0.05)
    assert found.parameter_variance[0] < 1e-9


def test_precision_has_both_parts():
    """(d p)^2 a^2 / D and p (1 - p) / n."""
    bands = precision_bands(np.array([10.0]), ExponentialSurvival(0.05, 400.0, 8000.0), 1000.0)
    share = np.exp(-0.5)

    assert bands.parameter_variance == pytest.approx([(10 * share * 0.05) ** 2 / 400])
    assert bands.process_variance == pytest.approx([share * (1 - share) / 1000])
    assert bands.ci(0.95)[0] > bands.prediction_interval(0.95)[0]


@pytest.mark.parametrize("rate", [0.0, 1e-12])
def test_where_nothing_vanishes_all_is_finite(rate):
    """The limit of a rate of 0: recall n / (n + m d)."""
    bands = recall_bands(
        np.array([5.0]),
        ExponentialSurvival(rate, 0.0, 1000.0),
        DailyArrivals(20.0, 20.0, 50.0),
        100.0,
    )

    assert bands.value == pytest.approx([0.5], rel=1e-9)
    assert np.isfinite(bands.parameter_variance + bands.process_variance).all()


def test_an_empty_source_is_certain():
    bands = recall_bands(
        np.array([5.0]), ExponentialSurvival(0.1, 5.0, 50.0), DailyArrivals(0.0, 0.0, 50.0), 0.0
    )

    assert [end.tolist() for end in bands.prediction_interval(0.9)] == [[1.0], [1.0]]


def test_nominal_95_percent_cover_60_with_the_parameters_alone_and_94_with_both():
    """A steady source, 45 days of history, over-dispersed arrivals, ten days ahead."""
    rng = np.random.default_rng(2)
    inside = np.array([covered(rng) for _ in range(2000)])
    precision_ci, precision_outcome, recall_ci, recall_outcome = np.mean(inside, axis=0)

    assert recall_ci == pytest.approx(0.60, abs=0.04)
    assert recall_outcome == pytest.approx(0.94, abs=0.015)
    assert precision_ci < 0.7
    assert precision_outcome == pytest.approx(0.95, abs=0.015)


def outcomes(rng, copied, runs):
    """Objects of the copy that stay, and newcomers, after ten days."""
    kept = rng.binomial(copied, np.exp(-RATE * AHEAD), runs)
    daily = rng.poisson(rng.gamma(SHAPE, ARRIVALS / SHAPE, (runs, AHEAD)))
    came = rng.binomial(daily, np.exp(-RATE * np.arange(AHEAD))).sum(axis=1)
    return kept, came


def covered(rng):
    """Whether one history's bands hold what comes: precision, then recall; narrow, then wide."""
    counts = rng.poisson(rng.gamma(SHAPE, ARRIVALS / SHAPE, HISTORY))
    stock = round(ARRIVALS / -np.expm1(-RATE))
    removals, exposure, gone = 0, 0.0, -np.expm1(-RATE)
    for count in counts:
        removed = rng.binomial(stock, gone)
        removals, exposure = removals + removed, exposure + stock * gone / RATE
        stock = stock - removed + count
    survival = ExponentialSurvival(removals / exposure, float(removals), exposure)
    arrivals = DailyArrivals(float(np.mean(counts)), float(np.var(counts, ddof=1)), HISTORY)
    kept, came = outcomes(rng, stock, 1)
    days = np.array([float(AHEAD)])
    answers = []
    for bands, seen in (
        (precision_bands(days, survival, stock), kept / stock),
        (recall_bands(days, survival, arrivals, stock), kept / (kept + came)),
    ):
        for low, high in (bands.ci(0.95), bands.prediction_interval(0.95)):
            answers.append(bool(low[0] <= seen[0] <= high[0]))
    assert precision_after(days, survival.rate) == pytest.approx(
        precision_bands(days, survival, stock).value
    )
    return answers
