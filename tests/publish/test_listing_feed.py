"""The feed of listings: what readers are told of objects, in which order, from where on."""

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

import recrawl
from recrawl.errors import CursorExpired, InvalidParameter
from recrawl.publish.feeds import events_after, follow_events, object_feed
from recrawl.publish.object_events import ObjectFilter, object_cloud_event
from recrawl.store import create_store, open_for_writing, open_store
from tests.publish import listed
from tests.publish.listed import HOUR
from tests.store.made import NOON


@pytest.fixture
def path(tmp_path):
    return listed.usual(tmp_path)


def told(store, after=None):
    return list(store.listing_changes(after))


def test_events_come_in_the_order_of_commits_with_what_was_before(path):
    with recrawl.open_store(str(path)) as store:
        events = told(store)
        feed = store.cursor.rpartition("-")[0]

    assert [(each.kind, each.listing, each.key) for each in events] == [
        *(("arrived", "jobs", "1"), ("arrived", "jobs", "2"), ("arrived", "cars", "1")),
        *(("changed", "jobs", "2"), ("vanished", "jobs", "1"), ("back", "jobs", "1")),
    ]
    assert [each.cursor for each in events] == [f"{feed}-listings-{n}" for n in range(1, 7)]
    changed, vanished, back = events[3:]
    assert (changed.before, changed.attributes) == ({"pay": "28"}, {"pay": "30"})
    assert (changed.changed, back.changed) == (("pay",), ())
    assert (vanished.before, vanished.attributes) == ({"pay": "20"}, None)
    assert (back.before, back.attributes) == ({"pay": "20"}, {"pay": "20"})
    assert {each.before is None for each in events[:3]} == {True}


def test_it_happened_between_the_last_sync_that_was_accepted_and_this_one(path):
    """A sync that failed has seen nothing; of a first one nothing is known."""
    with recrawl.open_store(str(path)) as store:
        first, *_, vanished, back = told(store)

    assert (first.earliest, first.likely) == (None, None)
    assert first.latest.timestamp() == NOON
    assert vanished.earliest.timestamp() == NOON + 2 * HOUR
    assert back.earliest.timestamp() == NOON + 3 * HOUR
    assert back.likely.timestamp() == NOON + 4 * HOUR
    assert back.latest == back.seen_at
    assert back.latest.timestamp() == NOON + 5 * HOUR


def test_a_snapshot_has_what_is_listed_and_goes_on_without_a_hole(path):
    with recrawl.open_store(str(path)) as store:
        cursor, objects = store.listing_snapshot()
        with open_for_writing(path) as writer:
            listed.sync(writer, "cars", {"1": {"make": "Fiat"}}, {}, NOON + 9 * HOUR)
        found = {(each.listing, each.key): each for each in objects}
        later = told(store, cursor)

        assert cursor == told(store)[-2].cursor
    assert set(found) == {("jobs", "2"), ("jobs", "1")}
    assert {each.kind for each in found.values()} == {"snapshot"}
    assert found["jobs", "1"].seen_at.timestamp() == NOON + 5 * HOUR
    assert [(each.kind, each.listing, each.key) for each in later] == [("vanished", "cars", "1")]


def test_cursors_of_others_are_refused_in_a_sentence(path, tmp_path):
    other = tmp_path / "other.db"
    create_store(other).close()
    with recrawl.open_store(str(other)) as store:
        strange = store.listing_cursor
    with recrawl.open_store(str(path)) as store:
        pages, own = store.cursor, store.listing_cursor
        with pytest.raises(CursorExpired, match="belongs to another store; take a snapshot"):
            store.listing_changes(strange)
        with pytest.raises(InvalidParameter, match=r"belongs to `recrawl changes`$"):
            store.listing_changes(pages)
        with pytest.raises(InvalidParameter, match=r"belongs to `recrawl listing changes`$"):
            store.changes(own)
        with pytest.raises(CursorExpired, match=r"ahead of the last event \(6\)"):
            store.listing_changes(own.replace("-6", "-7"))
        with pytest.raises(InvalidParameter, match="look like k3fqabcd-listings-1042"):
            store.listing_changes("soon")


