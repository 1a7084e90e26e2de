"""Empirical Bayes: closer to the truth than the groups' own rates, and than one rate for all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.listings.groups.shrinkage import shrunk_rates


def test_a_rate_is_the_prior_and_the_removals_together():
    """(a0 + D) / (b0 + E)."""
    removals, days = np.array([3.0, 40.0, 9.0, 0.0]), np.array([100.0, 200.0, 300.0, 50.0])
    found = shrunk_rates(removals, days)

    assert found.rate == pytest.approx((found.shape + removals) / (found.exposure + days))


def test_the_prior_is_found():
    """Two thousand groups with rates drawn from a Gamma of shape 3 and exposure 60."""
    rng = np.random.default_rng(1)
    days = rng.uniform(20, 400, 2000)
    removals = rng.poisson(rng.gamma(3, 1 / 60, 2000) * days).astype(float)
    found = shrunk_rates(removals, days)

    assert (found.shape, found.exposure) == pytest.approx((3, 60), rel=0.12)


def test_shrunk_rates_are_nearer_than_either_extreme():
    rng = np.random.default_rng(2)
    errors = np.zeros(3)
    for _ in range(50):
        rate, days = rng.gamma(4, 0.05 / 4, 40), rng.uniform(20, 400, 40)
        removals = rng.poisson(rate * days).astype(float)
        tries = (shrunk_rates(removals, days).rate, removals / days, removals.sum() / days.sum())
        errors += [np.mean((each - rate) ** 2) for each in tries]

    assert errors[0] < 0.8 * errors[1]
    assert errors[0] < 0.8 * errors[2]


def test_bands_hold_what_they_say():
    rng = np.random.default_rng(3)
    rate, days = rng.gamma(3, 0.02, 3000), rng.uniform(20, 400, 3000)
    low, high = shrunk_rates(rng.poisson(rate * days).astype(float), days).band(0.9)

    assert np.mean((low <= rate) & (rate <= high)) == pytest.approx(0.9, abs=0.02)


def test_no_other_prior_is_more_likely():
    """The removals are negative binomial with shape a and chance b / (b + E)."""
    rng = np.random.default_rng(4)
    days = rng.uniform(20, 400, 60)
    removals = rng.poisson(rng.gamma(2, 0.02, 60) * days).astype(float)
    found = shrunk_rates(removals, days)

    def height(shape, exposure):
        return float(np.sum(stats.nbinom.logpmf(removals, shape, exposure / (exposure + days))))

    best = height(found.shape, found.exposure)
    for a in (0.98, 1.0, 1.02):
        for b in (0.98, 1.0, 1.02):
            assert best >= height(found.shape * a, found.exposure * b) - 1e-6


@given(st.lists(st.tuples(st.integers(0, 200), st.floats(0.5, 1e4)), min_size=1, max_size=12))
def test_rates_lie_between_the_groups_own_and_the_mean_of_the_prior(groups):
    removals, days = np.array(groups, float).T
    found = shrunk_rates(removals, days)

    if np.isfinite(found.shape):
        middle, own = found.shape / found.exposure, removals / days
        assert np.all(found.rate >= np.minimum(middle, own) * (1 - 1e-9))
        assert np.all(found.rate <= np.maximum(middle, own) * (1 + 1e-9))
    else:
        assert np.all(found.rate == found.rate[0])
        assert found.band(0.9)[0] is found.rate


def test_without_removals_all_rates_are_0():
    assert shrunk_rates(np.zeros(3), np.full(3, 10.0)).rate.tolist() == [0, 0, 0]
    assert np.isnan(shrunk_rates(np.zeros(1), np.zeros(1)).rate[0])


def test_one_group_alone_keeps_its_rate():
    assert shrunk_rates(np.array([7.0]), np.array([100.0])).rate == pytest.approx([0.07], rel=1e-3)
