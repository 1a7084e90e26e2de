"""Pages sorted so that those with a gap of each rank are a prefix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.rates.ranks import most_first

counts_of_pages = st.lists(st.integers(0, 9), max_size=30)


def test_pages_with_most_gaps_come_first():
    order, ranks = most_first(np.array([1, 3, 0, 3]))

    assert order.tolist() == [1, 3, 0, 2]
    assert ranks == [3, 2, 2]


def test_without_pages_there_are_no_ranks():
    order, ranks = most_first(np.array([], np.int64))

    assert order.tolist() == []
    assert ranks == []


def test_without_gaps_there_are_no_ranks():
    order, ranks = most_first(np.array([0, 0]))

    assert order.tolist() == [0, 1]
    assert ranks == []


@given(counts_of_pages)
def test_each_rank_counts_the_pages_that_reach_it(counts):
    """Rank k is reached by the pages with more than k gaps."""
    _, ranks = most_first(np.array(counts, np.int64))

    assert ranks == [
        sum(count > rank for count in counts) for rank in range(max(counts, default=0))
    ]


@given(counts_of_pages)
def test_the_order_is_a_stable_sort(counts):
    """Pages with equally many gaps keep their order, so that results do not wander."""
    order, _ = most_first(np.array(counts, np.int64))

    assert order.tolist() == sorted(range(len(counts)), key=lambda page: -counts[page])


@pytest.mark.parametrize("most", [2**16 - 1, 2**16, 2**16 + 1])
def test_a_page_may_have_more_gaps_than_a_small_integer_holds(most):
    """Counts are sorted as 16-bit numbers where they fit: the switch must not show."""
    order, ranks = most_first(np.array([0, most, 1, 2**15]))

    assert order.tolist() == [1, 3, 2, 0]
    assert len(ranks) == most
    assert ranks[:2] == [3, 2]
    assert ranks[-1] == 1
