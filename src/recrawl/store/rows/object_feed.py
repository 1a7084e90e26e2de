"""The feed of listings: what happened to objects, in the order in which it was committed.

It is the table of events, written with each sync and never pruned: numbers rise by one from 1 on.
What an object was like before an event is what the last event before it that had attributes says.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recrawl.entries.listings import EventKind, ObjectChangeKind, ObjectEvent, SyncOutcome
from recrawl.entries.records import FeedRange
from recrawl.entries.store import ERASED
from recrawl.store.rows import feed
from recrawl.store.rows.columns import largest_id, milliseconds
from recrawl.store.rows.values import exactly, instant, maybe, number, texts_by_name

if TYPE_CHECKING:
    from recrawl.store.rows.database import Database

_ACCEPTED = ", ".join(str(int(each)) for each in SyncOutcome if each.accepted)
_EVENTS = """
    select events.id, events.kind, listings.name, objects.key, events.sync, syncs.at,
        events.attributes,
        (select attributes from events as earlier
         where earlier.object = events.object and earlier.id < events.id
             and earlier.attributes is not null
         order by earlier.id desc limit 1),
        events.page, coalesce(pages.address, handed_details.address)
    from events
    join syncs on syncs.id = events.sync
    join listings on listings.id = syncs.listing
    join objects on objects.id = events.object
    left join pages on pages.id = events.page
    left join handed_details on handed_details.object = events.object and events.id > after
        and (until is null or events.id <= until)
    where events.id > ? order by events.id limit ?
"""
_BEFORE = f"""
    select earlier.at from syncs join syncs as earlier on earlier.listing = syncs.listing
    where syncs.id = ? and earlier.at <= syncs.at and earlier.id < syncs.id
        and earlier.outcome in ({_ACCEPTED})
    order by earlier.at desc limit 1
"""  # noqa: S608 - our own numbers
_LISTED = """
    select objects.id, listings.id, listings.name, objects.key, attributes, page,
        coalesce(pages.address, handed_details.address)
    from objects
    join listings on listings.id = objects.listing
    left join pages on pages.id = objects.page
    left join handed_details on handed_details.object = objects.id and until is null
    where objects.id > ? and deleted_at is null order by objects.id limit ?
"""
_LAST = f"""
    select id, at from syncs where listing = ? and outcome in ({_ACCEPTED})
    order by at desc limit 1
"""  # noqa: S608 - our own numbers
_SINCE = """
    select min(events.id) from syncs join events on events.sync = syncs.id where syncs.at >= ?
"""
_KINDS = {
    EventKind.UPDATE: ObjectChangeKind.CHANGED,
    EventKind.DELETE: ObjectChangeKind.VANISHED,
}


def feed_range(connection: Database) -> FeedRange:
    """Name of the feed, and its newest event: all that ever were are kept."""
    name = f"{feed.feed_range(connection).feed}-listings"
    return FeedRange(name, 1, largest_id(connection, "events"))


def events_after(connection: Database, after: int, rows: int) -> list[ObjectEvent]:
    """The next events after a number, at most `rows`."""
    found = connection.execute(_EVENTS, (after, rows)).fetchall()
    syncs = {row[4] for row in found}
    before = {sync: connection.execute(_BEFORE, (sync,)).get for sync in syncs}
    return [_event(row, before[row[4]]) for row in found]


def listed_after(connection: Database, after: int, rows: int) -> tuple[list[ObjectEvent], int]:
    """The next objects after a number that are listed, and the number of the last of them."""
    found = connection.execute(_LISTED, (after, rows)).fetchall()
    last: dict[Any, Any] = {
        each: connection.execute(_LAST, (each,)).fetchone() for each in {row[1] for row in found}
    }
    if not all(last.values()):
        raise ValueError("an object is listed of a listing without an accepted sync")
    return [_listed(row, last[row[1]]) for row in found], number(found[-1][0]) if found else after


def first_since(connection: Database, seconds: float) -> int:
    """Number of the first event of a sync at or after an instant; 1 more than all if none."""
    found = connection.execute(_SINCE, (milliseconds(seconds),)).get
    return feed_range(connection).newest + 1 if found is None else number(found)


def _event(row: Any, before_at: Any) -> ObjectEvent:  # noqa: ANN401 - a row of a query
    position, kind, listing, key, sync, at, attributes, before, page, address = row
    known = _maybe_texts(before)
    began = ObjectChangeKind.ARRIVED if known is None else ObjectChangeKind.BACK
    return ObjectEvent(
        number(position),
        _KINDS.get(EventKind(kind), began),
        exactly(str, listing),
        exactly(str, key),
        number(sync),
        instant(at),
        None if before_at is None else instant(before_at),
        _maybe_texts(attributes),
        known,
        *_detail(page, address),
    )


def _listed(row: Any, last: Any) -> ObjectEvent:  # noqa: ANN401 - rows of queries
    _, _, listing, key, attributes, page, address = row
    sync, at = last
    return ObjectEvent(
        0,
        ObjectChangeKind.SNAPSHOT,
        exactly(str, listing),
        exactly(str, key),
        number(sync),
        instant(at),
        None,
        texts_by_name(attributes),
        None,
        *_detail(page, address),
    )


def _detail(page: Any, address: Any) -> tuple[int | None, str]:  # noqa: ANN401 - columns of a row
    """Number and address of a detail page; the address alone of one that another slot will add."""
    name = maybe(str, address) or ""
    shown = "" if name.startswith(ERASED) else name
    return None if page is None else number(page) - 1, shown


def _maybe_texts(text: Any) -> dict[str, str] | None:  # noqa: ANN401 - a column of a row
    return None if text is None else texts_by_name(text)
