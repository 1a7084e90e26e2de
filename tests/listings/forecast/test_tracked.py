"""Sources, and parts of them, followed up to their last crawl."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.listings.data.attributes import Labels
from recrawl.listings.data.grid import DayGrid
from recrawl.listings.data.spells import Listing
from recrawl.listings.forecast.tracked import method_of, track_groups, track_part, track_source
from tests.listings.worlds import daily

DAYS = 100


@pytest.fixture(scope="module")
def cars():
    """Fiats live for 5 days, BMWs for 20; as many of each come."""
    random = np.random.default_rng(1)
    arrived = np.sort(random.integers(0, DAYS, 1600))
    lifetime = 1 + random.exponential(np.where(np.arange(1600) % 2, 5, 20)).astype(int)
    spells = [
        (row, int(first), int(min(first + days, DAYS)))
        for row, (first, days) in enumerate(zip(arrived, lifetime, strict=True))
    ]
    make = Labels.of(["Fiat" if row % 2 else "BMW" for row in range(1600)])
    listing = daily(DAYS, spells, attributes={"make": make})
    return listing, DayGrid.of(listing)


def test_a_copy_is_what_the_last_crawl_found(cars):
    listing, grid = cars
    found = track_source(listing, grid)

    assert found.synced_at == grid.instants[-1]
    assert found.listed == np.count_nonzero(listing.listed)
    assert found.forecast(3).stock == found.listed


def test_groups_share_the_stock_and_what_comes(cars):
    listing, grid = cars
    parts = track_groups(listing, grid, ["make"])
    whole = track_source(listing, grid)

    assert sorted(part.name for part in parts) == ["BMW", "Fiat"]
    assert sum(part.listed for part in parts) == whole.listed
    assert sum(part.part.share for part in parts if part.part) == pytest.approx(1)
    for name in ("deleted", "inserted"):
        total = sum(getattr(part.forecast(3).typical, name)[-1] for part in parts)
        assert total == pytest.approx(getattr(whole.forecast(3).typical, name)[-1], rel=0.2)


def test_a_group_that_vanishes_faster_decays_faster(cars):
    listing, grid = cars
    groups = track_groups(listing, grid, ["make"])
    end = {part.name: part.forecast(3).expected.precision[-1] for part in groups}

    assert end["Fiat"] < end["BMW"] - 0.2
    chosen = track_part(listing, grid, listing.attributes["make"].codes == 0)
    assert chosen.forecast(3).expected.precision[-1] == pytest.approx(end["BMW"], abs=0.05)


def test_a_forecast_from_a_later_day_has_a_stock_as_now(cars):
    """A week later it is the same weekday, and the same objects of the same ages."""
    found = track_source(*cars)

    np.testing.assert_allclose(
        found.forecast(5, 7).typical.precision, found.forecast(5).typical.precision, atol=0.01
    )


def test_without_crawls_there_is_a_status():
    once = Listing.of(["a"], np.array(["2026-01-01"], "datetime64[us]"), [(0, 0, 1)])
    found = track_source(once, DayGrid.of(once))

    assert found.listed == 0
    assert found.forecast(3).status == ("one-snapshot",)
    assert np.isnan(found.forecast(3).expected.precision).all()


def test_a_method_must_be_known_and_know_of_parts():
    with pytest.raises(InvalidParameter, match="method must be one of mixture"):
        method_of("oracle", level=0.9, part=False)
    with pytest.raises(InvalidParameter, match="method for a part of a source must be mixture"):
        method_of("static", level=0.9, part=True)
