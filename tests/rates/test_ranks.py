"""Pages sorted so that those with a gap of each rank are a prefix."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl import Histories
from recrawl.rates.ranks import most_first, over_ranks, total_in_order
from tests.strategies import histories

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


@given(histories())
def test_every_gap_is_stepped_through_once_in_the_order_of_its_page(seen):
    """First gaps before second ones; each with the page it belongs to."""
    told = []
    over_ranks(lambda rank, pages, rows: told.append((rank, pages.tolist(), rows.tolist())), seen)

    assert [rank for rank, _, _ in told] == list(range(max(seen.gaps_of_page, default=0)))
    for rank, pages, rows in told:
        assert sorted(pages) == np.flatnonzero(seen.gaps_of_page > rank).tolist()
        assert rows == (seen.offsets[pages] + rank).tolist()


def test_pages_of_every_block_are_stepped_through():
    """Blocks may be worked on side by side, but a page's gaps never are."""
    pages = 70_000
    lengths = np.random.default_rng(91).integers(0, 5, pages)
    rows = int(lengths.sum())
    seen = Histories(
        np.ones(rows), np.zeros(rows, np.bool_), np.concatenate([[0], np.cumsum(lengths)])
    )
    reached, in_order = np.zeros(pages, np.int64), np.ones(pages, np.bool_)

    def step(rank, numbers, _):
        in_order[numbers] &= reached[numbers] == rank
        reached[numbers] += 1

    over_ranks(step, seen)
    assert reached.tolist() == lengths.tolist()
    assert in_order.all()


@given(histories())
def test_totals_are_added_up_one_after_the_other(seen):
    """Bit for bit what a sum is that grows with every visit."""
    expected = []
    for first, last in zip(seen.offsets, seen.offsets[1:], strict=False):
        total = 0.0
        for gap in seen.gaps[first:last].tolist():
            total += gap
        expected.append(total)

    assert total_in_order(seen, seen.gaps).tolist() == expected
