"""A listing day by day, against plain sets."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.data.grid import DayGrid, Paths
from recrawl.listings.data.quality import precision, recall, share_below, time_average
from recrawl.listings.data.spells import Listing
from tests.listings.worlds import daily, listed_on, listings


def test_q_sets():
    """Of ten copied objects eight are among the twelve that are listed."""
    listing = daily(
        3, [(n, 0, 1 if n < 3 else 3) for n in range(1, 11)] + [(n, 1, 3) for n in range(11, 15)]
    )
    grid = DayGrid.of(listing)

    assert grid.both(0, 1) == 8
    assert grid.precision(0, 1) == pytest.approx(0.8)
    assert grid.recall(0, 1) == pytest.approx(2 / 3)


def test_q_time():
    """The trapezoid between days, and the crossing of the target within the last day."""
    path = np.array([1, 0.95, 0.91, 0.86])

    assert time_average(path) == pytest.approx(0.93)
    assert share_below(path, 0.9) == pytest.approx(0.266667, abs=1e-6)


@pytest.mark.parametrize(
    ("path", "target", "below"),
    [
        ([1.0], 0.9, 0.0),
        ([0.8, 0.8], 0.9, 1.0),
        ([0.9, 0.9], 0.9, 0.0),
        ([1.0, 0.8, 1.0], 0.9, 0.5),
    ],
)
def test_time_below_a_target(path, target, below):
    assert share_below(np.array(path), target) == pytest.approx(below)


def test_no_time_has_the_quality_of_its_instant():
    assert time_average(np.array([0.7])) == 0.7
    assert time_average(np.empty(0)) == 1.0


def test_nothing_copied_is_precise_and_nothing_listed_is_complete():
    assert precision(0, 0) == 1.0
    assert recall(0, 0) == 1.0


def test_a_day_without_a_recent_crawl_is_a_gap():
    """A crawl of 12:00 is half a day old at midnight; without the next two it is 2.5 d old."""
    noons = np.array(["2026-01-01T12", "2026-01-02T12", "2026-01-05T12"], "datetime64[us]")
    grid = DayGrid.of(Listing.of(["a"], noons, [(0, 0, 2)]))

    assert str(grid.start)[:10] == "2026-01-02"
    assert grid.gap.tolist() == [False, False, False, True, False]
    assert grid.fresh.tolist() == [True, True, False, False, True]
    assert grid.listed.tolist() == [1, 1, 1, 1, 0]
    assert grid.crawled.tolist() == [0, 1, 2, 4]
    assert [grid.next_crawled(day) for day in range(5)] == [0, 1, 2, 4, 4]


def test_there_is_no_crawled_day_after_the_last():
    crawls = np.array(["2026-01-01T00", "2026-01-03T12"], "datetime64[us]")
    grid = DayGrid.of(Listing.of(["a"], crawls, [(0, 0, 2)]))

    assert grid.gap.tolist() == [False, False, True, False]
    assert grid.next_crawled(4) == 4


def test_the_weekday_is_that_of_the_instant():
    """5 January 2026 is a Monday."""
    grid = DayGrid.of(daily(9, [(0, 0, 1)], start="2026-01-05"))

    assert [grid.weekday(day) for day in range(9)] == [0, 1, 2, 3, 4, 5, 6, 0, 1]


def test_crawls_about_midnight_are_each_seen_on_their_own_day():
    """Some begin a minute before and some a minute after: no day may see two and the next none."""
    minutes = np.array([(-1) ** n for n in range(20)], "timedelta64[m]")
    crawls = np.arange("2026-01-01", "2026-01-21", dtype="datetime64[D]").astype("datetime64[us]")
    grid = DayGrid.of(
        Listing.of(
            list("abcdefghijklmnopqrst"), crawls + minutes, [(n, n, n + 1) for n in range(20)]
        )
    )

    assert grid.listed.tolist() == [1] * 20
    assert not grid.gap.any()


def test_crawls_at_midnight_sharp_are_of_that_day():
    grid = DayGrid.of(daily(4, [(0, 1, 3)], start="2026-01-05"))

    assert str(grid.start)[:13] == "2026-01-05T00"
    assert grid.listed.tolist() == [0, 1, 1, 0]


def test_an_object_that_came_and_went_between_two_instants_is_never_listed():
    crawls = np.arange("2026-01-01T01", "2026-01-03T01", dtype="datetime64[h]")
    grid = DayGrid.of(Listing.of(["a", "b"], crawls, [(0, 2, 5), (1, 0, 48)]))

    assert grid.object.tolist() == [1]


def test_an_object_that_left_and_came_back_between_two_instants_stayed():
    crawls = np.arange("2026-01-01T01", "2026-01-03T01", dtype="datetime64[h]")
    grid = DayGrid.of(Listing.of(["a"], crawls, [(0, 0, 26), (0, 30, 48)]))

    assert (grid.first.tolist(), grid.gone.tolist()) == ([0], [2])


def test_no_crawls_make_no_days():
    grid = DayGrid.of(Listing.of([], np.empty(0, "datetime64[us]"), []))

    assert len(grid) == 0
    assert grid.listed.tolist() == []


@given(listings())
def test_counts_are_those_of_plain_sets(listing):
    grid = DayGrid.of(listing)
    sets = [listed_on(listing, instant) for instant in grid.instants]

    assert grid.listed.tolist() == [len(now) for now in sets]
    assert grid.inserted.tolist()[1:] == [len(now - old) for old, now in pairwise(sets)]
    assert grid.deleted.tolist()[1:] == [len(old - now) for old, now in pairwise(sets)]
    for day, now in enumerate(sets):
        assert set(grid.present(day).tolist()) == now


@given(listings())
def test_gaps_are_days_whose_last_crawl_is_old(listing):
    grid = DayGrid.of(listing)
    for instant, gap in zip(grid.instants, grid.gap, strict=True):
        age = instant - listing.crawls[listing.crawls <= instant].max()
        assert gap == (age > np.timedelta64(36, "h"))


@given(listings())
def test_quality_is_that_of_plain_sets(listing):
    """Between all pairs of days, in any order, and as paths of a horizon shorter than the grid."""
    grid = DayGrid.of(listing)
    sets = [listed_on(listing, instant) for instant in grid.instants]
    paths = Paths.of(grid, horizon=5)
    for one, copy in enumerate(sets):
        for two, now in enumerate(sets):
            both = len(copy & now)
            assert grid.both(one, two) == both
            assert grid.precision(one, two) == (both / len(copy) if copy else 1.0)
            assert grid.recall(one, two) == (both / len(now) if now else 1.0)
        last = min(one + 5, len(sets) - 1)
        days = range(one, last + 1)
        assert paths.precision(one, last).tolist() == [grid.precision(one, day) for day in days]
        assert paths.recall(one, last).tolist() == [grid.recall(one, day) for day in days]


@given(listings(), st.data())
def test_some_objects_alone_are_as_if_there_were_no_others(listing, data):
    wanted = np.array([data.draw(st.booleans()) for _ in range(len(listing))], np.bool_)

    some = DayGrid.of(listing).only(wanted)

    assert some.listed.tolist() == DayGrid.of(listing.only(wanted)).listed.tolist()
