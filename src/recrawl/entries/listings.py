"""What a crawl writes of a sync of a listing.

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
