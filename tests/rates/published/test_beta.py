"""The Beta prior on the chance of change: its formula, and scipy's Beta distribution as oracle."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl import Status
from recrawl.errors import InvalidParameter
from recrawl.rates import Beta
from tests.rates.pages import coverage, regular_page
from tests.strategies import history_of


def test_cho_ex1():
    """Uniform prior: -ln((n - X + 1) / (n + 2)) with X = 6, n = 10."""
    estimates = Beta().estimate(history_of(regular_page(6, 10)))

    assert estimates.rate == pytest.approx([0.875469], abs=1e-6)
    assert estimates.status.tolist() == [Status.OK]


def test_the_prior_counts_as_gaps_seen():
    """alpha = 2 and beta = 3 are two changed and three unchanged gaps more."""
    estimates = Beta(alpha=2.0, beta=3.0).estimate(history_of(regular_page(6, 10, 4.0)))

    assert estimates.rate == pytest.approx([-math.log(1 - 8 / 15) / 4], rel=1e-12)


def test_without_a_change_the_rate_is_above_zero():
    """Unlike Cho's: ln(12 / 11) after ten quiet gaps (algorithms.md 1.4)."""
    estimates = Beta().estimate(history_of(regular_page(0, 10)))

    assert estimates.rate == pytest.approx([math.log(12 / 11)], rel=1e-12)
    assert estimates.low[0] > 0
    assert estimates.status.tolist() == [Status.NO_CHANGE_SEEN]


@pytest.mark.parametrize("gaps", [1, 10])
def test_where_every_gap_changed_the_rate_is_finite(gaps):
    """ln(n + 2), the largest rate from so many gaps: saturated; the band has an upper end."""
    estimates = Beta().estimate(history_of(regular_page(gaps, gaps)))

    assert estimates.rate == pytest.approx([math.log(gaps + 2)], rel=1e-12)
    assert np.isfinite(estimates.high).all()
    assert estimates.status.tolist() == [Status.SATURATED]


def test_a_page_without_gaps_has_no_rate():
    """The prior speaks of a gap, and how long one is nobody knows yet."""
    first_visit = np.array(["2026-01-01", "NaT"], "datetime64[us]")
    estimates = Beta().estimate(history_of([], [], first_visit=first_visit))

    assert np.isnan([estimates.rate, estimates.low, estimates.high, estimates.shape]).all()
    assert estimates.status.tolist() == [Status.ONE_VISIT, Status.NO_VISITS]


@given(
    changed=st.integers(0, 40),
    quiet=st.integers(0, 40),
    prior=st.tuples(st.floats(0.5, 20), st.floats(0.5, 20)),
    level=st.sampled_from([0.5, 0.9, 0.99]),
)
def test_the_band_has_the_quantiles_of_the_posterior(changed, quiet, prior, level):
    """Beta(X + alpha, n - X + beta), turned into rates; widened where the rate lies outside."""
    n = max(changed + quiet, 1)
    x = min(changed, n)
    posterior = stats.beta(x + prior[0], n - x + prior[1])
    estimates = Beta(prior[0], prior[1], level).estimate(history_of(regular_page(x, n, 2.0)))

    low, high = (-math.log1p(-posterior.ppf(p)) / 2 for p in ((1 - level) / 2, (1 + level) / 2))
    rate = -math.log1p(-posterior.mean()) / 2
    assert estimates.rate == pytest.approx([rate], rel=1e-9)
    assert estimates.low == pytest.approx([min(low, rate)], rel=1e-6)
    assert estimates.high == pytest.approx([max(high, rate)], rel=1e-6)


@pytest.mark.parametrize("gaps", [1, 5, 20])
def test_the_band_holds_a_chance_from_the_prior_as_often_as_promised(gaps):
    """Averaged over a uniform chance of change; the rate is -ln(1 - chance).

    The mean over 4000 midpoints; the band's ends fall between two of them, n + 1 times each.
    """
    chance = (np.arange(4000) + 0.5) / 4000
    held = coverage(Beta(level=0.9), -np.log1p(-chance), gaps)

    assert held.mean() == pytest.approx(0.9, abs=2 / 4000)


def test_a_prior_that_hardly_believes_in_quiet_gaps_has_an_open_band():
    """Beta(11, 0.01) has its upper quantile within 0.05^100 of 1: no float, so no upper end."""
    estimates = Beta(alpha=1.0, beta=0.01).estimate(history_of(regular_page(10, 10)))

    assert estimates.rate == pytest.approx([math.log(11.01 / 0.01)], rel=1e-9)
    assert estimates.high.tolist() == [np.inf]


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf, np.nan])
@pytest.mark.parametrize("name", ["alpha", "beta"])
def test_a_prior_that_is_no_distribution_is_refused(name, value):
    with pytest.raises(InvalidParameter, match=f"{name} must be a positive, finite number"):
        Beta(**{name: value})
