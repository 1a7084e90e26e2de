"""Stretches on the week: by hand, and against cutting each at every full hour."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.trends.week import HOURS_A_WEEK, MICROSECONDS_AN_HOUR, Stretches
from tests.trends.made import MONDAY

lengths = st.integers(1, 3 * HOURS_A_WEEK * MICROSECONDS_AN_HOUR)
some = st.lists(st.tuples(st.integers(0, 10**15), lengths, st.integers(0, 1)), max_size=4)


def stretches(rows: list[tuple[int, int, int]]) -> Stretches:
    first, length, site = np.array(rows, np.int64).reshape(-1, 3).T
    return Stretches.between(first, first + length, site)


def test_a_weekend_lies_in_its_48_hours():
    saturday = int((MONDAY + np.timedelta64(5, "D")).astype(np.int64))
    weekend = stretches([(saturday, 48 * MICROSECONDS_AN_HOUR, 0)])

    days = weekend.days_in_hours(np.ones(1), 1)[0]

    assert days == pytest.approx([0.0] * 120 + [1 / 24] * 48)


@given(some)
def test_hours_are_those_of_cutting_at_every_full_hour(rows):
    expected = np.zeros((2, HOURS_A_WEEK))
    for first, length, site in rows:
        at, last = first, first + length
        while at < last:
            hour = at // MICROSECONDS_AN_HOUR
            until = min(last, (hour + 1) * MICROSECONDS_AN_HOUR)
            expected[site, (hour + 72) % HOURS_A_WEEK] += (until - at) / MICROSECONDS_AN_HOUR / 24
            at = until

    assert stretches(rows).days_in_hours(np.ones(len(rows)), 2) == pytest.approx(expected, abs=1e-9)


@given(some, st.lists(st.floats(0.1, 5), min_size=HOURS_A_WEEK, max_size=HOURS_A_WEEK))
def test_a_clock_shows_speed_times_days_of_each_hour(rows, weights):
    """Mean speed 1 on both sites."""
    speeds = np.array([weights, weights[::-1]]) / np.mean(weights)
    apart = [stretches([row]).days_in_hours(np.ones(1), 2) for row in rows]

    expected = [float((days * speeds).sum()) for days in apart]
    assert stretches(rows).shown(speeds) == pytest.approx(expected, abs=1e-9)
