"""Duane plots: the figures that were given, and nothing that is not JSON."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.report.charts.duane import DuaneLine, duane_chart
from recrawl.report.charts.vega import DARK, LIGHT
from tests.report.drawn import everything_in, foreign_colours_in, sources_in

NAN, INFINITE = math.nan, math.inf


def duane(*lines, **looks):
    return duane_chart(lines, title="Duane plot", **looks)


def fitted(chart):
    return [(row["time"], row["interval"]) for row in chart["layer"][0]["data"]["values"]]


def dots(chart):
    return [(row["time"], row["interval"]) for row in chart["layer"][1]["data"]["values"]]


def test_points_are_mean_times_between_changes():
    """After i changes in s days: s / i."""
    chart = duane(DuaneLine([1.0, 3.0, 6.0, 10.0, 15.0], slope=0.405542, intercept=-0.018135))

    assert dots(chart) == [(1.0, 1.0), (3.0, 1.5), (6.0, 2.0), (10.0, 2.5), (15.0, 3.0)]


def test_the_line_goes_from_the_first_point_to_the_last():
    r"""$e^a t^\gamma$ at both ends, 2.94495 at 15 days."""
    chart = duane(DuaneLine([1.0, 3.0, 6.0, 10.0, 15.0], slope=0.405542, intercept=-0.018135))

    assert fitted(chart)[0] == (1.0, pytest.approx(math.exp(-0.018135), rel=1e-5))
    assert fitted(chart)[1] == (15.0, pytest.approx(2.94495, rel=1e-5))


def test_both_axes_are_logarithmic():
    chart = duane(DuaneLine([1.0, 100.0], 0.5, 0.0))

    for channel in "xy":
        assert chart["layer"][1]["encoding"][channel]["scale"]["type"] == "log"


def test_what_has_no_logarithm_is_left_out():
    """The others keep their numbers."""
    chart = duane(DuaneLine([0.0, 3.0, NAN, 8.0, INFINITE], 0.5, 0.0))

    assert dots(chart) == [(3.0, 1.5), (8.0, 2.0)]


@pytest.mark.parametrize(("slope", "intercept"), [(NAN, 0.0), (0.5, INFINITE), (1e9, 0.0)])
def test_a_line_that_cannot_be_drawn_is_left_out(slope, intercept):
    chart = duane(DuaneLine([1.0, 3.0], slope, intercept))

    assert fitted(chart) == []
    assert len(dots(chart)) == 2


def test_one_window_needs_no_legend():
    assert duane(DuaneLine([1.0, 3.0], 0.5, 0.0))["layer"][0]["encoding"]["color"] == {
        "value": LIGHT.blue
    }


def test_each_window_has_a_colour():
    chart = duane(DuaneLine([1.0], 0.0, 0.0, "2024"), DuaneLine([2.0], 0.0, 0.0))
    colour = chart["layer"][0]["encoding"]["color"]

    assert colour["scale"]["domain"] == ["2024", "window 2"]
    assert colour["scale"]["range"] == LIGHT.shades(2)


def test_windows_of_the_same_name_are_numbered():
    line = DuaneLine([1.0, 2.0], 0.0, 0.0, "rising")
    chart = duane(line, line)

    assert chart["layer"][0]["encoding"]["color"]["scale"]["domain"] == ["1: rising", "2: rising"]
    assert len(fitted(chart)) == 4


def test_many_points_are_smaller():
    def size(count):
        return duane(DuaneLine(np.arange(1.0, count + 1), 0, 0))["layer"][1]["mark"]["size"]

    assert size(10) > size(500)


@given(st.lists(st.tuples(st.lists(st.floats(), max_size=5), st.floats(), st.floats()), max_size=3))
def test_a_duane_plot_is_json_whatever_the_figures(lines):
    chart = duane(*(DuaneLine(*line) for line in lines))

    assert json.loads(json.dumps(chart, allow_nan=False)) == chart
    for channel in "xy":
        low, high = chart["layer"][1]["encoding"][channel]["scale"]["domain"]
        assert 0 < low < high


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_a_duane_plot_has_its_colours_and_fetches_nothing(colours):
    chart = duane(DuaneLine([1.0, 2.0], 0.0, 0.0), DuaneLine([2.0, 3.0], 0.0, 0.0), colours=colours)

    assert chart["background"] == colours.paper
    assert {colours.orange, colours.blue} <= set(everything_in(chart))
    assert not foreign_colours_in(chart, colours)
    assert not sources_in(chart)
