"""Aging: removals by age against days listed by age."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.models.aging import aging
from tests.listings.lifetimes import crawled, watched


def test_by_hand():
    """Removals at 2 and 6 of three objects, one of them first seen at 1 and still listed at 10.

    Days listed: 2 + 6 + 9 = 17. By age 2 half of the removals and 2 + 2 + 1 = 5 of the days; by
    age 6 all removals and 2 + 6 + 5 = 13.
    """
    found = aging(Lifetimes.of([2.0, 6.0, 10.0], [2.0, 6.0, np.inf], entry=[0.0, 0.0, 1.0]))

    assert found.distance == pytest.approx(max(1 / 2 - 5 / 17, 1 - 13 / 17))
    assert found.limit == pytest.approx(1.36 / np.sqrt(2))
    assert not found.matters


def test_without_censoring_it_is_kolmogorovs_distance_of_total_time_on_test():
    """The shares of time lived at each removal but the last are uniform: scipy's distance."""
    lifetime = np.sort(np.random.default_rng(1).exponential(20, 60))
    alive = 60 - np.arange(60)
    time = np.cumsum(np.diff(lifetime, prepend=0) * alive)
    theirs = stats.kstest(time[:-1] / time[-1], "uniform").statistic

    assert aging(Lifetimes.of(lifetime, lifetime)).distance == pytest.approx(theirs, abs=2 / 60)


@pytest.mark.parametrize("gap", [1.0, 3.0, 14.0])
@pytest.mark.parametrize(("shape", "matters"), [(0.6, True), (1.0, False), (1.6, True)])
def test_age_is_seen_to_matter_where_it_does(shape, matters, gap):
    """However far apart crawls are: 3000 lifetimes of a mean of about 20 days."""
    rng = np.random.default_rng(2)
    lifetimes = crawled(
        rng, 3000, gap=gap, window=120, lifetime=lambda n: 20 * rng.weibull(shape, n)
    )

    assert aging(lifetimes.binned()).matters == matters


def test_chance_says_so_one_time_in_twenty_at_most():
    """Half of the objects are first seen late, many are still listed: no matter."""
    rng = np.random.default_rng(3)
    alarms = 0
    for _ in range(400):
        lifetimes = watched(rng, 150, window=40, lifetime=lambda n: rng.exponential(20, n))
        entry = np.where(
            rng.uniform(size=len(lifetimes)) < 0.5, rng.uniform(0, 10, len(lifetimes)), 0.0
        )
        late = lifetimes.age > entry
        part = lifetimes.take(late)
        alarms += aging(Lifetimes.of(part.low, part.high, entry=entry[late])).matters

    assert 0.02 <= alarms / 400 <= 0.06


def test_rows_that_stand_for_many_count_as_many():
    one = aging(Lifetimes.of(np.repeat([2.0, 3.0], 5), np.repeat([2.0, 4.0], 5)))
    many = aging(Lifetimes.of([2.0, 3.0], [2.0, 4.0], count=5))

    assert (many.distance, many.limit) == pytest.approx((one.distance, one.limit))


@pytest.mark.parametrize(
    "lifetimes",
    [
        Lifetimes.of([], []),
        Lifetimes.of([5.0], [np.inf]),
        Lifetimes.of([5.0], [6.0], known=False),
        Lifetimes.of([0.0], [1.0]),  # as if at arrival: no rate
    ],
)
def test_where_nothing_can_be_told_nothing_is_said(lifetimes):
    found = aging(lifetimes)

    assert np.isnan([found.distance, found.limit]).all()
    assert not found.matters
