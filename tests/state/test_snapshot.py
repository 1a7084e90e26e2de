"""Who only looks sees what the crawl itself believes."""

import numpy as np
import pytest

from recrawl.entries.entries import PageChange, PagesChanged, PagesFound
from recrawl.inspect.next_visits import next_visits
from recrawl.inspect.pages import page_rows
from recrawl.policies.recrawl.beliefs import freshness
from recrawl.settings.settings import read_settings
from recrawl.state.replay import time_slices
from recrawl.state.snapshot import load_snapshot
from recrawl.store import open_for_writing, open_store
from recrawl.units import epoch_days, instant_after_epoch
from recrawl.visits.status import PageStatus
from tests.inspect.looked import BEGAN, DAY, addresses, made, opened, save, settings_text

NOW = BEGAN + 10


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def seen(settings, path, now=NOW):
    with open_store(path) as reader:
        return load_snapshot(settings, reader, now)


def next_visits_of(sight, path, pages):
    with open_store(path) as reader:
        return next_visits(sight, reader, pages)


def share(sight):
    """Share of copies that are expected to be fresh."""
    found = [freshness(pool.state, sight.now) for pool in sight.pools if pool.state is not None]
    return sum(each.fresh for each in found) / sum(each.copies for each in found)


def test_what_was_saved_is_seen_as_the_crawl_sees_it(path):
    settings = made(path, own=True)
    save(settings, path, NOW)
    fresh, copies = opened(settings, path, NOW).expected_fresh(NOW)

    assert share(seen(settings, path)) == pytest.approx(fresh / copies, abs=0.002)


def test_visits_since_are_learnt(path):
    """One by one, as the crawl does, or a stretch of time at once: nearly the same."""
    settings = made(path, own=True)
    fresh, copies = opened(settings, path, NOW).expected_fresh(NOW)

    assert share(seen(settings, path)) == pytest.approx(fresh / copies, abs=0.02)


def test_a_running_crawl_can_be_looked_at(path):
    settings = made(path)

    with open_for_writing(path):
        assert len(seen(settings, path).pools[0].pages) == 60


def test_nothing_is_written(path):
    settings = made(path)
    before = path.read_bytes()
    seen(settings, path)

    assert path.read_bytes() == before


def test_settings_that_have_moved_are_followed_without_writing(path):
    """Pages of b.org had a budget of their own, and now share the common one."""
    made(path, own=True)
    moved = read_settings(settings_text() + '[[site]]\naddress = "https://b.org/"\nweight = 3\n')
    sight = seen(moved, path)

    assert [len(pool.pages) for pool in sight.pools] == [90]
    with open_store(path) as reader:
        assert page_rows(sight, reader).weight.tolist() == [1.0] * 60 + [3.0] * 30


def test_weights_are_those_of_the_settings(path):
    save(made(path), path, NOW)
    sight = seen(read_settings(settings_text() + "weight = 5\n"), path)

    assert set(sight.pools[0].state.worth.tolist()) == {5.0}


def test_a_page_that_nobody_has_asked_for_is_under_no_rule(path):
    settings = made(path)
    with open_for_writing(path) as store:
        store.write([PagesFound(["https://c.org/"], ["c.org"], [-1], BEGAN * DAY)])
    sight = seen(settings, path)

    assert sight.rule[-1] == len(settings.rules)
    assert np.isnat(next_visits_of(sight, path, np.array([60]))[0])


def test_a_store_without_visits_has_no_copies(path):
    settings = made(path, rounds=0)
    sight = seen(settings, path)

    assert [pool.state for pool in sight.pools] == [None]
    with open_store(path) as reader:
        assert np.isnan(page_rows(sight, reader).fresh).all()


def test_new_pages_are_copied_as_soon_as_budget_and_host_allow(path):
    """Twenty of sixty in the first day, a second apart, the others after that."""
    settings = made(path, rounds=0)
    due = epoch_days(next_visits_of(seen(settings, path), path, np.arange(60)))

    np.testing.assert_allclose(due[:20], NOW + np.arange(20) / DAY, atol=1e-6)
    assert (due[20:] > NOW + 0.99).all()
    assert (np.diff(due[20:]) >= 0).all()


def test_visits_changes_and_the_last_of_them_are_counted(path):
    settings = made(path, rounds=4)
    with open_store(path) as reader:
        rows = page_rows(load_snapshot(settings, reader, NOW), reader)

    assert rows.visits.tolist() == [4] * 60
    assert sorted(set(rows.changes.tolist())) == [0, 3]
    known = ~np.isnat(rows.last_change)
    assert known.tolist() == (rows.changes > 0).tolist()
    assert (rows.last_change[known] == rows.last_visit[known].astype("datetime64[ms]")).all()


def test_pages_that_are_gone_are_not_fresh(path):
    settings = made(path)
    with open_for_writing(path) as store:
        store.write([PagesChanged([0], [PageChange(PageStatus.GONE)])])
    with open_store(path) as reader:
        rows = page_rows(load_snapshot(settings, reader, NOW), reader)

    assert np.isnan(rows.fresh[0])
    assert not np.isnan(rows.fresh[1:]).any()


def test_the_page_that_is_worth_most_is_next(path):
    settings = made(path)
    sight = seen(settings, path)
    due = epoch_days(next_visits_of(sight, path, np.arange(60)))
    state = sight.pools[0].state
    assert state is not None
    value = sight.policy.value(state, np.arange(60), instant_after_epoch(NOW))

    # Nothing was visited for a day, so a visit is saved up first.
    assert due.min() == pytest.approx(NOW + 1 / 20, abs=1e-3)
    assert sight.pools[0].pages[value.argmax()] == due.argmin()
    assert len(np.unique(due)) == 60


def test_a_set_time_holds(path):
    settings = made(path)
    with open_for_writing(path) as store:
        change = PageChange(PageStatus.SUSPECTED, 1, (NOW + 3) * DAY)
        store.write([PagesChanged([4], [change])])

    (due,) = epoch_days(next_visits_of(seen(settings, path), path, np.array([4])))

    assert NOW + 3 <= due <= NOW + 3 + 2 * 60 / DAY  # the day's budget may be spent to the minute


def test_terms_bound_the_next_visit(path):
    """At least every 9 days on b.org; where several are due, one after the other at 5 a day."""
    settings = made(path, own=True)
    sight = seen(settings, path)
    pages = np.arange(60, 90)
    due = epoch_days(next_visits_of(sight, path, pages))

    bound = sight.last[pages] + 9
    late = np.sort(due[due > bound])
    assert (due >= NOW).all()
    assert late[0] - bound.min() < 1 / 5
    assert (np.diff(late) >= 1 / 5 - 5 * 60 / DAY).all()


def test_slices_keep_every_visit_once_and_a_page_once_at_a_time():
    random = np.random.default_rng(0)
    at, page = np.sort(random.random(500)) * 10, random.integers(0, 20, 500)
    found = []
    for places in time_slices(at, page, lambda: 16 * 0.7):
        assert at[places].max() - at[places].min() < 0.7
        assert len(np.unique(page[places])) == len(places)
        found += places.tolist()

    assert sorted(found) == list(range(500))


def test_no_visits_are_no_slices():
    assert list(time_slices(np.empty(0), np.empty(0, np.int64), lambda: 1.0)) == []


def test_addresses_are_those_of_the_helper(path):
    made(path, pages=12)
    with open_store(path) as reader:
        assert reader.addresses(range(12)) == addresses(12)
