"""Records that a store returns.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from recrawl.visits.status import FeedKind, PageStatus, RemovalReason


PARTS = ("text", "markdown", "diff", "chunks")  # what an event of the change feed can bring
_DIGEST_BYTES = 16


def digest_of(body: bytes) -> bytes:
    """First 16 bytes of a body's SHA-256, by which versions are told apart.

    >>> digest_of(b"").hex()
    'e3b0c44298fc1c149afbf4c8996fb924'
    """
    return sha256(body).digest()[:_DIGEST_BYTES]


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
class VersionLines:
    """What a reader sees of a version: what the next one is compared with.

    Args:
        reading: Signature of how the version was read; read otherwise, it has other lines.
        lines: Its lines, none of them empty or with a line break in it.
        cuts: Where it can be cut, as `recrawl.detect.text.cuts` writes it; empty for nowhere.
        body: The version itself, where it is at hand.
    """

    reading: bytes
    lines: tuple[str, ...]
    cuts: str = ""
    body: bytes | None = field(default=None, compare=False, repr=False)


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
        failing: How many of them had a last visit that failed.
    """

    rule: int
    status: PageStatus
    pages: int
    overdue: int
    next_at_seconds: float | None
    failing: int = 0


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


class SavedSlots(NamedTuple):
    """What workers have left of the slots that they divided a crawl into.

    Attributes:
        slots: How many there are.
        visits: Number of the last visit that the checkpoint of each slot includes.
        demands: What slots said last of what they would spend: prices, visits per day at each,
            pages, visits of the last day, and what others may learn from it.
    """

    slots: int
    visits: dict[int, int]
    demands: dict[int, tuple[list[float], list[float], int, int, list[float]]]


class FeedEvent(NamedTuple):
    """An event of the change feed; a tuple, for a million of them are read at once.

    Attributes:
        number: Its position in the feed, from 1; 0 in a snapshot.
        kind: What happened.
        page: Number of the page.
        address: Its address; empty where it was erased.
        at_seconds: When it was seen.
        earliest_seconds: When it had not happened yet; None where that is unknown.
        latest_seconds: When it had happened at the latest.
        likely_seconds: When it probably happened; None where nothing is known of that.
        visit: Number of the visit that saw it; None where none did.
        version: Digest of the body from then on; None where there is none, or it is unknown.
        before: Digest of the body before; None in the same cases.
        share: Share of the words that differ; None where nothing was compared.
        gist: Kind of the change in one word; None where it is unknown.
        reason: Why the page is gone, of an event that ends it.
        target: Address that the page has moved to, if it has.
        manifest: Name of the manifest of the copy from then on; None where none was written.
        manifest_before: The same of the copy before.
    """

    number: int
    kind: FeedKind
    page: int
    address: str
    at_seconds: float
    earliest_seconds: float | None
    latest_seconds: float
    likely_seconds: float | None
    visit: int | None
    version: bytes | None
    before: bytes | None
    share: float | None
    gist: str | None
    reason: RemovalReason | None
    target: str | None
    manifest: int | None = None
    manifest_before: int | None = None


class FeedRange(NamedTuple):
    """Which part of the change feed a store keeps.

    Attributes:
        feed: Name of the feed, which each store has of its own.
        oldest: Number of the oldest event that is kept; one more than the newest where none is.
        newest: Number of the newest event that was ever written, 0 before the first.
    """

    feed: str
    oldest: int
    newest: int


@dataclass(frozen=True, slots=True)
class Destination:
    """How far somebody has been told of the change feed.

    Args:
        name: What it is called.
        cursor: Number of the last event that is done with, delivered or not.
        attempts: How often the event after it has failed.
        next_at_seconds: When to try again; None for at once.
        disabled: Whether it asked to be told no more.
        problem: Why the last attempt failed, in a few words; empty where it did not.
    """

    name: str
    cursor: int
    attempts: int = 0
    next_at_seconds: float | None = None
    disabled: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Undelivered:
    """An event that was given up at a destination.

    Args:
        destination: Name of the destination.
        number: Number of the event.
        at_seconds: When it was given up.
        problem: Why, in a few words.
    """

    destination: str
    number: int
    at_seconds: float
    problem: str
