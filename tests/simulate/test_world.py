"""Worlds: what belongs to a life, and how time goes on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidHistory
from recrawl.simulate.world import Timeline, World, in_order
from tests.simulate.made import START, at, world, worlds


def test_pages_are_in_the_order_in_which_they_are_found():
    some = world([4.0], [3.0, 2.0], found=[1.0, 0.0], weight=[5.0, 7.0], address=["/b", "/a"])

    assert some.address == ("/a", "/b")
    assert some.weight.tolist() == [7.0, 5.0]
    np.testing.assert_array_equal(some.changes, at(2.0, 3.0, 4.0))
    assert some.offsets.tolist() == [0, 2, 3]


def test_pages_found_at_once_keep_their_order():
    assert world([], [], [], address=["c", "a", "b"]).address == ("c", "a", "b")


def test_changes_outside_of_a_life_are_left_out():
    """At the moment a page is found its copy has the change; at its end it no longer counts."""
    some = world([0.5, 1.0, 2.0, 3.0, 9.0], found=[1.0], gone=[3.0])

    np.testing.assert_array_equal(some.changes, at(2.0))


def test_the_world_ends_with_the_last_change_or_removal():
    assert world([1.0, 4.0], []).end == at(4.0)[0]
    assert world([1.0, 4.0], [], gone=[np.nan, 6.0]).end == at(6.0)[0]
    assert world([], found=[2.0]).end == at(2.0)[0]


def test_rates_are_changes_a_live_day():
    some = world([1.0, 2.0], [3.0], [], found=[0.0, 2.0, 5.0], gone=[np.nan, 4.0, 5.0])

    assert some.live_days.tolist() == [5.0, 2.0, 0.0]
    assert some.rates.tolist() == [0.4, 0.5, 0.0]
    assert some.row_of_change.tolist() == [0, 0, 1]


def test_a_world_needs_a_page():
    nothing = np.empty(0, "datetime64[us]")

    with pytest.raises(InvalidHistory, match="a world must have a page"):
        World.of([], nothing, (np.empty(0, np.int64), nothing))


@given(worlds(), st.integers(0, 50))
def test_as_many_changes_are_reached_as_have_happened(some, quarter):
    now = at(quarter / 4)[0]
    unfolding = Timeline(some)

    unfolding.advance(now)

    happened = [
        int((some.changes[start:end] <= now).sum())
        for start, end in zip(some.offsets[:-1], some.offsets[1:], strict=True)
    ]
    assert (unfolding.reached - some.offsets[:-1]).tolist() == happened


def test_time_does_not_go_back():
    unfolding = Timeline(world([1.0, 2.0]))
    unfolding.advance(at(2.0)[0])
    unfolding.advance(at(0.0)[0])

    assert unfolding.reached.tolist() == [2]


pairs = st.lists(st.tuples(st.integers(0, 2**40), st.integers(-(2**45), 2**45)), min_size=1)


@given(pairs, st.booleans())
def test_pairs_come_in_order_however_large_they_are(some, by_time):
    """Small ones are sorted as one number, large ones as pairs."""
    rows = np.array([row for row, _ in some])
    times = START + np.array([time for _, time in some]).astype("timedelta64[us]")

    found, moments = in_order(rows, times, by_time=by_time)

    together = list(zip(rows.tolist(), times.tolist(), strict=True))
    together.sort(key=lambda pair: pair[::-1] if by_time else pair)
    assert list(zip(found.tolist(), moments.tolist(), strict=True)) == together


def test_no_pairs_are_in_order():
    rows, times = in_order(np.empty(0, np.int64), np.empty(0, "datetime64[us]"))

    assert len(rows) == len(times) == 0
