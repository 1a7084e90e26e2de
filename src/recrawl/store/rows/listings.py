"""Listings of a store: what is listed, every sync, and all that happened.

Touches: a database, through what it is given.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from recrawl.entries.listings import (
    Event,
    EventKind,
    ForecastInterval,
    ListingHistory,
    Quality,
    StoredObject,
    Sync,
    SyncOutcome,
)
from recrawl.entries.store import ERASED
from recrawl.errors import InvalidParameter
from recrawl.store.rows.columns import largest_id, milliseconds, whole_numbers
from recrawl.store.rows.values import (
    MOST,
    exactly,
    instant,
    maybe,
    maybe_figure,
    maybe_instant,
    number,
    texts_by_name,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.entries.listings import ListingSynced
    from recrawl.store.rows.database import Database

_PUT = """
    insert into objects (id, listing, key, attributes, first_seen)
    values ((select coalesce(max(id), 0) + 1 from objects), ?, ?, ?, ?)
    on conflict (listing, key) do update set attributes = excluded.attributes, deleted_at = null
"""
_UPDATE = "update objects set attributes = ? where listing = ? and key = ?"
_DELETE = "update objects set deleted_at = ? where listing = ? and key = ?"
_LINK = "update objects set page = ? where listing = ? and key = ?"
_OBJECTS = "select key, id, page from objects where listing = ? and key {}"
_NAME = """
    insert into listings (id, name) values ((select coalesce(max(id), 0) + 1 from listings), ?)
    on conflict (name) do nothing
