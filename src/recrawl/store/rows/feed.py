"""The change feed: events in the order in which they were committed, each written once.

The number of an event is its position. Numbers rise, and none is ever given twice; old events are
pruned from the beginning. `pages.listed` says of each page whether readers have a copy of it,
`pages.version` which one, and `pages.manifest` which chunks it has: all are set with the event that
tells it.

Touches: a database, through what it is given.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, NamedTuple

from recrawl.detect.diff.gist import GISTS
from recrawl.entries.records import FeedEvent, FeedRange
from recrawl.entries.store import ERASED
from recrawl.settings.rules import NO_RULE
from recrawl.store.rows import manifests, meta
from recrawl.store.rows.columns import (
    SHARES,
    maybe_milliseconds,
    milliseconds,
    read_columns,
)
from recrawl.store.rows.values import exactly, instant, maybe, maybe_instant, number
from recrawl.visits.status import FeedKind, RemovalReason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.entries.entries import PageEvent
    from recrawl.store.rows.database import Database

_COLUMNS = (
    "id, page, kind, at, earliest, latest, likely, visit, version, before, "
    "share, gist, reason, target, manifest, manifest_before"
)
LIST = "update pages set listed = ?, version = ?, manifest = ? where id = ?"
_TOLD = "select id - 1, rule, version, manifest from pages where id"
_FEED = "feed"
_TABLE = "changes"
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"  # base 32
_FEED_LETTERS = 8
_EVENTS = """
    select changes.id, kind, page - 1, address, at, earliest, latest, likely, visit,
        changes.version, before, share, gist, reason, target, changes.manifest, manifest_before
    from changes join pages on pages.id = changes.page
    where changes.id > ? order by changes.id limit ?
"""
_LISTED = """
    select 0, 0, pages.id - 1, address,
        coalesce((select max(at) from versions where versions.page = pages.id), found_at),
        null, null, null, null, version, null, null, null, null, null, manifest, null
    from pages where id > ? and listed = 1 order by id limit ?
"""
_LATEST = """
    select max(id) as newest, min(id) as first from changes where id > ?
    group by page order by newest
"""
_OLDEST = "select at from changes order by id limit 1"
_OUTDATING = ", ".join(str(int(kind)) for kind in FeedKind if kind.outdates)
_SEEN = f"select count(*) from changes where id >= ? and kind in ({_OUTDATING})"  # noqa: S608 - ours
_FORGET = """
    update changes set version = null, before = null, share = null, gist = null, target = null,
        manifest = null, manifest_before = null
    where page {}
