"""What a copy is worth after a sync, and when to sync again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.listings.data.spells import Listing
from recrawl.listings.live.forecast import LiveForecast, grid_of
from recrawl.units import epoch_days
from tests.listings.live.listing_stores import rule

DAY = np.timedelta64(1_000_000 * 86_400, "us")
FIRST = np.datetime64("2026-01-05T09:30", "us")


def steady(days, listed=100, a_day=10):
    """A list that loses its oldest objects and gains as many, evenly; synced on some days."""
    crawls = FIRST + np.array([round(day * 86_400_000_000) for day in days], "timedelta64[us]")
    up = np.arange(-listed, int((max(days) + 1) * a_day)) / a_day
    spells = []
    for row, came in enumerate(up):
        seen = [k for k, day in enumerate(days) if came <= day < came + listed / a_day]
        if seen:
            spells.append((row, seen[0], seen[-1] + 1))
    return Listing.of([str(row) for row in range(len(up))], crawls, spells)


def forecast_after(listing):
    """Forecast after some syncs, at least one."""
    found = LiveForecast.of(listing)
    assert found is not None
    return found


def worth(forecast, metric, days):
    """What a quality is forecast to be so many days later, which must be known."""
    found = forecast.quality(metric, forecast.at + days)
    assert found is not None
    return found


def test_after_one_sync_the_next_is_a_day_later():
    forecast = forecast_after(steady([0]))

    found = forecast.next(rule())

    assert found.at - forecast.at == pytest.approx(1.0)
    assert found.reason == "unknown"
    assert forecast.quality("recall", forecast.at + 1) is None


def test_a_steady_list_is_forecast_to_lose_what_it_lost():
    """A tenth of the list a day: after two days four fifths are left, after half a day 95 %."""
    forecast = forecast_after(steady(range(40)))

    for days, left in ((0.5, 0.95), (1, 0.9), (2, 0.8)):
        for metric in ("precision", "recall"):
            found = worth(forecast, metric, days)
            assert found.expected == pytest.approx(left, abs=0.03)
            assert found.low <= found.expected <= found.high


def test_the_next_sync_is_the_last_whole_day_on_which_the_target_is_kept():
    """A tenth a day: a recall of 0.75 is kept for two days, and 0.55 for four."""
    forecast = forecast_after(steady(range(40)))

    waits = [forecast.next(rule(recall=least)).at - forecast.at for least in (0.75, 0.55)]

    assert waits[0] == pytest.approx(2, abs=0.01)
    assert waits[1] == pytest.approx(4, abs=1.01)


def test_a_target_that_a_day_breaks_is_kept_by_several_syncs_a_day():
    forecast = forecast_after(steady(range(40)))

    found = forecast.next(rule(recall=0.97))

    parts = 1 / (found.at - forecast.at)
    assert parts == pytest.approx(round(parts))
    assert 3 <= parts <= 5  # 3 % are lost in 0.3 days
    assert found.reason == "recall"


def test_syncs_stay_at_the_hour_of_the_first_one():
    """The last sync was three hours late; the next is not."""
    days = [*range(20), 20.125]

    forecast = forecast_after(steady(days))

    assert (forecast.next(rule(recall=0.75)).at - forecast.began) % 1 == pytest.approx(0, abs=1e-6)


def test_syncs_far_from_whole_days_teach_nothing_but_count_as_syncs():
    """Syncs every day and a half: every other one is on a day."""
    listing = steady([1.5 * sync for sync in range(21)])

    grid = grid_of(listing)
    forecast = forecast_after(listing)

    assert grid.crawled.tolist() == [3 * sync for sync in range(11)]
    assert forecast.at == epoch_days(listing.crawls)[-1]
    assert worth(forecast, "recall", 1).expected == pytest.approx(0.9, abs=0.03)


def test_many_syncs_a_day_are_one_day_each():
    listing = steady([sync / 8 for sync in range(8 * 20 + 1)])

    forecast = forecast_after(listing)

    assert len(grid_of(listing).crawled) == 21
    assert worth(forecast, "precision", 1).expected == pytest.approx(0.9, abs=0.03)


def test_while_little_is_known_waits_at_most_double():
    """A list that was the same for three days may not be for ever."""
    still = Listing.of(["a"] * 40, FIRST + np.arange(4) * DAY, [(row, 0, 4) for row in range(40)])

    forecast = forecast_after(still)

    assert forecast.next(rule()).at - forecast.at == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("more", "wait", "reason"),
    [
        ({"maximum": 1.5}, 1.5, "longest"),
        ({"minimum": 6.5, "maximum": 7.0}, 6.5, "limit"),
        ({"recall": None, "precision": 0.75}, 2.0, "precision"),
    ],
)
def test_bounds_and_targets_say_why(more, wait, reason):
    forecast = forecast_after(steady(range(40)))

    found = forecast.next(rule(**{"recall": 0.75} | more))

    assert found.at - forecast.at == pytest.approx(wait, abs=0.01)
    assert found.reason == reason


def test_what_is_older_than_a_year_has_passed():
    """Nothing changed for 500 days, and then everything did."""
    crawls = FIRST + np.arange(600) * DAY
    old = [(row, 0, 500) for row in range(100)]
    new = [(100 + row, 500 + row // 10, min(510 + row // 10, 600)) for row in range(1000)]
    listing = Listing.of([str(row) for row in range(1100)], crawls, [*old, *new])

    forecast = forecast_after(listing)

    assert worth(forecast, "precision", 1).expected == pytest.approx(0.9, abs=0.04)


def test_before_the_first_sync_nothing_is_known():
    assert LiveForecast.of(Listing.of([], np.empty(0, "datetime64[us]"), [])) is None


def test_a_list_that_was_always_empty_is_synced_again():
    forecast = forecast_after(Listing.of([], FIRST + np.arange(3) * DAY, []))

    assert forecast.next(rule()).at - forecast.at == pytest.approx(1.0)


@given(st.lists(st.floats(0.01, 6.0), min_size=1, max_size=8))
def test_whenever_syncs_are_made_the_next_is_in_time(gaps):
    """From an hour to thirty days after the last one, and forecasts are shares."""
    days = [0.0, *np.cumsum(gaps).tolist()]
    forecast = forecast_after(steady(days, listed=20, a_day=2))

    wait = forecast.next(rule()).at - forecast.at

    assert 1 / 24 - 1e-6 <= wait <= 30.5
    for metric in ("precision", "recall"):
        found = forecast.quality(metric, forecast.at + wait)
        if found is not None:
            assert 0 <= found.low <= found.high <= 1
