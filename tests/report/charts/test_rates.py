"""Change rates as a chart."""

import numpy as np

from recrawl import Gamma, Histories, Likelihood
from recrawl.report.charts.rates import rate_chart


def rows_of(chart):
    return chart["data"]["values"]


def test_pages_stand_from_the_busiest_to_the_quietest_inside_their_bands():
    seen = Histories.from_lists(
        [([7.0] * 9, [False] * 8 + [True]), ([1.0] * 9, [True, False] * 4 + [True])]
    )

    rows = rows_of(rate_chart(["/slow", "/fast"], Gamma().estimate(seen)))

    assert [row["page"] for row in rows] == ["1  /fast", "2  /slow"]
    assert all(row["fast"] < row["every"] < row["slow"] for row in rows)


def test_of_many_pages_some_are_shown_with_both_ends():
    random = np.random.default_rng(0)
    seen = Histories.from_lists(
        [([1.0] * 20, random.random(20) < share) for share in np.linspace(0, 1, 500)]
    )

    chart = rate_chart([f"/{page}" for page in range(500)], Gamma().estimate(seen))

    places = [int(row["page"].split()[0]) for row in rows_of(chart)]
    assert (places[0], places[-1], len(places)) == (1, 500, 40)
    assert chart["title"]["subtitle"][0] == "40 of 500 pages, from the busiest to the quietest"


def test_a_page_without_a_rate_is_left_out():
    """Never changed: 0; always changed: infinite."""
    seen = Histories.from_lists([([1.0], [False]), ([1.0], [True]), ([], [])])

    chart = rate_chart(["/a", "/b", "/c"], Likelihood(singularity="none").estimate(seen))

    assert rows_of(chart) == []


def test_an_origin_that_all_pages_share_stands_above_them():
    seen = Histories.from_lists([([1, 1], [True, False]), ([7, 7], [False, False])])

    chart = rate_chart(["https://a.org/x", "https://a.org/y"], Gamma().estimate(seen))

    assert [row["page"] for row in rows_of(chart)] == ["1  /x", "2  /y"]
    assert chart["title"]["subtitle"][0] == "2 pages of https://a.org, the busiest first"
