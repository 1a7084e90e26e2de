"""Kaplan-Meier: scipy and lifelines as oracles, Greenwood's band, delayed entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.models.kaplan_meier import kaplan_meier, supported_start
from tests.listings.lifetimes import ENTERED, KNOWN, watched


def test_by_hand():
    """Removals at 1 (of 4) and 3 (of 2): 3/4, then 3/4 * 1/2."""
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
        curve = kaplan_meier(
            watched(rng, 200, window=60, lifetime=lambda n: rng.exponential(20, n))
        )
        low, high = curve.band(0.9)
        row = np.searchsorted(curve.age, 20.0, side="right") - 1
        hits += low[row] <= np.exp(-1) <= high[row]

    assert hits / 500 == pytest.approx(0.9, abs=0.04)


def test_delayed_entries_by_hand():
    """At risk before 2: a, b, c; before 4: b, c and d, which was first seen at 3; before 6: d.

    So 2/3, then 2/3 * 1/3, then 0; d does not count before it was seen.
    """
    removed = np.array([2.0, 4.0, 4.0, 6.0])
    curve = kaplan_meier(Lifetimes.of(removed, removed, entry=[0, 0, 1, 3]))

    assert curve.start == 0
    assert curve.age.tolist() == [2, 4, 6]
    assert curve.survival == pytest.approx([2 / 3, 2 / 9, 0])


def test_with_delayed_entries_the_curve_is_that_of_those_who_reach_its_start():
    """Weibull lifetimes, each first seen at an age of its own: S(t) / S(start)."""
    rng = np.random.default_rng(4)
    lifetime, entry = 20 * rng.weibull(0.7, 40_000), rng.exponential(8, 40_000)
    seen = lifetime > entry
    curve = kaplan_meier(Lifetimes.of(lifetime[seen], lifetime[seen], entry=entry[seen]))
    ages = np.array([2.0, 10.0, 30.0])

    def truth(age):
        return np.exp(-((age / 20) ** 0.7))

    assert 0 < curve.start < 0.5
    assert curve.at(ages) == pytest.approx(truth(ages) / truth(curve.start), abs=0.03)
    blind = kaplan_meier(Lifetimes.of(lifetime[seen], lifetime[seen]))
    assert (blind.at(ages) > truth(ages) + 0.1).all(), "as if watched from arrival"


def test_greenwoods_band_holds_what_it_says_with_delayed_entries():
    """Of 10 in 100 curves the share at 20 days lies outside, also where few are watched early."""
    rng = np.random.default_rng(7)
    hits = []
    for _ in range(400):
        lifetime, entry = rng.exponential(20, 500), rng.exponential(6, 500)
        seen = lifetime > entry
        curve = kaplan_meier(Lifetimes.of(lifetime[seen], lifetime[seen], entry=entry[seen]))
        low, high = curve.band(0.9)
        row = np.searchsorted(curve.age, 20.0, side="right") - 1
        hits.append(low[row] <= np.exp(-(20 - curve.start) / 20) <= high[row])

    assert np.mean(hits) == pytest.approx(0.9, abs=0.05)


def test_crawls_at_uneven_distances_do_not_move_the_curve():
    """Forty daily crawls, then weekly ones: objects are first seen half a day or 3.5 days old."""
    rng = np.random.default_rng(5)
    crawls = np.concatenate([np.arange(40.0), np.arange(40.0, 300.0, 7)])
    arrived = rng.uniform(0, 300, 20_000)
    first = np.searchsorted(crawls, arrived)
    gone = np.searchsorted(crawls, arrived + rng.exponential(20, 20_000))
    seen = (first < gone) & (first > 0)
    day = np.append(crawls, np.inf)
    lifetimes = Lifetimes.from_dates(
        crawls[first[seen] - 1], crawls[first[seen]], crawls[gone[seen] - 1], day[gone[seen]]
    )
    curve = kaplan_meier(lifetimes.binned())
    ages = np.array([10.5, 17.5, 24.5, 45.5])  # where weekly intervals end

    assert curve.start == 0.5
    assert curve.at(ages) == pytest.approx(np.exp(-(ages - 0.5) / 20), abs=0.02)
    blind = kaplan_meier(Lifetimes.of(lifetimes.low, lifetimes.high))
    assert (blind.at(ages) > 1.1 * np.exp(-(ages - 0.5) / 20)).all(), "as if watched from arrival"


def test_a_removal_among_the_few_watched_early_does_not_pull_down_the_curve():
    """One object is removed at once; a hundred others are watched from age 1 on."""
    ages = np.append(0.1, np.linspace(2, 20, 100))
    curve = kaplan_meier(Lifetimes.of(ages, ages, entry=np.append(0.0, np.ones(100))))

    assert curve.start == 1
    assert curve.at(np.array([1.5, 11.0])) == pytest.approx([1, 0.5])


def test_the_curve_begins_after_the_last_age_at_which_few_were_watched():
    """Fifty are watched from arrival and almost all gone by age 3; then a thousand come."""
    early = np.append(np.linspace(1, 2, 48), [2.5, 30.0])
    late = np.linspace(4, 40, 1000)
    ages = np.append(early, late)
    entry = np.append(np.zeros(50), np.full(1000, 3.5))
    curve = kaplan_meier(Lifetimes.of(ages, ages, entry=entry))

    assert curve.start == 3.5
    assert curve.at(np.array([22.0])) == pytest.approx([0.5], abs=0.01)


def test_as_many_as_needed_may_be_far_fewer_than_most():
    """Two hundred of ten thousand are more than 3 * 100 short of; three hundred are enough."""
    for early, start in ((200, 1.0), (320, 0.0)):
        entry = np.append(np.zeros(early), np.ones(10_000 - early))
        ages = np.append(np.linspace(0.5, 20, early), np.linspace(2, 20, 10_000 - early))
        assert kaplan_meier(Lifetimes.of(ages, ages, entry=entry)).start == start


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.booleans()), min_size=1),
)
def test_a_curve_falls_from_1_and_is_that_of_plain_counting(rows):
    """Whatever the entries: products of 1 - removals / at risk over ages after the start."""
    entry, wait, alive = (np.array(column) for column in zip(*rows, strict=True))
    age = (entry + wait).astype(float)
    curve = kaplan_meier(Lifetimes.of(age, np.where(alive, np.inf, age), entry=entry))

    share, found = 1.0, []
    for at in np.unique(age[~alive]).tolist():
        if at > curve.start:
            risk = sum(first < at <= last for first, last in zip(entry, age, strict=True))
            share *= 1 - np.count_nonzero((age == at) & ~alive) / risk
            found.append(share)
    assert curve.survival == pytest.approx(found)


def test_without_removals_there_is_no_step():
    curve = kaplan_meier(Lifetimes.of([5.0], [np.inf], entry=0.5))

    assert len(curve.age) == 0
    assert curve.start == 0.5
    assert curve.at(np.array([3.0])).tolist() == [1.0]
    assert np.isnan(curve.median)
    assert kaplan_meier(Lifetimes.of([], [])).start == 0


def test_objects_that_one_crawl_brought_are_one_witness():
    """Seventy that two crawls an hour apart brought, a third of them withdrawn within hours.

    Three hundred others come with as many daily crawls and are first seen at half a day, so the
    count of objects alone would let the seventy decide: 70 > 3 sqrt(370).
    """
    lasting = [0.5 - 30 * np.log1p(-(np.arange(n) + 0.5) / n) for n in (46, 300)]
    lifetime = np.concatenate([np.repeat(0.2, 24), *lasting])
    entry = np.repeat([0.02, 0.5], [70, 300])
    crawl = np.concatenate([np.repeat([0, 1], 35), np.arange(2, 302)])
    lifetimes = Lifetimes.of(lifetime, lifetime, entry=entry)

    start = supported_start(lifetimes, crawl)

    assert start == 0.5
    expected = 0.5 + 30 * np.log(2)
    assert kaplan_meier(lifetimes, start=start).median == pytest.approx(expected, rel=0.1)
    assert kaplan_meier(lifetimes).median < 0.7 * expected, "a tiny early risk set decides"


def test_early_sightings_by_many_crawls_count():
    """Of 300 crawls 40 lie close to the one before; each brings one object."""
    entry = np.repeat([0.0, 0.5], [60, 240])

    assert supported_start(Lifetimes.of(9.0 + 0 * entry, np.inf, entry=entry), np.arange(300)) == 0


def test_a_curve_from_an_age_on_is_that_of_those_who_reach_it():
    """Ages 1 to 10, from 4 on: six are left, and 5/6, 4/6, ... of them outlive each day."""
    ages = np.arange(1.0, 11.0)
    curve = kaplan_meier(Lifetimes.of(ages, ages), start=4.0)

    assert curve.start == 4
    assert curve.age.tolist() == [5, 6, 7, 8, 9, 10]
    assert curve.survival == pytest.approx(np.arange(5, -1, -1) / 6)


def test_the_band_of_the_median_holds_it():
    """Nine times of ten, with censoring and late entries."""
    rng = np.random.default_rng(11)
    held = []
    for _ in range(400):
        lifetime, entry = rng.exponential(20, 300), rng.uniform(0, 1, 300)
        seen = lifetime > entry
        lifetime, entry = lifetime[seen], entry[seen]
        alive = lifetime > 40
        age = np.minimum(lifetime, 40)
        curve = kaplan_meier(Lifetimes.of(age, np.where(alive, np.inf, age), entry=entry))
        low, high = curve.median_band(0.9)
        held.append(low <= curve.start + 20 * np.log(2) <= high)

    assert np.mean(held) == pytest.approx(0.9, abs=0.035)


def test_the_band_of_a_median_that_is_not_reached_is_open():
    ages = np.arange(1.0, 11.0)
    curve = kaplan_meier(Lifetimes.of(ages, np.where(ages < 4, ages, np.inf)))

    assert np.isnan(curve.median)
    assert np.isnan(curve.median_band(0.9)[1])
