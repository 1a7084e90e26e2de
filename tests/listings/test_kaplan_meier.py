"""Kaplan-Meier: scipy and lifelines as oracles, Greenwood's band, the flag."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.listings.exponential import exponential
from recrawl.listings.kaplan_meier import departs_from_exponential, kaplan_meier, largest_departure
from recrawl.listings.lifetimes import Lifetimes
from tests.listings.lives import ENTERED, KNOWN, crawled, watched


def test_by_hand():
    """Deaths at 1 (of 4) and 3 (of 2): 3/4, then 3/4 * 1/2."""
    curve = kaplan_meier(Lifetimes.of([1.0, 2.0, 3.0, 5.0], [1.0, np.inf, 3.0, np.inf]))

    assert curve.age.tolist() == [1, 3]
    assert curve.survival == pytest.approx([0.75, 0.375])
    assert curve.deviation == pytest.approx(
        [0.75 * np.sqrt(1 / 12), 0.375 * np.sqrt(1 / 12 + 1 / 2)]
    )
    assert curve.at(np.array([0.5, 1.0, 2.9, 99.0])) == pytest.approx([1, 0.75, 0.75, 0.375])


@given(st.lists(st.tuples(st.integers(1, 30), st.booleans()), min_size=1, max_size=40))
def test_scipy_finds_the_same(rows):
    age = np.array([float(days) for days, _ in rows])
    alive = np.array([listed for _, listed in rows])
    curve = kaplan_meier(Lifetimes.of(age, np.where(alive, np.inf, age)))
    theirs = stats.ecdf(stats.CensoredData.right_censored(age, alive)).sf

    assert curve.at(theirs.quantiles) == pytest.approx(theirs.probabilities, abs=1e-12)


def test_lifelines_finds_the_same_with_and_without_truncation():
    """KaplanMeierFitter, without and with entries."""
    assert kaplan_meier(KNOWN).survival == pytest.approx(
        [11 / 12, 3 / 4, 2 / 3, 7 / 12, 1 / 2, 5 / 12, 1 / 3, 2 / 9]
    )
    assert kaplan_meier(ENTERED).survival == pytest.approx(
        [
            0.8333333333333333,
            0.5952380952380952,
            0.496031746031746,
            0.4133597883597883,
            0.34446649029982357,
            0.2870554085831863,
            0.22964432686654904,
            0.1530962179110327,
        ]
    )


def test_rows_that_stand_for_many_count_as_many():
    one = kaplan_meier(Lifetimes.of(np.repeat([2.0, 3.0], 5), np.repeat([2.0, np.inf], 5)))
    many = kaplan_meier(Lifetimes.of([2.0, 3.0], [2.0, np.inf], count=5))

    assert many.survival == pytest.approx(one.survival)
    assert many.deviation == pytest.approx(one.deviation)


def test_greenwoods_band_holds_what_it_says():
    """Survival at 20 days, nine times of ten."""
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(500):
        curve = kaplan_meier(watched(rng, 200, window=60, life=lambda n: rng.exponential(20, n)))
        low, high = curve.band(0.9)
        row = np.searchsorted(curve.age, 20.0, side="right") - 1
        hits += low[row] <= np.exp(-1) <= high[row]

    assert hits / 500 == pytest.approx(0.9, abs=0.04)


def test_age_is_seen_to_matter_where_it_does():
    rng = np.random.default_rng(2)
    plain = watched(rng, 2000, window=60, life=lambda n: rng.exponential(20, n))
    aging = watched(rng, 2000, window=60, life=lambda n: 20 * rng.weibull(0.6, n))

    for lives, matters in ((plain, False), (aging, True)):
        assert departs_from_exponential(kaplan_meier(lives), exponential(lives), 2000) == matters


def test_age_does_not_seem_to_matter_where_crawls_are_days_apart():
    """Objects are known from a day and a half on: the curve counts from there."""
    rng = np.random.default_rng(3)
    lives = crawled(rng, 6000, gap=3.0, window=90, life=lambda n: rng.exponential(20, n))
    curve = kaplan_meier(lives)

    assert curve.start == 1.5
    assert not departs_from_exponential(curve, exponential(lives), lives.objects)


def test_a_death_among_the_few_watched_early_does_not_pull_down_the_curve():
    """One object is watched from birth and dies at once; a hundred are watched from age 1."""
    ages = np.append(0.1, np.linspace(2, 20, 100))
    curve = kaplan_meier(Lifetimes.of(ages, ages, entry=np.append(0.0, np.ones(100))))

    assert curve.start == 1
    assert curve.at(np.array([1.5, 11.0])) == pytest.approx([1, 0.5])


def test_without_deaths_there_is_no_step_and_no_departure():
    lives = Lifetimes.of([5.0], [np.inf])
    curve = kaplan_meier(lives)

    assert len(curve.age) == 0
    assert curve.at(np.array([3.0])).tolist() == [1.0]
    assert largest_departure(curve, exponential(lives)) == 0