"""
_SYNC = """
    insert into syncs (id, listing, at, outcome, detail, took_milliseconds, pages, items, listed,
                       next_at, reason, precision, recall, precision_low, precision_expected,
                       precision_high, recall_low, recall_expected, recall_high, sketch)
    values ((select coalesce(max(id), 0) + 1 from syncs),
            ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    returning id
"""
_COUNT = """
    update syncs
    set listed = (select count(*) from objects where listing = ? and deleted_at is null)
    where id = ?
"""
_SYNCS = """
    select syncs.id, at, outcome, detail, took_milliseconds, pages, items, listed,
           next_at, reason, precision, recall, precision_low, precision_expected,
           precision_high, recall_low, recall_expected, recall_high, sketch
    from syncs join listings on listings.id = syncs.listing
    where name = ? order by at, syncs.id
"""
_EVENTS = """
    select events.object, events.sync, events.kind, events.attributes
    from listings join syncs on syncs.listing = listings.id join events on events.sync = syncs.id
    where name = ? order by events.id
"""


def put_sync(
    connection: Database,
    synced: ListingSynced,
    pages: Mapping[str, int | None] | None = None,
) -> int:
    """Write a sync with all that it changed, and return its number.

    Args:
        connection: To the store.
        synced: The sync.
        pages: Number of the detail page of each object that has another one than before, by key.
    """
    listing = _number(connection, synced.listing)
    at = milliseconds(synced.at_seconds)
    sync = _put_row(connection, listing, at, synced)
    inserted, updated = _texts(synced.inserted), _texts(synced.updated)
    connection.executemany(_PUT, ((listing, key, text, at) for key, text in inserted.items()))
    connection.executemany(_UPDATE, ((text, listing, key) for key, text in updated.items()))
    links = ((None if page is None else page + 1, key) for key, page in (pages or {}).items())
    connection.executemany(_LINK, ((page, listing, key) for page, key in links))
    connection.executemany(_DELETE, ((at, listing, key) for key in synced.deleted))
    happened: list[tuple[int, str, str | None]] = [
        *((int(EventKind.INSERT), key, text) for key, text in inserted.items()),
        *((int(EventKind.UPDATE), key, text) for key, text in updated.items()),
        *((int(EventKind.DELETE), key, None) for key in synced.deleted),
    ]
    if happened:
        _put_events(connection, listing, sync, happened)
    connection.execute(_COUNT, (listing, sync))
    return sync


def _put_events(
    connection: Database, listing: int, sync: int, happened: Sequence[tuple[int, str, str | None]]
) -> None:
    """Write what happened to objects of a listing: kind of event, key, attributes."""
    keys = connection.listed([key for _, key, _ in happened])
    objects = connection.execute(_OBJECTS.format(connection.among), (listing, keys))
    found = {key: (object_id, page) for key, object_id, page in objects}
    if any(key not in found for _, key, _ in happened):
        (name,) = connection.execute(
            "select name from listings where id = ?", (listing,)
        ).fetchone()
        raise InvalidParameter(
            f"listing {name!r}: cannot update or delete an object it does not have"
        )
    rows = (
        (number, sync, found[key][0], kind, text, found[key][1])
        for number, (kind, key, text) in enumerate(happened, largest_id(connection, "events") + 1)
    )
    connection.append("events", "id, sync, object, kind, attributes, page", rows)


def _number(connection: Database, name: str) -> int:
    """Number of a listing, which is added where it is new."""
    connection.execute(_NAME, (name,))
    return int(connection.execute("select id from listings where name = ?", (name,)).get)


def _put_row(connection: Database, listing: int, at: int, synced: ListingSynced) -> int:
    quality = synced.quality
    figures: tuple[float | None, ...] = (None,) * 8
    if quality is not None:
        figures = (
            quality.precision,
            quality.recall,
            *_band(quality.precision_forecast),
            *_band(quality.recall_forecast),
        )
    row: tuple[Any, ...] = (
        *(listing, at, int(synced.outcome), synced.detail, milliseconds(synced.took_seconds)),
        *(synced.pages, synced.items, milliseconds(synced.next_at_seconds), synced.reason),
        *figures,
        synced.sketch,
    )
    return int(connection.execute(_SYNC, row).get)


def _band(interval: ForecastInterval | None) -> tuple[float | None, float | None, float | None]:
    if interval is None:
        return None, None, None
    return interval.low, interval.expected, interval.high


def _texts(objects: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {key: json.dumps(dict(each), ensure_ascii=False) for key, each in objects.items()}


def listing_names(connection: Database) -> list[str]:
    """Names of all listings, in the order of their first syncs."""
    has_sync = "exists (select 1 from syncs where listing = listings.id)"
    rows = connection.execute(f"select name, {has_sync} from listings order by id")  # noqa: S608
    found = {exactly(str, name): has for name, has in rows}
    if not all(found.values()):
        raise ValueError("a listing has no syncs")
    return list(found)


def syncs_of(connection: Database, listing: str) -> list[Sync]:
    """Every sync of a listing, in order; none where it is unknown."""
    return [_sync(row) for row in connection.execute(_SYNCS, (listing,))]


def listed_objects(connection: Database, listing: str) -> dict[str, dict[str, str]]:
    """Attributes of the objects of the copy, by key."""
    query = """
        select key, attributes from objects join listings on listings.id = objects.listing
        where name = ? and deleted_at is null order by objects.id
    """
    rows = connection.execute(query, (listing,))
    return {exactly(str, key): texts_by_name(text) for key, text in rows}


_DETAILS = """
    select objects.key, coalesce(pages.address, handed_details.address) as detail from objects
    join listings on listings.id = objects.listing
    left join pages on pages.id = objects.page
    left join handed_details on handed_details.object = objects.id and until is null
    where name = ? and deleted_at is null and (page is not null or handed_details.id is not null)
"""
_DETAIL_PAGES = """
    select distinct page - 1 as number from objects join listings on listings.id = objects.listing
    where name = ? and deleted_at is null and page is not null order by number
"""
_OF_PAGE = """
    select name from objects join listings on listings.id = objects.listing
    where page = ? + 1 and deleted_at is null group by listings.id, name order by listings.id
"""


def detail_addresses(connection: Database, listing: str) -> dict[str, str | None]:
    """Addresses of detail pages of the objects of the copy, by key; None where it was erased."""
    rows = connection.execute(_DETAILS, (listing,))
    return {exactly(str, key): _address(address) for key, address in rows}


def detail_pages(connection: Database, listing: str) -> Ints:
    """Detail pages of the objects of the copy, rising."""
    return whole_numbers(connection, _DETAIL_PAGES, (listing,))


def listings_of_page(connection: Database, page: int) -> list[str]:
    """Names of the listings that list an object whose detail page this is."""
    return [exactly(str, name) for (name,) in connection.execute(_OF_PAGE, (page,))]


def _address(address: Any) -> str | None:  # noqa: ANN401 - a column of a row
    return None if exactly(str, address).startswith(ERASED) else address


def objects_of(connection: Database, listing: str) -> list[StoredObject]:
    """Every object of a listing, in the order in which they were first seen."""
    query = """
        select objects.key, attributes, first_seen, deleted_at, page,
            coalesce(pages.address, handed_details.address)
        from objects
        join listings on listings.id = objects.listing
        left join pages on pages.id = objects.page
        left join handed_details on handed_details.object = objects.id and until is null
        where name = ? order by objects.id
    """
    syncs = syncs_of(connection, listing)
    accepted = [sync.at_seconds for sync in syncs if sync.outcome.accepted]
    found = []
    for key, text, first, deleted_at, page, address in connection.execute(query, (listing,)):
        gone = maybe_instant(deleted_at)
        last = _before(accepted, gone)
        found.append(
            StoredObject(
                *(exactly(str, key), texts_by_name(text), instant(first), last, gone),
                page=None if page is None else number(page) - 1,
                address="" if address is None else _address(address) or "",
            )
        )
    return found


def history_of(connection: Database, listing: str) -> ListingHistory:
    """Objects, syncs and events of a listing."""
    query = """
        select objects.id, key from objects join listings on listings.id = objects.listing
        where name = ? order by objects.id
    """
    rows = connection.execute(query, (listing,))
    keys = {number(row): exactly(str, key) for row, key in rows}
    events = [_event(row) for row in connection.execute(_EVENTS, (listing,))]
    syncs = syncs_of(connection, listing)
    numbers = {sync.number for sync in syncs}
    if not all(event.object in keys and event.sync in numbers for event in events):
        raise ValueError("an event of a listing is of an object or a sync that is not there")
    return ListingHistory(listing, syncs, keys, events)


def _before(syncs: list[float], gone: float | None) -> float:
    """The last sync before an object was gone; the last of all if it is still listed."""
    return syncs[-1] if gone is None else syncs[bisect_left(syncs, gone) - 1]


def _sync(row: Any) -> Sync:  # noqa: ANN401 - a row of a query
    sync, at, outcome, detail, took, pages, items, listed, next_at, reason, *figures, sketch = row
    return Sync(
        *(number(sync), instant(at), SyncOutcome(outcome), exactly(str, detail)),
        *(number(took, -MOST) / 1000, number(pages), number(items), number(listed)),
        *(instant(next_at), exactly(str, reason)),
        _quality([maybe_figure(each) for each in figures]),
        maybe(bytes, sketch),
    )


def _quality(figures: list[float | None]) -> Quality | None:
    precision, recall, *bands = figures
    if precision is None or recall is None:
        return None
    return Quality(precision, recall, _interval(bands[:3]), _interval(bands[3:]))


def _interval(band: list[float | None]) -> ForecastInterval | None:
    low, expected, high = band
    if low is None or expected is None or high is None:
        return None
    return ForecastInterval(low, expected, high)


def _event(row: Any) -> Event:  # noqa: ANN401 - a row of a query
    which, sync, kind, attributes = row
    return Event(
        number(which),
        number(sync),
        EventKind(kind),
        None if attributes is None else texts_by_name(attributes),
    )
