"""The mean age of the last change in a gap, against hand calculations and a simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.rates.last_change import last_change_share


def test_one_expected_change_has_the_closed_form():
    """1 / 1 - 1 / (e - 1)."""
    assert last_change_share(1.0) == pytest.approx(1 - 1 / (math.e - 1))


def test_a_page_that_rarely_changes_did_so_in_the_middle_of_its_gap():
    assert last_change_share(0.0) == 0.5
    assert last_change_share(1e-9) == pytest.approx(0.5)


@given(st.floats(0, 1e9))
def test_the_more_changes_the_younger_the_last_of_them(expected):
    share = last_change_share(expected)

    assert 0 <= share <= 0.5
    assert share <= last_change_share(expected * 0.9)
    assert share * expected <= 1  # never older than one mean interval


def test_the_series_for_few_changes_meets_the_formula():
    below, above = last_change_share(1e-3 * (1 - 1e-12)), last_change_share(1e-3)

    assert below == pytest.approx(above, abs=1e-12)


@pytest.mark.parametrize("expected", [0.2, 1.0, 3.0, 10.0])
def test_it_is_what_simulated_pages_show(expected):
    """Changes at random instants: of the gaps that have any, the mean age of the last."""
    random = np.random.default_rng(3)
    counts = random.poisson(expected, 200_000)
    counts = counts[counts > 0]
    ages = 1 - random.random(len(counts)) ** (1 / counts)  # the largest of n uniform instants

    assert last_change_share(expected) == pytest.approx(ages.mean(), abs=4e-3)
