"""Batches of visits that other crawlers report, each under a key of its own, as a store keeps them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.entries import VisitMade


@dataclass(frozen=True, slots=True)
class AnsweredReport:
    """A batch that was taken in, and what was answered.

    Args:
        key: Idempotency key that its sender chose.
        digest: Tells whether the same was sent.
        answer: What was answered, as JSON; without addresses, which may have to be erased.
    """

    key: str
    digest: bytes
    answer: str


@dataclass(frozen=True, slots=True)
class VisitsReported:
    """Visits that another crawler made, written together or not at all.

    Args:
        visits: The visits.
        report: The batch that they came in; None where it has no key.
        at_seconds: When it came.
    """

    visits: Sequence[VisitMade]
    report: AnsweredReport | None
    at_seconds: float
