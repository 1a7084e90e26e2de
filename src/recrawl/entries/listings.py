"""Syncs of listings, as a crawl writes them and as a store returns them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.entries.entries import DetailPages


class SyncOutcome(IntEnum):
    """Outcome of a sync. Stores keep the numbers: never change one.

    >>> SyncOutcome.DOUBTED.label, SyncOutcome.DONE.accepted
    ('doubted', True)
    """

    FIRST = 1  # the first accepted sync: nothing to compare with
    DONE = 2  # accepted: the copy now equals what was found
    DOUBTED = 3  # implausible: nothing is applied until a second sync confirms it
    FAILED = 4  # the listing could not be read completely

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()

    @property
    def accepted(self) -> bool:
        """Whether the copy now equals what was found."""
        return self in (SyncOutcome.FIRST, SyncOutcome.DONE)


class EventKind(IntEnum):
    """Kind of event of an object. Stores keep the numbers: never change one."""

    INSERT = 0
    UPDATE = 1
    DELETE = 2


class ObjectChangeKind(IntEnum):
    """What an event of the feed of listings tells of an object.

    >>> [kind.label for kind in ObjectChangeKind if kind.ends]
    ['vanished']
    """

    SNAPSHOT = 0  # it is listed, as a snapshot has it
    ARRIVED = 1  # it is listed for the first time
    CHANGED = 2  # it has other attributes, or another detail page
    VANISHED = 3  # it is no longer listed: the tombstone
    BACK = 4  # it is listed again

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()

    @property
    def ends(self) -> bool:
        """Whether the object is not listed afterwards."""
        return self is ObjectChangeKind.VANISHED


@dataclass(frozen=True, slots=True)
class ForecastInterval:
    """Forecast of a figure, with its band.

    Args:
        low: Low end of its band.
        expected: What was expected.
        high: High end of its band.

    Examples:
        >>> ForecastInterval(0.85, 0.92, 0.97).holds(0.9)
        True
    """

    low: float
    expected: float
    high: float

    def holds(self, figure: float) -> bool:
        """Whether the band holds a figure."""
        return self.low - 1e-9 <= figure <= self.high + 1e-9


@dataclass(frozen=True, slots=True)
class Quality:
    """Quality of a copy just before a sync.

    Args:
        precision: Share of the copy that was still listed.
        recall: Share of what was listed that was in the copy.
        precision_forecast: Forecast of the precision; None if there was none.
        recall_forecast: Forecast of the recall; None if there was none.
    """

    precision: float
    recall: float
    precision_forecast: ForecastInterval | None = None
    recall_forecast: ForecastInterval | None = None


@dataclass(frozen=True, slots=True)
class ListingSynced:
    """One sync of a listing with all its changes, written in one transaction.

    Args:
        listing: Name of the listing.
        at_seconds: When it was done.
        outcome: Its outcome.
        next_at_seconds: When the next is due.
        reason: What determined that time.
        detail: Why it was doubted or failed.
        took_seconds: Its duration.
        pages: Pages that were read.
        items: Objects that were found.
        inserted: Attributes of objects that are new or back, by key.
        updated: Attributes of objects whose attributes changed, by key.
        deleted: Keys of objects that are no longer listed.
        quality: Quality of the copy before; None if unknown.
        sketch: Digest of what was found, if it was doubted.
        details: Detail pages of its objects that are other ones now; None where none are wanted.
    """

    listing: str
    at_seconds: float
    outcome: SyncOutcome
    next_at_seconds: float
    reason: str = ""
    detail: str = ""
    took_seconds: float = 0.0
    pages: int = 0
    items: int = 0
    inserted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    updated: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    deleted: Sequence[str] = ()
    quality: Quality | None = None
    sketch: bytes | None = None
    details: DetailPages | None = None


@dataclass(frozen=True, slots=True)
class Sync:
    """One sync of a listing.

    Args:
        number: Its number.
        at_seconds: When it was done.
        outcome: Its outcome.
        detail: Why it was doubted or failed.
        took_seconds: Its duration.
        pages: Pages that were read.
        items: Objects that were found.
        listed: Objects of the copy afterwards.
        next_at_seconds: When the next was due.
        reason: What determined that time.
        quality: Quality of the copy before; None if unknown.
        sketch: Digest of what was found, if it was doubted.
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
    """An object of a listing, as last seen.

    Args:
        key: Its key.
        attributes: Its attributes when last seen.
        appeared_seconds: When it was first seen.
        last_seen_seconds: When it was last seen.
        removed_seconds: The sync that missed it; None while it is listed.
        page: Number of its detail page; None where it has none.
        address: Address of that page; empty where it has none, or was erased.
    """

    key: str
    attributes: dict[str, str]
    appeared_seconds: float
    last_seen_seconds: float
    removed_seconds: float | None
    page: int | None = None
    address: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An insertion, update or deletion of an object.

    Args:
        object: Number of the object.
        sync: Number of the sync that found it.
        kind: What happened.
        attributes: The object's attributes from then on; None where it is gone.
    """

    object: int
    sync: int
    kind: EventKind
    attributes: dict[str, str] | None


class ObjectEvent(NamedTuple):
    """An event of the feed of listings.

    Attributes:
        number: Its position, from 1 on in the order of commits; 0 in a snapshot.
        kind: What happened.
        listing: Name of the listing.
        key: Key of the object.
        sync: Number of the sync that found it; in a snapshot, of the last one accepted.
        at_seconds: When that sync was done.
        earliest_seconds: The last sync accepted before, which found it otherwise; None where there
            was none.
        attributes: The object's attributes from then on; None where it vanished.
        before: Its attributes before; None where it had not been listed.
        page: Number of its detail page; None where it has none.
        address: Address of that page; empty where it has none, or was erased.
    """

    number: int
    kind: ObjectChangeKind
    listing: str
    key: str
    sync: int
    at_seconds: float
    earliest_seconds: float | None
    attributes: dict[str, str] | None
    before: dict[str, str] | None
    page: int | None
    address: str

    @property
    def likely_seconds(self) -> float | None:
        """When it probably happened: nothing is known but the gap, so in the middle of it."""
        if self.earliest_seconds is None:
            return None
        return (self.earliest_seconds + self.at_seconds) / 2

    @property
    def changed(self) -> list[str]:
        """Names of the attributes that differ from those before, of an object that had some."""
        if self.attributes is None or self.before is None:
            return []
        now, before = self.attributes, self.before
        return [each for each in {**before, **now} if now.get(each) != before.get(each)]


@dataclass(frozen=True, slots=True)
class ListingHistory:
    """Objects, syncs and events of a listing.

    Args:
        name: Its name.
        syncs: Every sync, in order.
        keys: Key of each object, by its number.
        events: All events, in order.
    """

    name: str
    syncs: list[Sync]
    keys: dict[int, str]
    events: list[Event]

    @property
    def alarm(self) -> str:
        """Why the last sync was not accepted; empty if it was."""
        return alarm_of(self.syncs)


def alarm_of(syncs: list[Sync]) -> str:
    """Why the last sync was not accepted; empty if it was, or if there was none."""
    return "" if not syncs or syncs[-1].outcome.accepted else syncs[-1].detail
