"""Records that a store returns.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from recrawl.visits.status import PageStatus


@dataclass(frozen=True, slots=True)
class Host:
    """A host; None stands for unknown.

    Args:
        name: Its name.
        number: Its number, from 0.
        delay: Days between two requests.
        blocked_until_seconds: No request is made before.
        latency_seconds: Response time.
        failures: Failed requests since one last succeeded.
    """

    name: str
    number: int
    delay: float | None
    blocked_until_seconds: float | None
    latency_seconds: float | None
    failures: int


@dataclass(frozen=True, slots=True)
class Version:
    """A stored version of a page.

    Args:
        at_seconds: When it was first seen.
        digest: First 16 bytes of its SHA-256.
        size: Its bytes.
    """

    at_seconds: float
    digest: bytes
    size: int


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A page that was taken out, as readers of changes are told.

    Args:
        page: Number of the page.
        status: `REMOVED` or `ERASED`.
        at_seconds: When.
        visit: Number of the last visit before: its place among all visits.
    """

    page: int
    status: PageStatus
    at_seconds: float
    visit: int


@dataclass(frozen=True, slots=True)
class PageCount:
    """Pages of one rule that have one status.

    Args:
        rule: Number of the rule.
        status: Their status.
        pages: How many there are.
        overdue: How many of them are overdue.
        next_at_seconds: Earliest scheduled retry or recheck; None if there is none.
    """

    rule: int
    status: PageStatus
    pages: int
    overdue: int
    next_at_seconds: float | None


@dataclass(frozen=True, slots=True)
class DiskUsage:
    """What a store takes on disk.

    Args:
        total_bytes: Its file and its log.
        unused_bytes: How much of that was deleted, and is used again before the file grows.
        has_versions: Whether any versions of pages are kept.
    """

    total_bytes: int
    unused_bytes: int
    has_versions: bool


@dataclass(frozen=True, slots=True)
class Checked:
    """A part of a store that was checked.

    Args:
        what: The part.
        rows: How many rows were looked at.
        found: How many problems there are.
        problems: The first of them, one sentence each.
    """

    what: str
    rows: int
    found: int
    problems: tuple[str, ...]


class SavedCheckpoint(NamedTuple):
    """The last `Checkpoint` that was written, or some of its parts.

    Attributes:
        parts: Arrays and values by name.
        visit: Number of the last visit they include.
    """

    parts: dict[str, Any]
    visit: int
