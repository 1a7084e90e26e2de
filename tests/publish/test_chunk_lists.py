"""Lists of chunks that events bring: right after any gap, also of versions that were dropped."""

from dataclasses import replace

import pytest

import recrawl
from recrawl.entries.entries import (
    PageChange,
    PageEvent,
    PagesChanged,
    PagesErased,
    Prune,
    VisitMade,
)
from recrawl.entries.manifests import Manifest
from recrawl.entries.records import digest_of
from recrawl.extract import SPLITTER, manifest_of, read_content
from recrawl.store import open_for_writing
from recrawl.store.retention import Retention
from recrawl.visits.status import FeedKind, PageStatus, VisitOutcome
from tests.publish import fed
from tests.publish.fed import SITE, page
from tests.store.made import NOON

TEA = f"{SITE}/tea"
GREEN = page("Tea").replace(b"</main>", b"<h2>Green</h2><p>Leaves from Uji</main>")


@pytest.fixture
def path(tmp_path):
    return fed.make(tmp_path)


def chunks_in(path, after=None, **more):
    """Content of each event."""
    with recrawl.open_store(str(path)) as store:
        return [event.content for event in store.changes(after, {"chunks"}, **more)]


def listed(body, address=TEA):
    content = read_content(body, "", address)
    assert content is not None
    manifest = manifest_of(content)
    assert manifest is not None
    return manifest


def ids(found):
    return [(row["id"], row["hash"]) for row in found["chunks"]]


def ops(found):
    return [(row["path"][-1], row["op"]) for row in found["chunks"]]


def test_what_became_of_chunks_is_told_though_their_versions_were_dropped(path):
    fed.tell(
        path,
        (FeedKind.NEW, 1, page("Tea")),
        (FeedKind.CHANGED, 1, GREEN),
        (FeedKind.CHANGED, 1, page("Tea", 6)),
        (FeedKind.REMOVED, 1, None),
        retention=Retention(versions=1),
        listed=True,
    )

    new, green, dearer, removed = chunks_in(path)

    assert ops(new) == [("Tea", "new"), ("Price", "new")]
    assert ops(green) == [("Tea", "same"), ("Price", "same"), ("Green", "new")]
    assert ops(dearer) == [("Tea", "same"), ("Price", "changed")]
    assert [row["text"] for row in green["chunks"]] == [None, None, None]
    assert all(row["text"] for row in dearer["chunks"])
    assert dearer["removed"] == [green["chunks"][2]["id"]]
    assert sorted(removed["removed"]) == sorted(row["id"] for row in dearer["chunks"])
    for found, body in ((new, page("Tea")), (green, GREEN), (dearer, page("Tea", 6))):
        assert ids(found) == [(chunk.id, chunk.hash) for chunk in listed(body).chunks]
        assert found["content"] is True


def test_without_lists_they_are_none_where_versions_were_dropped(path):
    events = (FeedKind.NEW, 1, page("Tea")), (FeedKind.CHANGED, 1, GREEN)
    fed.tell(path, *events, retention=Retention(versions=1))

    new, changed = chunks_in(path)

    assert new["chunks"] is new["removed"] is new["content"] is None
    assert ops(changed) == [("Tea", None), ("Price", None), ("Green", None)]


@pytest.mark.parametrize("lists", [False, True])
def test_all_chunks_of_a_page_that_is_back_are_new(path, lists):
    """Its readers have deleted them, though the page is as it was."""
    fed.tell(path, (FeedKind.NEW, 1, GREEN), (FeedKind.REMOVED, 1, None), listed=lists)
    with open_for_writing(path) as store:
        back = PageEvent(FeedKind.BACK, NOON + 9e4)
        store.write([VisitMade(1, NOON + 9e4, VisitOutcome.SAME, event=back)])

    found = chunks_in(path)[-1]

    assert ops(found) == [("Tea", "new"), ("Price", "new"), ("Green", "new")]
    assert (found["content"], found["removed"]) == (True, [])


def test_lists_come_where_no_version_is_kept(path):
    manifest = listed(GREEN)
    event = PageEvent(FeedKind.NEW, NOON, version=digest_of(GREEN), manifest=manifest)
    with open_for_writing(path) as store:
        store.write([VisitMade(1, NOON, VisitOutcome.FIRST, event=event)])

    with recrawl.open_store(str(path)) as store:
        (copy,) = list(store.snapshot({"chunks"})[1])
    (new,) = chunks_in(path)

    assert ids(copy.content) == ids(new) == [(each.id, each.hash) for each in manifest.chunks]
    assert ops(copy.content) == [("Tea", None), ("Price", None), ("Green", None)]
    assert [row["markdown"] for row in new["chunks"]] == [None] * 3


def other_splitter(manifest):
    chunks = tuple(replace(each, id=each.id[:-1] + "0") for each in manifest.chunks)
    return Manifest(SPLITTER + 1, chunks)


