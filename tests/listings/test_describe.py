"""Figures that describe a listing."""

import numpy as np
import pytest

from recrawl.listings.data.attributes import Labels, Numbers, grouping
from recrawl.listings.data.grid import DayGrid, Paths
from recrawl.listings.data.spells import Listing
from recrawl.listings.describe import arrivals, kinds, rate_band, rekeys, removal_rates, statuses
from recrawl.listings.groups.informative import informative_groups
from tests.listings.worlds import daily


def together(listing):
    """One group of all objects."""
    return np.zeros(len(listing), np.int64), 1


def test_decay_is_removals_over_days_watched():
    """From the crawl that first saw an object to half-way between the last and the next.

    Object 0 is watched for 1.5 days, 1 for 1.5 (not the half day before it was seen), 2 for 1
    and 3 for 5.
    """
    listing = daily(6, [(0, 0, 2), (1, 1, 3), (2, 4, 6), (3, 0, 6)])
    found = removal_rates(listing, np.array([0, 1, 1, 2]), 4)

    assert found.removals.tolist() == [1, 1, 0, 0]
    assert found.exposure == pytest.approx([1.5, 2.5, 5, 0])
    assert found.rate == pytest.approx([1 / 1.5, 1 / 2.5, 0, np.nan], nan_ok=True)
    assert found.mean_lifetime == pytest.approx([1.5, 2.5, np.nan, np.nan], nan_ok=True)
    assert found.high[2:] == pytest.approx([3 / 5, np.nan], nan_ok=True)


def test_decay_is_unbiased_under_censoring():
    """Lifetimes of 20 days in a window of 90: the inverse of the mean lifetime would say 1 / 14."""
    random = np.random.default_rng(1)
    arrived = random.integers(0, 90, 20_000)
    spells = [
        (row, first, min(first + lifetime, 90))
        for row, (first, lifetime) in enumerate(
            zip(arrived.tolist(), random.geometric(0.05, 20_000).tolist(), strict=True)
        )
    ]
    listing = daily(90, spells)

    # A chance of 0.05 a day is a rate of -ln 0.95 = 0.0513.
    assert removal_rates(listing, *together(listing)).rate == pytest.approx([0.0513], rel=0.02)


def test_objects_that_are_removed_unseen_do_not_make_lifetimes_seem_longer():
    """Lifetimes of 4 days, crawled every third: half of the objects are never heard of."""
    random = np.random.default_rng(5)
    arrived, crawls = random.uniform(0, 300, 8000), np.arange(0.0, 300, 3)
    first = np.searchsorted(crawls, arrived)
    gone = np.searchsorted(crawls, arrived + random.exponential(4.0, 8000))
    spells = [
        (row, int(first[at]), int(gone[at]))
        for row, at in enumerate(np.flatnonzero(gone > first).tolist())
    ]
    days = np.datetime64("2026-01-01", "us") + crawls.astype("timedelta64[D]")
    listing = Listing.of([str(row) for row in range(len(spells))], days, spells)

    # The middle of the interval is a little late for a removal: 1 / 4 would need daily crawls.
    assert removal_rates(listing, *together(listing)).mean_lifetime == pytest.approx(
        [4.0], rel=0.06
    )


def test_a_band_of_a_rate_is_exact_for_poisson_removals():
    """Garwood's limits for ten removals at 90 %: 5.43 and 16.96."""
    low, high = rate_band(np.array([10, 0]), np.array([1.0, 1.0]))

    assert low == pytest.approx([5.425, 0.0], abs=1e-3)
    assert high == pytest.approx([16.962, 3.0], abs=1e-3)


def test_one_snapshot_has_no_rate():
    listing = daily(1, [(0, 0, 1)])

    assert np.isnan(removal_rates(listing, *together(listing)).rate).all()
    assert arrivals(DayGrid.of(listing)).days == 0


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
    found = arrivals(DayGrid.of(Listing.of(list("abc"), crawls, [(0, 0, 3), (1, 1, 3), (2, 2, 3)])))

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
    assert statuses(listing, DayGrid.of(listing)) == expected


def test_a_change_of_keys_has_a_date_and_shares():
    """On day 9 all 50 objects get other keys, and 10 more come."""
    spells = [(row, 0, 9) for row in range(50)] + [(50 + row, 9, 20) for row in range(60)]
    listing = daily(20, spells)
    grid = DayGrid.of(listing)

    assert statuses(listing, grid) == ("rekey?",)
    (found,) = rekeys(grid)
    assert (found.day, found.lost, found.gained) == (9, 1.0, 1.2)


def test_an_empty_listing_has_empty_figures():
    listing = Listing.of([], np.empty(0, "datetime64[us]"), [], attributes={"make": Labels.of([])})
    grid = DayGrid.of(listing)

    assert statuses(listing, grid) == ("empty",)
    assert removal_rates(listing, *together(listing)).removals.tolist() == [0]
    assert kinds(listing.attributes["make"])[1] == []
    assert rekeys(grid) == []
    assert grouping(listing.attributes, 0).names == ("(all)",)
    assert informative_groups(listing).names == ("(all)",)
    assert len(Paths.of(grid).both) == 0
