"""Updates of attributes: histories from crawls, rates, and how much of a copy is stale."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl import Histories
from recrawl.listings.data.spells import Listing, Updates
from recrawl.listings.data.updates import (
    histories_of_attribute,
    object_rates,
    share_stale,
    update_rate,
    watched_days,
)

DAYS = np.datetime64("2026-01-01", "us") + np.arange(40) * np.timedelta64(1, "D")


def test_an_object_is_watched_from_its_first_sight_to_its_last():
    """Two spells of 3 and 2 days, one object seen once."""
    listing = Listing.of(["a", "b"], DAYS, [(0, 0, 4), (0, 10, 13), (1, 5, 6)])

    assert watched_days(listing).tolist() == [5, 0]


def test_gaps_without_a_change_are_put_together():
    updates = Updates(np.array([0, 0, 1, 0]), np.array([2, 5, 3, 5]), np.array([0, 0, 0, 1]))
    listing = Listing.of(["a", "b", "c"], DAYS, [(0, 0, 11), (1, 2, 4), (2, 7, 8)], updates=updates)
    seen = histories_of_attribute(listing, 0)

    assert seen.gaps.tolist() == [8, 1, 1, 1]
    assert seen.changed.tolist() == [False, True, True, True]
    assert seen.offsets.tolist() == [0, 3, 4, 4]
    assert histories_of_attribute(listing, 1).changed.sum() == 1
    assert histories_of_attribute(listing, -1).changed.sum() == 3, "two attributes at once are one"


def test_the_rate_is_that_of_the_prices():
    """Two thousand objects, a rate of .05 a day, crawled daily for 39 days."""
    rng = np.random.default_rng(1)
    moved = rng.uniform(size=(2000, 39)) < -np.expm1(-0.05)
    objects, crawls = np.nonzero(moved)
    listing = Listing.of(
        [str(name) for name in range(2000)],
        DAYS,
        [(row, 0, 40) for row in range(2000)],
        updates=Updates(objects, crawls + 1, np.zeros(len(objects), np.int64)),
    )
    found = update_rate(histories_of_attribute(listing, 0))

    assert found.rate == pytest.approx(0.05, rel=0.03)
    assert found.low < 0.05 < found.high
    assert (found.changes, found.objects, found.days) == (moved.sum(), 2000, 78_000)


def test_the_share_of_stale_objects_is_what_is_seen():
    """Half the objects never change, half every ten days: a mean rate would say too much."""
    rng = np.random.default_rng(2)
    rate = np.repeat([0.001, 0.1], 500)
    gaps, flags = np.ones((1000, 60)), rng.uniform(size=(1000, 60)) < -np.expm1(-rate)[:, None]
    seen = Histories(gaps.ravel(), flags.ravel(), np.arange(0, 60_001, 60))
    stale = share_stale(object_rates(seen), np.array([7.0, 30.0]))

    assert stale == pytest.approx(
        [np.mean(-np.expm1(-rate * 7)), np.mean(-np.expm1(-rate * 30))], abs=0.03
    )
    assert -np.expm1(-30 * update_rate(seen).rate) > stale[1] + 0.1


def test_only_objects_of_the_copy_count():
    seen = Histories.from_lists([([10.0] * 4, [True] * 4), ([10.0] * 40, [False] * 40)])
    rates = object_rates(seen)
    quiet = share_stale(rates, np.array([5.0]), copied=np.array([1]))

    assert quiet < share_stale(rates, np.array([5.0]))
    assert np.isnan(share_stale(rates, np.array([5.0]), copied=np.empty(0, np.int64)))


def test_shares_that_are_counted_are_those_of_the_model():
    """Of all pairs of crawls a week apart, those between which an object changed."""
    rng = np.random.default_rng(3)
    rate = rng.gamma(0.8, 0.05, 3000)
    moved = rng.uniform(size=(3000, 39)) < -np.expm1(-rate)[:, None]
    objects, crawls = np.nonzero(moved)
    listing = Listing.of(
        [str(name) for name in range(3000)],
        DAYS,
        [(row, 0, 40) for row in range(3000)],
        updates=Updates(objects, crawls + 1, np.zeros(len(objects), np.int64)),
    )
    counted = np.mean([moved[:, day : day + 7].any(axis=1).mean() for day in range(33)])

    found = share_stale(object_rates(histories_of_attribute(listing, 0)), np.array([7.0]))

    assert found == pytest.approx([counted], abs=0.01)


def test_what_happened_while_nobody_watched_is_no_update():
    """The object came back after a week at another price; a later change counts."""
    updates = Updates(np.array([0, 0, 0]), np.array([10, 12, 30]), np.zeros(3, np.int64))
    listing = Listing.of(["a"], DAYS, [(0, 0, 4), (0, 10, 14)], updates=updates)
    seen = histories_of_attribute(listing, 0)

    assert seen.gaps.tolist() == [5, 1]
    assert seen.changed.tolist() == [False, True]


def test_without_a_change_the_rate_is_0():
    found = update_rate(Histories.from_lists([([10.0], [False])]))

    assert (found.rate, found.changes) == (0, 0)
    assert found.high == pytest.approx(-np.log(0.05) / 10)
