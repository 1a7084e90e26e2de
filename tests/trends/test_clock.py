"""Operational time: hand calculations, inverses, and plain integration hour by hour."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl import Gamma
from recrawl.errors import InvalidParameter
from recrawl.trends.clock import SiteClock
from recrawl.trends.visit_instants import visit_instants
from tests import strategies
from tests.strategies import Seen, history_of
from tests.trends.made import MONDAY, week

HOUR = np.timedelta64(1, "h")
MICROSECONDS_AN_HOUR = 3_600_000_000

instants = st.integers(-(10**15), 4 * 10**15).map(lambda at: np.datetime64(at, "us"))
weights = st.lists(st.floats(0.01, 10), min_size=168, max_size=168)
clocks = weights.map(lambda speeds: SiteClock(np.array(speeds) / np.mean(speeds)))


def integrated(clock: SiteClock, start: np.datetime64, end: np.datetime64) -> float:
    """Operational days, hour after hour."""
    at, last, days = int(start.astype(np.int64)), int(end.astype(np.int64)), 0.0
    while at < last:
        hour = at // MICROSECONDS_AN_HOUR
        until = min(last, (hour + 1) * MICROSECONDS_AN_HOUR)
        days += clock.speeds[0, (hour + 72) % 168] * (until - at) / (24 * MICROSECONDS_AN_HOUR)
        at = until
    return days


def test_a_fast_hour_counts_as_often_as_it_is_fast():
    """Monday from nine to ten at speed s, half of it and half an hour at the usual speed."""
    clock = week(slice(9, 10), 5.0)
    fast, usual = clock.speeds[0, 9], clock.speeds[0, 10]

    half = np.timedelta64(30, "m")
    elapsed = clock.elapsed(MONDAY + 9 * HOUR + half, MONDAY + 10 * HOUR + half)

    assert elapsed == pytest.approx((fast + usual) / 48)


def test_weeks_begin_on_mondays_in_utc():
    clock = week(slice(0, 24), 3.0)
    days = MONDAY + np.arange(14) * 24 * HOUR

    elapsed = clock.elapsed(days, days + 24 * HOUR)

    assert np.argwhere(elapsed > 1).ravel().tolist() == [0, 7]


def test_summer_time_does_not_matter():
    """The last Sunday of March has 24 hours in UTC."""
    sunday = np.datetime64("2026-03-29", "us")

    assert SiteClock.even().elapsed(sunday, sunday + 24 * HOUR) == 1.0


@given(clocks, instants)
def test_any_seven_days_are_seven_days(clock, start):
    assert clock.elapsed(start, start + 168 * HOUR) == pytest.approx(7.0)


@given(clocks, instants, instants, instants)
def test_elapsed_days_add_up(clock, one, two, three):
    one, two, three = sorted([one, two, three])

    parts = clock.elapsed(one, two) + clock.elapsed(two, three)

    assert parts == pytest.approx(clock.elapsed(one, three), abs=1e-8)


@given(clocks, instants, st.floats(-400, 400))
def test_later_is_the_inverse_of_elapsed(clock, start, days):
    """To a microsecond on the wall, which is at most so much on the fastest clock."""
    there = clock.later(start, days)

    assert clock.elapsed(start, there) == pytest.approx(days, abs=1e-9)


@given(instants, st.integers(0, 10**14))
def test_the_even_clock_is_the_one_on_the_wall(start, length):
    end = start + np.timedelta64(length, "us")

    assert SiteClock.even().elapsed(start, end) == length / 86_400_000_000


@settings(max_examples=30)
@given(clocks, st.integers(0, 10**15), st.integers(1, 3 * 10**12))
def test_elapsed_is_the_plain_integral(clock, at, length):
    start = np.datetime64(at, "us")
    end = start + np.timedelta64(length, "us")

    assert clock.elapsed(start, end) == pytest.approx(integrated(clock, start, end), rel=1e-9)


def test_unknown_instants_have_no_answer():
    nothing = np.datetime64("NaT")
    clock = SiteClock.even()

    assert np.isnan(clock.elapsed(nothing, MONDAY))
    assert np.isnan(clock.elapsed(MONDAY, nothing))
    assert np.isnat(clock.later(nothing, 1.0))
    assert np.isnat(clock.later(MONDAY, np.inf))
    assert np.isnat(clock.later(MONDAY, np.nan))


def test_each_site_has_its_own_clock():
    slow = week(slice(0, 24), 0.1)
    both = SiteClock(np.vstack([np.ones(168), slow.speeds]), np.array([1, 0]))
    site = np.array([0, 1])

    elapsed = both.elapsed(MONDAY, MONDAY + 24 * HOUR, site)

    assert elapsed == pytest.approx([1.0, float(slow.elapsed(MONDAY, MONDAY + 24 * HOUR))])
    assert (both.later(MONDAY, elapsed, site) == MONDAY + 24 * HOUR).all()
    assert (both.speeds == 1).all(axis=1).tolist() == [True, False]


def test_gaps_and_ages_move_to_the_clock():
    """A change at nine on Monday, seen at noon; the hours before are twice as fast."""
    clock = week(slice(0, 12), 2.0)
    fast = clock.speeds[0, 0]
    seen = history_of(
        [Seen(0.5, True, 0.125)], first_visit=np.array([MONDAY]), first_age=np.array([1.0])
    )

    on_clock = clock.on_clock(seen)

    assert on_clock.gaps == pytest.approx([0.5 * fast])
    assert on_clock.age == pytest.approx([0.125 * fast])
    assert on_clock.first_age == pytest.approx([clock.speeds[0, 20]])


@given(strategies.histories(), clocks)
def test_every_history_has_one_on_the_clock(histories, clock):
    """Also gaps of a second and of thirty years; pages without a first visit stay as they are."""
    on_clock = clock.on_clock(histories)

    unknown = np.isnat(visit_instants(histories)[0])
    assert (on_clock.gaps[unknown] == histories.gaps[unknown]).all()
    assert (np.abs(on_clock.gaps - histories.gaps) < 7).all()
    assert (np.isnan(on_clock.age) == np.isnan(histories.age)).all()
    assert (on_clock.changed == histories.changed).all()


@given(strategies.histories())
def test_estimates_on_the_even_clock_are_the_same(histories):
    on_clock = SiteClock.even().on_clock(histories)

    assert (Gamma().estimate(on_clock).rate == Gamma().estimate(histories).rate).all()


def test_visits_after_2200_stay_as_they_are():
    seen = history_of([Seen(1e9, True)], [Seen(1.0, True)], first_visit=np.array([MONDAY, MONDAY]))

    assert SiteClock.even().on_clock(seen).gaps.tolist() == [1e9, 1.0]


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: SiteClock(np.ones(24)), "168 numbers"),
        (lambda: SiteClock(np.full(168, 2.0)), "mean 1"),
        (lambda: SiteClock(np.array([0.0, 2.0] * 84)), "positive"),
        (lambda: SiteClock(np.ones(168), np.array([1])), "from 0 to 0"),
        (lambda: SiteClock(np.ones(168), np.array([0, 0])).on_clock(history_of([])), "2 pages"),
    ],
)
def test_what_makes_no_clock_is_refused(make, rule):
    with pytest.raises(InvalidParameter, match=rule):
        make()
