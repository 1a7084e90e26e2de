"""Negative binomial arrivals: scipy's quantiles, coverage, weekdays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.errors import InvalidParameter
from recrawl.listings.models.negative_binomial import NegativeBinomialArrivals


def test_moments():
    """Mean 4, variance 32/3: k = 16 / (32/3 - 4) = 2.4."""
    found = NegativeBinomialArrivals.fit(np.array([0.0, 4.0, 4.0, 8.0]))

    assert (found.mean, found.dispersion) == pytest.approx((4, 2.4))


def test_no_more_variance_than_mean_is_poisson():
    found = NegativeBinomialArrivals.fit(np.array([3.0, 4.0, 5.0]))

    assert found.dispersion == np.inf
    assert found.quantile_of_one_rate(2, 0.9) == stats.poisson.ppf(0.9, 8)


def test_nothing_seen_and_nothing_coming():
    assert np.isnan(NegativeBinomialArrivals.fit(np.array([])).mean)
    assert np.isnan(NegativeBinomialArrivals.fit_by_weekday(np.array([]), np.array([], int)).mean)
    assert NegativeBinomialArrivals.fit(np.zeros(9)).quantile_of_independent_days(7, 0.99) == 0


def test_a_dispersion_is_positive():
    with pytest.raises(InvalidParameter, match="dispersion"):
        NegativeBinomialArrivals(1.0, 0.0)


@given(
    st.floats(0.1, 500),
    st.floats(0.1, 100),
    st.integers(1, 30),
    st.sampled_from([0.05, 0.5, 0.9, 0.975]),
)
def test_quantiles_are_scipys(mean, dispersion, days, probability):
    """NB(dk) for independent days, NB(k) with mean dm for one shared rate."""
    found = NegativeBinomialArrivals(mean, dispersion)
    chance = dispersion / (dispersion + mean)
    shared = dispersion / (dispersion + days * mean)

    for ours, theirs in (
        (
            found.quantile_of_independent_days(days, probability),
            stats.nbinom(days * dispersion, chance),
        ),
        (found.quantile_of_one_rate(days, probability), stats.nbinom(dispersion, shared)),
    ):
        assert theirs.cdf(ours) >= probability - 1e-9
        assert ours == 0 or theirs.cdf(ours - 1) < probability + 1e-9


def test_one_shared_rate_is_wider():
    found = NegativeBinomialArrivals(10.0, 3.0)

    assert found.quantile_of_one_rate(14, 0.95) > found.quantile_of_independent_days(14, 0.95)
    assert found.quantile_of_one_rate(14, 0.05) < found.quantile_of_independent_days(14, 0.05)


def test_weekdays_multiply_the_mean():
    rng = np.random.default_rng(1)
    factors = np.array([1.3, 1.3, 1.2, 1.2, 1.2, 0.5, 0.3])
    weekday = np.arange(7 * 200) % 7
    counts = rng.negative_binomial(4, 4 / (4 + 10 * factors[weekday])).astype(float)
    found = NegativeBinomialArrivals.fit_by_weekday(counts, weekday)

    assert found.weekdays == pytest.approx(factors, rel=0.1)
    assert found.mean == pytest.approx(10, rel=0.05)
    assert found.dispersion == pytest.approx(4, rel=0.25)
    assert found.expected(2, weekday=5) == pytest.approx(8, rel=0.15)
    plain = NegativeBinomialArrivals.fit(counts)
    assert plain.dispersion < found.dispersion, "weekdays explain part of the spread"


def test_predicted_quantiles_hold():
    """Of independent weeks 90 % stay at or below the 0.9 quantile."""
    rng = np.random.default_rng(2)
    days = rng.negative_binomial(2, 2 / 12, (4000, 7)).sum(axis=1)
    found = NegativeBinomialArrivals(10.0, 2.0)

    assert np.mean(days <= found.quantile_of_independent_days(7, 0.9)) == pytest.approx(
        0.9, abs=0.02
    )
