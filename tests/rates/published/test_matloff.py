"""The plain most likely rate for regular access."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Likelihood, Status
from recrawl.rates import Cho, Matloff, MomentMatching
from tests.rates.pages import chances, coverage, every_outcome, regular_page
from tests.strategies import days, history_of


def test_cho_ex1():
    """X = 6 of n = 10 daily gaps: -ln(1 - X/n)."""
    estimates = Matloff().estimate(history_of(regular_page(6, 10)))

    assert estimates.rate == pytest.approx([0.916291], abs=1e-6)
    assert estimates.status.tolist() == [Status.OK]


def test_changes_counted_are_those_observed():
    """algorithms.md 6.4: M_n are gaps with an observed change; Singh prints "unobserved".

    Read as printed, ten gaps of which six changed would give -ln(1 - 4/10), a page that never
    changed an infinite rate, and the mean estimate would fall where the rate rises.
    """
    changed = np.arange(1, 10)
    observed = Matloff().estimate(every_outcome(10)).rate[1:-1]
    as_printed = -np.log1p(-(10 - changed) / 10)

    assert observed == pytest.approx(-np.log1p(-changed / 10), rel=1e-12)
    for returned, rises in ((observed, True), (as_printed, False)):
        slow, fast = (np.average(returned, weights=chances(rate, 10)[1:-1]) for rate in (0.2, 1.0))
        assert (fast > slow) == rises


def test_without_a_change_the_rate_is_zero():
    estimates = Matloff(level=0.9).estimate(history_of(regular_page(0, 5, 4.0)))

    assert estimates.rate.tolist() == [0.0]
    assert estimates.high == pytest.approx([-math.log(0.05) / 20], rel=1e-9)
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@pytest.mark.parametrize("gaps", [1, 2, 10])
def test_where_every_gap_changed_the_rate_is_infinite(gaps):
    """The lower end still says something: all gaps change with chance 0.05 there."""
    estimates = Matloff(level=0.9).estimate(history_of(regular_page(gaps, gaps)))

    assert estimates.rate.tolist() == [np.inf]
    assert estimates.low == pytest.approx([-math.log1p(-(0.05 ** (1 / gaps)))], rel=1e-9)
    assert estimates.status.tolist() == [Status.ALL_CHANGED]
    assert np.isnan([estimates.shape, estimates.exposure]).all()


def test_a_page_without_gaps_has_no_rate():
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = Matloff().estimate(history_of([], [], first_visit=first_visit))

    assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
    assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


@pytest.mark.parametrize("gaps", [1, 2, 3, 10, 150])
def test_it_lies_above_cho_wherever_anything_changed(gaps):
    """algorithms.md 6.4: lambda_norman > lambda_cho for X > 0, with either correction."""
    plain = Matloff().estimate(every_outcome(gaps)).rate
    for cho in (Cho("half"), Cho("exact")):
        corrected = cho.estimate(every_outcome(gaps)).rate

        assert (plain[1:] > corrected[1:]).all()
        assert plain[0] == corrected[0] == 0


@given(changed=st.integers(0, 30), quiet=st.integers(1, 30), gap=days)
def test_equal_gaps_give_the_most_likely_rate(changed, quiet, gap):
    """The likelihood and the matching of moments both come down to this formula."""
    history = history_of(regular_page(changed, changed + quiet, gap))
    rate = Matloff().estimate(history).rate

    assert rate == pytest.approx(Likelihood(singularity="none").estimate(history).rate, rel=1e-9)
    assert rate == pytest.approx(MomentMatching().estimate(history).rate, rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("gaps", [1, 2, 5, 10, 40, 150])
def test_the_band_holds_the_truth_at_least_as_often_as_promised(gaps, level):
    """For every rate, by exact sums over the outcomes."""
    held = coverage(Matloff(level), np.geomspace(1e-4, 12, 400), gaps)

    assert (held >= level - 1e-9).all()
