"""Bands for a chance of change: scipy's own as the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.rates.binomial import beta_quantile, clopper_pearson, for_each_pair

# Changed gaps, gaps.
pairs = st.integers(1, 300).flatmap(lambda gaps: st.tuples(st.integers(0, gaps), st.just(gaps)))


def test_without_a_change_the_upper_end_solves_a_power():
    """All ten gaps pass unchanged with chance (1 - high)^10 = 0.05."""
    low, high = clopper_pearson(np.array([0]), np.array([10]), 0.9)

    assert low.tolist() == [0.0]
    assert high == pytest.approx([1 - 0.05**0.1], rel=1e-12)


def test_where_everything_changed_the_lower_end_solves_a_power():
    """All ten gaps change with chance low^10 = 0.05."""
    low, high = clopper_pearson(np.array([10]), np.array([10]), 0.9)

    assert low == pytest.approx([0.05**0.1], rel=1e-12)
    assert high.tolist() == [1.0]


def test_without_a_gap_every_chance_is_possible():
    low, high = clopper_pearson(np.array([0]), np.array([0]), 0.9)

    assert (low.tolist(), high.tolist()) == ([0.0], [1.0])


def test_without_pages_there_are_no_bands():
    none = np.array([], np.int64)
    low, high = clopper_pearson(none, none, 0.9)

    assert (len(low), len(high)) == (0, 0)


@given(st.lists(pairs, min_size=1, max_size=8), st.sampled_from([0.5, 0.8, 0.9, 0.99, 0.999]))
def test_the_band_is_the_exact_one_of_scipy(pages, level):
    changed, gaps = np.array(pages, np.int64).T
    low, high = clopper_pearson(changed, gaps, level)

    for page, (x, n) in enumerate(pages):
        exact = stats.binomtest(x, n).proportion_ci(level, method="exact")
        assert low[page] == pytest.approx(exact.low, rel=1e-9)
        assert high[page] == pytest.approx(exact.high, rel=1e-9)


@given(st.floats(0.01, 1e4), st.floats(0.01, 1e4), st.floats(1e-4, 1 - 1e-4))
def test_a_quantile_has_its_probability_below_it(a, b, probability):
    """Where scipy can tell two neighbouring floats apart: not right at 0 or 1."""
    quantile = beta_quantile(np.array([a]), np.array([b]), probability)[0]

    if 1e-12 < quantile < 1 - 1e-12:
        assert stats.beta.cdf(quantile, a, b) == pytest.approx(probability, rel=1e-3, abs=1e-6)


@given(st.lists(pairs, max_size=30), st.integers(1, 3))
def test_working_on_pairs_is_the_same_as_working_on_rows(pages, copies):
    """Whether they are sorted (few pages) or counted (many)."""
    changed, gaps = np.array(pages * copies, np.int64).reshape(-1, 2).T
    found = for_each_pair(changed, gaps, lambda x, n: x / n)

    assert found.tolist() == (changed / gaps).tolist()


@pytest.mark.parametrize("pages", [3, 1000])
def test_each_pair_is_worked_out_once(pages):
    """Three pages are sorted, a thousand are counted: either way there are at most three pairs."""
    changed, gaps = np.arange(pages) % 3, np.full(pages, 5)
    calls = []

    def work(x, n):
        calls.append(list(zip(x.tolist(), n.tolist(), strict=True)))
        return x / n

    for_each_pair(changed, gaps, work)
    assert calls == [[(0, 5), (1, 5), (2, 5)]]
