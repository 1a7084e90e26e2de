"""Goodness of fit: what ΔT and the likelihood ratio do when there is nothing to find."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.groups.goodness import (
    benjamini_hochberg,
    binned_by_group,
    bonferroni,
    chance_above,
    edges,
    likelihood_ratio,
    misfit,
    pearson,
    threshold_for,
)


def pearson_as_printed(lifetimes, group, rates, bins):
    """Equation (8) to the letter: its bins hold the objects of all groups."""
    tables = binned_by_group(lifetimes, group, rates, bins)
    expected, observed = (table.sum(axis=0) for table in tables)
    return float(((expected - observed) ** 2 / expected).sum())


def gains(rng, rates, objects, runs):
    """Of two groups: ΔT with bins a group, ΔT as printed, likelihood ratio."""
    group = np.repeat([0, 1], objects)
    found = np.empty((runs, 3))
    for run in range(runs):
        lifetime = np.concatenate([rng.exponential(1 / rate, objects) for rate in rates])
        lifetimes = Lifetimes.of(lifetime, lifetime)
        days = np.bincount(group, lifetime).astype(np.float64)
        own, pooled = objects / days, np.full(2, 2 * objects / np.sum(days))
        bins = edges(lifetimes, objects)
        found[run] = (
            pearson(lifetimes, group, pooled, bins) - pearson(lifetimes, group, own, bins),
            pearson_as_printed(lifetimes, group, pooled, bins)
            - pearson_as_printed(lifetimes, group, own, bins),
            likelihood_ratio(np.full(2, float(objects)), days),
        )
    return found.T


@pytest.fixture(scope="module")
def alike():
    """Gains of 2,500 pairs of groups with the same rate."""
    return gains(np.random.default_rng(1), (0.05, 0.05), 300, 2500)


def test_likelihood_ratio_by_hand():
    """2 [10 ln .1 + 20 ln .2 - 30 ln .15]."""
    by_hand = 2 * (10 * np.log(0.1) + 20 * np.log(0.2) - 30 * np.log(0.15))

    assert likelihood_ratio(np.array([10.0, 20.0]), np.array([100.0, 100.0])) == pytest.approx(
        by_hand
    )
    assert misfit(np.array([0.0]), np.array([50.0])) == 0


@given(st.lists(st.tuples(st.integers(0, 100), st.floats(1, 1e4)), min_size=1, max_size=6))
def test_a_likelihood_ratio_is_never_negative(groups):
    removals, days = np.array(groups, float).T

    assert likelihood_ratio(removals, days) >= 0


def test_without_a_difference_pearson_with_bins_a_group_is_nearly_a_chi_square(alike):
    """Mean .89, variance 1.99, above 3.84 in 5 %, below 0 in 21 % of runs."""
    found, _, _ = alike

    assert np.mean(found) == pytest.approx(0.89, abs=0.08)
    assert np.var(found) == pytest.approx(1.99, abs=0.35)
    assert np.mean(found > 3.84) == pytest.approx(0.05, abs=0.012)
    assert np.mean(found < 0) == pytest.approx(0.21, abs=0.03), "finer is not always better"


def test_equation_8_as_printed_is_powerless(alike):
    """ΔT stays near 0, never above 1.5, whether rates are alike or differ by a third."""
    _, same, _ = alike
    own, differing, ratio = gains(np.random.default_rng(3), (0.043, 0.057), 300, 200)

    assert np.mean(same) == pytest.approx(0, abs=0.02)
    assert np.var(same) < 0.02
    assert np.mean(same > 1.5) == 0
    assert np.mean(differing > 1.5) < 0.1
    assert np.mean(own > 1.5) > 0.95
    assert np.mean(ratio > 1.5) > 0.95


def test_without_a_difference_the_likelihood_ratio_is_a_chi_square(alike):
    """Above 3.84 in 5.6 %, above the paper's 1.5 in 22 % of runs."""
    _, _, ratio = alike

    assert np.mean(ratio > 3.84) == pytest.approx(0.05, abs=0.012)
    assert np.mean(ratio > 1.5) == pytest.approx(0.2207, abs=0.02)
    assert np.min(ratio) >= 0


def test_bins_expect_five_objects_of_the_smallest_group_at_least():
    lifetimes = Lifetimes.of(10.0, 10.0, count=100)

    assert [len(edges(lifetimes, objects)) for objects in (3, 17, 25, 1000)] == [2, 3, 5, 10]


@given(
    st.lists(st.tuples(st.floats(0, 50), st.booleans()), min_size=3, max_size=30),
    st.floats(0.01, 0.5),
)
def test_every_object_is_in_one_bin_or_spread_over_several(rows, rate):
    age = np.array([days for days, _ in rows])
    high = np.where([alive for _, alive in rows], np.inf, age)
    bins = np.array([0.0, 5.0, 12.0])
    expected, observed = binned_by_group(
        Lifetimes.of(age, high), np.arange(len(age)) % 2, np.array([rate, 0.0]), bins
    )

    assert np.sum(expected) == pytest.approx(len(age))
    assert np.sum(observed) == pytest.approx(len(age))


def test_the_papers_threshold_accepts_every_fifth_split():
    assert chance_above(1.5, 1) == pytest.approx(0.2207, abs=1e-4)
    assert chance_above(3.841459, 1) == pytest.approx(0.05, abs=1e-6)
    assert chance_above(10.0, 0) == 1
    assert threshold_for(0.05) == pytest.approx(stats.chi2.ppf(0.95, 1))
    assert threshold_for(0.05, tests=4) == pytest.approx(stats.chi2.ppf(1 - 0.05 / 4, 1))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_chances_of_many_tests_are_scipys(chances):
    found = benjamini_hochberg(np.array(chances))

    assert found == pytest.approx(stats.false_discovery_control(chances, method="bh"), abs=1e-12)
    assert np.all(bonferroni(np.array(chances)) >= found - 1e-12)
