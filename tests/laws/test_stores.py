"""What every store obeys, whatever keeps it."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed, Redelivered
from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    Erased,
    Found,
    HintsGiven,
    HintsTaken,
    HostBelieved,
    HostSeen,
    ImportedRows,
    PageChange,
    PageEvent,
    PagesChanged,
    PagesErased,
    PagesFound,
    PagesRemoved,
    Prune,
    RobotsRead,
    VisitMade,
    VisitsImported,
)
from recrawl.entries.freshness import FreshnessNoted
from recrawl.entries.listings import (
    Event,
    EventKind,
    ForecastInterval,
    ListingSynced,
    Quality,
    StoredObject,
    SyncOutcome,
)
from recrawl.entries.pushes import Subscription, SubscriptionsKnown
from recrawl.entries.records import (
    Destination,
    PageCount,
    Tombstone,
    Undelivered,
    VersionLines,
)
from recrawl.entries.reports import AnsweredReport, VisitsReported
from recrawl.entries.sources import Source, SourceKind, SourcesKnown
from recrawl.errors import InvalidParameter, StoreError, StoreLocked
from recrawl.store import create_store, open_for_writing, open_store
from recrawl.store.retention import Retention
from recrawl.store.writer import Writer
from recrawl.visits.status import Audit, FeedKind, PageStatus, RobotsTag, VisitOutcome
from tests.laws.store_backends import BACKENDS
from tests.laws.store_machine import StoreMachine
from tests.store.made import NOON, found, numbered, visit


@pytest.fixture(params=BACKENDS, ids=lambda backend: backend.name)
def backend(request):
    return request.param


@pytest.fixture
def address(backend, monkeypatch):
    """Where a store may be made."""
    backend.shrink(monkeypatch)
    with backend.place() as place:
        yield place


@pytest.fixture
def store(address):
    """A store of three pages on one host."""
    with create_store(address) as made:
        made.write([found(*numbered(3))])
        yield made


@pytest.fixture
def reader(address, store):
    """The same store for reading, opened while it is written to."""
    with open_store(address) as opened:
        yield opened


# A model.


def test_a_store_holds_what_plain_dictionaries_would(backend):
    """Whatever is written in whatever order, closed, crashed and opened again."""

    class Machine(StoreMachine):
        pass

    Machine.backend = backend
    run_state_machine_as_test(Machine, settings=settings(max_examples=30, stateful_step_count=15))


# Numbers.


def test_pages_are_numbered_from_0_in_the_order_in_which_they_were_found(store, reader):
    old, new = numbered(3), ["https://b.org/1", "https://b.org/2"]
    (receipt,) = store.write([found(new[0], old[1], new[1], new[0], host="b.org")])

    assert receipt == Found([3, 1, 4, 3], known=3)
    assert receipt.new == [3, 4]
    assert store.page_count() == reader.page_count() == 5
    assert reader.find_pages([*old, *new, "https://nowhere.org/"]) == [0, 1, 2, 3, 4, None]
    assert reader.addresses([4, 0]) == [new[1], old[0]]
    assert [each for some in reader.all_addresses(2) for each in some] == [old[2], *new]


def test_hosts_are_numbered_from_0(store, reader):
    receipts = store.write(
        [
            HostSeen("b.org", delay=0.5, latency_seconds=2.0),
            RobotsRead("https://a.org", NOON, 200, b"User-agent: *"),
            HostBelieved("c.org", {"noise": (1.0, 2.0, 3.0, 4.0)}, masks="[]"),
        ]
    )
    names = ["a.org", "b.org", "c.org"]

    assert receipts == [1, 0, 2]
    assert [(host.name, host.number) for host in reader.hosts()] == list(
        zip(names, range(3), strict=True)
    )
    assert [reader.host(name) for name in names] == list(reader.hosts())
    assert reader.host("d.org") is None
    assert reader.pages().host.tolist() == [0, 0, 0]
    assert [each.tolist() for each in reader.host_delays(np.array([1, 0]))] == [[0.5, 0], [2.0, 0]]
    assert reader.signal_records() == [("c.org", "noise", (1.0, 2.0, 3.0, 4.0))]
    assert reader.signal_records_of("noise") == {2: (1.0, 2.0, 3.0, 4.0)}
    assert reader.host_masks() == {"c.org": "[]"}


def test_visits_are_numbered_from_1_and_0_is_before_the_first(store, reader):
    assert (store.last_visit(), reader.last_visit(), list(reader.visits())) == (0, 0, [])

    assert store.write([visit(2), visit(0, 1), visit(2, 2)]) == [1, 2, 3]
    assert store.last_visit() == reader.last_visit() == 3
    assert [batch.visit.tolist() for batch in reader.visits(after=0, rows=2)] == [[1, 2], [3]]
    assert [batch.page.tolist() for batch in reader.outcomes(after=1)] == [[0, 2]]
    assert list(reader.visits(after=3)) == []


@pytest.mark.parametrize("page", [-1, 3])
def test_a_number_of_no_page_is_refused(store, reader, page):
    for entry in (visit(page), PagesChanged([page], rules=[1])):
        with pytest.raises(InvalidParameter, match=f"page {page} is not in the store, which has 3"):
            store.write([entry])
    with pytest.raises(InvalidParameter, match="page numbers do not exist"):
        reader.addresses([page])


# Writing.


def test_entries_are_written_all_or_none(store, reader):
    """The last entry cannot be written, so nothing of the others is there, nor ever was."""
    before = reader.pages()
    entries = [
        found("https://b.org/", host="b.org"),
        visit(3, body=b"new", copy=Copy(b"a"), masks="[]", change=PageChange(PageStatus.COPIED)),
        HostSeen("b.org", delay=1.0),
        Checkpoint({"a": 1}),
        ListingSynced("jobs", NOON, SyncOutcome.FIRST, NOON, inserted={"a": {}}),
        visit(99),
    ]
    with pytest.raises(InvalidParameter):
        store.write(entries)

    assert (store.page_count(), store.last_visit()) == (3, 0)
    assert (reader.page_count(), reader.last_visit(), reader.daily_visits()) == (3, 0, [])
    assert reader.pages().status.tolist() == before.status.tolist()
    assert [host.name for host in reader.hosts()] == ["a.org"]
    assert reader.checkpoint() is None
    assert reader.listing_names() == []
    # The numbers that were not given out are given to what comes next.
    assert store.write(entries[:2]) == [Found([3], known=3), 1]


def test_imported_visits_are_as_those_that_a_crawl_made(store, reader):
    """Pages that are known keep their numbers, and each visit knows the one before it."""
    pages = found("https://b.org/", numbered(3)[1])
    first, later = (
        ImportedRows(
            page=np.array([0, 1]),
            at_seconds=np.array(seconds),
            outcome=np.array(outcomes),
            age=np.array(ages),
        )
        for seconds, outcomes, ages in (
            ([1.0, 2.0], [VisitOutcome.FIRST] * 2, [np.nan, 1.0]),
            ([3.0, 4.0], [VisitOutcome.CHANGED, VisitOutcome.SAME], [np.nan, np.nan]),
        )
    )

    assert store.write([VisitsImported(pages, iter([first, later]))]) == [Found([3, 1], known=3)]

    assert (store.page_count(), store.last_visit(), reader.last_visit()) == (4, 4, 4)
    assert reader.history(3).outcome.tolist() == [VisitOutcome.FIRST, VisitOutcome.CHANGED]
    assert reader.history(1).age[0] == pytest.approx(1.0, abs=1e-4)
    assert np.isnan(reader.history(3).age).all()
    assert reader.pages().status.tolist() == [PageStatus.NEW] * 4
    assert reader.feed_range().newest == 0


def test_entries_of_one_call_hold_in_their_order(store, reader):
    gone, suspected = PageChange(PageStatus.GONE), PageChange(PageStatus.SUSPECTED, 2, NOON)
    store.write(
        [
            visit(0, change=gone, copy=Copy(b"old")),
            PagesChanged([0], [gone], rules=[5]),
            visit(0, 1, change=suspected, copy=Copy(b"new")),
        ]
    )
    pages = reader.pages()

    assert (pages.status[0], pages.failures[0], pages.rule[0]) == (PageStatus.SUSPECTED, 2, 5)
    assert reader.copies([0, 1]) == [Copy(b"new"), None]


def test_what_has_a_receipt_is_read_at_once_and_after_reopening(address, store, reader):
    made = visit(
        1,
        0.25,
        outcome=VisitOutcome.CHANGED,
        age=2.0,
        size=1234,
        took_seconds=0.5,
        share=0.25,
        audit=Audit.NOISE,
        copy=Copy(b"bytes", b"text", '"etag"', 1_767_000_000, 2**64 - 1),
        body=b"<html>",
        masks="[1]",
        change=PageChange(PageStatus.COPIED, 0, NOON + 3600),
    )
    store.write([made])

    def check(opened):
        (seen,) = opened.visits()
        assert seen.at.tolist() == np.array(["2026-01-01T12:00:00.250"], "M8[us]").tolist()
        assert (seen.visit[0], seen.page[0], seen.outcome[0]) == (1, 1, VisitOutcome.CHANGED)
        assert (seen.http[0], seen.size[0], seen.audit[0]) == (200, 1234, Audit.NOISE)
        assert (seen.took_seconds[0], seen.share[0]) == (0.5, 0.25)
        assert seen.age == pytest.approx([2.0], abs=1 / 86_400)
        assert opened.history(1).visit.tolist() == [1]
        assert opened.copies([1]) == [made.copy]
        assert opened.masks([1, 0]) == ["[1]", ""]
        (version,) = opened.versions(1)
        assert (version.at_seconds, version.size) == (NOON + 0.25, 6)
        assert opened.body(version.digest) == opened.newest_body(1) == b"<html>"
        assert (opened.body(b"other"), opened.newest_body(0)) == (None, None)

    check(reader)
    store.close()
    with open_store(address) as opened:
        check(opened)
    with open_for_writing(address) as again:
        assert (again.page_count(), again.last_visit()) == (3, 1)
        assert again.check() == []
        assert again.write([visit(0)]) == [2]


def test_a_store_that_is_abandoned_keeps_what_was_written(address, store):
    store.write([visit(0), visit(1)])
    store.abandon()
    store.abandon()

    with open_for_writing(address) as again:
        assert again.check() == []
        assert again.write([visit(0)]) == [3]


def test_a_store_has_one_writer_and_is_made_once(address, store):
    with pytest.raises(StoreLocked):
        open_for_writing(address)
    store.close()
    store.close()
    with pytest.raises(StoreError, match="already exists"):
        create_store(address)


# Reading.


def test_a_reader_beside_a_writer_sees_whole_calls_only(store, reader):
    """Each call visits both pages once, so their counts are always equal."""
    done = threading.Event()

    def write():
        for number in range(200):
            store.write([visit(0, number), visit(1, number)])
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen: list[int] = []
    while not done.is_set() or not seen or seen[-1] < 200:
        pages = np.concatenate([np.empty(0, np.int64), *(each.page for each in reader.visits())])
        first, second = np.bincount(pages, minlength=2)
        assert first == second
        assert len(reader.history(1).page) >= second
        seen.append(int(first))
    thread.join()

    assert seen == sorted(seen)


def test_a_clone_reads_the_same_store_in_another_thread(store, reader):
    store.write([visit(0)])
    found_there: list[int] = []

    def read():
        with reader.clone() as other:
            found_there.extend((other.last_visit(), other.page_count()))
            assert other.name == reader.name

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()

    assert found_there == [1, 3]
    assert reader.last_visit() == 1  # closing a clone closes nothing else


_visits = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from(VisitOutcome), st.sampled_from(Audit)), max_size=40
)


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
@settings(deadline=None, max_examples=25)
@given(made=_visits, since=st.integers(-1, 41))
def test_lookups_find_what_a_walk_through_all_visits_would(backend, made, since):
    """Visits are a second apart; pages 6 and 7 have none."""
    rows = [(page, NOON + second, each, audit) for second, (page, each, audit) in enumerate(made)]
    pages = np.array([7, 3, 0, 5, 2, 4, 1, 6])
    with pytest.MonkeyPatch.context() as patch, backend.place() as place:
        backend.shrink(patch)
        with create_store(place) as store:
            store.write([found(*numbered(8))])
            for page, at, outcome, audit in rows:
                store.write([VisitMade(page, at, outcome, audit=audit)])
        with open_store(place) as reader:
            first = reader.first_visit_since(NOON + since)
            latest = reader.latest_visits(pages)
            counts = reader.recent_visit_counts(pages, NOON + since)
            newest = reader.history(0, most=2).visit.tolist()
            sampled = reader.sampled_visits(np.arange(1, len(rows) + 1), enough=3)
            daily = reader.daily_visits()

    of_page = {page: [row for row in rows if row[0] == page] for page in range(8)}
    assert first == min(max(since, 0), len(rows)) + 1
    last = [of_page[page][-1][1] if of_page[page] else np.nan for page in pages]
    np.testing.assert_array_equal(latest, last)
    assert counts.tolist() == [
        sum(at >= NOON + since for _, at, _, _ in of_page[page]) for page in pages
    ]
    assert newest == [number for number, row in enumerate(rows, 1) if row[0] == 0][-2:]
    assert sampled.outcome.tolist() == [outcome for _, _, outcome, _ in rows]
    assert sampled.audited.tolist() == [audit is not Audit.NONE for *_, audit in rows]
    before = [
        [row[2] for row in rows[:place] if row[0] == rows[place][0]] for place in range(len(rows))
    ]
    assert np.minimum(sampled.compared, 3).tolist() == [
        min(sum(each.compared for each in earlier), 3) for earlier in before
    ]
    assert sampled.copied.tolist() == [
        any(each.compared or each is VisitOutcome.FIRST for each in earlier) for earlier in before
    ]
    assert sum(visits for _, _, visits in daily) == len(rows)
    assert {(outcome, visits) for _, outcome, visits in daily} == {
        (each, sum(row[2] is each for row in rows)) for each in {row[2] for row in rows}
    }


def test_pages_are_counted_and_listed_by_rule_and_status(store, reader):
    late, soon = (PageChange(PageStatus.GONE, 1, NOON + each) for each in (-60, 60))
    copied = PageChange(PageStatus.COPIED)
    store.write([found("https://b.org/", host="b.org", rule=1)])
    store.write([PagesChanged([0, 1, 3], [late, soon, copied])])

    assert reader.page_counts(NOON) == [
        PageCount(0, PageStatus.NEW, 1, 0, None),
        PageCount(0, PageStatus.GONE, 2, 1, NOON - 60, failing=2),
        PageCount(1, PageStatus.COPIED, 1, 0, None),
    ]
    assert reader.pages_without_content().tolist() == [0, 1]
    assert reader.appointed_pages().tolist() == [0, 1]
    assert [each.tolist() for each in reader.pages_with_copy([0, 1])] == [[3], [1]]
    assert reader.rules().tolist() == [0, 0, 0, 1]
    assert [each.tolist() for each in reader.rules_and_hosts(np.array([3, 0]))] == [[1, 0], [1, 0]]


def test_pages_are_found_by_words_of_their_addresses(store, reader):
    """Signs that patterns have stand for themselves, and the case does not matter."""
    addresses = ["https://a.org/News/1_a", "https://a.org/news/12a", "https://a.org/50%25", "x\\y"]
    store.write([PagesFound(addresses, ["a.org"] * 4, [0] * 4, NOON)])
    first = reader.find_pages(addresses)[0]

    def holding(*words):
        return [page - first for page in reader.pages_holding(words).tolist() if page >= first]

    assert holding("news") == [0, 1]
    assert holding("NEWS", "1_a") == [0]
    assert holding("0%2") == [2]
    assert holding("\\") == [3]
    assert holding("news", "50") == []
    assert holding() == [0, 1, 2, 3]


def test_pages_are_ordered_by_their_addresses(store, reader):
    addresses = [f"https://c.org/{name}" for name in ("b", "B", "a", "é", "a/b")]
    store.write([PagesFound(addresses, ["c.org"] * 5, [0] * 5, NOON)])
    named = [name for some in reader.all_addresses() for name in some]
    ordered = sorted(range(len(named)), key=named.__getitem__)

    assert reader.pages_by_address(100, last_first=False).tolist() == ordered
    assert reader.pages_by_address(3, last_first=True).tolist() == ordered[::-1][:3]


def test_pages_know_how_deep_they_were_found(store, reader):
    store.write([PagesFound(["https://a.org/deep"], ["a.org"], [0], NOON, depth=4)])

    assert (reader.depth(0), reader.depth(3)) == (0, 4)


# Checkpoints.


def test_a_checkpoint_comes_back_whole_or_in_part(store, reader):
    assert reader.checkpoint() is None

    store.write([visit(0), Checkpoint({"rates": np.arange(5.0), "old": 1}), visit(1)])
    first = reader.checkpoint()
    assert first is not None
    assert first.visit == 1  # the last visit that was written before it
    store.write([Checkpoint({"rates": np.arange(2, dtype=np.float32), "price": [0.1]}, visit=0)])
    second = reader.checkpoint()

    assert second is not None
    assert (second.visit, sorted(second.parts), second.parts["price"]) == (
        0,
        ["price", "rates"],
        [0.1],
    )
    assert (second.parts["rates"].dtype, second.parts["rates"].tolist()) == (np.float32, [0, 1])
    assert reader.checkpoint({"price", "unknown"}) == ({"price": [0.1]}, 0)


# Listings.


def test_a_listing_comes_back_with_all_that_happened(store, reader):
    quality = Quality(0.9, 0.8, ForecastInterval(0.7, 0.85, 1.0), None)
    synced = [
        ListingSynced("jobs", 60.0, SyncOutcome.FIRST, 90.0, items=2, inserted={"a": {}, "b": {}}),
        ListingSynced("cars", 70.0, SyncOutcome.FIRST, 90.0, inserted={"a": {"make": "Fiat"}}),
        ListingSynced(
            *("jobs", 120.5, SyncOutcome.DONE, 180.0, "recall"),
            took_seconds=1.25,
            pages=3,
            items=7,
            updated={"a": {"pay": "1"}},
            deleted=["b"],
            quality=quality,
        ),
        ListingSynced("jobs", 180.0, SyncOutcome.DOUBTED, 240.0, detail="empty", sketch=b"123"),
    ]
    assert store.write(synced) == [1, 2, 3, 4]
    history = reader.listing_history("jobs")
    first, second, third = reader.syncs("jobs")

    assert reader.listing_names() == ["jobs", "cars"]
    assert history.syncs == [first, second, third]
    assert (first.number, first.listed, first.items, first.quality) == (1, 2, 2, None)
    assert (second.at_seconds, second.took_seconds, second.pages) == (120.5, 1.25, 3)
    assert (second.listed, second.quality, second.reason) == (1, quality, "recall")
    assert (third.outcome, third.detail, third.sketch) == (SyncOutcome.DOUBTED, "empty", b"123")
    assert history.alarm == "empty"
    number = {key: place for place, key in history.keys.items()}
    assert history.events == [
        Event(number["a"], 1, EventKind.INSERT, {}),
        Event(number["b"], 1, EventKind.INSERT, {}),
        Event(number["a"], 3, EventKind.UPDATE, {"pay": "1"}),
        Event(number["b"], 3, EventKind.DELETE, None),
    ]
    assert reader.listed_objects("jobs") == {"a": {"pay": "1"}}
    assert reader.objects("jobs") == [
        StoredObject("a", {"pay": "1"}, 60.0, 120.5, None),
        StoredObject("b", {}, 60.0, 60.0, 120.5),
    ]
    assert reader.listing_history("boats").syncs == []


def test_events_of_listings_are_numbered_in_the_order_of_commits(store, reader):
    """Without a gap, whatever else is written between, and none is ever pruned."""
    feed = reader.object_feed_range()
    assert (feed.oldest, feed.newest, list(reader.object_events())) == (1, 0, [])
    first = ListingSynced("jobs", NOON, SyncOutcome.FIRST, NOON, inserted={"a": {"x": "1"}})
    changed = ListingSynced("jobs", NOON + 60, SyncOutcome.DONE, NOON, updated={"a": {"x": "2"}})
    gone = ListingSynced("jobs", NOON + 120, SyncOutcome.DONE, NOON, deleted=["a"])
    store.write([first, Prune(NOON)])
    with pytest.raises(InvalidParameter):
        store.write([ListingSynced("jobs", NOON, SyncOutcome.DONE, NOON, deleted=["b"])])
    store.write([changed, gone, Prune(NOON + 1e9)])

    batches = list(reader.object_events(rows=2))
    assert [[event.number for event in batch] for batch in batches] == [[1, 2], [3]]
    assert [event.kind.label for batch in batches for event in batch] == [
        *("arrived", "changed", "vanished")
    ]
    assert [event.number for (event,) in reader.object_events(after=2)] == [3]
    assert reader.object_feed_range() == feed._replace(newest=3)
    assert [reader.first_object_event_since(NOON + each) for each in (0, 60, 121)] == [1, 2, 4]
    assert list(reader.object_snapshot()) == []


def test_a_sync_that_cannot_be_is_refused_as_a_whole(store, reader):
    wrong = ListingSynced("jobs", 0.0, SyncOutcome.DONE, 1.0, inserted={"a": {}}, deleted=["b"])
    with pytest.raises(InvalidParameter, match="cannot update or delete an object"):
        store.write([wrong])

    assert reader.listing_names() == []


# The thread that writes.


def test_the_writer_s_thread_works_on_any_store(store, reader):
    import asyncio

    async def crawl():
        writer = Writer(store)
        futures = [writer.put(visit(number % 3, number)) for number in range(150)]
        wrong = writer.put(visit(99))
        receipts = await asyncio.gather(*futures, wrong, return_exceptions=True)
        await writer.close()
        return receipts

    *receipts, refused = asyncio.run(crawl())

    assert receipts == list(range(1, 151))
    assert isinstance(refused, InvalidParameter)
    assert reader.last_visit() == 150


# Lines of newest versions.


def long_page(word):
    """A body that is long enough to have its lines kept, and these."""
    lines = tuple(f"{word} {number}" for number in range(500))
    body = "".join(f"<p class=a>{line}</p>" for line in lines).encode(errors="replace")
    return {"body": body, "lines": VersionLines(b"as read", lines)}


def test_lines_are_kept_of_the_newest_version(store, reader):
    one, two = long_page("one"), long_page("两 \ud800")
    store.write([visit(0, **one), visit(1, **one)])

    assert reader.newest_lines(0) == reader.newest_lines(1) == one["lines"]
    assert reader.newest_lines(2) is None
    store.write([visit(0, 1, **two)])
    assert reader.newest_lines(0) == two["lines"]
    assert reader.newest_lines(1) is None  # its body went out of use for another page
    assert reader.newest_body(1) == one["body"]


def test_lines_of_a_page_without_text_are_none_and_not_missing(store, reader):
    store.write([visit(0, body=bytes(9000), lines=VersionLines(b"", ()))])

    assert reader.newest_lines(0) == VersionLines(b"", ())


def test_a_version_without_lines_leaves_none_of_the_one_before(store, reader):
    one, two = long_page("one"), long_page("two")
    store.write([visit(0, **one)])
    store.write([visit(0, 1, body=two["body"])])

    assert reader.newest_lines(0) is None
    store.write([visit(0, 2, **one)])
    assert reader.newest_lines(0) == one["lines"]


@given(turns=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
def test_lines_are_always_those_of_the_newest_version(store, reader, turns):
    """However pages change and return within one transaction or over several."""
    pages = [long_page(str(number)) for number in range(3)] + [{"body": b"no lines", "lines": None}]
    start = reader.last_visit()
    made = [
        visit(page, start + number, **pages[which]) for number, (page, which) in enumerate(turns)
    ]
    store.write(made[: len(made) // 2])
    store.write(made[len(made) // 2 :])

    lines = {each["body"]: each["lines"] for each in pages}
    for page in range(3):
        assert reader.newest_lines(page) in (None, lines.get(reader.newest_body(page)))


def test_more_lines_than_anybody_reads_are_not_kept(store, reader):
    lines = VersionLines(b"as read", ("x" * 1000,) * 300)
    store.write([visit(0, body=b"a" * 100_000, lines=lines)])

    assert reader.newest_lines(0) is None


def test_lines_go_with_their_version(store, reader):
    """Erased, pruned, or dropped because the page asks for it."""
    one = long_page("one")
    asks = Copy(b"a", robots=RobotsTag.NOARCHIVE)
    store.write([visit(page, copy=Copy(b"a"), **one) for page in (0, 1)])
    store.write([PagesErased([0], NOON)])
    assert reader.newest_lines(0) is None
    store.write([visit(1, 1, **long_page("two"))])
    store.write([visit(1, 2, copy=asks, **long_page("three"))])

    assert (reader.newest_lines(1), reader.versions(1)) == (None, [])
    assert all(part.found == 0 for part in reader.check())


# Pages that are taken out, and what pages ask.


def test_a_removed_page_is_known_and_nothing_is_lost(store, reader):
    store.write([visit(1, copy=Copy(b"a"), body=b"one", masks="[1]")])
    (receipt,) = store.write([PagesRemoved([1], NOON + 5)])
    pages = reader.pages()

    assert receipt == Erased()
    assert (pages.status[1], pages.rule[1]) == (PageStatus.REMOVED, -1)
    assert reader.tombstones() == [Tombstone(1, PageStatus.REMOVED, NOON + 5, visit=1)]
    assert (reader.copies([1]), reader.masks([1])) == ([Copy(b"a")], ["[1]"])
    assert reader.newest_body(1) == b"one"
    assert reader.addresses([1]) == numbered(3)[1:2]


def test_an_erased_page_leaves_its_number_and_its_visits(store, reader):
    address = numbered(3)[1]
    store.write(
        [
            visit(1, copy=Copy(b"a", etag='"1"'), body=b"one", masks="[1]"),
            visit(1, 1, copy=Copy(b"b"), body=b"two"),
            HostBelieved("a.org", {}, masks='[1,"a line of page 1"]'),
        ]
    )
    (receipt,) = store.write([PagesErased([1], NOON + 5)])
    pages = reader.pages()

    assert (receipt.versions, receipt.bodies) == (2, 2)
    assert receipt.bytes > 0
    assert (pages.status[1], pages.rule[1], pages.host[1]) == (PageStatus.ERASED, -1, 0)
    assert reader.history(1).visit.tolist() == [1, 2]
    assert (reader.copies([1]), reader.masks([1]), reader.versions(1)) == ([None], [""], [])
    assert reader.host_masks() == {}
    assert address not in reader.addresses([1])[0]
    assert reader.find_pages([address]) == [1]
    assert reader.pages_without_content().tolist() == [1]


def test_a_body_that_another_page_has_stays(store, reader):
    store.write([visit(0, body=b"both"), visit(1, body=b"both"), visit(1, 1, body=b"own")])
    (receipt,) = store.write([PagesErased([1], NOON)])

    assert (receipt.versions, receipt.bodies) == (2, 1)
    assert reader.newest_body(0) == b"both"


def test_erasing_twice_is_erasing_once(store, reader):
    store.write([PagesRemoved([1], NOON), PagesErased([1], NOON + 5)])
    before = reader.addresses([1]), reader.tombstones()

    assert store.write([PagesErased([1], NOON + 9), PagesRemoved([1], NOON + 9)]) == [Erased()] * 2
    assert (reader.addresses([1]), reader.tombstones()) == before


@pytest.mark.parametrize("kind", [PagesRemoved, PagesErased])
def test_who_finds_it_again_adds_nothing_unless_it_is_wanted(address, store, reader, kind):
    name = numbered(3)[1]
    store.write([visit(1, body=b"one", copy=Copy(b"a"))])
    store.write([kind([1], NOON)])

    assert store.write([found(name)]) == [Found([1], known=3)]
    assert reader.pages().status[1] == (6 if kind is PagesRemoved else 7)
    store.close()
    with open_for_writing(address) as again:
        for entry in (visit(1), PagesChanged([1], rules=[0])):
            with pytest.raises(InvalidParameter, match="page 1 was taken out of the crawl"):
                again.write([entry])
        wanted = PagesFound([name], ["a.org"], [4], NOON, again=True)
        assert again.write([wanted, visit(1, 9)]) == [Found([1], known=3), 2]
    status = PageStatus.COPIED if kind is PagesRemoved else PageStatus.NEW
    assert (reader.pages().status[1], reader.pages().rule[1]) == (status, 4)
    assert (reader.addresses([1]), reader.tombstones()) == ([name], [])


def test_tombstones_come_after_the_visits_before_them(store, reader):
    store.write(
        [visit(0), PagesRemoved([2], NOON), visit(0, 1), visit(1, 2), PagesErased([1], NOON)]
    )

    assert [(each.page, each.visit) for each in reader.tombstones()] == [(2, 1), (1, 3)]
    assert [each.page for each in reader.tombstones(after=2)] == [1]


def test_nothing_comes_back_that_the_same_call_wrote_before(store, reader):
    store.write([visit(1, copy=Copy(b"a"), masks="[1]", body=b"x"), PagesErased([1], NOON)])

    assert (reader.copies([1]), reader.masks([1]), reader.versions(1)) == ([None], [""], [])
    assert reader.pages().status[1] == PageStatus.ERASED


def test_no_version_is_kept_of_a_page_that_asks_for_noarchive(store, reader):
    store.write([visit(0, body=b"one"), visit(1, body=b"one")])
    asks = Copy(b"a", robots=RobotsTag.NOARCHIVE | RobotsTag.NOINDEX, unavailable_after_seconds=5)
    store.write([visit(0, 1, body=b"two", copy=asks)])

    assert reader.versions(0) == []
    assert reader.newest_body(1) == b"one"
    assert reader.copies([0]) == [asks]
    assert [each.tolist() for each in reader.robots_tags()] == [[0], [5]]


def test_versions_go_at_the_date_that_a_page_asks_for(store, reader):
    store.write([visit(0, body=b"one", copy=Copy(b"a", unavailable_after_seconds=int(NOON) + 100))])

    assert store.write([Prune(NOON + 99)]) == [0]
    assert reader.newest_body(0) == b"one"
    assert store.write([Prune(NOON + 100)]) == [1]
    assert reader.newest_body(0) is None


def test_a_destination_begins_at_the_end_and_is_where_it_was_moved(store, reader):
    """What was named before its events is told of all of them; naming it again moves nothing."""
    new = PageEvent(FeedKind.NEW, latest_seconds=60.0)
    first = VisitMade(0, 60.0, VisitOutcome.FIRST, event=new)
    store.write([DestinationsNamed(["a"]), first, DestinationsNamed(["a", "b"])])
    assert reader.destinations() == [Destination("a", 0), Destination("b", 1)]

    failed = Destination("a", 0, attempts=3, next_at_seconds=90.5)
    store.write([DestinationMoved(failed, 61.0)])
    store.write([DestinationMoved(Destination("b", 1, disabled=True), 61.0)])
    store.write([DestinationsNamed(["b", "a"])])

    assert reader.destinations() == [failed, Destination("b", 1, disabled=True)]


def test_what_was_given_up_stays_until_it_is_redelivered_or_pruned(store, reader):
    event = PageEvent(FeedKind.NEW, latest_seconds=60.0)
    visits = [VisitMade(0, 60.0, VisitOutcome.FIRST, event=event) for _ in range(2)]
    store.write([DestinationsNamed(["a"]), *visits])
    for number in (1, 2):
        store.write([DestinationMoved(Destination("a", number), 61.0, given_up="answered 500")])
    given_up = [Undelivered("a", number, 61.0, "answered 500") for number in (1, 2)]
    assert reader.undelivered() == given_up

    store.write([Redelivered("a", 1), Redelivered("b", 2)])

    assert reader.undelivered() == given_up[1:]


def test_several_events_are_given_up_at_once_and_the_last_problem_is_kept(store, reader):
    at = Destination("a", 3, attempts=2, next_at_seconds=70.0, problem="no connection")
    store.write([DestinationsNamed(["a"]), DestinationMoved(at, 61.0, "no connection", (1, 3))])

    assert reader.destinations() == [at]
    assert [each.number for each in reader.undelivered()] == [1, 3]

    store.write([DestinationMoved(Destination("a", 4), 80.0)])

    assert reader.destinations() == [Destination("a", 4)]


def test_what_was_given_up_goes_with_its_event(address, store):
    event = PageEvent(FeedKind.NEW, latest_seconds=NOON)
    made = VisitMade(0, NOON, VisitOutcome.FIRST, event=event)
    moved = DestinationMoved(Destination("a", 1), NOON, given_up="answered 500")
    store.write([DestinationsNamed(["a"]), made, moved])
    store.close()

    with open_for_writing(address, Retention(events=90)) as opened:
        opened.write([Prune(NOON + 91 * 86_400)])

    with open_store(address) as reader:
        assert reader.undelivered() == []
        assert reader.destinations() == [Destination("a", 1)]


def test_hints_of_a_crawl_wait_as_those_of_others_do(store, reader, monkeypatch):
    monkeypatch.setattr("recrawl.store.rows.hints.MOST_WAITING", 3)
    store.write([HintsGiven(["https://a.org/1", "https://a.org/2"], 60.0)])
    store.write([HintsGiven(["https://a.org/3", "https://a.org/4"], 61.0)])  # no room for the last

    numbers, _, addresses = zip(*reader.hints(0, 10), strict=True)
    assert addresses == ("https://a.org/1", "https://a.org/2", "https://a.org/3")
    store.write([HintsTaken(numbers[1])])
    assert [each for *_, each in reader.hints(0, 10)] == ["https://a.org/3"]


def test_subscriptions_are_kept_as_they_stand(store, reader):
    confirmed = Subscription("https://a.org/f", "https://hub.example/", 99.5, 3, 60.25)
    other = Subscription("https://b.org/f", "https://hub.example/")
    store.write([SubscriptionsKnown([other, confirmed])])
    assert reader.subscriptions() == [confirmed, other]

    store.write([SubscriptionsKnown([replace(confirmed, pushes=4)], dropped=[other.feed])])

    assert reader.subscriptions() == [replace(confirmed, pushes=4)]


def test_expected_freshness_is_kept_in_order(store, reader):
    later, earlier = (
        FreshnessNoted(7200.5, 9, 0.9, 0.8, 1.0),
        FreshnessNoted(3600.0, 4, 0.5, 0.2, 0.7),
    )
    store.write([later, earlier])

    assert reader.freshness_noted() == [earlier, later]
    assert reader.freshness_noted(3600.5) == [later]


def test_a_source_keeps_its_entries_and_its_hub(store, reader):
    feed = Source("https://a.org/f", "https://a.org", SourceKind.FEED, push_hub="https://b.org/")
    feed = replace(feed, push_topic="https://a.org/F").with_entries([("https://a.org/1", 5.0)])
    store.write([SourcesKnown([feed])])

    assert reader.sources() == [feed]


def test_visits_are_reported_with_their_key_or_not_at_all(store, reader):
    store.write([PagesFound(["https://a.org/"], ["a.org"], rules=[0], at_seconds=1.0)])
    report = AnsweredReport("batch-1", b"digest", '["first", null]')
    assert reader.report("batch-1") is None
    made = [VisitMade(0, 60.0, VisitOutcome.FIRST), VisitMade(0, 61.0, VisitOutcome.SAME)]

    assert store.write([VisitsReported(made, report, 61.0)]) == [2]
    assert reader.report("batch-1") == report
    with pytest.raises(InvalidParameter):
        store.write(
            [
                VisitsReported(
                    [VisitMade(7, 62.0, VisitOutcome.FIRST)], replace(report, key="batch-2"), 62.0
                )
            ]
        )

    assert (reader.last_visit(), reader.report("batch-2")) == (2, None)


def test_a_key_is_forgotten_after_a_day(store, reader):
    for number, at in enumerate((0.0, 86_000.0, 86_500.0)):
        store.write([VisitsReported([], AnsweredReport(f"batch-{number}", b"", "[]"), at)])

    known = [reader.report(f"batch-{number}") is not None for number in range(3)]
    assert known == [False, True, True]
