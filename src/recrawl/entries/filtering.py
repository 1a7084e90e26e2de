"""What a crawl writes of addresses that it did not take in, and of pages that are copies of others.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.visits.status import DuplicateSign, Refusal


@dataclass(frozen=True, slots=True)
class DuplicateOf:
    """The page that another is a copy of.

    Args:
        page: Number of the page that stays.
        sign: How that was found out.
    """

    page: int
    sign: DuplicateSign


@dataclass(frozen=True, slots=True)
class RefusedAddresses:
    """Addresses of a host that were not taken in, for one reason.

    Args:
        reason: The reason.
        detail: Pattern, parameter or shape that it is about; empty where there is none.
        sketch: Which they were, as `DistinctCount` dumps it.
        example: One of them.
        addresses: How many there were, about; counted by the store.
    """

    reason: Refusal
    detail: str
    sketch: bytes
    example: str
    addresses: int = 0


@dataclass(frozen=True, slots=True)
class AddressesRefused:
    """Addresses that were found and not taken in. Writing the same ones again changes nothing.

    Args:
        host: Their host.
        refused: The addresses, by reason.
    """

    host: str
    refused: Sequence[RefusedAddresses]


@dataclass(frozen=True, slots=True)
class ShapeJudged:
    """What is known of the addresses of one shape.

    Args:
        host: Their host.
        shape: The shape.
        judged: Pages of this shape that were visited and compared.
        barren: How many of them brought nothing new.
    """

    host: str
    shape: str
    judged: int
    barren: int
