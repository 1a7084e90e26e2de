"""Visits of late, and what had happened to their pages before."""

import numpy as np
import pytest

from recrawl.entries.entries import HostSeen, PageChange, PagesFound, VisitMade
from recrawl.store.sqlite import latest_visits as heads
from recrawl.store.sqlite.connections import connect_to_read
from recrawl.store.sqlite.latest_visits import newest_visit, newest_visits
from recrawl.store.sqlite.lookups import (
    copies_of_rules,
    drawn_visits,
    paces_of_hosts,
    rules_and_hosts,
    visits_since,
)
from recrawl.store.sqlite.store import Store
from recrawl.visits.status import Audit, Outcome, PageStatus

COPIED = PageChange(PageStatus.COPIED)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recrawl.db"


def filled(path, visits, pages=3):
    """A store with visits (page, seconds, outcome)."""
    with Store.create(path) as store:
        names = [f"https://a.org/{number}" for number in range(pages)]
        rules = [number % 2 for number in range(pages)]
        store.write([PagesFound(names, ["a.org"] * pages, rules, at_seconds=0.0)])
        store.write([VisitMade(page, at, outcome, change=COPIED) for page, at, outcome in visits])


def test_comparisons_before_a_visit_are_counted(path):
    """Page 1: a first copy, a failure, then 4 comparisons; page 2 was never copied before."""
    one = [Outcome.FIRST, Outcome.FAILED, Outcome.SAME, Outcome.CHANGED, Outcome.SAME, Outcome.SAME]
    filled(path, [*((1, 10.0 * n, each) for n, each in enumerate(one)), (2, 99.0, Outcome.FAILED)])
    drawn = drawn_visits(path, np.arange(1, 8), enough=3)

    assert drawn.compared.tolist() == [0, 0, 0, 1, 2, 3, 0]
    assert drawn.copied.tolist() == [False, True, True, True, True, True, False]
    assert drawn.outcome.tolist() == [*map(int, one), Outcome.FAILED]
    assert not drawn.audited.any()


def test_second_requests_are_told(path):
    filled(path, [(1, 0.0, Outcome.FIRST)])
    with Store.open(path) as store:
        store.write(
            [
                VisitMade(1, 10.0, Outcome.NOT_MODIFIED, audit=Audit.WORD),
                VisitMade(1, 20.0, Outcome.SAME),
            ]
        )

    assert drawn_visits(path, np.array([2, 3]), enough=3).audited.tolist() == [True, False]


@pytest.mark.parametrize("saved_every", [1, 7, 100_000])
def test_many_visits_are_found_as_one_by_one(path, monkeypatch, saved_every):
    """Wherever the newest visits of pages stand: saved, or in the visits since."""
    monkeypatch.setattr("recrawl.store.sqlite.store.SAVED_EVERY", saved_every)
    random = np.random.default_rng(3)
    page, at = random.integers(1, 40, 300), np.sort(random.random(300)) * 1000
    filled(path, [(int(p), t, Outcome.SAME) for p, t in zip(page, at, strict=True)], pages=50)
    asked = random.permutation(np.arange(1, 51))

    counts = visits_since(path, asked, 400.0)
    wanted = [np.count_nonzero((page == each) & (np.round(at, 3) >= 400)) for each in asked]
    assert counts.tolist() == wanted
    connection = connect_to_read(path)
    one_by_one = [newest_visit(connection, int(each)) for each in asked]
    assert newest_visits(connection, asked).tolist() == one_by_one
    connection.close()


def test_pages_in_several_blocks_are_found(path, monkeypatch):
    monkeypatch.setattr(heads, "_PAGES_A_BLOCK", 4)
    monkeypatch.setattr("recrawl.store.sqlite.store.SAVED_EVERY", 1)
    filled(path, [(page, float(page), Outcome.FIRST) for page in range(1, 11)], pages=10)

    assert visits_since(path, np.arange(1, 11), 5.0).tolist() == [0] * 4 + [1] * 6


def test_nothing_asked_nothing_found(path):
    filled(path, [])
    none = np.empty(0, np.int64)

    assert len(drawn_visits(path, none, enough=3)) == 0
    assert len(visits_since(path, none, 0.0)) == 0
    assert [len(each) for each in rules_and_hosts(path, none)] == [0, 0]
    assert [len(each) for each in paces_of_hosts(path, none)] == [0, 0]


def test_rules_hosts_and_copies(path):
    """Pages 1 and 3 are of rule 0, page 2 of rule 1; only 2 and 3 have a copy."""
    filled(path, [(2, 0.0, Outcome.FIRST), (3, 1.0, Outcome.FIRST)])
    with Store.open(path) as store:
        store.write([HostSeen("a.org", delay=0.5, latency_seconds=2.0)])
    rule, host = rules_and_hosts(path, np.array([3, 2, 1]))
    delay, latency = paces_of_hosts(path, host[:1])

    assert rule.tolist() == [0, 1, 0]
    assert len(set(host.tolist())) == 1
    assert (delay[0], latency[0]) == (0.5, 2.0)
    assert [each.tolist() for each in copies_of_rules(path, np.array([0, 1]))] == [[2, 3], [1, 0]]
    assert [each.tolist() for each in copies_of_rules(path, np.array([1]))] == [[2], [1]]