@pytest.mark.parametrize("kept", [False, True])
def test_another_splitter_tells_nothing_and_counts_only_without_a_version(path, kept):
    """A store that an upgrade of ours has written to before: no event comes of that."""
    body = GREEN if kept else None
    old = PageEvent(
        FeedKind.NEW, NOON, version=digest_of(GREEN), manifest=other_splitter(listed(GREEN))
    )
    with open_for_writing(path) as store:
        store.write([VisitMade(1, NOON, VisitOutcome.FIRST, body=body, event=old)])
    fed.tell(path, (FeedKind.CHANGED, 1, page("Tea", 6)), start=1, listed=True)

    new, changed = chunks_in(path)

    assert new["splitter"] == (SPLITTER if kept else SPLITTER + 1)
    assert all((row["text"] is not None) == kept for row in new["chunks"])
    assert changed["splitter"] == SPLITTER
    assert ops(changed) == [("Tea", None), ("Price", None)]
    assert changed["removed"] is None


def test_a_list_that_no_longer_fits_its_version_gives_way_to_it(path):
    """A heading that is masked by now has another id: what the version says has a text."""
    stale = Manifest(SPLITTER, other_splitter(listed(GREEN)).chunks)
    event = PageEvent(FeedKind.NEW, NOON, manifest=stale)
    with open_for_writing(path) as store:
        store.write([VisitMade(1, NOON, VisitOutcome.FIRST, body=GREEN, event=event)])

    (new,) = chunks_in(path)

    assert ids(new) == [(each.id, each.hash) for each in listed(GREEN).chunks]
    assert all(row["text"] for row in new["chunks"])


def test_the_list_of_the_copy_stays_when_its_event_is_pruned(path):
    keep = Retention(versions=1, events=1.0)
    fed.tell(path, (FeedKind.NEW, 1, page("Tea")), retention=keep, listed=True)
    with open_for_writing(path, keep) as store:
        store.write([Prune(NOON + 1e6)])
    fed.tell(path, (FeedKind.CHANGED, 1, GREEN), start=400, retention=keep, listed=True)

    (changed,) = chunks_in(path)

    assert ops(changed) == [("Tea", "same"), ("Price", "same"), ("Green", "new")]


def test_an_erased_page_leaves_no_list(path):
    fed.tell(path, (FeedKind.NEW, 1, GREEN), listed=True)
    removed = PageEvent(FeedKind.REMOVED, NOON + 9)
    with open_for_writing(path) as store:
        store.write([PagesErased([1], NOON + 9, [removed])])

    new, gone = chunks_in(path)

    assert new["chunks"] is None
    assert (gone["chunks"], gone["removed"]) == ([], None)


def test_the_latest_events_are_the_newest_of_each_page_and_cursors_go_on(path):
    fed.tell(
        path,
        (FeedKind.NEW, 0, page("Home")),
        (FeedKind.NEW, 1, page("Tea")),
        (FeedKind.CHANGED, 1, GREEN),
        (FeedKind.NEW, 2, page("Sorted")),
        (FeedKind.CHANGED, 1, page("Tea", 6)),
        (FeedKind.CHANGED, 0, page("Home", 6)),
    )
    with recrawl.open_store(str(path)) as store:
        every = list(store.changes())
        latest = list(store.changes(latest=True))

        assert [event.cursor for event in latest] == [every[row].cursor for row in (3, 4, 5)]
        for row in range(len(every)):  # wherever a reader has stopped before
            later = list(store.changes(every[row].cursor, latest=True))
            newest = {event.page: event.cursor for event in every[row + 1 :]}
            assert [event.cursor for event in later] == sorted(map(str, newest.values()))


def test_what_became_of_chunks_since_events_that_were_left_out_is_not_told(path):
    """The last of them changed nothing but navigation; what came before it must not be lost."""
    other = GREEN.replace(b"All", b"Everything")
    fed.tell(path, (FeedKind.NEW, 1, page("Tea")), (FeedKind.CHANGED, 1, GREEN))
    fed.tell(path, (FeedKind.CHANGED, 1, other), (FeedKind.NEW, 2, GREEN), start=5)

    skipped, alone = chunks_in(path, latest=True)

    assert ops(skipped) == [("Tea", None), ("Price", None), ("Green", None)]
    assert skipped["content"] is skipped["removed"] is None
    assert ops(alone)[0] == ("Tea", "new")
    assert chunks_in(path)[2]["content"] is False


def test_an_event_that_comes_while_the_latest_are_read_comes_too(path):
    fed.tell(path, (FeedKind.NEW, 0, page("Home")), (FeedKind.NEW, 1, page("Tea")))
    with recrawl.open_store(str(path)) as store:
        events = store.changes(include={"markdown"}, latest=True)
        fed.tell(path, (FeedKind.CHANGED, 0, GREEN), start=5)

        assert [(event.kind, event.page) for event in events] == [
            *(("new", 0), ("new", 1), ("changed", 0)),
        ]


def test_a_page_whose_status_changes_has_no_list_of_its_own(path):
    """Settings that no longer hold a page end it: what its readers have to delete is told."""
    fed.tell(path, (FeedKind.NEW, 1, GREEN), retention=Retention(versions=1), listed=True)
    ended = PageEvent(FeedKind.REMOVED, NOON + 9e4)
    with open_for_writing(path) as store:
        store.write([PagesChanged([1], [PageChange(PageStatus.COPIED)], [-1], [ended])])

    assert len(chunks_in(path)[-1]["removed"]) == 3
