"""Readers of the feed in Python: in order, without a hole, told when a position is of no use."""

from datetime import UTC, datetime, timedelta

import pytest

import recrawl
from recrawl.entries.entries import PagesErased, Prune
from recrawl.entries.records import digest_of
from recrawl.errors import CursorExpired, InvalidParameter, NoVersion, UnknownPage
from recrawl.publish.feeds import follow_events, page_feed
from recrawl.store import open_for_writing
from recrawl.store import open_store as open_reader
from recrawl.store.retention import Retention
from recrawl.visits.status import FeedKind
from tests.publish import fed
from tests.publish.fed import SITE, page
from tests.store.made import NOON

START = datetime.fromtimestamp(NOON, UTC)


@pytest.fixture
def path(tmp_path):
    made = fed.make(tmp_path)
    fed.usual(made)
    return made


@pytest.fixture
def store(path):
    with recrawl.open_store(str(path)) as opened:
        yield opened


def test_events_come_in_order_and_go_on_after_a_cursor(path, store):
    events = list(store.changes())

    told = [(event.kind, event.page) for event in events]
    assert told == [("new", 0), ("new", 1), ("changed", 1), ("new", 2), ("removed", 0)]
    assert [event.cursor for event in store.changes(events[2].cursor)] == [
        event.cursor for event in events[3:]
    ]
    assert list(store.changes(store.cursor)) == []
    changed = events[2]
    assert (changed.version, changed.before) == (
        digest_of(page("Tea", 6)).hex(),
        digest_of(page("Tea")).hex(),
    )
    assert (changed.earliest, changed.latest) == (
        START + timedelta(hours=1),
        START + timedelta(hours=2),
    )
    assert (events[4].reason, events[4].version, events[4].address) == ("gone", None, f"{SITE}/")


def test_a_snapshot_and_then_the_feed_have_no_hole(path, store):
    """What is written while a snapshot is read comes after its cursor, if not in it, too."""
    cursor, copies = store.snapshot()
    mirror = {}
    first = next(copies)
    fed.tell(path, (FeedKind.CHANGED, 1, b"<p>new"), (FeedKind.NEW, 3, b"<p>late"), start=9)
    for copy in [first, *copies]:
        mirror[copy.page] = copy.version
    for event in store.changes(cursor):
        mirror.pop(event.page, None)
        if event.version is not None:
            mirror[event.page] = event.version

    expected = {1: b"<p>new", 2: page("Sorted"), 3: b"<p>late"}
    assert mirror == {number: digest_of(body).hex() for number, body in expected.items()}


def test_content_comes_with_events(store):
    events = list(store.changes(include={"text", "markdown", "diff", "chunks"}))

    changed, removed = events[2].content, events[4].content
    assert changed["title"] == "Tea"
    assert changed["markdown"].startswith("# Tea\n\nTea from")
    assert "Home" not in changed["text"]
    assert [block["kind"] for block in changed["diff"]["blocks"]].count("changed") == 1
    assert [(row["path"], row["op"]) for row in changed["chunks"]] == [
        (["Tea"], "same"),
        (["Tea", "Price"], "changed"),
    ]
    assert changed["content"] is True
    assert changed["removed"] == []
    assert removed["chunks"] == []
    assert len(removed["removed"]) == 2
    assert removed["markdown"] is removed["diff"] is None


def test_what_was_dropped_is_none(path):
    with open_for_writing(path, Retention(versions=1)) as store:
        store.write([Prune(NOON)])
    with recrawl.open_store(str(path)) as store:
        changed = list(store.changes(include=["diff", "chunks"]))[2].content

    assert changed["diff"] is None
    assert [row["op"] for row in changed["chunks"]] == [None, None]
    assert changed["removed"] is None


def test_unknown_parts_are_refused(store):
    with pytest.raises(InvalidParameter, match="text, markdown, diff, chunks \\(got 'html'\\)"):
        store.changes(include=["html"])


def test_a_cursor_of_no_use_says_so(path, tmp_path):
    other = fed.make(tmp_path / "other")
    with recrawl.open_store(str(other)) as store:
        theirs = store.cursor
    with recrawl.open_store(str(path)) as store:
        feed = store.cursor.split("-")[0]
        for cursor, why in {
            theirs: "belongs to another store; take a snapshot",
            f"{feed}-6": r"is ahead of the last event \(5\).*; take a snapshot",
        }.items():
            with pytest.raises(CursorExpired, match=why):
                store.changes(cursor)
        with pytest.raises(InvalidParameter, match="must look like k3fqabcd-1042"):
            store.changes("yesterday")


def test_an_expired_cursor_says_so_and_the_last_number_is_never_given_again(path):
    keep = Retention(events=1.0)
    with open_for_writing(path, keep) as store:
        store.write([Prune(NOON + 86_400 + 2 * 3600)])  # the first two events are older
    with recrawl.open_store(str(path)) as store:
        feed = store.cursor.split("-")[0]
        assert next(store.changes(f"{feed}-2")).cursor == f"{feed}-3"
        with pytest.raises(CursorExpired, match=r"expired \(the oldest event kept is 3\)"):
            store.changes(f"{feed}-1")
    with open_for_writing(path, keep) as store:
        store.write([Prune(NOON + 1e9)])
    fed.tell(path, (FeedKind.NEW, 3, b"<p>late"))
    with recrawl.open_store(str(path)) as store:
        assert [event.cursor for event in store.changes()] == [f"{feed}-6"]
        assert [event.cursor for event in store.changes(f"{feed}-5")] == [f"{feed}-6"]


def test_events_that_are_dropped_under_a_reader_are_told(path):
    """A reader that is slower than the retention must not go on as if nothing was missing."""
    with open_reader(path) as reader:
        batches = follow_events(page_feed(reader), 0, rows=1)
        assert next(batches)[0].number == 1
        with open_for_writing(path, Retention(events=1.0)) as store:
            store.write([Prune(NOON + 86_400 + 3 * 3600)])
        with pytest.raises(CursorExpired, match="take a snapshot"):
            next(batches)


def test_a_follower_waits_and_hears(path):
    waits = []

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 3:
            fed.tell(path, (FeedKind.NEW, 3, b"<p>late"), start=9)

    with open_reader(path) as reader:
        batches = follow_events(page_feed(reader), 4, rows=9, sleep=sleep)
        numbers = [[event.number for event in next(batches)] for _ in range(3)]

    assert numbers == [[5], [], [6]]
    assert len(waits) == 3


def test_copies_and_versions_by_address_or_number(store):
    copy = store.copy(f"{SITE}/tea")

    assert (copy.page, copy.body) == (1, page("Tea", 6))
    assert copy.text.startswith("Tea\n")
    assert len(copy.chunks) == 2
    assert [each.version for each in store.versions(1)] == [
        digest_of(page("Tea")).hex(),
        copy.version,
    ]
    assert store.copy(1, START + timedelta(hours=1)).body == page("Tea")
    with pytest.raises(NoVersion, match=r"no version of .* is kept from 2026-01-01 12:59:59 UTC"):
        store.copy(1, START + timedelta(seconds=3599))
    with pytest.raises(NoVersion, match=r": no version of \S+ is kept$"):
        store.copy(3)
    for unknown in (99, -1, f"{SITE}/nowhere"):
        with pytest.raises(UnknownPage, match="no page"):
            store.copy(unknown)


def test_an_erased_page_has_no_copy(path):
    with open_for_writing(path) as store:
        store.write([PagesErased([1], NOON + 9)])
    with recrawl.open_store(str(path)) as store, pytest.raises(UnknownPage, match="was erased"):
        store.copy(f"{SITE}/tea")
