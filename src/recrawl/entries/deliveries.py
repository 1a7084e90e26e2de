"""Entries of deliveries: who is told of the change feed, and how far.

The feed itself is what is to be delivered, so a destination has only a position in it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.records import Destination


@dataclass(frozen=True, slots=True)
class DestinationsNamed:
    """Destinations that events are delivered to; new ones begin after the newest event.

    Args:
        names: Their names.
    """

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class DestinationMoved:
    """What came of an attempt to deliver.

    Args:
        destination: How far it is from then on.
        at_seconds: When.
        given_up: Why events were given up; empty where none were.
        numbers: Those events; none for the one at its cursor.
    """

    destination: Destination
    at_seconds: float
    given_up: str = ""
    numbers: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Redelivered:
    """An event that was given up, and was delivered by hand.

    Args:
        destination: Name of the destination.
        number: Number of the event.
    """

    destination: str
    number: int
