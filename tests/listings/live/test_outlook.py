"""What a copy is worth after a look, and when to look again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.data.spells import Listing
from recrawl.listings.live.outlook import Outlook, grid_of
from recrawl.units import epoch_days
from tests.listings.live.listing_stores import rule

DAY = np.timedelta64(1_000_000 * 86_400, "us")
FIRST = np.datetime64("2026-01-05T09:30", "us")


def steady(days, listed=100, a_day=10):
    """A list that loses its oldest objects and gains as many, evenly; looked at on some days."""
    crawls = FIRST + np.array([round(day * 86_400_000_000) for day in days], "timedelta64[us]")
    up = np.arange(-listed, int((max(days) + 1) * a_day)) / a_day
    spells = []
    for row, came in enumerate(up):
        seen = [k for k, day in enumerate(days) if came <= day < came + listed / a_day]
        if seen:
            spells.append((row, seen[0], seen[-1] + 1))
    return Listing.of([str(row) for row in range(len(up))], crawls, spells)


def looked(listing):
    """Outlook after some looks, at least one."""
    found = Outlook.of(listing)
    assert found is not None
    return found


def worth(outlook, metric, days):
    """What a quality is forecast to be so many days later, which must be known."""
    found = outlook.quality(metric, outlook.at + days)
    assert found is not None
    return found


def test_after_one_look_the_next_is_a_day_later():
    outlook = looked(steady([0]))

    found = outlook.next(rule())

    assert found.at - outlook.at == pytest.approx(1.0)
    assert found.reason == "unknown"
    assert outlook.quality("recall", outlook.at + 1) is None


def test_a_steady_list_is_forecast_to_lose_what_it_lost():
    """A tenth of the list a day: after two days four fifths are left, after half a day 95 %."""
    outlook = looked(steady(range(40)))

    for days, left in ((0.5, 0.95), (1, 0.9), (2, 0.8)):
        for metric in ("precision", "recall"):
            found = worth(outlook, metric, days)
            assert found.expected == pytest.approx(left, abs=0.03)
            assert found.low <= found.expected <= found.high


def test_the_next_look_is_the_last_whole_day_on_which_the_target_is_kept():
    """A tenth a day: a recall of 0.75 is kept for two days, and 0.55 for four."""
    outlook = looked(steady(range(40)))

    waits = [outlook.next(rule(recall=least)).at - outlook.at for least in (0.75, 0.55)]

    assert waits[0] == pytest.approx(2, abs=0.01)
    assert waits[1] == pytest.approx(4, abs=1.01)


def test_a_target_that_a_day_breaks_is_kept_by_several_looks_a_day():
    outlook = looked(steady(range(40)))

    found = outlook.next(rule(recall=0.97))

    parts = 1 / (found.at - outlook.at)
    assert parts == pytest.approx(round(parts))
    assert 3 <= parts <= 5  # 3 % are lost in 0.3 days
    assert found.reason == "recall"


def test_looks_stay_at_the_hour_of_the_first_one():
    """The last look was three hours late; the next is not."""
    days = [*range(20), 20.125]

    outlook = looked(steady(days))

    assert (outlook.next(rule(recall=0.75)).at - outlook.began) % 1 == pytest.approx(0, abs=1e-6)


def test_looks_far_from_whole_days_teach_nothing_but_count_as_looks():
    """Looks every day and a half: every other one is on a day."""
    listing = steady([1.5 * look for look in range(21)])

    grid = grid_of(listing)
    outlook = looked(listing)

    assert grid.crawled.tolist() == [3 * look for look in range(11)]
    assert outlook.at == epoch_days(listing.crawls)[-1]
    assert worth(outlook, "recall", 1).expected == pytest.approx(0.9, abs=0.03)


def test_many_looks_a_day_are_one_day_each():
    listing = steady([look / 8 for look in range(8 * 20 + 1)])

    outlook = looked(listing)

    assert len(grid_of(listing).crawled) == 21
    assert worth(outlook, "precision", 1).expected == pytest.approx(0.9, abs=0.03)


def test_while_little_is_known_waits_at_most_double():
    """A list that was the same for three days may not be for ever."""
    still = Listing.of(["a"] * 40, FIRST + np.arange(4) * DAY, [(row, 0, 4) for row in range(40)])

    outlook = looked(still)

    assert outlook.next(rule()).at - outlook.at == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("more", "wait", "reason"),
    [
        ({"maximum": 1.5}, 1.5, "longest"),
        ({"minimum": 6.5, "maximum": 7.0}, 6.5, "limit"),
        ({"recall": None, "precision": 0.75}, 2.0, "precision"),
    ],
)
def test_bounds_and_targets_say_why(more, wait, reason):
    outlook = looked(steady(range(40)))

    found = outlook.next(rule(**{"recall": 0.75} | more))

    assert found.at - outlook.at == pytest.approx(wait, abs=0.01)
    assert found.reason == reason


def test_what_is_older_than_a_year_has_passed():
    """Nothing changed for 500 days, and then everything did."""
    crawls = FIRST + np.arange(600) * DAY
    old = [(row, 0, 500) for row in range(100)]
    new = [(100 + row, 500 + row // 10, min(510 + row // 10, 600)) for row in range(1000)]
    listing = Listing.of([str(row) for row in range(1100)], crawls, [*old, *new])

    outlook = looked(listing)

    assert worth(outlook, "precision", 1).expected == pytest.approx(0.9, abs=0.04)


def test_before_the_first_look_nothing_is_known():
    assert Outlook.of(Listing.of([], np.empty(0, "datetime64[us]"), [])) is None


def test_a_list_that_was_always_empty_is_looked_at_again():
    outlook = looked(Listing.of([], FIRST + np.arange(3) * DAY, []))

    assert outlook.next(rule()).at - outlook.at == pytest.approx(1.0)


@given(st.lists(st.floats(0.01, 6.0), min_size=1, max_size=8))
def test_whenever_looks_are_made_the_next_is_in_time(gaps):
    """From an hour to thirty days after the last one, and forecasts are shares."""
    days = [0.0, *np.cumsum(gaps).tolist()]
    outlook = looked(steady(days, listed=20, a_day=2))

    wait = outlook.next(rule()).at - outlook.at

    assert 1 / 24 - 1e-6 <= wait <= 30.5
    for metric in ("precision", "recall"):
        found = outlook.quality(metric, outlook.at + wait)
        if found is not None:
            assert 0 <= found.low <= found.high <= 1
