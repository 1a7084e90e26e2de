"""Gamma arrivals: scipy's fit as the oracle, and the cases without one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.listings.models.gamma_arrivals import GammaArrivals


def test_the_most_likely_shape_is_scipys():
    counts = np.array([31.0, 44, 28, 52, 39, 61, 25, 40])
    shape, _, scale = stats.gamma.fit(counts, floc=0)
    found = GammaArrivals.fit(counts)

    assert (found.shape, found.scale) == pytest.approx((shape, scale), rel=1e-6)


@given(st.lists(st.floats(0.1, 1000), min_size=2, max_size=30).filter(lambda x: len(set(x)) > 1))
def test_no_other_shape_is_more_likely(counts):
    counts = np.array(counts)
    found = GammaArrivals.fit(counts)

    def height(shape):
        return float(np.sum(stats.gamma.logpdf(counts, shape, scale=found.mean / shape)))

    best = height(found.shape)
    tolerance = 1e-7 * abs(best) + 1e-7
    assert best + tolerance >= height(found.shape * 1.01)
    assert best + tolerance >= height(found.shape / 1.01)


def test_days_without_arrivals_leave_the_moments():
    """Mean 4, sample variance 32/3: shape 16 / (32/3)."""
    found = GammaArrivals.fit(np.array([0.0, 4.0, 4.0, 8.0]))

    assert found.shape == pytest.approx(1.5)
    assert found.variance == pytest.approx(32 / 3)


def test_no_arrivals_at_all_mean_none_to_come():
    found = GammaArrivals.fit(np.zeros(5))

    assert (found.mean, found.quantile(7, 0.99)) == (0, 0)


def test_equal_days_stay_equal():
    found = GammaArrivals.fit(np.full(5, 3.0))

    assert (found.mean, found.variance, found.quantile(7, 0.01)) == (3, 0, 21)


def test_without_days_there_is_nothing_to_say():
    assert np.isnan(GammaArrivals.fit(np.array([])).mean)


def test_days_add_up_to_a_gamma_of_more_shape():
    found = GammaArrivals(mean=5.0, shape=2.0)

    assert found.quantile(7, 0.9) == pytest.approx(stats.gamma.ppf(0.9, 14, scale=2.5), rel=1e-6)


def test_the_fit_finds_what_was_drawn():
    counts = np.random.default_rng(1).gamma(3.0, 10.0, 20_000)

    assert GammaArrivals.fit(counts).shape == pytest.approx(3.0, rel=0.03)
