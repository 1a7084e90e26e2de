"""Readers see whole transactions, while others write."""

import threading

import numpy as np
import pytest

from recrawl.errors import InvalidParameter
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.rows import latest_visits, read_store, write_store
from recrawl.visits.status import VisitOutcome
from tests.store.made import NOON, found, numbered, store_with, visit
from tests.store.sqlite.connection import connection_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.db"


def test_an_empty_store_has_columns_of_nothing(path):
    create_store(path).close()

    with open_store(path) as reader:
        assert len(reader.pages().host) == 0
        assert list(reader.visits()) == []
        assert list(reader.hosts()) == []
        assert list(reader.all_addresses()) == []
        assert len(reader.history(0).page) == 0
        assert reader.checkpoint() is None


def test_columns_have_one_row_per_page(path, monkeypatch):
    """Also where they are read in several pieces."""
    monkeypatch.setattr(read_store, "_PAGES_AT_A_TIME", 3)
    with create_store(path) as store:
        store.write([found(*numbered(5), rule=1), found("https://b.org/", host="b.org", rule=2)])

    with open_store(path) as reader:
        known = reader.pages()
    assert known.host.tolist() == [0, 0, 0, 0, 0, 1]
    assert known.rule.tolist() == [1, 1, 1, 1, 1, 2]
    assert np.isnat(known.next_at).all()
    assert (known.found_at == np.datetime64("2026-01-01T12:00")).all()


def test_addresses_come_by_number_and_numbers_by_address(path):
    addresses = numbered(4)
    store_with(path, *addresses).close()

    with open_store(path) as reader:
        assert reader.addresses([2, 0, 2]) == [addresses[2], addresses[0], addresses[2]]
        assert reader.find_pages([addresses[3], "https://nowhere.org/"]) == [3, None]
        assert [*reader.all_addresses(first=2)] == [addresses[2:]]
        with pytest.raises(InvalidParameter, match="page numbers do not exist"):
            reader.addresses([4])


def test_visits_come_in_batches_from_any_number_on(path):
    with store_with(path, *numbered(3)) as store:
        store.write([visit(number % 3, number) for number in range(10)])

    with open_store(path) as reader:
        batches = [batch.visit.tolist() for batch in reader.visits(after=2, rows=3)]
    assert batches == [[3, 4, 5], [6, 7, 8], [9, 10]]


@pytest.mark.parametrize("saved_every", [1, 4, 1000])
@pytest.mark.parametrize("reopened", [False, True])
def test_a_page_s_history_is_a_chain(path, monkeypatch, saved_every, reopened):
    """However long ago the ends of the chains were saved."""
    monkeypatch.setattr(write_store, "SAVED_EVERY", saved_every)
    monkeypatch.setattr(latest_visits, "_PAGES_A_BLOCK", 2)
    store = store_with(path, *numbered(3))
    for number in range(9):
        store.write([visit(number % 2, number), visit(1, number + 0.5)])
    if reopened:
        store.close()
        store = open_for_writing(path)
        store.write([found("https://a.org/new"), visit(0, 100)])

    with open_store(path) as reader:
        first, second = reader.history(0), reader.history(1, most=3)
        assert len(reader.history(2).page) == 0
        assert len(reader.history(3).page) == 0
    store.close()
    assert first.visit.tolist() == [1, 5, 9, 13, 17] + [19] * reopened
    assert second.visit.tolist() == [15, 16, 18]
    assert (first.page == 0).all()
    assert (second.page == 1).all()


def test_visits_are_counted_by_day_and_outcome(path):
    day = 86_400
    with store_with(path, *numbered(1)) as store:
        store.write(
            [visit(0), visit(0, day), visit(0, day), visit(0, day, outcome=VisitOutcome.CHANGED)]
        )

    today = int(NOON // day)
    with open_store(path) as reader:
        assert reader.daily_visits() == [(today, 1, 1), (today + 1, 1, 2), (today + 1, 3, 1)]
        assert reader.daily_visits(today + 1) == [(today + 1, 1, 2), (today + 1, 3, 1)]


def test_a_reader_sees_only_whole_transactions_while_another_thread_writes(path):
    """Each transaction visits both pages once, so the counts are always equal."""
    store = store_with(path, *numbered(2))
    done = threading.Event()

    def write():
        for number in range(300):
            store.write([visit(0, number), visit(1, number)])
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen: list[int] = []
    with open_store(path) as reader:
        while not done.is_set() or not seen:
            pages = np.concatenate([np.empty(0, int), *(batch.page for batch in reader.visits())])
            counts = np.bincount(pages, minlength=2)
            assert counts[0] == counts[1]
            assert len(reader.history(1).page) >= counts[1]
            seen.append(int(counts[0]))
    thread.join()
    store.close()

    assert seen == sorted(seen)


def test_what_visits_found_is_read_by_itself(path):
    with store_with(path, *numbered(2)) as store:
        store.write([visit(1, 0, age=0.5), visit(0, 1, outcome=VisitOutcome.FAILED), visit(1, 2)])

    with open_store(path) as reader:
        first, second = reader.outcomes(after=0, rows=2)
    assert (first.visit.tolist(), second.visit.tolist()) == ([1, 2], [3])
    assert first.outcome.tolist() == [VisitOutcome.SAME, VisitOutcome.FAILED]
    assert first.age == pytest.approx([0.5, np.nan], nan_ok=True)


@pytest.mark.parametrize("name", ["a b.db", "what?#50%.db", "été.db", "a'b\".db"])
def test_any_name_will_do(tmp_path, name):
    store_with(tmp_path / name, *numbered(2)).close()

    with open_store(tmp_path / name) as reader:
        assert reader.page_count() == 2


def test_a_reader_cannot_write(path):
    store_with(path, *numbered(1)).close()

    with open_store(path) as reader, pytest.raises(Exception, match="readonly"):
        connection_of(reader).execute("delete from pages")