def test_a_reader_that_follows_sees_what_comes(path):
    def sleep(_):
        with open_for_writing(path) as writer:
            listed.sync(writer, "cars", {"1": {"make": "Fiat"}}, {}, NOON + 9 * HOUR)

    with open_store(path) as reader:
        batches = follow_events(object_feed(reader), 5, rows=9, sleep=sleep)

        assert [event.number for event in next(batches)] == [6]
        assert next(batches) == []
        assert [event.key for event in next(batches)] == ["1"]


def test_the_feed_survives_a_filter_and_an_envelope(path):
    wanted = ObjectFilter(frozenset({"vanished"}), frozenset({"jobs"}))
    with open_store(path) as reader:
        (batch,) = events_after(object_feed(reader), 0, 100)
        (event,) = filter(wanted.holds, batch)
        found = object_cloud_event(reader.object_feed_range().feed, event)

    assert (found["type"], found["subject"]) == ("recrawl.object.vanished", "1")
    assert found["source"].endswith("-listings")
    assert found["data"]["before"] == {"pay": "20"}
    assert (found["data"]["attributes"], found["data"]["changed"]) == (None, [])


_objects = st.dictionaries(
    st.sampled_from("abcd"), st.fixed_dictionaries({"x": st.sampled_from(["", "1", "2"])})
)


class FeedMachine(RuleBasedStateMachine):
    """Random syncs of two listings, and a reader that forgets whatever it had not committed."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "recrawl.db"
        create_store(self.path).close()
        self.truth: dict[str, listed.Objects] = {"jobs": {}, "cars": {}}
        self.at = NOON
        self.mirror, self.cursor = {}, None

    def teardown(self):
        self.who_reads_to_the_end_has_what_is_listed()
        self.folder.cleanup()

    @rule(listing=st.sampled_from(["jobs", "cars"]), now=_objects)
    def sync(self, listing, now):
        self.at += HOUR
        with open_for_writing(self.path) as store:
            listed.sync(store, listing, self.truth[listing], now, self.at)
        self.truth[listing] = now

    def apply(self, event):
        name = event.listing, event.key
        if event.kind == "vanished":
            self.mirror.pop(name, None)
        else:
            self.mirror[name] = event.attributes

    @rule(events=st.integers(0, 6), twice=st.booleans())
    def read_and_be_killed(self, events, twice):
        """Some events are applied; the cursor of the last of them may be lost."""
        with recrawl.open_store(str(self.path)) as store:
            for _, event in zip(range(events), store.listing_changes(self.cursor), strict=False):
                self.apply(event)
                if not twice:
                    self.cursor = event.cursor

    @rule()
    def begin_anew(self):
        with recrawl.open_store(str(self.path)) as store:
            cursor, objects = store.listing_snapshot()
            found = {(each.listing, each.key): each.attributes for each in objects}
        self.mirror, self.cursor = found, cursor

    @rule()
    def who_reads_to_the_end_has_what_is_listed(self):
        with recrawl.open_store(str(self.path)) as store:
            for event in store.listing_changes(self.cursor):
                self.apply(event)
                self.cursor = event.cursor
        expected = {
            (listing, key): each
            for listing, objects in self.truth.items()
            for key, each in objects.items()
        }
        assert self.mirror == expected


def test_a_reader_killed_anywhere_has_exactly_what_is_listed():
    run_state_machine_as_test(
        FeedMachine, settings=settings(max_examples=15, stateful_step_count=12, deadline=None)
    )


@given(st.lists(_objects, min_size=1, max_size=5))
@settings(max_examples=25, deadline=None)
def test_what_was_before_is_what_the_event_before_said(found):
    """An oracle: the attributes of each object, kept in a dictionary."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recrawl.db"
        create_store(path).close()
        with open_for_writing(path) as store:
            for hour, (before, now) in enumerate(zip([{}, *found], found, strict=False)):
                listed.sync(store, "jobs", before, now, NOON + hour * HOUR)
        known: dict[str, Any] = {}
        with recrawl.open_store(str(path)) as store:
            for event in store.listing_changes():
                assert event.before == known.get(event.key)
                known[event.key] = event.attributes or event.before
