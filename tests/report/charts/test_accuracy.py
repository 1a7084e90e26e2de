"""Accuracy of an estimator: the figures that were given, and nothing that is not JSON."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.report.charts.accuracy import Curve, accuracy_chart
from recrawl.report.charts.vega import DARK, LIGHT
from tests.report.drawn import everything_in, foreign_colours_in, sources_in

NAN, INFINITE = math.nan, math.inf


def curve(gaps=10, changes=(0.5, 1.0, 2.0), bias=(-0.2, -0.4, -0.6), sigma=(0.3, 0.2, 0.1)):
    return Curve(gaps, changes, bias, sigma)


def drawn(curves, **looks):
    return accuracy_chart(curves, title="An estimator", **looks)


def panels(chart):
    """Bias, then standard deviation: the layer of each that has the lines."""
    return [panel["layer"][-1] for panel in chart["hconcat"]]


def rows(chart, field):
    """Figures of a panel as triples of gaps, changes a gap and the figure."""
    panel = panels(chart)[["bias", "sigma"].index(field)]
    return [(row["gaps"], row["changes_a_gap"], row[field]) for row in panel["data"]["values"]]


def ends(chart, channel):
    """First and last value of an axis, a pair a panel."""
    return [panel["encoding"][channel]["scale"]["domain"] for panel in panels(chart)]


def ticks(chart):
    return panels(chart)[0]["encoding"]["x"]["axis"].get("values")


def test_a_panel_has_the_figures_that_were_given():
    chart = drawn([curve(), curve(20, [0.5, 4.0], [0.1, 0.2], [0.3, 0.4])])

    assert rows(chart, "bias") == [
        (10, 0.5, -0.2),
        (10, 1.0, -0.4),
        (10, 2.0, -0.6),
        (20, 0.5, 0.1),
        (20, 4.0, 0.2),
    ]
    assert [figure for _, _, figure in rows(chart, "sigma")] == [0.3, 0.2, 0.1, 0.3, 0.4]


def test_figures_are_the_same_on_every_machine():
    """The last digits of a float depend on the processor; six are more than a picture shows."""
    exact = drawn([curve(1, np.array([1 / 3]), np.array([2 / 3]), np.array([1e-9 / 3]))])

    assert rows(exact, "bias") == [(1, 0.333333, 0.666667)]
    assert rows(exact, "sigma") == [(1, 0.333333, 3.33333e-10)]


def test_what_is_not_finite_is_left_out():
    """Each panel on its own: a bias may be known where the standard deviation is infinite."""
    chart = drawn([curve(10, [0.5, 1.0, 2.0], [NAN, -0.4, -0.6], [0.3, INFINITE, 0.1])])

    assert rows(chart, "bias") == [(10, 1.0, -0.4), (10, 2.0, -0.6)]
    assert rows(chart, "sigma") == [(10, 0.5, 0.3), (10, 2.0, 0.1)]


def test_a_line_breaks_where_a_figure_is_missing():
    """A line drawn across would show what nobody computed."""
    chart = drawn([curve(10, [1.0, 2.0, 3.0, 4.0], [0.1, 0.1, NAN, 0.1], [0.1, 0.1, 0.1, 0.1])])
    bias, sigma = ([row["stretch"] for row in panel["data"]["values"]] for panel in panels(chart))

    assert bias[0] == bias[1] != bias[2]
    assert len(set(sigma)) == 1
    assert all(panel["encoding"]["detail"]["field"] == "stretch" for panel in panels(chart))


@pytest.mark.parametrize("changes", [0.0, -1.0, NAN, INFINITE])
def test_changes_that_a_logarithmic_axis_cannot_show_are_left_out(changes):
    chart = drawn([curve(10, [changes, 1.0], [0.1, 0.2], [0.3, 0.4])])

    assert rows(chart, "bias") == [(10, 1.0, 0.2)]
    assert rows(chart, "sigma") == [(10, 1.0, 0.4)]


changes_a_gap = st.floats(1e-300, 1e300) | st.sampled_from([0.0, -1.0, NAN, INFINITE])
figures = st.lists(st.tuples(changes_a_gap, st.floats(), st.floats()), max_size=6)


@given(st.lists(st.tuples(st.integers(1, 1000), figures), max_size=4))
def test_a_chart_is_json_whatever_the_figures(curves):
    """NaN and Infinity are not JSON, and numpy's numbers are not Python's."""
    given_curves = []
    for gaps, table in curves:
        changes, bias, sigma = (np.array([row[column] for row in table]) for column in range(3))
        given_curves.append(Curve(gaps, changes, bias, sigma))
    chart = drawn(given_curves)

    assert json.loads(json.dumps(chart, allow_nan=False)) == chart
    for low, high in [*ends(chart, "x"), *ends(chart, "y")]:
        assert low < high


def test_a_chart_fetches_nothing():
    assert not sources_in(drawn([curve()]))


def test_each_panel_has_a_line_at_zero():
    chart = drawn([curve()])

    for panel in chart["hconcat"]:
        zero = panel["layer"][0]
        assert (zero["mark"]["type"], zero["encoding"]["y"]) == ("rule", {"datum": 0})


def test_an_axis_ends_with_the_figures_and_shows_zero():
    chart = drawn([curve(bias=[-0.2, -0.4, 0.3], sigma=[0.5, 0.7, 0.3])])

    assert ends(chart, "y") == [[-0.4, 0.3], [0.0, 0.7]]


def test_an_axis_ends_where_an_estimate_is_useless():
    """The figures stay as they are; the line leaves the panel."""
    chart = drawn([curve(bias=[-7.0, 0.0, 50.0], sigma=[1.0, 2.5, 1e300])])

    assert ends(chart, "y") == [[-1.0, 1.0], [0.0, 2.0]]
    assert [figure for _, _, figure in rows(chart, "bias")] == [-7.0, 0.0, 50.0]
    assert [figure for _, _, figure in rows(chart, "sigma")] == [1.0, 2.5, 1e300]
    assert all(panel["mark"]["clip"] for panel in panels(chart))


def test_an_axis_does_not_make_much_of_nothing():
    chart = drawn([curve(bias=[0.0, 1e-12, -1e-12], sigma=[0.0, 0.0, 1e-12])])

    assert ends(chart, "y") == [[-0.1, 0.1], [0.0, 0.1]]


def test_both_panels_show_the_same_changes_a_gap():
    """Also where one has figures that the other lacks."""
    chart = drawn([curve(10, [0.05, 1.0, 6.0], [NAN, -0.4, -0.6], [0.3, 0.2, INFINITE])])

    assert ends(chart, "x") == [[0.05, 6.0], [0.05, 6.0]]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([0.05, 6.0], [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0]),
        ([0.001, 60.0], [0.001, 0.01, 0.1, 1.0, 10.0]),
        ([1.0, 1.0], [0.5, 1.0, 2.0]),
        ([0.3, 0.4], None),
    ],
    ids=["usual", "long", "a point", "short"],
)
def test_round_figures_stand_below(changes, expected):
    """An axis too short for two of them has those of Vega."""
    chart = drawn([curve(10, changes, [0.1, 0.1], [0.1, 0.1])])

    assert ticks(chart) == expected


def test_without_curves_there_is_an_empty_chart():
    chart = drawn([])

    assert rows(chart, "bias") == rows(chart, "sigma") == []
    assert ends(chart, "x") == [[0.05, 6.0], [0.05, 6.0]]
    assert panels(chart)[0]["encoding"]["color"]["legend"] is None


def test_lines_go_from_wide_and_orange_to_narrow_and_blue():
    """By the number of gaps, not by the order in which curves come."""
    chart = drawn([curve(50), curve(5), curve(20)])
    encoding = panels(chart)[0]["encoding"]
    colour, width = (encoding[channel]["scale"] for channel in ("color", "strokeWidth"))

    assert [gaps for gaps, _, _ in rows(chart, "bias")][::3] == [5, 20, 50]
    assert colour["domain"] == width["domain"] == [5, 20, 50]
    assert (colour["range"][0], colour["range"][-1]) == (LIGHT.orange, LIGHT.blue)
    assert width["range"] == sorted(width["range"], reverse=True)


@pytest.mark.parametrize("colours", [LIGHT, DARK], ids=["light", "dark"])
def test_a_chart_has_its_title_and_colours(colours):
    chart = drawn([curve(5), curve(10)], colours=colours)
    used = set(everything_in(chart))

    assert chart["title"]["text"] == "An estimator"
    assert chart["background"] == colours.paper
    assert {colours.ink, colours.pale, colours.line, colours.orange, colours.blue} <= used
    assert not foreign_colours_in(chart, colours)
