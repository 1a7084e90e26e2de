"""Listings of a store, read as sources."""

import numpy as np
import pytest

from recrawl.adapters.stores.listings import read_store_listings, read_store_syncs
from recrawl.entries.listings import SyncOutcome
from recrawl.errors import InvalidParameter, InvalidTable, StoreMissing
from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.listings.forecast.tracked import track_source
from recrawl.report.listings.syncs import SYNC_OUTCOMES, held
from recrawl.store import create_store, open_store
from recrawl.units import SECONDS_A_DAY, epoch_days
from tests.listings.live.listing_stores import START, kept, rule, store_of_jobs


@pytest.fixture(scope="module")
def board(tmp_path_factory):
    path = tmp_path_factory.mktemp("board") / "recrawl.db"
    return path, store_of_jobs(path)


def test_a_store_is_read_as_the_crawls_that_were_believed(board):
    """An oracle: the world knows what was listed at each of them."""
    path, jobs = board
    (found,) = read_store_listings(path, grace=0.0)

    at = epoch_days(found.listing.crawls)
    listing = found.listing
    for crawl in range(len(at)):
        there = (listing.first <= crawl) & (crawl < listing.gone)
        keys = listing.keys.take(listing.object[there]).tolist()
        assert sorted(map(int, keys)) == sorted(jobs.listed(at[crawl]).tolist())
    assert (found.name, found.alarm) == ("jobs", "")


def test_days_of_the_grid_are_those_of_the_syncs(board):
    (found,) = read_store_listings(board[0])

    elapsed = epoch_days(found.listing.crawls) - START
    near = elapsed[np.abs(elapsed - np.rint(elapsed)) <= 0.25]  # some syncs are half a day apart
    assert set(found.grid.crawled.tolist()) == set(np.rint(near).astype(int).tolist())
    assert epoch_days(found.grid.instants[:1])[0] == pytest.approx(START, abs=1e-6)


def test_attributes_that_are_numbers_are_numbers(board):
    (found,) = read_store_listings(board[0])

    assert isinstance(found.listing.attributes["pay"], Numbers)
    assert isinstance(found.listing.attributes["kind"], Labels)


def test_the_models_can_follow_it(board):
    path, jobs = board
    (found,) = read_store_listings(path)

    ahead = track_source(found.listing, found.grid).forecast(3)

    last = float(epoch_days(found.listing.crawls)[-1])
    assert ahead.stock == len(jobs.listed(last))
    assert 0.7 < ahead.expected.recall[2] < ahead.expected.recall[0] < 1


def test_syncs_come_back_with_forecasts_and_what_was_found(board):
    ((name, syncs),) = read_store_syncs(board[0])

    assert name == "jobs"
    assert syncs[0].outcome is SyncOutcome.FIRST
    assert syncs[0].quality is None
    assert all(sync.quality and 0 <= sync.quality.recall <= 1 for sync in syncs[1:])
    inside, known = held(syncs, "recall")
    assert 0.8 * known <= inside <= known
    assert known >= len(syncs) - 2


def test_every_outcome_has_its_words():
    assert list(SYNC_OUTCOMES) == [outcome.label for outcome in SyncOutcome]


def test_a_listing_is_chosen_by_name_and_an_alarm_goes_with_it(tmp_path):
    path = tmp_path / "a.db"
    with create_store(path) as store:
        kept(store, lambda _: {"a": {}}, rule("one"), 0.5)
        kept(store, lambda _: {str(n): {} for n in range(20)}, rule("two"), 0.5)
        kept(store, lambda _: {}, rule("three"), 0.02)

    names = [found.name for found in read_store_listings(path)]
    (three,) = read_store_listings(path, name="three")

    assert names == ["one", "two", "three"]
    assert three.alarm == "no items found by 'li'"
    assert len(three.grid) == 0
    with pytest.raises(
        InvalidParameter, match="listing 'four' not found; expected one of one, two, three"
    ):
        read_store_listings(path, name="four")


def test_what_has_no_listing_is_refused(tmp_path):
    create_store(tmp_path / "a.db").close()

    with pytest.raises(
        InvalidTable,
        match=r"a\.db: no listing found; add a \[\[listing\]\] to recrawl.toml and crawl$",
    ):
        read_store_listings(tmp_path / "a.db")
    with pytest.raises(StoreMissing):
        read_store_listings(tmp_path / "b.db")


def test_a_store_that_is_written_can_be_read(tmp_path):
    """The writer holds it; readers come and go."""
    with create_store(tmp_path / "a.db") as store:
        kept(store, lambda _: {"a": {}}, rule(), 2.0)

        (found,) = read_store_listings(tmp_path / "a.db")
        kept_on = kept(store, lambda _: {"a": {}}, rule("more"), 1.0)

    assert len(found.listing) == 1
    with open_store(tmp_path / "a.db") as reader:
        last = reader.syncs("more")[-1].at_seconds
    assert last / SECONDS_A_DAY == pytest.approx(kept_on[-1].at_seconds / SECONDS_A_DAY)
