"""Tables and sentences of the demo."""

import numpy as np
import pytest

from recrawl.demo.caught import Caught
from recrawl.demo.result import Costs, ExampleResult, HeldBands
from recrawl.demo.truth import BeliefComparison

COSTS = Costs(
    visits=1200,
    first=300,
    changed=400,
    nothing_new=480,
    cosmetic=90,
    elsewhere=20,
    not_modified=250,
    saved_bytes=512_000,
    sent_bytes=2_048_000,
    forbidden=0,
    alone=HeldBands(185, 192),
    together=HeldBands(35, 108),
)
CAUGHT = Caught(120, 1, 30, walled=8, taken_for_walls=7, syncs=12, recall=0.91)


def result(tenths, chances=None):
    freshness = BeliefComparison(tenths, tenths)
    calibration = chances or freshness
    return ExampleResult(20.0, freshness, tenths, calibration, [], COSTS, CAUGHT, 0)


def test_the_last_column_is_the_mean_of_the_tenths_that_there_are():
    tenths = np.full(10, np.nan)
    tenths[[3, 4]] = 0.5, 0.7

    header, rows = result(tenths).freshness_table()

    assert header[:3] == ["until day", "2", "4"]
    assert rows[0][:1] + rows[0][4:7] == ["expected", "50 %", "70 %", "-"]
    assert [row[0] for row in rows] == ["expected", "true", "uniform"]
    assert [row[-1] for row in rows] == ["60 %"] * 3


def test_the_first_sentence_compares_with_the_truth_and_with_visits_in_turn():
    expected, true, uniform = np.full(10, 0.84), np.full(10, 0.85), np.full(10, 0.78)
    freshness = BeliefComparison(expected, true)
    found = ExampleResult(60.0, freshness, uniform, freshness, [], COSTS, CAUGHT, 0)

    assert found.conclusion() == (
        "In 60 days 85 % of the copies were fresh on average; the crawl expected 84 %. With as "
        "many visits to all pages in turn, 78 % would have been fresh."
    )


def test_beliefs_stand_above_what_came_true():
    chances = BeliefComparison(np.array([0.5, 0.9]), np.array([0.48, 0.91]))

    header, rows = result(np.ones(10), chances).calibration_table()

    assert header == ["expected fresh", "50 %", "90 %"]
    assert rows == [["truly fresh", "48 %", "91 %"]]


@pytest.mark.parametrize(
    "words",
    [
        "1,200 visits: 300 first copies, 400 changed, 480 same, 20 gone or moved.",
        "90 of the unchanged pages differed in bytes, but not visibly.",
        "250 responses were 304 (not modified): 512.0 kB saved, 2.0 MB sent.",
        "Requests that robots.txt forbids: none.",
        "The 90 % band holds the true rate of 185 of 192 pages that change independently,",
    ],
)
def test_costs_are_told_in_words(words):
    assert words in COSTS.sentences()


def test_each_trick_of_the_site_has_a_row():
    assert [row[1:] for row in CAUGHT.rows()] == [
        ["120 visits", "1 false change"],
        ["always", "30 changes found"],
        ["8 responses", "7 visits postponed"],
        ["12 syncs", "91 % of its jobs in the copy, target 85 %"],
    ]
