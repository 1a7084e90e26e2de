"""Precision and recall under arrivals and survival: the vectors, the balance, the limits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.models.delta_method import (
    newcomers,
    precision_after,
    published_band,
    recall_after,
)

rates = st.floats(1e-6, 1)


def test_recall_steady():
    """Rate .058, 40 a day: 709.8485 objects stay, and recall is precision, .559898 at 10 days."""
    days = np.array([1.0, 10.0, 30.0])
    steady = 40 / -np.expm1(-0.058)
    recall = recall_after(days, 0.058, 40.0, steady)

    assert steady == pytest.approx(709.8485, abs=1e-4)
    assert recall == pytest.approx(precision_after(days, 0.058), abs=1e-12)
    assert recall[1] == pytest.approx(0.559898, abs=1e-6)
    kept = steady * precision_after(days, 0.058)
    assert kept + newcomers(days, 0.058, 40.0) == pytest.approx([steady] * 3, rel=1e-12)


@given(rates, st.floats(0.1, 1000), st.integers(1, 40))
def test_newcomers_add_up_day_by_day(rate, arrivals, days):
    each = arrivals * np.exp(-rate * np.arange(days))

    assert newcomers(np.array([days]), rate, arrivals) == pytest.approx([np.sum(each)], rel=1e-9)


def test_where_nothing_vanishes_all_arrivals_remain():
    """The limit of the formula as the rate goes to 0 is m d."""
    days = np.array([7.0])

    assert newcomers(days, 0.0, 40.0).tolist() == [280.0]
    assert newcomers(days, 1e-12, 40.0) == pytest.approx([280.0], rel=1e-9)
    assert precision_after(days, 0.0).tolist() == [1.0]
    assert recall_after(days, 0.0, 40.0, 280.0).tolist() == [0.5]


def test_an_empty_source_has_a_perfect_copy():
    assert recall_after(np.array([7.0]), 0.1, 0.0, 0.0).tolist() == [1.0]


@given(rates, st.floats(0, 1000), st.floats(1, 1e5))
def test_recall_falls_with_time_and_stays_a_share(rate, arrivals, copied):
    recall = recall_after(np.arange(0.0, 40.0), rate, arrivals, copied)

    assert np.all((recall >= 0) & (recall <= 1))
    assert np.all(np.diff(recall) <= 1e-12)


def test_the_papers_band_holds_what_the_binomial_does():
    """Given the true rate, 95 % of outcomes of the model itself."""
    rng = np.random.default_rng(3)
    share = precision_after(np.array([10.0]), 0.05)
    low, high = published_band(share, copied=500.0, confidence=0.95)
    seen = rng.binomial(500, share[0], 20_000) / 500

    assert np.mean((seen >= low) & (seen <= high)) == pytest.approx(0.95, abs=0.012)


def test_the_papers_band_stays_within_0_and_1():
    low, high = published_band(np.array([0.01, 0.99]), copied=5.0, confidence=0.95)

    assert (low[0], high[1]) == (0, 1)
    with pytest.raises(InvalidParameter, match="confidence"):
        published_band(low, 5.0, 1.0)
