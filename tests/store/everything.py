"""A store with a row in every table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.distinct import DistinctCount
from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed
from recrawl.entries.entries import (
    Checkpoint,
    Copy,
    DetailPages,
    HintsGiven,
    HostBelieved,
    HostSeen,
    PageEvent,
    PagesErased,
    RobotsRead,
    SettingsUsed,
    SitesDiscovered,
)
from recrawl.entries.filtering import (
    AddressesRefused,
    DuplicateOf,
    RefusedAddresses,
    ShapeJudged,
)
from recrawl.entries.freshness import FreshnessNoted
from recrawl.entries.listings import ListingSynced, SyncOutcome
from recrawl.entries.manifests import ListedChunk, Manifest
from recrawl.entries.pushes import Subscription, SubscriptionsKnown
from recrawl.entries.records import Destination, VersionLines
from recrawl.entries.reports import AnsweredReport, VisitsReported
from recrawl.entries.sources import Source, SourceKind, SourcesKnown
from recrawl.store import create_store, open_for_writing
from recrawl.visits.status import DuplicateSign, FeedKind, Refusal, VisitOutcome
from tests.store.made import NOON, found, numbered, visit

if TYPE_CHECKING:
    from recrawl.entries.entries import Entry
    from recrawl.store import Address

_CHUNK = ListedChunk("00000000-0000-0000-0000-000000000001", "ab" * 32, ("A",), 0)


def fill(address: Address, pages: int = 50, visits: int = 400) -> None:
    """Make such a store."""
    with create_store(address) as store:
        store.write([found(*numbered(pages)), found("https://ü.org/ä%FF", host="ü.org")])
        store.write(_of_hosts())
        new = PageEvent(FeedKind.NEW, NOON, NOON, manifest=Manifest(1, (_CHUNK,)))
        changed = PageEvent(FeedKind.CHANGED, NOON, NOON)
        for number in range(visits):
            body = f"body {number} of {number % pages}".encode() * 20
            first = number < pages
            store.write(
                [
                    visit(
                        number % pages,
                        float(number),
                        outcome=VisitOutcome.FIRST if first else VisitOutcome.CHANGED,
                        copy=Copy(body[:8], body[8:16], f'"{number}"', simhash=2**64 - 1 - number),
                        body=body,
                        masks="[1, 2]" if number % 3 else None,
                        event=new if first else changed,
                        share=None if first else 0.25,
                        target="https://moved.org/" if number % 7 == 0 else None,
                    )
                ]
            )
        long = {"body": b"<p>long</p>" * 1000, "lines": VersionLines(b"as read", ("long",) * 1000)}
        store.write([visit(2, 450.0, outcome=VisitOutcome.CHANGED, **long)])
        duplicate = DuplicateOf(0, DuplicateSign.CONTENT)
        store.write([visit(3, 500.0, outcome=VisitOutcome.DUPLICATE, original=duplicate)])
        store.write(_beside())
        store.write([PagesErased([1], NOON + 600)])
        weights = np.arange(300_000, dtype=np.float64)
        store.write([Checkpoint({"value": {"a": [1, None]}, "array": weights})])
    open_for_writing(address).close()  # saves the latest visits


def _of_hosts() -> list[Entry]:
    count = DistinctCount()
    refused = RefusedAddresses(Refusal.EXCLUDED, "*.pdf", count.dump(), "https://a.org/a.pdf", 0)
    return [
        HostSeen("a.org", delay=0.1, latency_seconds=0.25, failures=2),
        RobotsRead("https://a.org", NOON, 200, b"User-agent: *\nDisallow:", 0.5),
        HostBelieved("a.org", {"etag": (1.0, 2.0, 0.5, 1 / 3)}, masks="[3]"),
        HostBelieved("ü.org", {}, masks="[4]"),
        AddressesRefused("a.org", [refused]),
        ShapeJudged("a.org", "/*", 3, 1),
    ]


def _beside() -> list[Entry]:
    source = Source("https://a.org/feed", "https://a.org", SourceKind.FEED, exposure=1 / 7)
    subscription = Subscription("https://a.org/feed", "https://hub.org/", NOON, 2, NOON)
    report = AnsweredReport("key", b"digest", "{}")
    synced = ListingSynced(
        "cars",
        NOON,
        SyncOutcome.FIRST,
        next_at_seconds=NOON + 60,
        reason="because",
        inserted={"1": {"make": "BMW"}, "2": {"make": "Audi"}},
        # The page of the second lies in another slot, which has not taken it yet.
        details=DetailPages(
            {"2": "https://b.org/audi"},
            found(),
            0,
            unlisted=PageEvent(FeedKind.REMOVED, NOON),
            back=PageEvent(FeedKind.BACK, NOON),
        ),
    )
    lost = DestinationMoved(Destination("hook", 5), NOON, "it is gone", numbers=(4, 5))
    return [
        SitesDiscovered(["https://a.org/"], NOON),
        SourcesKnown([source]),
        SubscriptionsKnown([subscription]),
        VisitsReported([visit(2, 510.0)], report, NOON),
        FreshnessNoted(NOON, 50, 0.5, 0.25, 0.75),
        SettingsUsed('{"budget": "5/1d"}'),
        DestinationsNamed(["hook"]),
        lost,
        synced,
        HintsGiven(["https://a.org/1", "https://a.org/2"], NOON),
    ]
