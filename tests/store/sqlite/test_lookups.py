"""Recent visits, and what had happened to their pages before."""

import numpy as np
import pytest

from recrawl.entries.entries import (
    HostSeen,
    PageChange,
    PagesChanged,
    PagesFound,
    VisitMade,
)
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.rows import latest_visits as latest_visits_module
from recrawl.store.rows.latest_visits import latest_visit, latest_visits
from recrawl.store.sqlite.connections import connect_to_read
from recrawl.store.sqlite.database import SqliteDatabase
from recrawl.visits.status import Audit, PageStatus, VisitOutcome

COPIED = PageChange(PageStatus.COPIED)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def filled(path, visits, pages=3):
    """A store with visits (page, seconds, outcome)."""
    with create_store(path) as store:
        names = [f"https://a.org/{number}" for number in range(pages)]
        rules = [number % 2 for number in range(pages)]
        store.write([PagesFound(names, ["a.org"] * pages, rules, at_seconds=0.0)])
        store.write([VisitMade(page, at, outcome, change=COPIED) for page, at, outcome in visits])


@pytest.fixture
def reading(path):
    """Opens the store once it is filled."""
    opened = []

    def read():
        opened.append(open_store(path))
        return opened[-1]

    yield read
    for reader in opened:
        reader.close()


def test_comparisons_before_a_visit_are_counted(path, reading):
    """Page 0: a first copy, a failure, then 4 comparisons; page 1 was never copied before."""
    one = [
        VisitOutcome.FIRST,
        VisitOutcome.FAILED,
        VisitOutcome.SAME,
        VisitOutcome.CHANGED,
        VisitOutcome.SAME,
        VisitOutcome.SAME,
    ]
    filled(
        path, [*((0, 10.0 * n, each) for n, each in enumerate(one)), (1, 99.0, VisitOutcome.FAILED)]
    )
    drawn = reading().sampled_visits(np.arange(1, 8), enough=3)

    assert drawn.compared.tolist() == [0, 0, 0, 1, 2, 3, 0]
    assert drawn.copied.tolist() == [False, True, True, True, True, True, False]
    assert drawn.outcome.tolist() == [*map(int, one), VisitOutcome.FAILED]
    assert not drawn.audited.any()


def test_second_requests_are_told(path, reading):
    filled(path, [(0, 0.0, VisitOutcome.FIRST)])
    with open_for_writing(path) as store:
        store.write(
            [
                VisitMade(0, 10.0, VisitOutcome.NOT_MODIFIED, audit=Audit.WORD),
                VisitMade(0, 20.0, VisitOutcome.SAME),
            ]
        )

    assert reading().sampled_visits(np.array([2, 3]), enough=3).audited.tolist() == [True, False]


@pytest.mark.parametrize("saved_every", [1, 7, 100_000])
def test_many_visits_are_found_as_one_by_one(path, monkeypatch, saved_every, reading):
    """Wherever the newest visits of pages stand: saved, or in the visits since."""
    monkeypatch.setattr("recrawl.store.rows.write_store.SAVED_EVERY", saved_every)
    random = np.random.default_rng(3)
    page, at = random.integers(0, 39, 300), np.sort(random.random(300)) * 1000
    filled(path, [(int(p), t, VisitOutcome.SAME) for p, t in zip(page, at, strict=True)], pages=50)
    asked = random.permutation(50)

    counts = reading().recent_visit_counts(asked, 400.0)
    wanted = [np.count_nonzero((page == each) & (np.round(at, 3) >= 400)) for each in asked]
    assert counts.tolist() == wanted
    connection = connect_to_read(path)
    database = SqliteDatabase(connection)
    one_by_one = [latest_visit(database, int(each)) for each in asked]
    assert latest_visits(database, asked).tolist() == one_by_one
    connection.close()


def test_pages_in_several_blocks_are_found(path, monkeypatch, reading):
    monkeypatch.setattr(latest_visits_module, "_PAGES_A_BLOCK", 4)
    monkeypatch.setattr("recrawl.store.rows.write_store.SAVED_EVERY", 1)
    filled(path, [(page, float(page), VisitOutcome.FIRST) for page in range(10)], pages=10)

    assert reading().recent_visit_counts(np.arange(10), 5.0).tolist() == [0] * 5 + [1] * 5


def test_nothing_asked_nothing_found(path, reading):
    filled(path, [])
    none = np.empty(0, np.int64)

    assert len(reading().sampled_visits(none, enough=3)) == 0
    assert len(reading().recent_visit_counts(none, 0.0)) == 0
    assert [len(each) for each in reading().rules_and_hosts(none)] == [0, 0]
    assert [len(each) for each in reading().host_delays(none)] == [0, 0]


def test_rules_hosts_and_copies(path, reading):
    """Pages 0 and 2 are of rule 0, page 1 of rule 1; only 1 and 2 have a copy."""
    filled(path, [(1, 0.0, VisitOutcome.FIRST), (2, 1.0, VisitOutcome.FIRST)])
    with open_for_writing(path) as store:
        store.write([HostSeen("a.org", delay=0.5, latency_seconds=2.0)])
    rule, host = reading().rules_and_hosts(np.array([2, 1, 0]))
    delay, latency = reading().host_delays(host[:1])

    assert rule.tolist() == [0, 1, 0]
    assert host.tolist() == [0, 0, 0]
    assert (delay[0], latency[0]) == (0.5, 2.0)
    assert [each.tolist() for each in reading().pages_with_copy([0, 1])] == [[1, 2], [1, 0]]
    assert [each.tolist() for each in reading().pages_with_copy([1])] == [[1], [1]]


def test_rows_of_many_keys_are_those_of_one_instant(path):
    """What is written while they are looked up is in what is read next."""
    filled(path, [])
    query = "select id, rule from pages where id"
    connection = connect_to_read(path)
    database = SqliteDatabase(connection)

    with open_for_writing(path) as store:

        def keys():
            yield 1
            store.write([PagesChanged([1], rules=[5])])
            yield 2

        found = database.each(query, keys())
        later = database.each(query, [2])
        connection.close()

    assert found == [(1, 0), (2, 1)]
    assert later == [(2, 5)]
