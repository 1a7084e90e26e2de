"""What is written comes back, and what cannot be written changes nothing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.entries.entries import (
    Copy,
    Found,
    HostSeen,
    PageChange,
    PagesChanged,
    PagesFound,
    RobotsRead,
)
from recrawl.errors import InvalidAddress, InvalidParameter, StoreError
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.rows import pages
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.store.made import NOON, found, store_with, visit
from tests.store.sqlite.connection import connection_of


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.db"


def test_pages_are_numbered_from_zero_in_the_order_found(path):
    with create_store(path) as store:
        first = store.write([found("https://a.org/", "https://a.org/b")])
        second = store.write([found("https://a.org/c", "https://a.org/", "https://a.org/c")])

        assert first == [Found([0, 1], known=0)]
        assert second == [Found([2, 0, 2], known=2)]
        assert store.page_count() == 3


def test_two_addresses_with_one_key_are_two_pages(path, monkeypatch):
    """Keys are short: every address of this store has the same one."""
    monkeypatch.setattr(pages, "key_of", lambda address, seed: 7)
    with store_with(path, "https://a.org/1", "https://a.org/2") as store:
        again = store.write([found("https://a.org/2", "https://a.org/3", "https://a.org/1")])

        assert again == [Found([1, 2, 0], known=2)]
    with open_store(path) as reader:
        assert reader.find_pages(["https://a.org/3", "https://a.org/4"]) == [2, None]


def test_a_visit_comes_back_with_all_that_it_changed(path):
    made = visit(
        0,
        0.25,
        outcome=VisitOutcome.CHANGED,
        age=2.0,
        size=1234,
        took_seconds=0.5,
        copy=Copy(b"bytes", b"text", '"etag"', 1_767_000_000),
        body=b"<html>",
        change=PageChange(PageStatus.COPIED, 0, NOON + 3600),
    )
    with store_with(path, "https://a.org/") as store:
        assert store.write([made]) == [1]

    with open_store(path) as reader:
        (seen,) = reader.visits()
        known = reader.pages()
        (copy,) = reader.copies([0])
        (version,) = reader.versions(0)
        body = reader.body(version.digest)
    assert seen.at == np.array(["2026-01-01T12:00:00.250"], "datetime64[us]")
    assert (seen.outcome[0], seen.http[0], seen.size[0]) == (VisitOutcome.CHANGED, 200, 1234)
    assert seen.took_seconds == [0.5]
    assert seen.age == pytest.approx([2.0], abs=1 / 86_400)
    assert known.status == [PageStatus.COPIED]
    assert known.next_at == np.array(["2026-01-01T13:00"], "datetime64[us]")
    assert copy == made.copy
    assert (version.at_seconds, version.size, body) == (NOON + 0.25, 6, b"<html>")


@given(st.integers(-(10**6), 2 * 10**9), st.floats(1.5e9, 2e9))
def test_a_date_to_the_second_comes_back_exactly(tmp_path_factory, modified, at):
    path = tmp_path_factory.mktemp("dates") / "pages.db"
    with store_with(path, "https://a.org/") as store:
        store.write([visit(0, at - NOON, age=(at - modified) / 86_400)])

    with open_store(path) as reader:
        (seen,) = reader.visits()
    assert seen.modified_at.astype("datetime64[s]").astype(int) == [modified]


def test_what_a_visit_does_not_say_is_unknown(path):
    with store_with(path, "https://a.org/") as store:
        store.write([visit(0, outcome=VisitOutcome.FAILED, http=None)])

    with open_store(path) as reader:
        (seen,) = reader.visits()
        assert reader.copies([0]) == [None]
    assert (seen.http[0], seen.size[0]) == (0, -1)
    assert np.isnan(seen.age[0])
    assert np.isnan(seen.took_seconds[0])


def test_entries_of_one_transaction_hold_in_their_order(path):
    """A visit changes a page, then something else does: the last word counts."""
    gone = PageChange(PageStatus.GONE, 0, None)
    suspected = PageChange(PageStatus.SUSPECTED, 2, NOON)
    with store_with(path, "https://a.org/") as store:
        store.write(
            [
                visit(0, change=suspected),
                PagesChanged([0], [gone], rules=[5]),
                PagesChanged([0], [suspected]),
            ]
        )

    with open_store(path) as reader:
        known = reader.pages()
    assert (known.status[0], known.failures[0], known.rule[0]) == (PageStatus.SUSPECTED, 2, 5)


def test_a_validator_that_is_no_text_is_not_kept(path):
    """Bytes of a header that are not UTF-8 arrive as lone surrogates."""
    with store_with(path, "https://a.org/1", "https://a.org/2") as store:
        store.write(
            [visit(0, copy=Copy(b"a", etag='"\udcff"')), visit(1, copy=Copy(b"a", etag="é"))]
        )

    with open_store(path) as reader:
        assert reader.copies([0, 1]) == [Copy(b"a"), Copy(b"a", etag="é")]


def test_every_page_changed_needs_its_change(path):
    with (
        store_with(path, "https://a.org/") as store,
        pytest.raises(InvalidParameter, match=r"1 pages, but 2 changes"),
    ):
        store.write([PagesChanged([0], rules=[1, 2])])


def test_hosts_come_back_with_their_robots(path):
    seen = HostSeen("a.org", delay=0.5, blocked_until_seconds=NOON, latency_seconds=0.25)
    with create_store(path) as store:
        numbers = store.write(
            [
                seen,
                RobotsRead("https://a.org", NOON, 200, b"User-agent: *"),
                RobotsRead("https://b.org", NOON),
            ]
        )
        store.write([RobotsRead("https://a.org", NOON + 60, 200, b"Disallow: /")])

    assert numbers == [0, 0, 1]
    with open_store(path) as reader:
        first, second = reader.hosts()
        assert (first.number, second.number) == (0, 1)
        assert reader.host("b.org") == second
        assert reader.host("c.org") is None
        newest = RobotsRead("https://a.org", NOON + 60, 200, b"Disallow: /")
        assert reader.robots("https://a.org") == newest
        assert reader.robots("http://a.org") is None
        assert reader.robots("https://b.org") == RobotsRead("https://b.org", NOON)
    assert (first.delay, first.blocked_until_seconds) == (0.5, NOON)


@pytest.mark.parametrize("page", [1, 2, -1])
def test_a_visit_to_no_page_is_refused_and_takes_all_along(path, page):
    with store_with(path, "https://a.org/") as store:
        with pytest.raises(InvalidParameter, match=f"page {page} is not in the store, which has 1"):
            store.write([visit(0), visit(page)])

        assert store.last_visit() == 0
        assert store.write([visit(0)]) == [1]


def test_what_is_no_text_is_no_address(path):
    with create_store(path) as store, pytest.raises(InvalidAddress, match="UTF-8"):
        store.write([found("https://a.org/\ud800")])


def test_every_address_needs_a_host_and_a_rule(path):
    with create_store(path) as store, pytest.raises(InvalidParameter, match="2 addresses, 1 hosts"):
        store.write([PagesFound(["a", "b"], ["h"], [0, 0], NOON)])


def test_a_store_that_is_there_is_not_made_anew(path):
    store_with(path, "https://a.org/").close()

    with pytest.raises(StoreError, match="already exists"):
        create_store(path)
    with open_for_writing(path) as store:
        assert store.page_count() == 1


def test_closing_leaves_one_file_and_the_lock(path):
    store = store_with(path, "https://a.org/")
    store.close()
    store.close()

    assert sorted(file.name for file in path.parent.iterdir()) == ["pages.db", "pages.db.lock"]


def test_the_same_addresses_have_other_keys_in_another_store(tmp_path):
    """Nobody can make up addresses whose keys collide."""
    keys = []
    for name in ("1.db", "2.db"):
        with store_with(tmp_path / name, "https://a.org/") as store:
            keys.append(connection_of(store).execute("select key from pages").get)

    assert keys[0] != keys[1]
