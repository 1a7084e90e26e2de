"""Errors of forecasts: a naive loop that refits at every point, and who wins without hindsight."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.trends.duane import Duane
from recrawl.trends.fits import Fits, fit_windows
from recrawl.trends.prediction import FORECASTERS
from recrawl.trends.prequential import expected_gaps, forecast_errors
from recrawl.trends.weibull import Weibull
from recrawl.trends.windows import Windowing, consistent_windows
from tests.trends.made import RISING, bernoulli_days, one_window_each, points_at_days, times_of

some_gaps = st.lists(st.floats(0.05, 20), min_size=1, max_size=16)


def slow_expected(days: list[float], period: float = 1.0) -> dict[str, float]:
    """What estimators fitted to these points alone say at the last of them."""
    times = times_of(days)
    last = times.span
    fits = Fits.of(times, period)
    return {
        "ratio": float(fits.constant("ratio")[0]),
        "weibull": float(1 / Weibull.of(times).rate(last)[0]),
        "duane": float(Duane.of(times).mean_interval(last)[0]),
        "cho": float(fits.constant("cho")[0]),
        "matloff": float(fits.constant("matloff")[0]),
    }


def slow_errors(days: list[float], period: float = 1.0) -> dict[str, float]:
    """Forecast from the fourth point on, and look at the next gap."""
    squares: dict[str, list[float]] = {name: [] for name in FORECASTERS}
    for known in range(4, len(days)):
        gap = days[known] - days[known - 1]
        for name, expected in slow_expected(days[:known], period).items():
            squares[name].append((expected - gap) ** 2)
    return {name: float(np.mean(found)) if found else math.nan for name, found in squares.items()}


def test_the_hand_calculation():
    """After 1, 3, 6, 10 the next gap is 5: the ratio expects 10 / 4, Weibull 10 S / (4 * 2)."""
    points = points_at_days(RISING)
    logs = math.fsum(math.log(10 / day) for day in RISING[:4])

    errors = forecast_errors(points, one_window_each(points))

    assert errors["ratio"] == pytest.approx([2.5**2])
    assert errors["weibull"] == pytest.approx([(10 * logs / 8 - 5) ** 2])
    assert errors["cho"] == pytest.approx([(1 / math.log(10.5 / 6.5) - 5) ** 2])


@given(some_gaps, st.sampled_from([0.5, 1.0, 7.0]))
def test_errors_are_those_of_a_loop_that_refits(gaps, period):
    points = points_at_days(list(itertools.accumulate(gaps)))

    found = forecast_errors(points, one_window_each(points), period=period)

    slow = slow_errors(points.times.tolist(), period)
    for name in FORECASTERS:
        np.testing.assert_allclose(found[name], [slow[name]], rtol=1e-6, atol=1e-9)


@given(some_gaps)
def test_what_comes_later_does_not_change_an_expectation(gaps):
    """At every point from the fourth on: the same as from the points so far alone."""
    days = list(itertools.accumulate(gaps))
    found = expected_gaps(times_of(days))

    for known in range(4, len(days) + 1):
        for name, expected in slow_expected(days[:known]).items():
            assert found[name][known - 1] == pytest.approx(expected, rel=1e-7)


@given(st.lists(st.integers(1, 6).map(float), min_size=4, max_size=40))
def test_windows_are_judged_on_their_own(gaps):
    """A window knows nothing of the one before, and is not judged by the one after."""
    points = points_at_days(list(itertools.accumulate(gaps)))
    windows = consistent_windows(points, Windowing(1.0, "count"))
    found = forecast_errors(points, windows)

    for number in range(len(windows)):
        rows = slice(int(windows.offsets[number]), int(windows.offsets[number + 1]))
        slow = slow_errors(list(itertools.accumulate(gaps[rows])))
        for name in FORECASTERS:
            np.testing.assert_allclose(found[name][number], slow[name], rtol=1e-6, atol=1e-9)


def test_pages_do_not_see_each_other():
    """The same error however many points stand before a page in its block."""
    random = np.random.default_rng(0)
    burst = (5000 + np.cumsum(random.exponential(0.05, 8))).tolist()
    others = [(1e4 * np.cumsum(random.exponential(1.0, 100))).tolist() for _ in range(3000)]
    alone, among = points_at_days(burst), points_at_days(*others, burst)

    expected = forecast_errors(alone, one_window_each(alone))
    found = forecast_errors(among, one_window_each(among))

    for name in FORECASTERS:
        np.testing.assert_allclose(found[name][-1:], expected[name], rtol=1e-4, err_msg=name)


@pytest.mark.parametrize("forecaster", FORECASTERS)
def test_a_burst_after_years_is_judged_as_by_a_loop_that_refits(forecaster):
    """Eight changes some minutes apart, 5,000 days after the first visit."""
    burst = [5000 + i * i / 500 for i in range(1, 9)]
    points = points_at_days(burst)

    found = forecast_errors(points, one_window_each(points))[forecaster]

    assert found == pytest.approx([slow_errors(burst)[forecaster]], rel=1e-4)


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4])
def test_without_a_gap_to_judge_by_there_is_no_error(count):
    """Four points are all known when the first forecast is made."""
    points = points_at_days([1.0 * i for i in range(1, count + 1)], end=[9.0])

    errors = forecast_errors(points, consistent_windows(points, Windowing(3.0, "count")))

    for name in FORECASTERS:
        assert np.isnan(errors[name]).tolist() == ([True] if count else [])


@pytest.mark.parametrize(
    "days",
    [
        [0.01 * i for i in range(1, 21)],
        [1e-9 * i for i in range(1, 9)],
        [5000 + i / 86400 for i in range(8)],
        [1e-9, 1.0, 2.0, 3.0, 4.0],
        [1.0, *(1000 + i / 1440 for i in range(1000))],
    ],
)
def test_awkward_pages_have_finite_errors(days):
    """All in one day, at the origin almost, a burst after years: no warning and no nan."""
    points = points_at_days(days)

    errors = forecast_errors(points, one_window_each(points))

    assert all(np.isfinite(found).all() for found in errors.values())


def test_without_hindsight_a_constant_rate_wins():
    """Section 9: in-sample Weibull is best; judged by the next gap the plain ratio is."""
    points = bernoulli_days(2000)
    windows = consistent_windows(points, Windowing(3.0, "count"))

    hindsight = fit_windows(points, windows).errors
    means = {name: float(np.nanmean(one)) for name, one in forecast_errors(points, windows).items()}

    assert hindsight["weibull"].mean() < hindsight["ratio"].mean()
    assert min(means, key=lambda name: means[name]) == "ratio"
    assert means["weibull"] > 1.3 * means["ratio"]
    assert means["cho"] < means["matloff"]
