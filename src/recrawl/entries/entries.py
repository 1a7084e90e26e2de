"""Entries that a crawl writes to its store: one frozen value per event.

Instants are epoch seconds, as a clock gives them; a store keeps whole milliseconds. Pages and hosts
are numbered from 0 in the order in which they were found. Visits are numbered from 1: the number of
a visit is a position, and position 0 is before the first.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed, Redelivered
from recrawl.entries.filtering import AddressesRefused, ShapeJudged
from recrawl.entries.freshness import FreshnessNoted
from recrawl.entries.listings import ListingSynced
from recrawl.entries.pushes import SubscriptionsKnown
from recrawl.entries.reports import VisitsReported
from recrawl.entries.sources import SourceLooked, SourcesKnown
from recrawl.visits.status import NO_TAG, Audit, PageStatus

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.filtering import DuplicateOf
    from recrawl.entries.manifests import Manifest
    from recrawl.entries.records import VersionLines
    from recrawl.visits.status import FeedKind, RemovalReason, RobotsTag, VisitOutcome


@dataclass(frozen=True, slots=True)
class Copy:
    """Signatures and validators of a copy, for the next conditional request and comparison.

    Args:
        bytes_signature: Signature of the raw body.
        text_signature: Signature of the visible text, if there is any.
        etag: ETag of the response; one that is not valid text is dropped.
        modified_seconds: When the host says the page last changed, in whole epoch seconds.
        simhash: Simhash of the visible text.
        robots: What the page asks of crawlers. With `NOARCHIVE` no version of it is kept.
        unavailable_after_seconds: When no version of it is kept any more; None for never.
        shell: Whether it is an empty JavaScript shell, which scripts would fill in a browser.
    """

    bytes_signature: bytes
    text_signature: bytes | None = None
    etag: str | None = None
    modified_seconds: int | None = None
    simhash: int | None = None
    robots: RobotsTag = NO_TAG
    unavailable_after_seconds: int | None = None
    shell: bool = False

    @property
    def signature(self) -> bytes:
        """Signature of what it shows: of its text, or else of its bytes."""
        return self.bytes_signature if self.text_signature is None else self.text_signature


@dataclass(frozen=True, slots=True)
class PageChange:
    """New status of a page.

    Args:
        status: The status.
        failures: Visits that failed since one last succeeded.
        next_at_seconds: Time of a scheduled retry or recheck; None where the policy decides.
    """

    status: PageStatus = PageStatus.COPIED
    failures: int = 0
    next_at_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class PageEvent:
    """What readers of the change feed are told of a page; written with what it tells of.

    Args:
        kind: What happened.
        latest_seconds: When it had happened at the latest.
        earliest_seconds: When it had not happened yet; None where that is unknown.
        likely_seconds: When it probably happened; None where nothing is known of that.
        reason: Why the page is gone, of an event that ends it.
        target: Address that the page has moved to, if it has.
        gist: Kind of the change in one word, one of `recrawl.detect.diff.gist.GISTS`, if known.
        version: Digest of the body, where the body itself is not written.
        manifest: Chunks of the copy that came with it; None where they are not to be written.
    """

    kind: FeedKind
    latest_seconds: float
    earliest_seconds: float | None = None
    likely_seconds: float | None = None
    reason: RemovalReason | None = None
    target: str | None = None
    gist: str | None = None
    version: bytes | None = None
    manifest: Manifest | None = None


@dataclass(frozen=True, slots=True)
class VisitMade:
    """One visit and all that it changed, written together or not at all.

    Args:
        page: Number of the page.
        at_seconds: When the response arrived.
        outcome: What the visit found.
        http: Status code, None without a response.
        age: Days from the page's last change to the visit, if the host reports it.
        size: Bytes of the body, None if there was none.
        share: Share of words that differ, None if nothing was compared.
        audit: Purpose of a second request, if one was made.
        took_seconds: From the request to the end of the response.
        copy: The new copy; None if it is unchanged.
        body: Bytes to store as a version.
        lines: What a reader sees of the body; None if that is not to be stored.
        masks: The new masks of the page, as text; None if they are unchanged.
        change: The new status of the page; None if it is unchanged.
        event: What readers of the change feed are told; None for nothing.
        target: Address that the page has moved to, if it has.
        original: The page that this one is a copy of, if it is one.
    """

    page: int
    at_seconds: float
    outcome: VisitOutcome
    http: int | None = None
    age: float | None = None
    size: int | None = None
    took_seconds: float | None = None
    share: float | None = None
    audit: Audit = Audit.NONE
    copy: Copy | None = None
    body: bytes | None = None
    masks: str | None = None
    change: PageChange | None = None
    event: PageEvent | None = None
    target: str | None = None
    original: DuplicateOf | None = None
    lines: VersionLines | None = None


@dataclass(frozen=True, slots=True)
class PagesFound:
    """Addresses that were discovered; known ones are left as they are.

    Args:
        addresses: Canonical addresses.
        hosts: Host of each.
        rules: Number of the rule of each.
        at_seconds: When they were found.
        depth: Links between them and the nearest address of a sitemap, a feed or the settings.
        again: Whether those that were removed or erased are to be visited again.
        events: What readers of the change feed are told of each; none for nothing of any.
    """

    addresses: Sequence[str]
    hosts: Sequence[str]
    rules: Sequence[int]
    at_seconds: float
    depth: int = 0
    again: bool = False
    events: Sequence[PageEvent | None] = ()


@dataclass(frozen=True, slots=True, eq=False)
class VisitsImported:
    """Visits that others made before a crawl began; it has no copies of their pages.

    Args:
        found: The pages.
        rows: The visits in the order of time, some at a time; gone through once.
    """

    found: PagesFound
    rows: Iterable[ImportedRows]


@dataclass(frozen=True, slots=True, eq=False)
class ImportedRows:
    """Some of the visits that others made.

    Args:
        page: Place of each visit's page among those found.
        at_seconds: When each visit was made, rising.
        outcome: Numbers of `VisitOutcome`.
        age: Days from the page's last change to each visit; nan where unknown.
    """

    page: Ints
    at_seconds: Floats
    outcome: Ints
    age: Floats


@dataclass(frozen=True, slots=True)
class DetailPages:
    """Detail pages of a listing's objects, written with the sync that found them.

    A page is one of the crawl's while an object that has it is listed: it loses its rule with the
    last such object, and has it again with the next, unless a person has taken it out.

    Args:
        addresses: Address of the detail page of each object that is listed and has another one
            than before, by its key; empty for an object that has none any more.
        found: The pages at these addresses, with the rule of each; those that lie in another slot
            are left out, and handed over to it.
        rule: Number of the listing's own rule: a page with another one is not only the listing's.
        unlisted: What readers of the change feed are told of a page that loses its rule.
        back: What they are told of one that has a rule again, and still a copy.
    """

    addresses: Mapping[str, str]
    found: PagesFound
    rule: int
    unlisted: PageEvent
    back: PageEvent


@dataclass(frozen=True, slots=True)
class DetailsTaken:
    """Detail pages that were handed over by the slot of their listing, taken in by their own.

    Objects are given these pages, and what held for `DetailPages` when they were handed over holds
    from then on.

    Args:
        found: The pages, with the rule of each.
        rules: Numbers of the rules of listings: a page with another one is not only a listing's.
        unlisted: What readers of the change feed are told of a page that loses its rule.
        back: What they are told of one that has a rule again, and still a copy.
    """

    found: PagesFound
    rules: Sequence[int]
    unlisted: PageEvent
    back: PageEvent


@dataclass(frozen=True, slots=True)
class PagesChanged:
    """Pages whose status or rule changed without a visit.

    Args:
        pages: Their numbers.
        changes: New status of each; None to leave it unchanged.
        rules: New rule of each; None to leave it unchanged.
        events: What readers of the change feed are told of each; none for nothing of any.
    """

    pages: Sequence[int]
    changes: Sequence[PageChange] | None = None
    rules: Sequence[int] | None = None
    events: Sequence[PageEvent | None] = ()


@dataclass(frozen=True, slots=True)
class PagesRemoved:
    """Pages taken out of the crawl; what is known of them stays. They are not visited, nor added.

    Args:
        pages: Their numbers.
        at_seconds: When.
        events: What readers of the change feed are told of each; none for nothing of any.
    """

    pages: Sequence[int]
    at_seconds: float
    events: Sequence[PageEvent | None] = ()


@dataclass(frozen=True, slots=True)
class PagesErased:
    """Pages taken out with their addresses, copies, versions and masks; a tombstone of each stays.

    Their numbers and visits stay, too, and events without addresses and versions. A checkpoint may
    name their addresses: whoever erases pages writes another one.

    Args:
        pages: Their numbers.
        at_seconds: When.
        events: What readers of the change feed are told of each; none for nothing of any.
        forgotten: Whether their addresses are those of new pages when they are found again, not
            of pages that were erased.
    """

    pages: Sequence[int]
    at_seconds: float
    events: Sequence[PageEvent | None] = ()
    forgotten: bool = False


@dataclass(frozen=True, slots=True)
class HostSeen:
    """Politeness state of a host; None stands for unknown.

    Args:
        name: The host.
        delay: Days between two requests.
        blocked_until_seconds: No request is made before.
        latency_seconds: Response time.
        failures: Failed requests since one last succeeded.
    """

    name: str
    delay: float | None = None
    blocked_until_seconds: float | None = None
    latency_seconds: float | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True)
class HostBelieved:
    """Reliability of a host's signals, and the masks that its pages share.

    Args:
        name: The host.
        words: Counts by kind of signal: see `recrawl.detect.reliability`.
        masks: Masks of all its pages, as text.
    """

    name: str
    words: Mapping[str, Sequence[float]]
    masks: str = ""


@dataclass(frozen=True, slots=True)
class RobotsRead:
    """The robots.txt of an origin: scheme, host and port.

    Args:
        origin: The origin.
        at_seconds: When it was fetched.
        http: Status code, None without a response.
        body: The part of it that concerns us, None if there was none.
        delay: Days between requests that it asks for, None if it asks for none.
    """

    origin: str
    at_seconds: float
    http: int | None = None
    body: bytes | None = None
    delay: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The learned state of a crawl; replaces the checkpoint before.

    Args:
        parts: Arrays, or values that JSON can hold, by name. An array must not change before
            it is written.
        visit: Number of the last visit they include; None for the last one written before them.
        owner: Number of the slot that learned it; empty for the whole crawl.
    """

    parts: Mapping[str, Any]
    visit: int | None = None
    owner: str = ""


