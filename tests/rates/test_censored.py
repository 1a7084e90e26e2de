"""The likelihood of a block of pages, piece by piece, against one page at a time by the book."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.arrays.ranges import sums
from recrawl.rates.censored import Censored, most_likely
from tests.rates.oracles import evidence_of
from tests.strategies import Seen, history_of, pages

if TYPE_CHECKING:
    from recrawl.arrays.types import Ints

several = st.lists(st.just([]) | pages, min_size=1, max_size=6)
log_rates = st.floats(-4, 4)


def block_of(*of_pages: list) -> Censored:
    """Sort all pages as one block."""
    return Censored.of(history_of(*of_pages), slice(0, len(of_pages)))


def rows_of(seen: Censored) -> Ints:
    """Where page 0, 1, ... stands in the block."""
    return np.argsort(seen.page)


def test_a_pages_gaps_are_sorted_by_what_they_tell():
    """Quiet 2 + 0.5 + 4, events 1 + 3, one hidden gap of 7 days; mean of all 16 / 4."""
    page = [(2.0, False), (3.0, True, 0.5), (4.0, True, np.nan, 3), (7.0, True)]
    seen = block_of(page)

    assert seen.quiet.tolist() == [6.5]
    assert seen.events.tolist() == [4.0]
    assert seen.gaps.tolist() == [7.0]
    assert seen.mean_gap.tolist() == [4.0]


def test_hidden_gaps_lie_rank_by_rank_with_the_longest_page_first():
    """Page 1 has two hidden gaps and page 0 one: first gaps 5, 1, then the second, 6."""
    seen = block_of([(1.0, True), (9.0, False)], [(5.0, True), (6.0, True)])

    assert seen.page.tolist() == [1, 0]
    assert seen.gaps.tolist() == [5.0, 1.0, 6.0]
    assert seen.ranks == [2, 1]
    assert seen.hidden.tolist() == [2.0, 1.0]


def test_a_page_without_gaps_has_no_mean_gap():
    seen = block_of([], [(2.0, False)])

    assert np.isnan(seen.mean_gap[rows_of(seen)[0]])
    assert seen.mean_gap[rows_of(seen)[1]] == 2.0


def test_a_block_in_the_middle_reads_its_own_rows():
    histories = history_of([(1.0, True)], [(2.0, True), (3.0, False)], [(4.0, True)])
    seen = Censored.of(histories, slice(1, 2))

    assert seen.page.tolist() == [0]
    assert seen.gaps.tolist() == [2.0]
    assert seen.quiet.tolist() == [3.0]


def test_the_pull_of_two_equal_gaps():
    """At x = ln 2 each hidden gap pulls with x / (e^x - 1) = ln 2."""
    seen = block_of([(1.0, True), (1.0, True), (5.0, False)])
    pull, falling = seen.pull(np.array([math.log(2)]))

    assert pull == pytest.approx([2 * math.log(2)])
    # x^2 e^x / (e^x - 1)^2 a gap, here 2 (ln 2)^2.
    assert falling == pytest.approx([2 * (2 * math.log(2) ** 2)])


@given(several, log_rates)
def test_every_page_has_the_evidence_of_the_book(of_pages, log_rate):
    """Log-likelihood and its slope, page by page."""
    seen = block_of(*of_pages)
    height, slope = seen.height(np.full(len(of_pages), math.exp(log_rate)), seen.quiet)

    for page, row in zip(of_pages, rows_of(seen), strict=True):
        evidence = evidence_of(page)
        assert seen.events[row] == evidence.events
        assert seen.quiet[row] == pytest.approx(evidence.quiet, rel=1e-12)
        assert seen.hidden[row] == len(evidence.hidden)
        expected = evidence.log_likelihood(math.exp(log_rate))
        assert height[row] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        assert slope[row] == pytest.approx(evidence.score(log_rate), rel=1e-9, abs=1e-9)


@given(several, log_rates)
@example([[Seen(10_000.0, False), Seen(7.0, True)]], 1.0)
def test_the_pull_is_the_slope_without_the_quiet_days(of_pages, log_rate):
    """In all its digits, where the slope has an absolute error of a rounding in every term.

    So the slope is taken without quiet days from the start: to add r E again to one with them
    leaves the rounding of r E, however small the pull is.
    """
    seen = block_of(*of_pages)
    rate = np.full(len(of_pages), math.exp(log_rate))

    pull, _ = seen.pull(rate)
    _, slope = seen.height(rate, np.zeros(len(of_pages)))
    np.testing.assert_allclose(pull, slope, rtol=1e-12, atol=1e-14 * len(seen.ranks))


@given(several, log_rates)
@example([[Seen(10_000.0, False), Seen(7.0, True)]], 1.0)
def test_the_pull_has_all_digits_however_small_it_is(of_pages, log_rate):
    """D + sum of x / (e^x - 1), term by term."""
    seen = block_of(*of_pages)
    pull, _ = seen.pull(np.full(len(of_pages), math.exp(log_rate)))

    for page, row in zip(of_pages, rows_of(seen), strict=True):
        evidence = evidence_of(page)
        terms = [math.exp(log_rate) * gap for gap in evidence.hidden]
        each = [x / math.expm1(x) if x < 700 else 0.0 for x in terms]
        assert pull[row] == pytest.approx(evidence.events + sum(each), rel=1e-12, abs=1e-300)


@given(several, st.data())
def test_a_selection_is_the_block_of_the_selected(of_pages, data):
    wanted = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(of_pages), max_size=len(of_pages)))
    )
    seen = block_of(*of_pages)
    rate = np.full(len(of_pages), 0.3)
    some = seen.of_pages(wanted)

    assert some.page.tolist() == seen.page[wanted].tolist()
    all_heights, _ = seen.height(rate, seen.quiet)
    heights, _ = some.height(rate[wanted], some.quiet)
    assert heights.tolist() == all_heights[wanted].tolist()


@given(st.lists(st.lists(st.integers(-9, 9), max_size=5), min_size=1, max_size=8))
def test_sums_of_stretches(stretches):
    """Empty stretches sum to 0, wherever they stand."""
    values = np.array([value for stretch in stretches for value in stretch], np.float64)
    offsets = np.cumsum([0, *(len(stretch) for stretch in stretches)])

    assert sums(values, offsets).tolist() == [float(sum(stretch)) for stretch in stretches]


def test_the_most_likely_rate_ends_at_nothing_and_everything():
    """Nothing changed: 0. Nothing quiet: infinite. No gap: nothing to say."""
    seen = block_of([(1.0, False)], [(1.0, True)], [], [(1.0, True), (1.0, False)])
    rate, information = most_likely(seen, seen.quiet, 1e-9)
    by_page = np.argsort(seen.page)

    np.testing.assert_allclose(rate[by_page], [0, np.inf, np.nan, np.log(2)])
    assert np.isnan(information[by_page][:3]).all()
    # x^2 e^x / (e^x - 1)^2 at x = ln 2 is 2 (ln 2)^2.
    assert information[by_page][3] == pytest.approx(2 * math.log(2) ** 2)
