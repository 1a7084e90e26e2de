"""Views are what users read: documented to the last column, with labels, times and numbers."""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest

import recrawl
from recrawl.detect.diff.gist import GISTS
from recrawl.entries.entries import (
    Copy,
    HostBelieved,
    HostSeen,
    PageChange,
    PageEvent,
    PagesChanged,
    PagesErased,
    PagesRemoved,
    RobotsRead,
)
from recrawl.entries.listings import EventKind, ListingSynced, SyncOutcome
from recrawl.entries.manifests import ListedChunk, Manifest
from recrawl.store import create_store
from recrawl.visits.status import (
    Audit,
    FeedKind,
    PageStatus,
    RemovalReason,
    RobotsTag,
    VisitOutcome,
)
from tests.store.made import NOON, found, numbered, store_with, visit

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "store.md"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "pages.db"


def rows_of(path, query):
    """Rows as any other program reads them."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.row_factory = sqlite3.Row
        return [dict(row) for row in connection.execute(query)]


def views_of(path):
    """Columns of each view, in their order."""
    names = rows_of(path, "select name from sqlite_schema where type = 'view'")
    return {
        row["name"]: [each["name"] for each in rows_of(path, f"pragma table_info({row['name']})")]
        for row in names
    }


def documented():
    """Columns of each view, as the documentation lists them."""
    sections = re.split(r"^## (v\d+_\w+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[
        1:
    ]
    return {
        name: re.findall(r"^\| `(\w+)` \|", section, flags=re.MULTILINE)
        for name, section in zip(sections[::2], sections[1::2], strict=True)
    }


def test_every_view_and_column_is_documented_in_order(path):
    create_store(path).close()

    assert documented() == views_of(path)


def test_views_can_be_read_while_a_crawl_writes(path):
    with store_with(path, *numbered(2)) as store:
        store.write([visit(1, outcome=VisitOutcome.FIRST)])

        # In a process of its own: another SQLite in this one would end the store's locks.
        program = (
            "import sqlite3, sys\n"
            "connection = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)\n"
            "print(connection.execute('select page, outcome from v1_visits').fetchall())"
        )
        command = [sys.executable, "-c", program, path]
        other = subprocess.run(command, capture_output=True, text=True, check=True)
        assert other.stdout == "[(1, 'first')]\n"


def test_every_status_outcome_and_audit_has_its_label(path):
    with store_with(path, *numbered(len(PageStatus))) as store:
        store.write(
            [PagesChanged(range(len(PageStatus)), [PageChange(each) for each in PageStatus])]
        )
        store.write([visit(0, second, outcome=each) for second, each in enumerate(VisitOutcome)])
        store.write([visit(0, 100 + each, audit=each) for each in Audit])
        store.write([ListingSynced(each.label, NOON, each, NOON) for each in SyncOutcome])

    pages = rows_of(path, "select status from v1_pages order by page")
    visits = rows_of(path, "select outcome, audit from v1_visits order by visit")
    days = rows_of(path, "select distinct outcome from v1_daily_visits")
    syncs = rows_of(path, "select listing, outcome from v1_syncs")
    assert [row["status"] for row in pages] == [each.label for each in PageStatus]
    assert [row["outcome"] for row in visits[: len(VisitOutcome)]] == [
        each.label for each in VisitOutcome
    ]
    assert [row["audit"] for row in visits[len(VisitOutcome) :]] == [each.label for each in Audit]
    assert {row["outcome"] for row in days} == {each.label for each in VisitOutcome}
    assert len(syncs) == len(SyncOutcome)
    assert all(row["listing"] == row["outcome"] for row in syncs)


def test_every_kind_gist_and_reason_of_an_event_has_its_label(path):
    kinds = list(FeedKind)[FeedKind.NEW :]
    events = [PageEvent(kind, NOON) for kind in kinds]
    events += [PageEvent(FeedKind.CHANGED, NOON, gist=gist) for gist in GISTS]
    events += [PageEvent(FeedKind.REMOVED, NOON, reason=reason) for reason in RemovalReason]
    with store_with(path, *numbered(1)) as store:
        store.write([visit(0, event=event) for event in events])

    rows = rows_of(path, "select kind, gist, reason from v1_changes order by change")
    assert [row["kind"] for row in rows[: len(kinds)]] == [kind.label for kind in kinds]
    assert [row["gist"] for row in rows if row["gist"]] == list(GISTS)
    assert [row["reason"] for row in rows if row["reason"]] == [
        reason.label for reason in RemovalReason
    ]


def test_changes_tell_what_happened_when_and_to_which_version(path):
    told = PageEvent(
        *(FeedKind.CHANGED, NOON + 2.5, NOON, NOON + 1.25),
        gist="figures",
        target="https://a.org/b",
        manifest=Manifest(3, (ListedChunk(str(UUID(int=1)), f"{1:064x}", ("Tea",), 0),)),
    )
    with store_with(path, *numbered(2)) as store:
        first = PageEvent(FeedKind.NEW, NOON)
        store.write([visit(1, 0, body=b"one", event=first)])
        store.write([visit(1, 2.5, body=b"two", share=0.25, event=told)])

    (row,) = rows_of(path, "select * from v1_changes where change = 2")
    cursor = row.pop("cursor")
    assert re.fullmatch("[a-z2-7]{8}-2", cursor)
    assert row == {
        "change": 2,
        "kind": "changed",
        "page": 1,
        "address": numbered(2)[1],
        "seen_at": "2026-01-01T12:00:02.500Z",
        "earliest": "2026-01-01T12:00:00.000Z",
        "latest": "2026-01-01T12:00:02.500Z",
        "likely": "2026-01-01T12:00:01.250Z",
        "visit": 2,
        "version": sha256(b"two").hexdigest()[:32],
        "version_before": sha256(b"one").hexdigest()[:32],
        "changed_share": 0.25,
        "gist": "figures",
        "reason": None,
        "moved_to": "https://a.org/b",
        "chunks": 1,
        "splitter": 3,
    }


def test_pages_visits_copies_and_versions_tell_what_was_written(path):
    address = "https://b.org/"
    with store_with(path, *numbered(1)) as store:
        store.write([found(address, host="b.org")])
        store.write(
            [
                visit(
                    *(1, 0.25),
                    outcome=VisitOutcome.CHANGED,
                    age=0.25 / 86_400,
                    size=7,
                    took_seconds=0.5,
                    share=0.25,
                    copy=Copy(b"\x01\xff", None, '"e"', round(NOON)),
                    body=b"<html>",
                    change=PageChange(PageStatus.COPIED, 2, NOON + 60),
                )
            ]
        )

    noon = "2026-01-01T12:00:00"
    assert rows_of(path, "select * from v1_pages where page = 1") == [
        {
            "page": 1,
            "address": address,
            "host": "b.org",
            "status": "copied",
            "failures": 2,
            "found_at": f"{noon}.000Z",
            "appointment": "2026-01-01T12:01:00.000Z",
            "depth": 0,
            "removed_at": None,
            "moved_to": None,
        }
    ]
    assert rows_of(path, "select * from v1_visits") == [
        {
            "visit": 1,
            "page": 1,
            "address": address,
            "visited_at": f"{noon}.250Z",
            "outcome": "changed",
            "status": 200,
            "last_modified": f"{noon}Z",
            "size_bytes": 7,
            "took_seconds": 0.5,
            "changed_share": 0.25,
            "audit": "none",
        }
    ]
    assert rows_of(path, "select * from v1_daily_visits") == [
        {"day": "2026-01-01", "outcome": "changed", "visits": 1}
    ]
    (copy,) = rows_of(path, "select * from v1_copies")
    assert (copy["page"], copy["bytes_signature"], copy["etag"]) == (1, "01ff", '"e"')
    assert copy["last_modified"] == f"{noon}Z"
    (version,) = rows_of(path, "select * from v1_versions")
    assert (version["page"], version["seen_at"], version["size_bytes"]) == (1, f"{noon}.250Z", 6)
    assert len(version["digest"]) == 32


def test_what_pages_ask_and_what_was_taken_out_is_told(path):
    tags = RobotsTag.NOINDEX | RobotsTag.NOARCHIVE
    with store_with(path, *numbered(3)) as store:
        store.write(
            [
                visit(0, copy=Copy(b"a", robots=tags, unavailable_after_seconds=round(NOON))),
                PagesRemoved([1], NOON),
                PagesErased([2], NOON + 1),
            ]
        )

    (copy,) = rows_of(path, "select * from v1_copies")
    assert (copy["noindex"], copy["nofollow"], copy["noarchive"]) == (1, 0, 1)
    assert copy["unavailable_after"] == "2026-01-01T12:00:00Z"
    pages = rows_of(path, "select * from v1_pages where page > 0")
    assert [(page["status"], page["removed_at"]) for page in pages] == [
        ("removed", "2026-01-01T12:00:00.000Z"),
        ("erased", "2026-01-01T12:00:01.000Z"),
    ]
    assert pages[1]["address"].startswith("erased:")


def test_hosts_and_signals_tell_what_was_written(path):
    with store_with(path, *numbered(1)) as store:
        store.write(
            [
                HostSeen("b.org", 1 / 86_400, NOON, latency_seconds=0.5, failures=3),
                RobotsRead("https://b.org", NOON, 404),
                HostBelieved("b.org", {"noise": (1.0, 2.0, 3.0, 4.0)}),
            ]
        )

    noon = "2026-01-01T12:00:00.000Z"
    (host,) = rows_of(path, "select * from v1_hosts where name = 'b.org'")
    (signal,) = rows_of(path, "select * from v1_signals")
    assert host.pop("delay_seconds") == pytest.approx(1.0)
    assert host == {
        "host": 1,
        "name": "b.org",
        "latency_seconds": 0.5,
        "blocked_until": noon,
        "failures": 3,
        "robots_read_at": noon,
        "robots_status": 404,
    }
    assert list(signal.values()) == [1, "b.org", "noise", 1.0, 2.0, 3.0, 4.0]


def test_listings_tell_their_last_sync_and_all_that_happened(path):
    first, second = "1970-01-01T00:01:00.000Z", "1970-01-01T00:02:00.000Z"
    with create_store(path) as store:
        store.write(
            [
                ListingSynced(
                    "jobs", 60.0, SyncOutcome.FIRST, 90.0, inserted={"a": {"x": "ü"}, "b": {}}
                ),
                ListingSynced(
                    "jobs", 120.0, SyncOutcome.DONE, 120.0, updated={"a": {}}, deleted=["b"]
                ),
            ]
        )

    assert rows_of(path, "select * from v1_listings") == [
        {
            "listing": "jobs",
            "last_sync": 2,
            "last_synced_at": second,
            "last_outcome": "done",
            "listed": 1,
            "next_at": second,
            "syncs": 2,
        }
    ]
    assert [tuple(row.values()) for row in rows_of(path, "select * from v1_objects")] == [
        ("jobs", "a", "{}", first, None, None, None),
        ("jobs", "b", "{}", first, second, None, None),
    ]
    events = [list(row.values()) for row in rows_of(path, "select * from v1_events")]
    assert [tuple(row[:6]) for row in events] == [
        ("jobs", "a", 1, first, EventKind.INSERT.name.lower(), '{"x": "ü"}'),
        ("jobs", "b", 1, first, EventKind.INSERT.name.lower(), "{}"),
        ("jobs", "a", 2, second, EventKind.UPDATE.name.lower(), "{}"),
        ("jobs", "b", 2, second, EventKind.DELETE.name.lower(), None),
    ]
    with recrawl.open_store(str(path)) as store:
        assert [row[6] for row in events] == [each.cursor for each in store.listing_changes()]
    assert [row[7] for row in events] == [None] * 4
