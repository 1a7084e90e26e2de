"""Entries of `store/`: values that a store's file holds, each damaged or written by a stranger."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from uuid import UUID

import apsw
import numpy as np
import zstandard

from recrawl.arrays.distinct import DistinctCount
from recrawl.entries.deliveries import DestinationMoved
from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    DetailPages,
    HostBelieved,
    HostSeen,
    PageChange,
    PageEvent,
    PagesFound,
    RobotsRead,
    VisitMade,
)
from recrawl.entries.filtering import (
    AddressesRefused,
    DuplicateOf,
    RefusedAddresses,
    ShapeJudged,
)
from recrawl.entries.listings import ListingSynced, Quality, SyncOutcome
from recrawl.entries.manifests import ListedChunk, Manifest
from recrawl.entries.pushes import Subscription, SubscriptionsKnown
from recrawl.entries.records import Destination, VersionLines
from recrawl.entries.reports import AnsweredReport, VisitsReported
from recrawl.entries.sources import Source, SourceKind, SourcesKnown
from recrawl.errors import StoreError
from recrawl.store import add_hints, create_store, open_store
from recrawl.visits.status import DuplicateSign, FeedKind, PageStatus, Refusal, VisitOutcome
from tests.fuzz.parser import Parser

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

# Where a value may be put, by the first byte of an input.
_CELLS = (
    "update bodies set data = ?",
    "update body_lines set data = ?",
    "update body_lines set reading = ?",
    "update body_lines set size = length(?)",
    "update robots set body = ?",
    "update checkpoint set data = ? where block = 0 and part = 'value'",
    "update checkpoint set data = ? where block = 0 and part = 'array'",
    "update latest_visits set data = ?",
    "update copies set bytes_signature = ?",
    "update bodies set digest = ? where id = 1",
    "update syncs set sketch = ?",
    "update objects set attributes = cast(? as text)",
    "update events set attributes = cast(? as text)",
    "update masks set data = cast(? as text)",
    "update pages set address = cast(? as text) where id = 1",
    "update hosts set name = cast(? as text) where id = 1",
    "update visits set at = cast(? as integer) where id = 1",
    "update visits set before = cast(? as integer)",
    "update visits set outcome = cast(? as integer)",
    "update visits set share = cast(? as integer)",
    "update pages set status = cast(? as integer)",
    "update pages set found_at = cast(? as integer)",
    "update syncs set outcome = cast(? as integer)",
    "update syncs set precision = cast(? as real)",
    "update checkpoint set data = ? where block > 0",
    "update meta set value = cast(? as integer) where name like '%visit%'",
    "update meta set value = cast(? as integer) where name = 'checkpoint'",
    "update changes set kind = cast(? as integer)",
    "update changes set at = cast(? as integer)",
    "update changes set page = cast(? as integer)",
    "update changes set gist = cast(? as integer)",
    "update changes set version = ?",
    "update changes set target = cast(? as text)",
    "update pages set version = ?",
    "update pages set listed = cast(? as integer)",
    "update meta set value = ? where name = 'feed'",
    "update sqlite_sequence set seq = cast(? as integer)",
    "update destinations set cursor = cast(? as integer)",
    "update destinations set disabled = cast(? as integer)",
    "update undelivered set at = cast(? as integer)",
    "update manifests set data = ?",
    "update manifests set chunks = cast(? as integer)",
    "update manifests set splitter = cast(? as integer)",
    "update changes set manifest = cast(? as integer)",
    "update pages set manifest = cast(? as integer)",
    "update copies set shell = cast(? as integer)",
    "update moves set target = cast(? as text)",
    "update hints set address = cast(? as text)",
    "update sources set listed = ?",
    "update sources set push_hub = cast(? as text)",
    "update freshness set copies = cast(? as integer)",
    "update subscriptions set until = cast(? as integer)",
    "update subscriptions set pushes = cast(? as integer)",
    "update reports set answer = cast(? as text)",
    "update visits set http = cast(? as integer)",
    "update duplicates set original = cast(? as integer)",
    "update duplicates set sign = cast(? as integer)",
    "update refused_addresses set reason = cast(? as integer)",
    "update refused_addresses set sketch = ?",
    "update refused_addresses set example = cast(? as text)",
    "update address_shapes set judged = cast(? as integer)",
    "update copies set text_signature = ?",
    "update handed_details set address = cast(? as text)",
    "update handed_details set after = cast(? as integer)",
)


@cache
def _whole_store() -> bytes:
    """A store with something in every table."""
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        path = Path(folder) / "whole.db"
        first = Copy(b"12345678", b"abcdefgh", '"1"', 60, 7)
        chunk = ListedChunk(str(UUID(int=7)), f"{7:064x}", ("Tea", "Green"), 0)
        new = PageEvent(FeedKind.NEW, 60.0, manifest=Manifest(1, (chunk,)))
        changed = PageEvent(FeedKind.CHANGED, 90.0, 60.0, 75.0)
        with create_store(path) as store:
            addresses = ["https://a.org/", "https://a.org/b"]
            store.write([PagesFound(addresses, ["a.org"] * 2, rules=[0, 0], at_seconds=1.0)])
            store.write(
                [
                    VisitMade(
                        *(0, 60.0, VisitOutcome.FIRST, 200),
                        copy=first,
                        body=b"<p>a" * 2999,
                        lines=VersionLines(b"as read", ("a",) * 2999),
                        event=new,
                    ),
                    VisitMade(
                        *(0, 90.0, VisitOutcome.CHANGED, 200),
                        share=0.5,
                        masks="[1]",
                        event=changed,
                    ),
                    VisitMade(1, 94.5, VisitOutcome.MOVED, 301, target="https://a.org/c"),
                    VisitMade(
                        *(1, 95.0, VisitOutcome.DUPLICATE),
                        change=PageChange(PageStatus.DUPLICATE, 2),
                        original=DuplicateOf(0, DuplicateSign.CONTENT),
                    ),
                    ShapeJudged("a.org", "/calendar/#", 9, 9),
                    AddressesRefused(
                        "a.org",
                        [RefusedAddresses(Refusal.TRAP, "/#", b"12345678", "https://a.org/1")],
                    ),
                    DestinationMoved(Destination("in", 1), 95.0, given_up="answered 500"),
                    HostSeen("a.org", delay=0.1, latency_seconds=1.0),
                    HostBelieved("a.org", {"etag": (1.0, 0.0, 0.0, 0.0)}, masks="[1]"),
                    RobotsRead("https://a.org", 1.0, 200, b"Disallow: /x"),
                    Checkpoint({"value": {"a": [1, 2]}, "array": np.arange(5.0)}, 3),
                    ListingSynced(
                        "jobs",
                        60.0,
                        SyncOutcome(1),
                        90.0,
                        inserted={"7": {"city": "Bern"}},
                        quality=Quality(0.9, 0.8),
                        sketch=b"x",
                    ),
                    ListingSynced(
                        *("jobs", 90.0, SyncOutcome(1), 99.0),
                        updated={"7": {"city": "Biel"}},
                        details=DetailPages(
                            {"7": "https://b.org/7"},  # of another slot
                            PagesFound([], [], [], 90.0),
                            0,
                            unlisted=PageEvent(FeedKind.REMOVED, 90.0),
                            back=PageEvent(FeedKind.BACK, 90.0),
                        ),
                    ),
                    SourcesKnown([Source("https://a.org/f", "https://a.org", SourceKind.FEED)]),
                    SubscriptionsKnown([Subscription("https://a.org/f", "https://b.org/", 9.0)]),
                    VisitsReported([], AnsweredReport("batch", b"12345678", "[]"), 95.0),
                ]
            )
        add_hints(path, ["https://a.org/"], 99.0)
        return path.read_bytes()


def _read_value(data: bytes) -> None:
    """Put a value into a store, and read all that a store can tell."""
    statement = _CELLS[(data[0] if data else 0) % len(_CELLS)]
    with TemporaryDirectory(prefix="recrawl-fuzz-") as folder:
        path = Path(folder) / "damaged.db"
        path.write_bytes(_whole_store())
        connection = apsw.Connection(str(path))
        try:
            connection.execute("pragma synchronous = off")
            connection.execute(statement, (data[1:],))
        except apsw.ConstraintError:
            return
        finally:
            connection.close()
        with open_store(path) as store:
            _read_all(store)


def _read_all(store: ReadStore) -> None:
    pages = range(store.page_count())
    every = np.arange(len(pages))
    assert len(store.pages().host) == len(pages)
    store.addresses(pages)
    list(store.all_addresses())
    store.copies(pages)
    store.masks(pages)
    store.hints(0, 10)
    store.handed_details(0, 10)
    for source in store.sources():
        source.listed_keys  # noqa: B018 - it must not fail
    store.freshness_noted()
    store.subscriptions()
    store.report("batch")
    store.shells()
    store.moves(pages)
    store.failing_pages(10)
    store.latest_responses(every)
    for page in pages:
        store.history(page)
        store.newest_body(page)
        store.newest_lines(page)
        for version in store.versions(page):
            store.body(version.digest)
    list(store.visits())
    list(store.outcomes())
    store.latest_visits(every)
    assert not len(store.latest_visits(every[:0]))
    store.recent_visit_counts(every, 0.0)
    store.sampled_visits(np.array([1, 2, 3]), 5)
    store.daily_visits()
    list(store.hosts())
    store.robots("https://a.org")
    store.robots_read()
    store.host_masks()
    store.signal_records()
    _read_filtering(store)
    store.checkpoint()
    store.feed_range()
    store.destinations()
    store.undelivered()
    for events in (*store.events(), *store.snapshot()):
        for event in events:
            store.manifest(event.manifest)
            store.manifest(event.manifest_before)
    store.manifest(1)
    store.latest_events()
    _read_listings(store)


def _read_listings(store: ReadStore) -> None:
    list(store.object_events())
    list(store.object_snapshot())
    store.object_feed_range()
    store.first_object_event_since(0.0)
    for name in store.listing_names():
        store.detail_addresses(name)
        store.detail_pages(name)
        store.syncs(name)
        store.listed_objects(name)
        store.objects(name)
        store.listing_history(name)


def _read_filtering(store: ReadStore) -> None:
    store.duplicates()
    store.duplicates_of(0, 10)
    store.waiting_pages(0)
    store.address_shapes()
    for _, refused in store.refused_addresses():
        assert int(DistinctCount.read(refused.sketch)) >= 0
    found, signatures = store.signatures()
    assert len(found) == len(signatures)


# What a cell holds, by a part of the statement that fills it.
_VALUES = {
    "bodies set data": (
        zstandard.compress(b"<p>a" * 99),
        zstandard.ZstdCompressor(write_content_size=False).compress(b"x" * 9999),
    ),
    "manifests set data": (
        zstandard.compress(f'[["{7:032x}","{7:064x}",0,"Tea","Green"]]'.encode()),
        zstandard.compress(b"[" * 9999),
    ),
    "robots": (zstandard.compress(b"Disallow: /x"),),
    "latest_visits": (np.arange(4).tobytes(),),
    "part = 'value'": (b'{"value": {"a": [1, 2]}}',),
    "part = 'array'": (
        b'{"dtype": "<f8", "shape": [5]}',
        b'{"dtype": [["a", "<i4"], ["b", "<f8", [2]]], "shape": [2]}',
    ),
}
_ROWS = "recrawl.store.rows"

PARSERS = (
    Parser(
        "store values",
        _read_value,
        seeds=(
            *(
                bytes([number]) + value
                for number in range(len(_CELLS))
                for value in (b"", b"1", b'{"city": "Bern"}')
            ),
            *(
                bytes([number]) + value
                for number, cell in enumerate(_CELLS)
                for what, values in _VALUES.items()
                for value in values
                if what in cell
            ),
        ),
        modules=(
            *(
                f"{_ROWS}.columns:{name}"
                for name in (
                    *("read_columns", "page_columns", "outcome_columns", "visit_columns"),
                    *("looked_up", "_modified_at", "_instants"),
                )
            ),
            f"{_ROWS}.values",
            f"{_ROWS}.filtering",
            f"{_ROWS}.freshness",
            f"{_ROWS}.feed:_event",
            f"{_ROWS}.manifests:manifest_in",
            f"{_ROWS}.manifests:_chunk",
            f"{_ROWS}.checkpoints:load",
            *(
                f"{_ROWS}.latest_visits:{name}"
                for name in (
                    *("latest_visit", "latest_visits", "sampled_visits", "visit_counts"),
                    *("latest_visit_times", "latest_responses"),
                )
            ),
        ),
        tokens=(b'"dtype"', b'"shape"', b'"<f8"', b'"|O"', b"[", b"]", b"{", b"}", b"-1", b'"|S9"'),
        raises=(StoreError,),
    ),
)
