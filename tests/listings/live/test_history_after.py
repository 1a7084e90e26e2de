"""A sync that is about to be written is reckoned with as the store will read it back."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.entries.listings import EventKind
from recrawl.listings.live.history import listing_of_history
from recrawl.listings.live.judging import ListingFacts, history_after, judge_sync, live_forecast
from recrawl.listings.live.pages import ListingSnapshot
from recrawl.store import create_store, open_store
from tests.listings.live.listing_stores import START, rule

if TYPE_CHECKING:
    from recrawl.listings.live.forecast import LiveForecast

KEYS = "abcdefghijklmn"
snapshots = st.one_of(
    st.dictionaries(
        st.sampled_from(KEYS), st.dictionaries(st.sampled_from("xy"), st.sampled_from("12"))
    ).map(lambda objects: ListingSnapshot(objects, 1)),
    st.just(ListingSnapshot({"a": {}}, 1, "second page: expected status 200, got 503")),
)
steps = st.lists(
    st.tuples(st.sampled_from(["jobs", "cars"]), st.floats(0.01, 3.0), snapshots),
    min_size=1,
    max_size=12,
)


def told(history):
    """A history without the numbers that a store gives to its syncs and objects."""
    place = {sync.number: row for row, sync in enumerate(history.syncs)}
    return (
        history.name,
        [
            (
                *(sync.at_seconds, sync.outcome, sync.detail, sync.took_seconds, sync.pages),
                *(sync.items, sync.listed, sync.next_at_seconds, sync.reason),
                *(sync.quality, sync.sketch),
            )
            for sync in history.syncs
        ],
        list(history.keys.values()),
        [
            (history.keys[each.object], place[each.sync], each.kind, each.attributes)
            for each in history.events
        ],
    )


def facts(store, name, forecast):
    """What a crawl knows that reads its store."""
    with open_store(store.name) as reader:
        return ListingFacts(reader.listing_history(name), reader.listed_objects(name), forecast)


@settings(max_examples=25)
@given(steps)
def test_a_history_with_one_more_sync_is_what_the_store_reads_back(shown):
    """Whatever is found: objects that come, change, go and come back, doubts and failures."""
    forecasts: dict[str, LiveForecast | None] = {}
    now = START
    with tempfile.TemporaryDirectory() as folder, create_store(Path(folder) / "a.db") as store:
        for name, days, snapshot in shown:
            now += days
            known = facts(store, name, forecasts.get(name))
            synced, forecasts[name] = judge_sync(rule(name), known, snapshot, now)

            foreseen = history_after(known.history, synced)
            store.write([synced])

            assert told(foreseen) == told(facts(store, name, None).history)


@settings(max_examples=25)
@given(steps)
def test_a_crawl_that_is_started_anew_plans_as_the_one_that_went_on(shown):
    """The forecast after a sync is that of the history that is read back, to the bit."""
    forecasts: dict[str, LiveForecast | None] = {}
    now = START
    with tempfile.TemporaryDirectory() as folder, create_store(Path(folder) / "a.db") as store:
        for name, days, snapshot in shown:
            now += days
            known = facts(store, name, forecasts.get(name))
            synced, forecasts[name] = judge_sync(rule(name), known, snapshot, now)
            store.write([synced])
            anew = live_forecast(facts(store, name, None).history)

            kept = forecasts[name]
            assert (anew is None) == (kept is None)
            if anew is not None and kept is not None:
                assert kept.next(rule(name)) == anew.next(rule(name))
                for metric in ("precision", "recall"):
                    assert kept.quality(metric, now + 0.7) == anew.quality(metric, now + 0.7)


def test_an_object_that_comes_back_keeps_its_number(tmp_path):
    with create_store(tmp_path / "a.db") as store:
        known = facts(store, "jobs", None)
        for days, keys in enumerate(["ab", "b"]):
            snapshot = ListingSnapshot({key: {} for key in keys}, 1)
            synced, forecast = judge_sync(rule(), known, snapshot, START + days)
            store.write([synced])
            known = facts(store, "jobs", forecast)
        back, _ = judge_sync(rule(), known, ListingSnapshot({"a": {}, "b": {}}, 1), START + 5)

    events = history_after(known.history, back).events
    assert [each.kind for each in events if each.object == events[0].object] == [
        EventKind.INSERT,
        EventKind.DELETE,
        EventKind.INSERT,
    ]
    assert len(listing_of_history(history_after(known.history, back))) == 2
