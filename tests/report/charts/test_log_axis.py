"""Logarithmic axes: round labels, few of them, with room around what is shown."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.report.charts.log_axis import EXTREMES, log_axis

figures = st.lists(st.floats(*EXTREMES), max_size=5)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.19, 2.1, [0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0]),
        (0.011, 1.9, [0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0]),
        (1e-4, 1e3, [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3]),
        (1e-9, 1e9, [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9]),
    ],
    ids=["one power", "two powers", "seven powers", "eighteen"],
)
def test_long_axes_have_fewer_labels(low, high, labels):
    assert log_axis([low, high], None)["axis"]["values"] == labels


def test_one_figure_has_as_much_room_below_as_above():
    """Ends that are four times each other: half and twice the figure."""
    assert log_axis([3.0], None)["scale"]["domain"] == [1.5, 6.0]


@given(figures)
def test_everything_has_its_place_between_the_ends(shown):
    axis = log_axis(shown, "days")
    low, high = axis["scale"]["domain"]

    assert 0 < low < high < math.inf
    assert all(low < figure < high for figure in shown)
    assert len(axis["axis"]["values"]) <= 9
    assert all(low <= tick <= high for tick in axis["axis"]["values"])
