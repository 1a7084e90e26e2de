"""Listings of a store, for reading: what is listed, every sync, and all that happened.

Touches: files.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any

from recrawl.entries.listings import EventKind, ForecastInterval, Quality, SyncOutcome
from recrawl.store.sqlite.connections import as_it_was_written, one_view
from recrawl.store.sqlite.open_store import OpenStore

_SYNCS = """
    select syncs.id, at / 1000.0, outcome, detail, took_milliseconds / 1000.0, pages, items, listed,
           next_at / 1000.0, reason, precision, recall, precision_low, precision_expected,
           precision_high, recall_low, recall_expected, recall_high, sketch
    from syncs join listings on listings.id = syncs.listing
    where name = ? order by at, syncs.id
"""
_EVENTS = """
    select events.object, events.sync, events.kind, events.attributes
    from listings join syncs on syncs.listing = listings.id join events on events.sync = syncs.id
    where name = ? order by events.id
"""


@dataclass(frozen=True, slots=True)
class Sync:
    """One sync of a listing.

    Args:
        number: Its number.
        at_seconds: When it was done.
        outcome: What came of it.
        detail: Why it was not accepted, or failed.
        took_seconds: How long it took.
        pages: Pages that were read.
        items: Objects that were found.
        listed: Objects of the copy afterwards.
        next_at_seconds: When the next was due.
        reason: Why then.
        quality: How good the copy had been; None where that is not known.
        sketch: What was found, in short, where it was doubted.
    """

    number: int
    at_seconds: float
    outcome: SyncOutcome
    detail: str
    took_seconds: float
    pages: int
    items: int
    listed: int
    next_at_seconds: float
    reason: str
    quality: Quality | None
    sketch: bytes | None = None


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as it was last seen.

    Args:
        key: What names it.
        attributes: What it was like when last seen.
        appeared_seconds: When it was first seen.
        last_seen_seconds: When it was last seen.
        removed_seconds: The sync that missed it; None while it is listed.
    """

    key: str
    attributes: dict[str, str]
    appeared_seconds: float
    last_seen_seconds: float
    removed_seconds: float | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to an object.

    Args:
        object: Number of the object.
        sync: Number of the sync that saw it.
        kind: What happened.
        attributes: The object's attributes from then on; None where it is gone.
    """

    object: int
    sync: int
    kind: EventKind
    attributes: dict[str, str] | None


@dataclass(frozen=True, slots=True)
class ListingHistory:
    """All that is known of a listing.

    Args:
        name: Its name.
        syncs: Every sync, in order.
        keys: Key of each object, by its number.
        events: Everything that happened, in order.
    """

    name: str
    syncs: list[Sync]
    keys: dict[int, str]
    events: list[Event]

    @property
    def alarm(self) -> str:
        """What is wrong since the last sync that was accepted; empty for nothing."""
        return alarm_of(self.syncs)


class ListingReader(OpenStore):
    """The listings of a store, open for reading."""

    def names(self) -> list[str]:
        """Names of all listings, in the order in which they were first synced."""
        with as_it_was_written(self.path):
            rows = self._connection.execute("select name from listings order by id")
            return [name for (name,) in rows]

    def syncs(self, name: str) -> list[Sync]:
        """Every sync of a listing, in order; none where it is unknown."""
        with as_it_was_written(self.path):
            return [_sync(row) for row in self._connection.execute(_SYNCS, (name,))]

    def listed(self, name: str) -> dict[str, dict[str, str]]:
        """Attributes of the objects of the copy, by key."""
        query = """
            select key, attributes from objects join listings on listings.id = objects.listing
            where name = ? and deleted_at is null order by objects.id
        """
        with as_it_was_written(self.path):
            rows = self._connection.execute(query, (name,))
            return {key: json.loads(text) for key, text in rows}

    def objects(self, name: str) -> list[StoredObject]:
        """Every object of a listing, in the order in which they were first seen."""
        query = """
            select key, attributes, first_seen / 1000.0, deleted_at / 1000.0
            from objects join listings on listings.id = objects.listing
            where name = ? order by objects.id
        """
        with as_it_was_written(self.path), one_view(self._connection):
            accepted = [sync.at_seconds for sync in self.syncs(name) if sync.outcome.accepted]
            rows: list[Any] = self._connection.execute(query, (name,)).fetchall()
            return [
                StoredObject(key, json.loads(text), first, _before(accepted, gone), gone)
                for key, text, first, gone in rows
            ]

    def history(self, name: str) -> ListingHistory:
        """All that is known of a listing, as it stood at one instant."""
        query = """
            select objects.id, key from objects join listings on listings.id = objects.listing
            where name = ? order by objects.id
        """
        with as_it_was_written(self.path), one_view(self._connection):
            syncs = [_sync(row) for row in self._connection.execute(_SYNCS, (name,))]
            keys: dict[int, str] = dict(self._connection.execute(query, (name,)))
            events = [_event(row) for row in self._connection.execute(_EVENTS, (name,))]
        return ListingHistory(name, syncs, keys, events)


def alarm_of(syncs: list[Sync]) -> str:
    """What the last sync found wrong; empty where it was accepted, or there was none."""
    return "" if not syncs or syncs[-1].outcome.accepted else syncs[-1].detail


def _before(syncs: list[float], gone: float | None) -> float:
    """The last sync that saw an object which another missed, or none has."""
    return syncs[-1] if gone is None else syncs[bisect_left(syncs, gone) - 1]


def _sync(row: Any) -> Sync:  # noqa: ANN401 - a row of a query
    number, at, outcome, detail, took, pages, items, listed, next_at, reason, *figures, sketch = row
    return Sync(
        *(number, at, SyncOutcome(outcome), detail, took, pages, items, listed, next_at, reason),
        _quality(figures),
        sketch,
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
    number, sync, kind, attributes = row
    return Event(
        number, sync, EventKind(kind), None if attributes is None else json.loads(attributes)
    )
