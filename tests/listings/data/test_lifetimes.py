"""Lifetimes: what crawls tell of ages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidHistory
from recrawl.listings.data.cycles import Cycle, Stock
from recrawl.listings.data.lifetimes import Lifetimes

ages = st.floats(0, 500)


def test_ages_count_from_the_middle_of_the_arrival():
    """Born in (2, 4], last seen on day 10, gone on day 13: between 7 and 10 days old."""
    lifetimes = Lifetimes.from_dates(
        np.array([2.0]), np.array([4.0]), np.array([10.0]), np.array([13.0])
    )

    assert (lifetimes.low[0], lifetimes.high[0], lifetimes.entry[0]) == (7, 10, 1)
    assert lifetimes.age.tolist() == [8.5]
    assert lifetimes.exposure == 7.5


def test_what_was_there_at_the_first_crawl_has_no_known_age():
    lifetimes = Lifetimes.from_dates(
        np.array([-np.inf]), np.array([0.0]), np.array([5.0]), np.array([np.nan])
    )

    assert not lifetimes.known.any()
    assert (lifetimes.low[0], lifetimes.high[0]) == (5, np.inf)
    assert len(lifetimes.with_known_age()) == 0


@pytest.mark.parametrize(
    ("low", "high", "entry", "count"),
    [(3, 2, 0, 1), (3, 4, 3.5, 1), (3, 4, -1, 1), (np.inf, np.inf, 0, 1), (1, 2, 0, -1)],
)
def test_ages_that_contradict_each_other_are_refused(low, high, entry, count):
    with pytest.raises(InvalidHistory, match="lifetime 1"):
        Lifetimes.of([1, low], [2, high], entry=[0, entry], count=[1, count])


@given(st.lists(st.tuples(ages, ages, st.booleans()), min_size=1, max_size=40))
def test_putting_equal_rows_together_loses_no_one(rows):
    low = np.array([age for age, _, _ in rows])
    high = np.where([alive for _, _, alive in rows], np.inf, low + [wide for _, wide, _ in rows])
    lifetimes = Lifetimes.of(low, high, known=low < 100)
    binned = lifetimes.binned(0.5)

    assert binned.objects == lifetimes.objects
    assert binned.removals == lifetimes.removals
    assert np.sum(binned.count[binned.known]) == np.sum(lifetimes.known)
    assert binned.exposure == pytest.approx(lifetimes.exposure, abs=0.5 * len(rows))
    assert len(Lifetimes.of([], []).binned()) == 0


def test_a_removal_soon_after_the_first_sight_stays_after_it():
    """Seen at the age of an hour, gone an hour later: all within a quarter of a day."""
    lifetimes = Lifetimes.of([0.04], [0.08], entry=0.04).binned(0.25)

    assert (lifetimes.entry[0], lifetimes.low[0], lifetimes.high[0]) == (0, 0, 0.25)
    assert Lifetimes.of([2.0], [2.0]).binned(0.25).high[0] == 2, "a known age stays known"


def test_ages_too_far_apart_to_count_are_sorted():
    """Forty thousand years in quarters of a day are more counters than rows are worth."""
    lifetimes = Lifetimes.of(
        [0.0, 1.5e7, 1.5e7], [3.0, np.inf, np.inf], entry=[0.0, 7.0, 7.0]
    ).binned()

    assert lifetimes.low.tolist() == [0.0, 1.5e7]
    assert lifetimes.count.tolist() == [1.0, 2.0]


def test_a_cycle_shows_each_cohort_from_its_age_on():
    """Six of eight stay from age 4.5 to 7.5, two are removed; ages before -1 are unknown."""
    stock = Stock(10, np.array([6, 0]), np.array([5, -1]), np.array([0, 0]), np.array([8.0, 3.0]))
    cycle = Cycle(stock, 13, np.array([2.0, 0.0]), np.array([4.0]), 0)
    lifetimes = Lifetimes.from_cycles([cycle])

    assert lifetimes.low.tolist() == [7.5, 3.0, 4.5]
    assert lifetimes.high.tolist() == [np.inf, np.inf, 7.5]
    assert lifetimes.entry.tolist() == [4.5, 0.0, 4.5]
    assert lifetimes.count.tolist() == [6.0, 3.0, 2.0]
    assert lifetimes.known.tolist() == [True, False, True]
    assert len(Lifetimes.from_cycles([])) == 0
