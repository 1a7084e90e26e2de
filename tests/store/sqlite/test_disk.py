"""A store stays within its room on disk, and gives back what it does not use."""

import pytest

from recrawl.errors import StoreFull, StoreLocked
from recrawl.inspect.status.overview import overview
from recrawl.report.status.status import disk_sentence
from recrawl.settings.settings import Settings
from recrawl.store import open_for_writing, open_store
from recrawl.store.retention import Retention
from tests.disks import small_disk
from tests.noise import noise
from tests.store.made import NOON, numbered, store_with, visit

PAGES = 20


def taken(path):
    """Bytes of a store and its log."""
    beside = path.with_name(path.name + "-wal")
    return sum(each.stat().st_size for each in (path, beside) if each.exists())


def grow(store, rounds, size=40_000):
    """Visits that each find other bytes, some larger every time; yields after each batch."""
    for number in range(rounds):
        at = store.last_visit()
        bodies = (noise(size + 500 * number, at + page) for page in range(PAGES))
        store.write([visit(page, at + page, body=body) for page, body in enumerate(bodies)])
        yield


@pytest.fixture
def path(tmp_path):
    store_with(tmp_path / "pages.db", *numbered(PAGES)).close()
    return tmp_path / "pages.db"


def test_a_crawl_of_growing_versions_stays_within_its_budget(path):
    """40 MB come, and at no time are there more than 8 on disk; nothing else is lost."""
    budget, largest = 8 << 20, 0
    with open_for_writing(path, Retention(versions=1000, total_bytes=budget)) as store:
        for _ in grow(store, rounds=45):
            largest = max(largest, taken(path))

    assert budget / 2 < largest <= budget
    with open_store(path) as reader:
        assert reader.last_visit() == 45 * PAGES
        kept = [len(reader.versions(page)) for page in range(PAGES)]
        assert min(kept) >= 1  # older ones have gone first
        assert reader.newest_body(3) == noise(40_000 + 500 * 44, 44 * PAGES + 3)
        assert all(part.found == 0 for part in reader.check())


def test_one_batch_of_large_bodies_does_not_pass_the_budget(path):
    """Room is made while a batch is written: it may hold a hundred bodies of 20 MB."""
    budget = 8 << 20
    with open_for_writing(path, Retention(versions=1000, total_bytes=budget)) as store:
        store.write([visit(0, number, body=noise(400_000, number)) for number in range(60)])

    assert taken(path) <= budget


def test_without_old_versions_newest_ones_go_the_oldest_first(path):
    with open_for_writing(path, Retention(total_bytes=3 << 20)) as store:
        for page in range(PAGES):
            store.write([visit(page, page, body=noise(200_000, page))])

    with open_store(path) as reader:
        kept = [page for page in range(PAGES) if reader.versions(page)]
    assert kept == list(range(kept[0], PAGES))
    assert 0 < kept[0] < PAGES
    assert taken(path) <= 3 << 20


def test_visits_are_never_deleted_and_status_says_that_they_take_more(path):
    room = 200_000
    with open_for_writing(path, Retention(total_bytes=room)) as store:
        for number in range(100):
            store.write([visit(page, 60 * number, body=b"%d" % number) for page in range(PAGES)])
            store.write([visit(page, 60 * number + 30) for page in range(PAGES)] * 2)

    settings = Settings("bot (me@example.org)", size=room)
    with open_store(path) as reader:
        assert reader.last_visit() == 100 * 3 * PAGES
        status = overview(settings, reader, NOON / 86_400 + 1)
    assert status.disk is not None
    assert disk_sentence(status.disk, status.room).endswith(
        "of 195 kB: pages and visits alone take more; no versions are left to delete"
    )


def test_compacting_gives_unused_room_back(path):
    with open_for_writing(path, Retention(versions=1)) as store:
        for _ in grow(store, rounds=3, size=60_000):
            pass
    with open_for_writing(path, Retention(total_bytes=2 << 20)) as store:
        store.write([visit(0, 10**6)])
    before = taken(path)
    with open_store(path) as reader:
        unused, bodies = reader.disk_usage().unused_bytes, reader.newest_body(PAGES - 1)

    with open_for_writing(path) as store:
        store.compact()
        assert store.write([visit(0, 10**6 + 1)])

    assert unused > 100_000
    assert taken(path) <= before - unused + 10_000
    with open_store(path) as reader:
        assert reader.disk_usage().unused_bytes == 0
        assert reader.newest_body(PAGES - 1) == bodies
        assert all(part.found == 0 for part in reader.check())


def test_compacting_without_room_says_how_much_it_needs(tmp_path):
    with small_disk(tmp_path / "small", "3m") as disk:
        path = disk / "pages.db"
        with store_with(path, *numbered(1)) as store:
            for number in range(8):
                store.write([visit(0, number, body=noise(150_000, number))])
        with (
            open_for_writing(path) as store,
            pytest.raises(
                StoreFull, match=r"compacting needs about [\d,]+ bytes of free space beside"
            ),
        ):
            store.compact()
        with open_for_writing(path) as store:
            assert store.check() == []


def test_a_store_that_is_being_crawled_is_not_compacted(path):
    with open_for_writing(path), pytest.raises(StoreLocked):
        open_for_writing(path)
