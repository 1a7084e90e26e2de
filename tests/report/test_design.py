"""A study as a table and as curves."""

import numpy as np
import pytest

from recrawl.rates import METHODS, Cho, accuracy, gaps_needed, unbiased_up_to
from recrawl.report.design import COLUMNS, DESIGNED, Study, curves, study_header, study_words

EXAMPLE_4 = Study(mean_interval=7.0, gap=10.5, gaps=10, precision=0.25)


def test_every_designed_method_is_a_method():
    assert set(DESIGNED) <= set(METHODS)


def test_the_figures_are_those_of_the_library():
    """Example 4 of Cho and Garcia-Molina: ten visits, 1.5 changes a gap."""
    columns = EXAMPLE_4.columns(["cho"])
    found = accuracy(Cho(), np.array([1 / 7]), gap=10.5, gaps=10)

    assert list(columns) == list(COLUMNS[1:])
    assert columns["changes_a_gap"] == [pytest.approx(1.5)]
    assert columns["bias"] == [pytest.approx(-0.003, abs=1e-4)]
    assert columns["sigma"] == found.sigma.tolist()
    assert columns["error"] == [pytest.approx(np.hypot(columns["bias"][0], columns["sigma"][0]))]
    assert columns["period_days"] == [105.0]
    assert columns["unbiased_up_to"] == pytest.approx([unbiased_up_to(Cho(), 10)])
    needed = gaps_needed(Cho(), 1 / 7, gap=10.5, precision=0.25)
    assert columns["gaps_needed"] == [needed]
    assert columns["period_needed_days"] == [10.5 * needed]


def test_the_precision_is_reached_at_the_visits_needed_and_not_before():
    needed = int(EXAMPLE_4.columns(["cho"])["gaps_needed"][0])
    errors = [
        accuracy(Cho(), np.array([1 / 7]), gap=10.5, gaps=gaps).error[0]
        for gaps in (needed - 1, needed)
    ]

    assert errors[0] > 0.25 >= errors[1]


def test_words_for_figures_that_are_none():
    """The ratio stays biased however often one looks; `malcolm` is biased for slow pages."""
    methods = ["ratio", "malcolm", "last-modified"]
    rows = study_words(methods, EXAMPLE_4.columns(methods))

    assert [len(row) for row in rows] == [len(study_header(EXAMPLE_4))] * 3
    assert rows[0][-2:] == ["never", "never"]
    assert rows[1][7] == "nowhere"
    assert rows[2][7] == "always"


def test_two_gaps_leave_an_infinite_sigma():
    study = Study(mean_interval=7.0, gap=10.0, gaps=2)
    rows = study_words(["last-modified"], study.columns(["last-modified"]))

    assert rows[0][2] == rows[0][3] == "infinite"


def test_curves_hold_the_accuracy_of_each_number_of_gaps():
    five, ten = curves(["cho"], [5, 10])
    expected = np.asarray(ten.changes_a_gap)

    assert (five.gaps, ten.gaps) == (5, 10)
    np.testing.assert_array_equal(ten.bias, accuracy(Cho(), expected, gap=1.0, gaps=10).bias)
    assert (np.asarray(five.sigma)[:20] > np.asarray(ten.sigma)[:20]).all()


def test_curves_of_several_methods_end_where_asked():
    ratio, cho = curves(["ratio", "cho"], [10], most=20.0)

    assert (ratio.method, cho.method) == ("ratio", "cho")
    assert ratio.changes_a_gap[-1] == pytest.approx(20.0)


def test_the_chance_to_be_close_and_the_bias_of_intervals():
    """Example 4: within 35 % three times in four; a mean age has no bias, whatever the gaps."""
    study = Study(mean_interval=7.0, gap=10.5, gaps=10, precision=0.35)
    columns = study.columns(["cho", "malcolm-age"])

    assert columns["within_precision"][0] == pytest.approx(0.75, abs=0.01)
    assert columns["interval_bias"][1] == 0.0
    assert study_header(study)[4] == "within 35 %"