@dataclass(frozen=True, slots=True)
class SitesDiscovered:
    """Sites whose new pages were looked for.

    Args:
        addresses: Of the sites, as the settings have them.
        at_seconds: When.
    """

    addresses: Sequence[str]
    at_seconds: float


@dataclass(frozen=True, slots=True)
class HintsGiven:
    """Hints that pages have changed, from a list or a push; they wait until they are taken.

    Args:
        addresses: Canonical addresses.
        at_seconds: When.
    """

    addresses: Sequence[str]
    at_seconds: float


@dataclass(frozen=True, slots=True)
class HintsTaken:
    """Hints that were heard, and are not needed any more.

    Args:
        last: Number of the last of them.
    """

    last: int


@dataclass(frozen=True, slots=True)
class SettingsUsed:
    """Plain settings that a store is used with, where no file has them.

    Args:
        text: As JSON; empty where a file has them.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Prune:
    """Request to delete old versions of all pages and old events, by the store's retention.

    Args:
        now_seconds: The current time.
    """

    now_seconds: float


Entry: TypeAlias = (
    VisitMade
    | VisitsReported
    | PagesFound
    | VisitsImported
    | PagesChanged
    | PagesRemoved
    | PagesErased
    | HostSeen
    | HostBelieved
    | RobotsRead
    | SitesDiscovered
    | HintsGiven
    | HintsTaken
    | SubscriptionsKnown
    | SourcesKnown
    | SourceLooked
    | SettingsUsed
    | Checkpoint
    | Prune
    | AddressesRefused
    | ShapeJudged
    | FreshnessNoted
    | ListingSynced
    | DetailsTaken
    | DestinationsNamed
    | DestinationMoved
    | Redelivered
)


@dataclass(frozen=True, slots=True)
class Found:
    """Receipt of a `PagesFound`, a `SourceLooked` or a `VisitsImported`.

    Args:
        pages: Number of each page, in the order of the addresses.
        known: Number of pages before: numbers from this on are new.

    Examples:
        >>> Found(pages=[0, 3, 4], known=3).new
        [3, 4]
    """

    pages: Sequence[int]
    known: int

    @property
    def new(self) -> list[int]:
        """Numbers of the new pages, ascending."""
        return sorted({page for page in self.pages if page >= self.known})


@dataclass(frozen=True, slots=True)
class Erased:
    """Receipt of a `PagesErased`; of a `PagesRemoved` it counts nothing.

    Args:
        versions: Versions that were deleted.
        bodies: Bodies that were deleted: those that no other page has.
        bytes: What these took on disk.

    Examples:
        >>> Erased(versions=2, bodies=1, bytes=300) + Erased(1, 1, 100)
        Erased(versions=3, bodies=2, bytes=400)
    """

    versions: int = 0
    bodies: int = 0
    bytes: int = 0

    def __add__(self, other: Erased) -> Erased:
        """Count both."""
        return Erased(
            self.versions + other.versions, self.bodies + other.bodies, self.bytes + other.bytes
        )


@dataclass(frozen=True, slots=True)
class DetailsWritten:
    """Receipt of a `ListingSynced` that has `details`, or of a `DetailsTaken`.

    Args:
        sync: Number of the sync; 0 where there was none.
        found: Receipt of the pages that it found.
        back: Status of each page that has a rule again, by its number.
        listed: Those of them that readers of the change feed have a copy of again.
        unlisted: Pages that have lost their rule.
    """

    sync: int
    found: Found
    back: Mapping[int, PageStatus]
    listed: Sequence[int]
    unlisted: Sequence[int]


# Number of the last visit, the host or the sync, pages found or erased, detail pages, number of
# versions deleted, or nothing.
Receipt: TypeAlias = int | Found | Erased | DetailsWritten | None
