"""Runs as rows and as a chart."""

from __future__ import annotations

import json

import numpy as np
import pytest

from recrawl.report.charts.simulation import BudgetLine, budget_chart
from recrawl.report.charts.vega import DARK
from recrawl.report.simulation import HEADER, SimulationEntry, simulation_columns, simulation_words
from recrawl.simulate.bands import Band
from tests.report.columns import SIMULATION_COLUMNS
from tests.simulate.made import Timetable, run, world


def entry(policy="ours", **visits):
    found = run(world([1.0], end=4.0), policy=Timetable({0: visits.get("days", [0.0, 2.0])}))
    return SimulationEntry(policy, found, Band(found.staleness, 0.2, 0.3), 1.23456)


def test_every_column_has_a_figure():
    columns = simulation_columns([entry(), entry("theirs")])

    assert ("policy", *columns) == SIMULATION_COLUMNS
    assert {name: column.tolist()[0] for name, column in columns.items()} == {
        "freshness": 0.75,
        "staleness": 0.25,
        "staleness_low": 0.2,
        "staleness_high": 0.3,
        "age_days": 0.125,
        "harmonic": 0.25,
        "found": 1,
        "changes": 1,
        "visits": 2,
        "premature": 1,
        "precision": 0.5,
        "never_visited": 0,
        "seconds": 1.235,
    }


def test_rows_for_people():
    assert simulation_words([entry()]) == [
        ["ours", "75.0 %", "25.00 (20.00-30.00) %", "3.0h", "0.2500", "2", "1 (50 %)", "0", "1.2s"]
    ]
    assert len(simulation_words([entry()])[0]) == len(HEADER)


def test_what_is_not_known_is_a_dash():
    nan = float("nan")
    some = run(world([1.0], gone=[3.0], end=9.0).after(5.0), policy=Timetable({}))

    words = simulation_words([SimulationEntry("ours", some, Band(nan, nan, nan), 0.0)])[0]

    assert words[1:5] == ["-", "-", "-", "-"]
    assert words[6] == "0 (-)"


def lines(*names):
    return [
        BudgetLine(name, [1.0, 2.0, 4.0], [0.5 + place / 100, 0.7, 0.9])
        for place, name in enumerate(names)
    ]


def test_the_freshest_comes_first():
    chart = budget_chart(lines("worst", "middle", "best"), unit="visits a change", title="T")

    assert chart["encoding"]["color"]["scale"]["domain"] == ["best", "middle", "worst"]
    assert chart["encoding"]["x"]["axis"]["values"] == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("count", [0, 1, 30])
def test_any_number_of_lines_is_a_chart(count):
    chart = budget_chart(
        lines(*map(str, range(count))), unit="visits a day", title="T", colours=DARK
    )

    assert len(chart["encoding"]["color"]["scale"]["domain"]) == count
    assert json.dumps(chart, allow_nan=False)


def test_figures_that_are_none_are_left_out():
    chart = budget_chart(
        [BudgetLine("a", [1.0, 2.0], [np.nan, 0.5])], unit="visits a day", title="T"
    )

    assert len(chart["data"]["values"]) == 1
