"""Errors of estimators over windows that come in parts: sums without rounding."""

import math
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.report.rates import Group
from recrawl.report.window_errors import (
    error_columns,
    groups_by_size,
    groups_by_state,
    whole_group,
    with_windows,
)
from recrawl.trends.windows import State, Windows

ERRORS = st.floats(0, 1e300)


def windows_of(sizes, states=()):
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    state = np.array([*states, *[0] * (len(sizes) - len(states))], np.uint8)
    return Windows(offsets, np.arange(len(sizes)), state)


def one(*errors):
    """Windows of four points with these errors."""
    return whole_group("all", windows_of([4] * len(errors)), {"weibull": np.array(errors)})


@given(st.lists(ERRORS, min_size=1, max_size=30), st.integers(0, 30))
def test_a_mean_is_that_of_exact_sums(errors, cut):
    """`math.fsum` rounds once; so does this, however the windows are divided up."""
    parts = [one(*errors[:cut]), one(*errors[cut:])]

    assert sum_of(one(*errors)) == sum_of(add(*parts)) == sum_of(add(*reversed(parts)))
    mean = one(*errors).means["weibull"]
    assert mean == pytest.approx(math.fsum(errors) / len(errors), rel=1e-15, abs=5e-324)


def sum_of(group):
    return group.means["weibull"], group.windows, group.points


def test_small_figures_beside_large_ones_count():
    """1e16 and sixteen times 1: floats one after the other would stay at 1e16."""
    assert one(1e16, *[1.0] * 16).means["weibull"] == (10**16 + 16) / 17


def test_the_least_float_counts():
    assert one(5e-324, 5e-324).means["weibull"] == 5e-324


def test_an_infinite_error_makes_no_mean():
    """In whichever part it is."""
    both = one(1.0) + one(np.inf)

    assert np.isnan(both.means["weibull"])
    assert np.isnan(one(np.inf).means["weibull"])


def test_groups_of_sizes_without_windows_are_left_out():
    errors = {"ratio": np.array([1.0, 4.0, 7.0]), "weibull": np.array([2.0, 3.0, 1.0])}
    groups = groups_by_size(windows_of([3, 7, 200]), errors)
    names, columns = error_columns(with_windows(groups))

    assert names == ["6-7", "6-7", "128+", "128+"]
    assert columns["windows"].tolist() == [1, 1, 1, 1]
    assert columns["best"].tolist() == [0, 1, 0, 1]
    assert [group.at for group in with_windows(groups)] == [7, 200]


def test_no_windows_are_one_group_without_any():
    nothing = groups_by_size(windows_of([3]), {"ratio": np.array([1.0])})

    assert [(group.name, group.windows) for group in with_windows(nothing)] == [("all", 0)]


def test_parts_add_up_by_state():
    errors = {"ratio": np.array([1.0, 4.0]), "duane": np.array([2.0, 3.0])}
    states = [State.CONSTANT, State.INCREASING]
    parts = [groups_by_state(windows_of([5, 4], states), errors)] * 3

    groups = reduce(lambda some, more: list(map(add, some, more)), parts)
    names, columns = error_columns(groups)

    assert names[::2] == ["all", "constant", "increasing", "decreasing"]
    assert columns["windows"].tolist() == [6, 6, 3, 3, 3, 3, 0, 0]
    assert columns["mse"].tolist()[:6] == [2.5, 2.5, 1.0, 2.0, 4.0, 3.0]
    assert columns["best"].tolist() == [0.5, 0.5, 1, 0, 0, 1, 0, 0]
    assert isinstance(columns["beats"], Group)
    assert columns["beats"].columns["duane"][0] == 0.5
