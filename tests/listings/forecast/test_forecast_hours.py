"""Forecasts of parts of days."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.demo.jobs import ExampleJobs
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Listing
from recrawl.listings.forecast.bands import QualityBand
from recrawl.listings.forecast.forecast import (
    METRICS,
    QUALITIES,
    Forecast,
    ForecastPath,
    banded,
    banded_empty,
)
from recrawl.listings.forecast.tracked import track_source

BANDS = QualityBand(0.2, 0.5), QualityBand(0.3, 0.4)

HOURS = np.array([0.25, 0.5])


def forecast_of(stock, precision, recall):
    """A forecast of so many objects by its qualities on the days."""
    path = ForecastPath.of_quality(stock, np.array(precision), np.array(recall))
    return Forecast(stock, path, path, *banded(stock, path, BANDS), BANDS)


def test_half_a_day_keeps_the_root_of_what_a_day_keeps():
    """0.9 * 0.9 = 0.81, and of 0.8 after a day 0.64 are left after two."""
    found = forecast_of(100.0, [0.81, 0.64], [0.64, 0.25])
    _, expected, _, _ = found.at(np.array([0.5, 1.0, 1.5, 2.0]))

    assert expected.precision == pytest.approx([0.9, 0.81, 0.72, 0.64])
    assert expected.recall == pytest.approx([0.8, 0.64, 0.4, 0.25])
    assert expected.deleted == pytest.approx([10, 19, 28, 36])


def test_whole_days_are_as_they_were():
    found = forecast_of(57.0, [0.93, 0.88, 0.8], [0.9, 0.85, 0.83])
    days = np.array([3.0, 1.0])

    paths = found.typical, found.expected, found.low, found.high
    for path, at in zip(paths, found.at(days), strict=True):
        for name in METRICS:
            assert getattr(at, name).tolist() == getattr(path, name)[[2, 0]].tolist()


def test_of_an_empty_copy_arrivals_are_told():
    """Six a day: three in half a day."""
    came = np.array([6.0, 12.0])
    path = ForecastPath.of_counts(0.0, np.zeros(2), came)
    found = Forecast(0.0, path, path, *banded_empty(path, 0.1), BANDS)
    _, expected, low, high = found.at(np.array([0.5]))

    assert expected.inserted == pytest.approx([3.0])
    assert low.inserted[0] <= 3 <= high.inserted[0] <= found.high.inserted[0]


def test_a_method_without_bands_has_none_for_hours():
    path = ForecastPath.of_quality(10.0, np.array([0.8]), np.array([0.7]))
    nothing = ForecastPath.unknown(1)
    _, expected, low, _ = Forecast(10.0, path, path, nothing, nothing).at(np.array([0.25]))

    assert 0.9 < expected.precision[0] < 1
    assert np.isnan(low.precision[0])


qualities = st.lists(st.floats(0.05, 0.999), min_size=3, max_size=3).map(np.cumprod)


@given(stock=st.integers(1, 2000), precision=qualities, recall=qualities)
def test_bands_hold_what_is_expected_and_open_with_time(stock, precision, recall):
    """What has gone by an hour has by the next: no hour's band goes below a later one's.

    Ends of bands are whole objects, and what is expected is not.
    """
    found = forecast_of(float(stock), precision, recall)
    hours = np.arange(1, 73) / 24
    _, expected, low, high = found.at(hours)

    for name in QUALITIES:
        floor = getattr(low, name)
        one = 1 / (stock if name == "precision" else np.maximum(expected.listed, 1))
        assert (floor <= getattr(expected, name) + one).all()
        assert (getattr(high, name) >= getattr(expected, name) - one).all()
        by_day = floor.reshape(3, 24)
        assert (np.diff(by_day, axis=1) <= 1e-9).all()
    assert (low.listed <= high.listed).all()


def crawled_daily(seen):
    """What daily crawls have seen of a board, a row of its jobs for each of them."""
    days = np.arange(len(seen))
    spells = []
    for row in np.flatnonzero(seen.any(axis=0)).tolist():
        there = np.flatnonzero(seen[:, row])
        spells.append((row, int(there[0]), int(there[-1]) + 1))
    kept = {row: place for place, (row, _, _) in enumerate(spells)}
    first = np.datetime64("2026-01-05", "us")
    return Listing.of(
        [str(row) for row in kept],
        first + days * np.timedelta64(1, "D"),
        [(kept[row], begin, gone) for row, begin, gone in spells],
    )


@pytest.fixture(scope="module")
def forecasts_of_a_board():
    """A board, and for each of thirty days what is forecast of a copy 6 and 12 hours later."""
    jobs = ExampleJobs.made(20_000.0, days=62.0, seed=3)
    every = np.arange(len(jobs.up))
    seen = np.array([np.isin(every, jobs.listed(jobs.start + day)) for day in range(60)])
    found = {}
    for day in range(30, 60):
        listing = crawled_daily(seen[: day + 1])
        found[day] = track_source(listing, DayGrid.of(listing)).forecast(1).at(HOURS)
    return jobs, found


@pytest.mark.parametrize("metric", QUALITIES)
def test_bands_of_hours_hold_what_a_board_really_does(metric, forecasts_of_a_board):
    """Nine cases of ten are asked for: 54 of 60 copies, 6 and 12 hours later, give or take."""
    jobs, forecasts = forecasts_of_a_board
    held = 0
    for day, (_, _, low, high) in forecasts.items():
        copied = jobs.start + day
        true = np.array([getattr(jobs, metric)(copied, at) for at in copied + HOURS])
        inside = (getattr(low, metric) <= true + 1e-9) & (true <= getattr(high, metric) + 1e-9)
        held += int(np.count_nonzero(inside))

    assert held >= 50
