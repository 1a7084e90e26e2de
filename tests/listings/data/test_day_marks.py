"""Days out of the ordinary."""

import numpy as np
import pytest

from recrawl.listings.data.day_marks import DayMarks
from recrawl.listings.data.grid import DayGrid
from tests.listings.worlds import daily


def marks(deleted, inserted, *, stock=100.0, gap=()):
    gaps = np.zeros(len(deleted), np.bool_)
    gaps[list(gap)] = True
    return DayMarks.of_counts(
        np.full(len(deleted), stock), np.array(deleted), np.array(inserted), gaps
    )


@pytest.mark.parametrize(("gone", "closed"), [(37, False), (38, True)])
def test_a_closure_is_a_fifth_of_the_stock_above_the_usual(gone, closed):
    """Usually 18 of 100 go a day, so 38 are the first that are too many."""
    found = marks([18] * 5 + [gone] + [18] * 5, [18] * 11)

    assert found.closure.tolist() == [False] * 5 + [closed] + [False] * 5
    assert not found.load.any()


@pytest.mark.parametrize(("came", "loaded"), [(9, False), (10, True)])
def test_fewer_than_ten_objects_are_never_out_of_the_ordinary(came, loaded):
    found = marks([0] * 9, [0] * 4 + [came] + [0] * 4, stock=20.0)

    assert found.load.any() == loaded


def test_both_at_once_are_a_change_of_keys():
    found = marks([0, 0, 30, 0, 0, 0, 0, 0], [0, 30, 30, 0, 0, 0, 0, 0])

    assert np.flatnonzero(found.rekey).tolist() == [2]


def test_usual_is_the_median_of_the_61_days_around():
    """A source that turns over 30 of 100 from some day on is usual; for 30 days it is not."""
    found = marks([0] * 100 + [30] * 100, [0] * 200)

    assert np.flatnonzero(found.closure).tolist() == []
    assert np.flatnonzero(
        marks([0] * 100 + [30] * 30 + [0] * 100, [0] * 230).closure
    ).tolist() == list(range(100, 130))


def test_regular_cycles_hold_no_mark_and_no_gap_and_all_cycles_may_hold_closures():
    """Day 3 is a closure, day 6 a change of keys, day 9 a gap."""
    found = marks([0, 0, 0, 30, 0, 0, 30, 0, 0, 0, 0, 0], [0] * 6 + [30] + [0] * 5, gap=[9])
    start = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    end = start + 2

    regular, scored = found.regular(start, end), found.scored(start, end)

    assert start[regular].tolist() == [0, 3, 6]
    assert start[scored].tolist() == [0, 1, 2, 3, 6, 8]


def test_marks_of_a_grid():
    """Twenty objects leave on day 5."""
    spells = [(row, 0, 5 if row < 20 else 10) for row in range(60)]
    found = DayMarks.of(DayGrid.of(daily(10, spells)))

    assert np.flatnonzero(found.closure).tolist() == [5]
    assert not found.rekey.any()


def test_no_days_have_no_marks():
    assert len(marks([], []).closure) == 0
