"""Events of listings, as readers get them: CloudEvents, and values of the Python interface.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recrawl.entries.listings import ObjectChangeKind
from recrawl.publish.cursors import cursor_text
from recrawl.publish.events import envelope, maybe_moment, maybe_utc, moment, utc

if TYPE_CHECKING:
    from datetime import datetime

    from recrawl.entries.listings import ObjectEvent

OBJECT_TYPES = {kind: f"recrawl.object.{kind.label}" for kind in ObjectChangeKind}


@dataclass(frozen=True, slots=True)
class ObjectFilter:
    """Which events of listings somebody wants.

    Args:
        kinds: Their kinds; none for all.
        listings: Names of their listings; none for all.
    """

    kinds: frozenset[str] = frozenset()
    listings: frozenset[str] = frozenset()

    def holds(self, event: ObjectEvent) -> bool:
        """Whether an event is one of them; a snapshot has no kinds to choose from."""
        of_kind = not self.kinds or not event.number or event.kind.label in self.kinds
        return of_kind and (not self.listings or event.listing in self.listings)


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """An event of the feed of listings; docs/reference/feed.md tells what each kind means.

    Args:
        cursor: Where to go on after this event; None for an object of a snapshot.
        kind: `arrived`, `changed`, `vanished`, `back`; `snapshot` in a snapshot.
        listing: Name of the listing; with `key` it names the object for ever.
        key: Key of the object.
        seen_at: When the sync was done that found it.
        earliest: The sync before, which found it otherwise; None where there was none.
        latest: When it had happened at the latest.
        likely: When it probably happened: the middle of the two; None where only one is known.
        attributes: The object's attributes from then on; None where it vanished.
        before: Its attributes before; None where it had not been listed.
        changed: Names of the attributes that differ.
        sync: Number of the sync.
        page: Number of its detail page; None where it has none.
        address: Address of that page; None where it has none, or was erased.
    """

    cursor: str | None
    kind: str
    listing: str
    key: str
    seen_at: datetime
    earliest: datetime | None
    latest: datetime
    likely: datetime | None
    attributes: dict[str, str] | None
    before: dict[str, str] | None
    changed: tuple[str, ...]
    sync: int
    page: int | None
    address: str | None


def object_change(feed: str, event: ObjectEvent) -> ObjectChange:
    """An event as readers of the Python interface get it."""
    return ObjectChange(
        cursor=cursor_text(feed, event.number) if event.number else None,
        kind=event.kind.label,
        listing=event.listing,
        key=event.key,
        seen_at=moment(event.at_seconds),
        earliest=maybe_moment(event.earliest_seconds),
        latest=moment(event.at_seconds),
        likely=maybe_moment(event.likely_seconds),
        attributes=event.attributes,
        before=event.before,
        changed=tuple(event.changed),
        sync=event.sync,
        page=event.page,
        address=event.address or None,
    )


def object_cloud_event(feed: str, event: ObjectEvent) -> dict[str, Any]:
    """An event as a CloudEvent. An object of a snapshot has no cursor: its end has one.

    Examples:
        >>> from recrawl.entries.listings import ObjectEvent
        >>> event = ObjectEvent(7, ObjectChangeKind.ARRIVED, "jobs", "17", 3, 0.25, None,
        ...     {"city": "Bern"}, None, None, "")
        >>> found = object_cloud_event("k3fqabcd-listings", event)
        >>> found["id"], found["type"], found["subject"]
        ('k3fqabcd-listings-7', 'recrawl.object.arrived', '17')
        >>> found["data"]["attributes"], found["data"]["before"]
        ({'city': 'Bern'}, None)
    """
    cursor = cursor_text(feed, event.number) if event.number else None
    at = utc(event.at_seconds)
    data = {
        "cursor": cursor,
        "listing": event.listing,
        "key": event.key,
        "sync": event.sync,
        "earliest": maybe_utc(event.earliest_seconds),
        "latest": at,
        "likely": maybe_utc(event.likely_seconds),
        "attributes": event.attributes,
        "before": event.before,
        "changed": event.changed,
        "page": event.page,
        "address": event.address or None,
    }
    name = cursor or f"{feed}-sync-{event.sync}-{event.listing}-{event.key}"
    return envelope(feed, name, OBJECT_TYPES[event.kind], at, data, subject=event.key)
