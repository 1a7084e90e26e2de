"""What the methods for regular access read of a history, and the figures they share."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Flag, Status
from recrawl.rates import Beta, Cho, Matloff
from recrawl.rates.published.regular import Regular
from tests.rates.pages import regular_page
from tests.strategies import history_of, pages

METHODS = [Cho(), Cho("exact"), Matloff(), Beta()]


def test_gaps_are_counted_and_their_length_averaged():
    """Two changes in three gaps of 1, 2 and 3 days."""
    seen = Regular.of(history_of([(1.0, True), (2.0, False), (3.0, True)]))

    assert (seen.changes.tolist(), seen.gaps.tolist()) == ([2], [3])
    assert (seen.length.tolist(), seen.visits.tolist()) == ([2.0], [4])


def test_a_page_without_gaps_has_no_length():
    seen = Regular.of(history_of([], [(4.0, True)]))

    assert np.isnan(seen.length[0])
    assert seen.length[1] == 4.0
    assert seen.flags.tolist() == [0, 0]


@pytest.mark.parametrize(("apart", "irregular"), [(0.0, False), (0.29, False), (0.31, True)])
def test_gaps_are_irregular_beyond_a_variation_of_three_tenths(apart, irregular):
    """Gaps of 1 - d and 1 + d have the coefficient of variation d."""
    seen = Regular.of(history_of([(1 - apart, True), (1 + apart, False)] * 5))

    assert bool(seen.flags[0] & Flag.IRREGULAR_GAPS) == irregular


def test_the_jitter_of_a_polite_crawler_is_regular_enough():
    """beyond.md 3: gaps times a uniform number from 0.75 to 1.25."""
    chance = np.random.default_rng(11)
    jittered = [[(gap, False) for gap in chance.uniform(0.75, 1.25, 5)] for _ in range(500)]

    assert not Regular.of(history_of(*jittered)).flags.any()


def test_flags_of_the_history_are_kept():
    history = history_of([(1.0, True), (9.0, False)], flags=np.array([Flag.GONE], np.uint32))

    assert Regular.of(history).flags.tolist() == [Flag.GONE | Flag.IRREGULAR_GAPS]
    assert history.flags.tolist() == [Flag.GONE]


@given(page=pages)
def test_counts_and_length_are_those_of_a_plain_loop(page):
    seen = Regular.of(history_of(page))

    assert seen.changes.tolist() == [sum(gap.changed for gap in page)]
    assert seen.gaps.tolist() == [len(page)]
    assert seen.length == pytest.approx([math.fsum(gap.gap for gap in page) / len(page)])


@pytest.mark.parametrize("method", METHODS)
@given(changed=st.integers(1, 30), quiet=st.integers(1, 30), days=st.floats(0.01, 100))
def test_the_gamma_has_the_information_of_the_gaps(method, changed, quiet, days):
    """Expected information about ln r of n gaps: n (dtheta / d ln r)^2 / (theta (1 - theta)).

    theta = 1 - e^-x for x changes a gap, its slope in ln x by a central difference.
    """
    n = changed + quiet
    estimates = method.estimate(history_of(regular_page(changed, n, days)))
    x, step = estimates.rate[0] * days, 1e-5

    theta, slope = -math.expm1(-x), (math.exp(-x * (1 - step)) - math.exp(-x * (1 + step))) / 2
    information = n * (slope / step) ** 2 / (theta * (1 - theta))
    assert estimates.shape == pytest.approx([max(information, 0.1)], rel=1e-6)
    assert estimates.shape / estimates.exposure == pytest.approx(estimates.rate, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_dates_and_counts_make_no_difference(method):
    """Only whether a gap changed is asked."""
    told = [(2.0, True, 0.5), (2.0, False), (2.0, True, np.nan, 7)]
    plain = [(2.0, True), (2.0, False), (2.0, True)]

    one, other = method.estimate(history_of(told, plain)).rate
    assert one == other


@pytest.mark.parametrize("method", METHODS)
def test_gaps_over_eight_orders_of_magnitude_are_flagged_and_still_give_finite_figures(method):
    """The average gap stands for all, and the flag says that it should not."""
    page = [(10.0**exponent, exponent % 2 == 0) for exponent in range(-4, 5)]
    estimates = method.estimate(history_of(page))

    assert estimates.flags.tolist() == [Flag.IRREGULAR_GAPS]
    assert estimates.status.tolist() == [Status.OK]
    for figure in ("rate", "low", "high", "shape", "exposure"):
        assert np.isfinite(getattr(estimates, figure)).all()
