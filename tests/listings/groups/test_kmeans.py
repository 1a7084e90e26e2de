"""Exact k-means on a line: the paper's tables, brute force, ties."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.listings.groups.partition import clusters

# As printed: negative. BMW, Ford, Honda, Dodge, Toyota; years 2000 to 2006.
MAKES = -np.array([0.058, 0.058, 0.065, 0.069, 0.075])
YEARS = -np.array([0.073, 0.070, 0.068, 0.063, 0.058, 0.059, 0.059])


def together(labels, names):
    """Groups of names, as sets."""
    return {frozenset(n for n, g in zip(names, labels, strict=True) if g == k) for k in set(labels)}


def groups(text):
    return {frozenset(part) for part in text.split()}


def squares(values, labels):
    return sum(np.sum((values[labels == k] - values[labels == k].mean()) ** 2) for k in set(labels))


@pytest.mark.parametrize(
    ("count", "expected"), [(1, "BFHDT"), (2, "BFH DT"), (3, "BF HD T"), (4, "BF H D T")]
)
def test_table_3_makes(count, expected):
    """From the printed rates; the text's own {B,F,H,D}{T} is no optimum."""
    assert together(clusters(MAKES, count), "BFHDT") == groups(expected)


@pytest.mark.parametrize(
    ("count", "expected"), [(2, "012 3456"), (3, "012 3 456"), (4, "0 12 3 456")]
)
def test_kmeans_years(count, expected):
    """Table 4, from the printed rates."""
    assert together(clusters(YEARS, count), "0123456") == groups(expected)


def test_two_groups_of_makes_are_an_exact_tie():
    """{B,F,H}{D,T} and {B,F}{H,D,T} both leave 50.667e-6; the text's {B,F,H,D}{T} 89e-6."""
    table, other, text = (
        np.array([0, 0, 0, 1, 1]),
        np.array([0, 0, 1, 1, 1]),
        np.array([0] * 4 + [1]),
    )

    assert squares(MAKES, table) == pytest.approx(50.667e-6, abs=1e-9)
    assert squares(MAKES, other) == pytest.approx(50.667e-6, abs=1e-9)
    assert squares(MAKES, text) == pytest.approx(89e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("events", "expected"), [([1, 1, 1, 1, 2], "BFH DT"), ([2, 2, 1, 1, 1], "BF HDT")]
)
def test_a_tie_goes_to_the_more_balanced_groups(events, expected):
    """3 and 3 events against 2 and 4; 5 and 2 against 4 and 3."""
    found = clusters(-MAKES, 2, events=np.array(events, float))

    assert together(found, "BFHDT") == groups(expected)


def test_a_balanced_tie_is_cut_first_from_below():
    """Three equal steps: the first of them."""
    assert clusters(np.array([0.0, 1.0, 2.0]), 2).tolist() == [0, 1, 1]


@given(
    st.lists(st.integers(0, 30), min_size=2, max_size=8),
    st.integers(1, 5),
    st.lists(st.integers(1, 9), min_size=8, max_size=8),
)
def test_no_other_stretches_are_closer(values, count, weights):
    """All ways to cut, tried one by one."""
    values, count = np.sort(np.array(values, float)), min(count, len(values))
    weight = np.array(weights[: len(values)], float)
    found = clusters(values, count, weights=weight)

    def cost(labels):
        return sum(
            np.sum(
                weight[labels == k]
                * (
                    values[labels == k]
                    - np.average(values[labels == k], weights=weight[labels == k])
                )
                ** 2
            )
            for k in set(labels.tolist())
        )

    best = min(
        cost(np.searchsorted(cuts, np.arange(len(values)), side="right"))
        for cuts in combinations(range(1, len(values)), count - 1)
    )
    assert len(set(found.tolist())) == count
    assert cost(found) == pytest.approx(best, abs=1e-6 * (1 + float(np.var(values))))


def test_as_many_groups_as_numbers_at_most():
    with pytest.raises(InvalidParameter, match="groups"):
        clusters(np.array([1.0, 2.0]), 3)
