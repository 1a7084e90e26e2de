"""Figures that describe a listing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.attributes import Labels, Numbers, grouping
from recrawl.listings.describe import arrivals, decay, kinds, lives, rekeys, statuses
from recrawl.listings.grid import Grid, Paths
from recrawl.listings.spells import Listing, Updates
from recrawl.listings.staleness import stale_shares, update_rates
from recrawl.listings.telling import telling_groups
from tests.listings.worlds import daily, listed_on, listings


def test_births_and_deaths_are_half_way_between_crawls():
    """Of unknown age: from the first crawl. Still listed: to the last."""
    listing = daily(6, [(0, 0, 2), (1, 1, 3), (2, 4, 6), (3, 0, 6)])

    assert lives(listing).tolist() == [1.5, 2.0, 1.5, 5.0]


def test_decay_is_deaths_over_days_lived():
    make = {"make": Labels.of(["BMW", "Fiat", "Fiat", ""])}
    found = decay(daily(6, [(0, 0, 2), (1, 1, 3), (2, 4, 6), (3, 0, 6)], attributes=make), "make")

    assert found.values == ("BMW", "Fiat", "?")
    assert found.objects.tolist() == [1, 2, 1]
    assert found.deaths.tolist() == [1, 1, 0]
    assert found.rate == pytest.approx([1 / 1.5, 1 / 3.5, 0])
    assert found.mean_life == pytest.approx([1.5, 3.5, np.inf])
    assert found.upper == pytest.approx([np.nan, np.nan, 3 / 5], nan_ok=True)


def test_decay_is_unbiased_under_censoring():
    """Lives of 20 days in a window of 90: the inverse of the mean life would say 1 / 14."""
    random = np.random.default_rng(1)
    born = random.integers(0, 90, 20_000)
    spells = [
        (row, first, min(first + life, 90))
        for row, (first, life) in enumerate(
            zip(born.tolist(), random.geometric(0.05, 20_000).tolist(), strict=True)
        )
    ]

    assert decay(daily(90, spells)).rate == pytest.approx([0.05], rel=0.03)


def test_one_snapshot_has_no_rate():
    listing = daily(1, [(0, 0, 1)])

    assert np.isnan(decay(listing).rate).all()
    assert np.isnan(update_rates(listing).rate).all()
    assert arrivals(Grid.of(listing)).days == 0


def test_many_numbers_are_told_by_quarters():
    codes, values = kinds(Numbers(np.append(np.arange(100.0), np.nan)))

    assert values == ["to 24.75", "to 49.5", "to 74.25", "above 74.25", "?"]
    assert np.bincount(codes).tolist() == [25, 25, 25, 25, 1]


def test_few_numbers_are_told_one_by_one():
    assert kinds(Numbers(np.array([3.0, 5.0, np.nan, 3.0])))[1] == ["3", "5", "?"]


def test_quarters_of_times_are_dates():
    assert kinds(Numbers(np.arange(20000.0, 20100.0), dated=True))[1][0] == "to 2024-10-28"


def test_rare_words_are_put_together():
    words = [f"word {number}" for number in range(80)] + ["common"] * 3
    codes, values = kinds(Labels.of(words))

    assert len(values) == 50
    assert (values[0], values[-1]) == ("common", "(others)")
    assert np.bincount(codes)[-1] == 80 - 48


def test_arrivals_of_a_gap_are_shared_over_its_days():
    crawls = np.array(["2026-01-01", "2026-01-02", "2026-01-06"], "datetime64[us]")
    found = arrivals(Grid.of(Listing.of(list("abc"), crawls, [(0, 0, 3), (1, 1, 3), (2, 2, 3)])))

    assert (found.mean, found.days) == (0.4, 5)


@pytest.mark.parametrize(
    ("listing", "expected"),
    [
        (daily(20, []), ("empty",)),
        (daily(1, [(0, 0, 1)]), ("one-snapshot",)),
        (daily(20, [(row, 0, 20) for row in range(40)]), ("weak",)),
        (daily(10, [(row, 0, 10 * (row > 10) or 5) for row in range(20)]), ("weak", "small")),
        (
            daily(
                30,
                [(row, 0, 2 + row) for row in range(12)] + [(row + 12, 0, 30) for row in range(50)],
            ),
            ("ok",),
        ),
    ],
)
def test_statuses(listing, expected):
    assert statuses(listing, Grid.of(listing)) == expected


def test_a_change_of_keys_has_a_date_and_shares():
    """On day 9 all 50 objects get other keys, and 10 more come."""
    spells = [(row, 0, 9) for row in range(50)] + [(50 + row, 9, 20) for row in range(60)]
    listing = daily(20, spells)
    grid = Grid.of(listing)

    assert statuses(listing, grid) == ("rekey?",)
    (found,) = rekeys(grid)
    assert (found.day, found.lost, found.gained) == (9, 1.0, 1.2)


def test_updates_by_attribute():
    """Two objects for five days; one event changes both attributes."""
    updates = Updates(np.array([0, 0, 1]), np.array([1, 1, 2]), np.array([0, 1, 1]))
    columns = {"price": Labels.of(["1", "2"]), "title": Labels.of(["a", "b"])}
    found = update_rates(daily(6, [(0, 0, 6), (1, 0, 6)], updates=updates, attributes=columns))

    assert found.attributes == ("(all)", "price", "title")
    assert found.updates.tolist() == [2, 1, 2]
    assert found.rate == pytest.approx([0.2, 0.1, 0.2])


@st.composite
def updated(draw):
    """A listing with updates at crawls that saw the object before, too."""
    listing = draw(listings())
    rows = zip(listing.object.tolist(), listing.first.tolist(), listing.gone.tolist(), strict=True)
    possible = [(row, crawl) for row, first, gone in rows for crawl in range(first + 1, gone)]
    chosen = draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []
    row, crawl = np.array(chosen, np.int64).reshape(-1, 2).T
    kind = np.full(len(row), -1)
    flags = zip(listing.object, listing.first, listing.gone, strict=True)
    spells = [(int(row), int(first), int(gone)) for row, first, gone in flags]
    return Listing.of(
        listing.keys.tolist(), listing.crawls, spells, updates=Updates(row, crawl, kind)
    )


@given(updated())
def test_stale_shares_are_those_of_plain_sets(listing):
    """Over all pairs of days h apart: an object that stayed, and had an update between."""
    grid = Grid.of(listing)
    sets = [listed_on(listing, instant) for instant in grid.instants]
    day_of = np.searchsorted(grid.instants, listing.crawls)
    changed = list(
        zip(listing.updates.object.tolist(), day_of[listing.updates.crawl].tolist(), strict=True)
    )

    shares = stale_shares(listing, grid, horizon=4)

    for h in range(5):
        stayed = stale = 0
        for day in range(len(sets) - h):
            for row in set.intersection(*sets[day : day + h + 1]):
                stayed += 1
                stale += any(row == other and day < when <= day + h for other, when in changed)
        assert shares[h] == (
            pytest.approx(stale / stayed) if stayed else pytest.approx(np.nan, nan_ok=True)
        )


def test_stale_shares_of_one_attribute():
    updates = Updates(np.array([0, 0]), np.array([1, 2]), np.array([0, 1]))
    listing = daily(3, [(0, 0, 3)], updates=updates)
    grid = Grid.of(listing)

    assert stale_shares(listing, grid, horizon=1)[1] == 1.0
    assert stale_shares(listing, grid, horizon=1, attribute=1)[1] == 0.5


def test_an_empty_listing_has_empty_figures():
    listing = Listing.of([], np.empty(0, "datetime64[us]"), [], attributes={"make": Labels.of([])})
    grid = Grid.of(listing)

    assert statuses(listing, grid) == ("empty",)
    assert decay(listing).deaths.tolist() == [0]
    assert decay(listing, "make").values == ()
    assert update_rates(listing).updates.tolist() == [0]
    assert np.isnan(stale_shares(listing, grid, horizon=1)).all()
    assert rekeys(grid) == []
    assert grouping(listing.attributes, 0).names == ("(all)",)
    assert telling_groups(listing).names == ("(all)",)
    assert len(Paths.of(grid).both) == 0
