"""Charts of all pages together: the figures that were given, and nothing that is not JSON."""

import json

import numpy as np
import pytest

from recrawl.report.charts.errors import error_chart
from recrawl.report.charts.gaps import gap_chart
from recrawl.report.charts.vega import DARK, LIGHT
from recrawl.report.window_errors import ErrorGroup
from recrawl.trends.gap_shares import gap_shares
from recrawl.trends.windows import Windows
from tests.report.drawn import foreign_colours_in, sources_in
from tests.trends.made import points_at_days


def group(name, at, *errors):
    columns = {name: np.array(one) for name, one in zip(("weibull", "duane"), errors, strict=True)}
    count = len(errors[0])
    windows = Windows(4 * np.arange(count + 1), np.arange(count), np.zeros(count, np.uint8))
    return ErrorGroup.of(name, windows, np.ones(count, np.bool_), columns, at)


def test_gaps_lie_in_the_middle_of_their_class():
    """Inner gaps 1, 1, 1 and 5 days with a mean of 2; nothing is drawn of the open class."""
    shares = gap_shares([points_at_days([9.0, 10, 11, 12, 17])], width=1.0, bins=4)
    line, dots = gap_chart(shares, title="one page")["layer"]

    assert dots["data"]["values"] == [{"gap": 0.5, "share": 75.0}, {"gap": 2.5, "share": 25.0}]
    assert line["data"]["values"][0]["share"] == pytest.approx(100 * (1 - 0.75**3), rel=1e-5)


def test_errors_are_a_line_an_estimator():
    """The mean over the windows of a group; what is infinite is left out."""
    groups = [group("4", 4.0, [1.0, 3.0], [4.0, 4.0]), group("8-11", 9.0, [1.0], [np.inf])]
    chart = error_chart(groups, title="Error by size", axis="points")

    assert [(row["estimator"], row["at"], row["mse"]) for row in chart["data"]["values"]] == [
        ("weibull", 4.0, 2.0),
        ("duane", 4.0, 4.0),
        ("weibull", 9.0, 1.0),
    ]
    assert chart["encoding"]["x"]["scale"]["type"] == "log"


def test_thresholds_begin_with_0():
    chart = error_chart([group("0", 0.0, [1.0], [2.0])], title="Error", axis="threshold")

    assert "scale" not in chart["encoding"]["x"]


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_nothing_to_draw_is_an_empty_chart(colours):
    nothing = gap_shares([points_at_days()])
    charts = [
        gap_chart(nothing, title="none", colours=colours),
        error_chart([group("all", np.nan, [], [])], title="none", axis="x", colours=colours),
    ]
    for chart in charts:
        json.dumps(chart, allow_nan=False)
        assert not sources_in(chart)
        assert not foreign_colours_in(chart, colours)
