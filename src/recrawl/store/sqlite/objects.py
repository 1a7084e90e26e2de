"""Objects of listings: written one sync at a time.

Touches: files.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recrawl.entries.listings import EventKind
from recrawl.errors import InvalidParameter
from recrawl.store.sqlite.pages import milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from recrawl.entries.listings import ForecastInterval, ListingSynced

_PUT = """
    insert into objects (listing, key, attributes, first_seen) values (?, ?, ?, ?)
    on conflict (listing, key) do update set attributes = excluded.attributes, deleted_at = null
"""
_UPDATE = "update objects set attributes = ? where listing = ? and key = ?"
_DELETE = "update objects set deleted_at = ? where listing = ? and key = ?"
_EVENT = """
    insert into events (sync, object, kind, attributes)
    select ?, id, ?, ? from objects where listing = ? and key = ?
"""
_SYNC = """
    insert into syncs (listing, at, outcome, detail, took_milliseconds, pages, items, listed,
                       next_at, reason, precision, recall, precision_low, precision_expected,
                       precision_high, recall_low, recall_expected, recall_high, sketch)
    values (?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_COUNT = """
    update syncs
    set listed = (select count(*) from objects where listing = ? and deleted_at is null)
    where id = ?
"""


def put_sync(connection: apsw.Connection, synced: ListingSynced) -> int:
    """Write a sync with all that it changed, and return its number."""
    listing = _number(connection, synced.listing)
    at = milliseconds(synced.at_seconds)
    sync = _put_row(connection, listing, at, synced)
    inserted, updated = _texts(synced.inserted), _texts(synced.updated)
    connection.executemany(_PUT, ((listing, key, text, at) for key, text in inserted.items()))
    connection.executemany(_UPDATE, ((text, listing, key) for key, text in updated.items()))
    connection.executemany(_DELETE, ((at, listing, key) for key in synced.deleted))
    happened: list[tuple[EventKind, Iterable[tuple[str, str | None]]]] = [
        (EventKind.INSERT, inserted.items()),
        (EventKind.UPDATE, updated.items()),
        (EventKind.DELETE, ((key, None) for key in synced.deleted)),
    ]
    before = connection.total_changes()
    for kind, rows in happened:
        bindings = ((sync, int(kind), text, listing, key) for key, text in rows)
        connection.executemany(_EVENT, bindings)
    expected = len(inserted) + len(updated) + len(synced.deleted)
    if connection.total_changes() - before != expected:
        message = f"listing {synced.listing!r}: must update and delete objects that it has"
        raise InvalidParameter(message)
    connection.execute(_COUNT, (listing, sync))
    return sync


def _number(connection: apsw.Connection, name: str) -> int:
    """Number of a listing, which is added where it is new."""
    connection.execute("insert into listings (name) values (?) on conflict do nothing", (name,))
    return int(connection.execute("select id from listings where name = ?", (name,)).get)


def _put_row(connection: apsw.Connection, listing: int, at: int, synced: ListingSynced) -> int:
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
    connection.execute(_SYNC, row)
    return connection.last_insert_rowid()


def _band(interval: ForecastInterval | None) -> tuple[float | None, float | None, float | None]:
    if interval is None:
        return None, None, None
    return interval.low, interval.expected, interval.high


def _texts(objects: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    return {key: json.dumps(dict(each), ensure_ascii=False) for key, each in objects.items()}
