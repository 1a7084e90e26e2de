"""Syncs of listings: what a crawl writes of one, and what a store tells of all of them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class SyncOutcome(IntEnum):
    """What came of a sync. Numbers are what stores keep: never change one.

    >>> SyncOutcome.DOUBTED.label, SyncOutcome.DONE.accepted
    ('doubted', True)
    """

    FIRST = 1  # the first that was accepted: nothing to compare with
    DONE = 2  # the copy is now what was found
    DOUBTED = (
        3  # the list was found as it can hardly be: nothing is taken over before a second sync
    )
    FAILED = 4  # the list could not be read, or only in part

    @property
    def label(self) -> str:
        """Its name in tables and files."""
        return self.name.lower()

    @property
    def accepted(self) -> bool:
        """Whether the copy is now what was found."""
        return self in (SyncOutcome.FIRST, SyncOutcome.DONE)


class EventKind(IntEnum):
    """What happened to an object. Numbers are what stores keep: never change one."""

    INSERT = 0
    UPDATE = 1
    DELETE = 2


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
    """How good a copy was just before it was made anew.

    Args:
        precision: Share of the copy that was still listed.
        recall: Share of what was listed that was in the copy.
        precision_forecast: What the first was forecast to be; None where nothing was known.
        recall_forecast: What the second was forecast to be; None where nothing was known.
    """

    precision: float
    recall: float
    precision_forecast: ForecastInterval | None = None
    recall_forecast: ForecastInterval | None = None


@dataclass(frozen=True, slots=True)
class ListingSynced:
    """One sync of a listing and all that it changed, written together or not at all.

    Args:
        listing: Name of the listing.
        at_seconds: When it was done.
        outcome: What came of it.
        next_at_seconds: When the next is due.
        reason: Why then.
        detail: Why it was not accepted, or failed.
        took_seconds: How long it took.
        pages: Pages that were read.
        items: Objects that were found.
        inserted: Attributes of objects that are new or back, by key.
        updated: Attributes of objects whose attributes changed, by key.
        deleted: Keys of objects that are no longer listed.
        quality: How good the copy had been; None where that is not known.
        sketch: What was found, in short, where it was doubted.
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


def alarm_of(syncs: list[Sync]) -> str:
    """What the last sync found wrong; empty where it was accepted, or there was none."""
    return "" if not syncs or syncs[-1].outcome.accepted else syncs[-1].detail
