"""One visit log has one answer, whichever door it comes through."""

import pytest

import recrawl
from recrawl.report.rates import COLUMNS
from tests.analysis.visits import DOORS, made

NOW = "2026-02-15"


@pytest.fixture(scope="module")
def log():
    return made()


@pytest.fixture(scope="module")
def expected(log):
    return recrawl.estimate(log, now=NOW).to_arrow()


@pytest.mark.parametrize("door", DOORS)
def test_rates_are_the_same_bit_for_bit(door, log, expected, tmp_path):
    found = recrawl.estimate(DOORS[door](log, tmp_path), now=NOW).to_arrow()

    assert found.column_names == list(COLUMNS)
    assert found.equals(expected)


@pytest.mark.parametrize("door", ["csv", "pandas", "polars lazy", "DuckDB", "visits"])
def test_trends_are_the_same_bit_for_bit(door, log, tmp_path):
    found = recrawl.trends(DOORS[door](log, tmp_path)).to_arrow()

    assert found.equals(recrawl.trends(log).to_arrow())


@pytest.mark.parametrize("frame", ["to_arrow", "to_pandas", "to_polars"])
def test_plans_of_estimates_and_of_their_frames_are_the_same(frame, log):
    rates = recrawl.estimate(log, now=NOW)

    plan = recrawl.plan(getattr(rates, frame)(), budget="3/1d")

    assert plan.to_arrow().equals(recrawl.plan(rates, budget="3/1d").to_arrow())
