"""Where listings stand, as `recrawl status` may say it."""

import math

import pytest

from recrawl.inspect.status.listings import listing_standings
from recrawl.report.listings.standing import LISTING_KEYS, listing_object, listing_sentence
from recrawl.settings.settings import Settings
from recrawl.store import create_store, open_store
from tests.listings.live.listing_stores import START, kept, rule, store_of_jobs

AGENT = "test-bot (me@example.org)"


def standing(path, now, *rules):
    with open_store(path) as reader:
        return listing_standings(Settings(AGENT, listings=rules or (rule(),)), reader, now)


def test_a_listing_that_was_kept_tells_how_good_its_copy_is(tmp_path):
    path = tmp_path / "a.db"
    jobs = store_of_jobs(path, days=25.0)
    now = START + 25.5

    (found,) = standing(path, now)

    assert found.listed == len(jobs.listed(found.synced))
    expected, low, high = found.recall
    assert low <= jobs.recall(found.synced, now) <= high
    assert found.due > found.synced
    assert math.isnan(found.targets[0])
    assert found.targets[1] == 0.9
    said = listing_sentence(found, now)
    assert said.startswith(f"jobs: {found.listed} listed; precision ")
    assert f"recall {100 * expected:.0f} % (" in said
    assert "; next sync " in said


def test_copies_are_worth_less_as_time_goes_by(tmp_path):
    path = tmp_path / "a.db"
    store_of_jobs(path, days=25.0)

    figures = [standing(path, START + 26 + days)[0].recall[0] for days in (0, 1, 3)]

    assert figures == sorted(figures, reverse=True)


def test_a_listing_that_nobody_synced_is_due(tmp_path):
    create_store(tmp_path / "a.db").close()

    (found,) = standing(tmp_path / "a.db", 10.0)

    assert listing_sentence(found, 10.0) == "jobs: not read yet; next sync due"
    assert tuple(listing_object(found)) == LISTING_KEYS
    assert listing_object(found)["synced_at"] is None


def test_what_is_the_matter_is_said(tmp_path):
    with create_store(tmp_path / "a.db") as store:
        kept(store, lambda _: {}, rule(), 0.0)

    (found,) = standing(tmp_path / "a.db", START)

    alarm = "no items found by 'li'"
    assert found.due == pytest.approx(START + 1 / 24, abs=1e-6)
    assert listing_sentence(found, START) == (
        f"jobs: not read yet; next sync in 1.0h; the last sync was not accepted: {alarm}"
    )


def test_a_crawl_without_listings_has_none(tmp_path):
    create_store(tmp_path / "a.db").close()
    with open_store(tmp_path / "a.db") as reader:
        assert listing_standings(Settings(AGENT), reader, 10.0) == []
