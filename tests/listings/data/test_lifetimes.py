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


def test_ages_count_from_the_middle_of_the_birth():
    """Born in (2, 4], last seen on day 10, gone on day 13: between 7 and 10 days old."""
    lives = Lifetimes.from_dates(
        np.array([2.0]), np.array([4.0]), np.array([10.0]), np.array([13.0])
    )

    assert (lives.low[0], lives.high[0], lives.entry[0]) == (7, 10, 1)
    assert lives.age.tolist() == [8.5]
    assert lives.exposure == 7.5


def test_what_was_there_at_the_first_crawl_has_no_known_age():
    lives = Lifetimes.from_dates(
        np.array([-np.inf]), np.array([0.0]), np.array([5.0]), np.array([np.nan])
    )

    assert not lives.known.any()
    assert (lives.low[0], lives.high[0]) == (5, np.inf)
    assert len(lives.with_known_age()) == 0


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
    lives = Lifetimes.of(low, high, known=low < 100)
    binned = lives.binned(0.5)

    assert binned.objects == lives.objects
    assert binned.deaths == lives.deaths
    assert np.sum(binned.count[binned.known]) == np.sum(lives.known)
    assert binned.exposure == pytest.approx(lives.exposure, abs=0.5 * len(rows))
    assert len(Lifetimes.of([], []).binned()) == 0


def test_a_death_soon_after_the_first_sight_stays_after_it():
    """Seen at the age of an hour, gone an hour later: all within a quarter of a day."""
    lives = Lifetimes.of([0.04], [0.08], entry=0.04).binned(0.25)

    assert (lives.entry[0], lives.low[0], lives.high[0]) == (0, 0, 0.25)
    assert Lifetimes.of([2.0], [2.0]).binned(0.25).high[0] == 2, "a known age stays known"


def test_ages_too_far_apart_to_count_are_sorted():
    """Forty thousand years in quarters of a day are more counters than rows are worth."""
    lives = Lifetimes.of([0.0, 1.5e7, 1.5e7], [3.0, np.inf, np.inf], entry=[0.0, 7.0, 7.0]).binned()

    assert lives.low.tolist() == [0.0, 1.5e7]
    assert lives.count.tolist() == [1.0, 2.0]


def test_a_cycle_shows_each_cohort_from_its_age_on():
    """Six of eight live from age 4.5 to 7.5, two die in between; ages before -1 are unknown."""
    stock = Stock(10, np.array([6, 0]), np.array([5, -1]), np.array([0, 0]), np.array([8.0, 3.0]))
    cycle = Cycle(stock, 13, np.array([2.0, 0.0]), np.array([4.0]), 0)
    lives = Lifetimes.from_cycles([cycle])

    assert lives.low.tolist() == [7.5, 3.0, 4.5]
    assert lives.high.tolist() == [np.inf, np.inf, 7.5]
    assert lives.entry.tolist() == [4.5, 0.0, 4.5]
    assert lives.count.tolist() == [6.0, 3.0, 2.0]
    assert lives.known.tolist() == [True, False, True]
    assert len(Lifetimes.from_cycles([])) == 0