"""
_FORGET_TARGETS = "update changes set target = null where target {}"


def begin(connection: Database) -> None:
    """Name the feed of a store, once and for ever: cursors of other stores are told by it."""
    if not meta.get_text(connection, _FEED):
        name = "".join(secrets.choice(_LETTERS) for _ in range(_FEED_LETTERS))
        meta.put(connection, _FEED, name)


def put(connection: Database, rows: Sequence[tuple[Any, ...]]) -> None:
    """Write events under the next numbers."""
    first = connection.take_numbers(_TABLE, len(rows))
    numbered = ((number, *row) for number, row in enumerate(rows, first))
    connection.append(_TABLE, _COLUMNS, numbered)


def row_of(event: PageEvent, page: int, at: int, visit: int | None) -> list[Any]:
    """Columns of an event but for its versions, share and manifests, which are None.

    Args:
        event: The event.
        page: Number of its page.
        at: When it was seen, in epoch milliseconds.
        visit: Number of the visit that saw it; None where none did.
    """
    return [
        page + 1,
        event.kind,
        at,
        maybe_milliseconds(event.earliest_seconds),
        milliseconds(event.latest_seconds),
        maybe_milliseconds(event.likely_seconds),
        visit,
        None,
        None,
        None,
        None if event.gist is None else GISTS.index(event.gist),
        event.reason,
        event.target,
        None,
        None,
    ]


VISIT_AT = 6
# Places of what `row_of` leaves open.
VERSION_AT, BEFORE_AT, SHARE_AT, MANIFEST_AT, MANIFEST_BEFORE_AT = 7, 8, 9, 13, 14


class ToldCopy(NamedTuple):
    """The copy that readers have of a page, or had last.

    Attributes:
        version: Digest of its body; None where it is unknown.
        manifest: Name of its manifest; None where there is none.
    """

    version: bytes | None = None
    manifest: int | None = None


def told_copies(connection: Database, pages: Iterable[int]) -> dict[int, tuple[int, ToldCopy]]:
    """Rule of each of some pages, and the copy that its last event told of."""
    rows = connection.each(_TOLD, [page + 1 for page in pages])
    return {
        page: (number(rule, NO_RULE), ToldCopy(maybe(bytes, version), maybe(int, manifest)))
        for page, rule, version, manifest in rows
    }


def feed_range(connection: Database) -> FeedRange:
    """Name of the feed, the numbers that are kept, and the newest that was ever given."""
    newest = connection.newest(_TABLE)
    oldest = connection.execute("select min(id) from changes").get
    return FeedRange(
        meta.get_text(connection, _FEED), newest + 1 if oldest is None else number(oldest), newest
    )


def events_after(connection: Database, after: int, rows: int) -> list[FeedEvent]:
    """The next events after a number, at most `rows`."""
    return [_event(row) for row in connection.execute(_EVENTS, (after, rows))]


def listed_after(connection: Database, page: int, rows: int) -> list[FeedEvent]:
    """The next pages after a number that readers have a copy of, as events of a snapshot."""
    return [_event(row) for row in connection.execute(_LISTED, (page + 1, rows))]


def latest_events(connection: Database, after: int = 0) -> tuple[Ints, Ints]:
    """Newest event above a number of each page that has one, ascending, and its first."""
    newest, first = read_columns(connection, ("newest", "first"), _LATEST, (after,))
    return newest, first


def first_since(connection: Database, seconds: float) -> int:
    """Number of the first event that was seen at or after an instant; 1 more than all if none."""
    found = connection.execute(
        "select id from changes where at >= ? order by id limit 1", (milliseconds(seconds),)
    ).get
    return feed_range(connection).newest + 1 if found is None else number(found)


def count_since(connection: Database, seconds: float) -> tuple[int, float | None]:
    """Changes of pages with a copy that were seen since an instant, and when the first event was.

    The second is in seconds after 1970; None where there are no events.
    """
    first, oldest = first_since(connection, seconds), connection.execute(_OLDEST).get
    seen = connection.execute(_SEEN, (first,)).get
    return number(seen), maybe_instant(oldest)


def prune(connection: Database, before: int) -> None:
    """Delete the events before the first that was seen at or after an instant, in milliseconds."""
    first = connection.execute(
        "select id from changes where at >= ? order by id limit 1", (before,)
    ).get
    if first is None:
        first = feed_range(connection).newest + 1
    manifests.prune(connection, first)
    connection.execute("delete from changes where id < ?", (first,))


def forget(connection: Database, pages: Collection[int], addresses: Collection[str]) -> None:
    """Take out of all events what they tell of erased pages.

    Args:
        connection: To the store.
        pages: Numbers of the pages.
        addresses: What their addresses were, to which other pages may have moved.
    """
    ids, among = [page + 1 for page in pages], connection.among
    connection.execute(_FORGET.format(among), (connection.listed(ids),))
    connection.execute(_FORGET_TARGETS.format(among), (connection.listed(addresses),))


_KINDS = list(FeedKind)
_REASONS = [None, *RemovalReason]


def _event(row: Any) -> FeedEvent:  # noqa: ANN401 - a row of a query
    position, kind, page, address, at, earliest, latest, likely, visit, *rest = row
    version, before, share, gist, reason, target, manifest, manifest_before = rest
    return FeedEvent(
        number(position),
        _KINDS[number(kind, most=len(_KINDS) - 1)],
        number(page),
        "" if exactly(str, address).startswith(ERASED) else address,
        instant(at),
        maybe_instant(earliest),
        instant(at if latest is None else latest),
        maybe_instant(likely),
        None if visit is None else number(visit),
        maybe(bytes, version),
        maybe(bytes, before),
        None if share is None else number(share, most=SHARES) / SHARES,
        None if gist is None else GISTS[number(gist, most=len(GISTS) - 1)],
        _REASONS[number(reason or 0, most=len(_REASONS) - 1)],
        maybe(str, target),
        maybe(int, manifest),
        maybe(int, manifest_before),
    )
