"""Change points: where they lie, which are dropped, and that they always rise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Histories
from recrawl.errors import InvalidHistory, InvalidParameter
from recrawl.trends.points import (
    Points,
    gaps_between,
    points_at,
    points_of,
    watched_all_the_time,
)
from tests.strategies import Seen, histories, history_of, pages
from tests.trends.made import points_at_days

DAILY = [(1.0, False), (1.0, True), (2.0, True), (1.0, False)]


def slow_points(page: list[Seen], share: float) -> list[float]:
    """Section 5 read aloud: one point a changed gap, each later than the one before."""
    now, last, found = 0.0, 0.0, []
    for seen in page:
        now += seen.gap
        if not seen.changed:
            continue
        point = now - (seen.gap * share if math.isnan(seen.age) else seen.age)
        if point > last:
            found.append(point)
            last = point
    return found


@pytest.mark.parametrize(("place", "expected"), [("middle", [1.5, 3.0]), ("end", [2.0, 4.0])])
def test_a_hidden_change_lies_where_place_says(place, expected):
    """Gaps end on days 1, 2, 4 and 5; the second and the third changed."""
    points = points_of(history_of(DAILY), place=place)

    assert points.times.tolist() == expected
    assert points.end.tolist() == [5.0]


def test_a_random_place_is_anywhere_in_the_gap():
    """Uniform in (start, end]: mean a half, spread 1 / sqrt(12)."""
    seen = Histories(np.full(20_000, 4.0), np.ones(20_000, np.bool_), np.arange(20_001))

    times = points_of(seen, place="random", random=np.random.default_rng(5)).times

    assert times.min() > 0
    assert times.max() <= 4
    assert times.mean() == pytest.approx(2, abs=0.04)
    assert times.std() == pytest.approx(4 / math.sqrt(12), rel=0.02)


def test_the_same_seed_places_the_same_points():
    first, second = (
        points_of(history_of(DAILY), place="random", random=np.random.default_rng(3))
        for _ in range(2)
    )

    assert first.times.tolist() == second.times.tolist()


def test_a_page_s_hash_places_its_points_whatever_the_other_pages_are():
    """Uniform in (start, end], as by a generator."""
    seen = Histories(np.full(20_000, 4.0), np.ones(20_000, np.bool_), np.arange(0, 20_001, 2))
    hashes = np.random.default_rng(1).integers(2**63, size=10_000).astype(np.uint64)
    some = np.array([70, 3, 9_999])
    alone = points_of(seen.take(some), place="random", random=hashes[some])

    points = points_of(seen, place="random", random=hashes)

    assert alone.times.tolist() == points.take(some).times.tolist()
    within = points.times % 4
    assert within.mean() == pytest.approx(2, abs=0.04)
    assert within.std() == pytest.approx(4 / math.sqrt(12), rel=0.02)


def test_a_dated_change_lies_at_its_date():
    """An age of 0.25 days at the end of day 2, whatever the place."""
    page = [(1.0, False), (1.0, True, 0.25)]

    for place in ("middle", "end"):
        assert points_of(history_of(page), place=place).times.tolist() == [1.75]
    by_chance = points_of(history_of(page), place="random", random=np.random.default_rng(1))
    assert by_chance.times.tolist() == [1.75]


@given(pages, st.sampled_from([("middle", 0.5), ("end", 0.0)]))
def test_a_date_and_a_place_that_agree_are_the_same_point(page, where):
    """Both kinds of history are handled identically: dates put there by hand change nothing."""
    place, share = where
    hidden = [Seen(seen.gap, seen.changed) for seen in page]
    dated = [seen._replace(age=seen.gap * share if seen.changed else np.nan) for seen in hidden]

    from_flags = points_of(history_of(hidden), place=place)
    from_dates = points_of(history_of(dated), place="middle")

    assert from_flags.times.tolist() == from_dates.times.tolist()
    assert from_flags.end.tolist() == from_dates.end.tolist()


def test_a_count_still_makes_one_point():
    """Five changes in a gap, no telling when: at most one point a gap."""
    assert points_of(history_of([(2.0, True, np.nan, 5)])).times.tolist() == [1.0]


def test_equal_points_are_kept_once():
    """Changed at the visit, then at no later instant: the clock cannot tell the two apart."""
    seen = history_of([(2.0**53, True, 0.0), (0.5, True, 0.25), (2.0, True, 0.0)])

    assert points_of(seen).times.tolist() == [2.0**53, 2.0**53 + 2]


def test_a_gap_below_the_clocks_resolution_never_makes_points_fall():
    """Rounding may put a date before the visit that came before it: such points are dropped."""
    page = [(1.0, True, 0.0), (1e-16, True, 0.9e-16), (1e-16, True, 0.5e-16), (1e-16, True, 0.0)]

    assert points_of(history_of(page)).times.tolist() == [1.0]


@given(histories())
def test_points_rise_from_above_the_origin_to_the_end(seen):
    """At most one a changed gap, in its own page."""
    for place in ("middle", "end", "random"):
        points = points_of(seen, place=place, random=np.random.default_rng(2))

        assert len(points) == len(seen)
        assert (points.gaps > 0).all()
        assert (points.times <= points.end[points.page_of_point]).all()
        assert (points.points_of_page <= seen.changes).all()
        np.testing.assert_allclose(points.end, seen.total(seen.gaps), rtol=1e-12)
        assert points.origin is not None
        np.testing.assert_array_equal(points.origin, seen.first_visit)


@given(st.lists(pages, max_size=4), st.sampled_from([("middle", 0.5), ("end", 0.0)]))
def test_points_are_those_of_a_plain_loop(some, where):
    place, share = where
    points = points_of(history_of(*some), place=place)

    expected = [slow_points(page, share) for page in some]

    assert points.times.tolist() == [time for page in expected for time in page]
    assert points.points_of_page.tolist() == [len(page) for page in expected]


@pytest.mark.parametrize(
    "page", [[], [(1.0, False)], [(1.0, True)], [(1.0, True, 0.0)], [(1e-9, True)]]
)
def test_pages_with_hardly_anything_have_hardly_any_points(page):
    """A page seen once, unchanged, or for one instant."""
    points = points_of(history_of(page, [(1.0, True)]))

    assert points.points_of_page.tolist() == [sum(gap[1] for gap in page), 1]


def test_a_place_that_is_none_is_refused():
    with pytest.raises(InvalidParameter, match="place must be one of middle, end, random"):
        points_of(history_of(DAILY), place="start")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="needs a random generator"):
        points_of(history_of(DAILY), place="random")


def instants(*days: str) -> np.ndarray:
    return np.array([f"2026-01-{day}" for day in days], "datetime64[us]")


def test_instants_may_come_in_any_order_and_twice():
    """The first is the origin, not a point; equal ones are one."""
    points = points_at(instants("05", "01", "02", "05", "01"), np.array([0, 5]))

    assert points.times.tolist() == [1.0, 4.0]
    assert points.end.tolist() == [4.0]
    assert points.origin is not None
    assert points.origin.tolist() == instants("01").tolist()


def test_pages_without_instants_have_no_points_and_no_origin():
    """Empty pages first, in the middle and last leave the others alone."""
    points = points_at(instants("03", "01", "07", "06T12"), np.array([0, 0, 2, 2, 4, 4]))

    assert points.times.tolist() == [2.0, 0.5]
    assert points.points_of_page.tolist() == [0, 1, 0, 1, 0]
    assert points.end.tolist() == [0.0, 2.0, 0.0, 0.5, 0.0]
    assert points.origin is not None
    assert np.isnat(points.origin).tolist() == [True, False, True, False, True]


def test_one_instant_is_an_origin_without_points():
    points = points_at(instants("03", "04", "04"), np.array([0, 1, 3]))

    assert points.points_of_page.tolist() == [0, 0]
    assert points.end.tolist() == [0.0, 0.0]


@given(st.lists(st.lists(st.integers(0, 40), max_size=12), max_size=5), st.randoms())
def test_the_order_of_instants_does_not_matter(some, random):
    """Days of each page, sorted and told apart, less the first."""
    shuffled = [random.sample(page, len(page)) for page in some]
    flat = np.array([day for page in shuffled for day in page], "timedelta64[D]")

    found = points_at(
        np.datetime64("2026-01-01", "us") + flat, np.cumsum([0, *map(len, some)], dtype=np.int64)
    )

    expected = [[float(day - min(page)) for day in sorted(set(page))[1:]] for page in some]
    assert found.times.tolist() == [day for page in expected for day in page]
    assert found.points_of_page.tolist() == [len(page) for page in expected]


def test_gaps_begin_anew_with_every_stretch():
    """The first of each is counted from 0; empty stretches have none."""
    gaps = gaps_between(np.array([1.0, 3.0, 2.0]), np.array([0, 0, 2, 2, 3, 3]))

    assert gaps.tolist() == [1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    ("times", "end"),
    [
        ([0.0, 1.0], 2.0),
        ([-1.0, 1.0], 2.0),
        ([1.0, 1.0], 2.0),
        ([2.0, 1.0], 2.0),
        ([1.0, 3.0], 2.0),
        ([np.nan, 1.0], 2.0),
    ],
)
def test_points_that_do_not_rise_are_refused(times, end):
    """At the origin, before it, equal, falling, after the end, and no number."""
    with pytest.raises(InvalidHistory, match="page 0: points must rise from above 0"):
        points_at_days(times, end=[end])


def test_every_page_needs_an_end():
    with pytest.raises(InvalidHistory, match="got 2 for 1 pages"):
        Points(np.array([1.0]), np.array([0, 1]), np.array([1.0, 1.0]))


def test_time_between_known_changes_is_quiet_and_changes_are_told_to_the_second():
    """Three changes, ten days apart, then two a second apart: as many events, as many days."""
    second = 1 / 86_400
    changes = Histories.from_lists([([10.0, 10.0, second], [True] * 3)])
    watched = watched_all_the_time(changes)

    assert watched.gaps.sum() == pytest.approx(changes.gaps.sum())
    assert watched.gaps[1] == pytest.approx(second)
    assert watched.gaps[-1] == pytest.approx(second / 2)
    assert watched.count.tolist() == [0, 1] * 3
    assert points_of(watched, place="end").times == pytest.approx([10, 20, 20 + second])
