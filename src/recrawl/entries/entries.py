"""What a crawl writes down: one frozen value for each thing that happened.

Instants are epoch seconds, as a clock gives them; a store keeps whole milliseconds. Pages and hosts
are numbered from 0 in the order in which they were found. Visits are numbered from 1: the number of
a visit is a position, and position 0 is before the first.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from recrawl.entries.listings import ListingSynced
from recrawl.visits.status import Audit, PageStatus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.visits.status import VisitOutcome


@dataclass(frozen=True, slots=True)
class Copy:
    """What the next conditional request needs, and what a change is decided by.

    Args:
        bytes_signature: Signature of the body as it came.
        text_signature: Signature of what a reader sees, where there is such.
        etag: Validator of the answer, as it came; one that is no text is not kept.
        modified_seconds: When the host says the page last changed, in whole epoch seconds.
        simhash: Hash of what a reader sees that is near for texts that are alike.
    """

    bytes_signature: bytes
    text_signature: bytes | None = None
    etag: str | None = None
    modified_seconds: int | None = None
    simhash: int | None = None


@dataclass(frozen=True, slots=True)
class PageChange:
    """Where a page stands from now on.

    Args:
        status: Where it stands in its life.
        failures: Visits that failed since one last succeeded.
        next_at_seconds: An appointment (a retry, a recheck), None where the policy decides.
    """

    status: PageStatus = PageStatus.COPIED
    failures: int = 0
    next_at_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class VisitMade:
    """One visit and all that it changed, written together or not at all.

    Args:
        page: Number of the page.
        at_seconds: When the answer came.
        outcome: What the visit found.
        http: Status code, None where there was no answer.
        age: Days from the page's last change to the visit, where the host tells.
        size: Bytes of the body, None where there was none.
        share: Share of the words that differ, None where nothing was compared.
        audit: What a second request was made for.
        took_seconds: From the request to the end of the answer.
        copy: What is known of the copy from now on; None where that is what was known before.
        body: Bytes to keep as a version.
        masks: What is known from now on of the bits of the page that differ by themselves, as
            text; None where that is what was known before.
        change: Where the page stands from now on; None where it stands as before.
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


@dataclass(frozen=True, slots=True)
class PagesFound:
    """Addresses that a crawl came across; those already known stay as they are.

    Args:
        addresses: In their one spelling.
        hosts: Host of each.
        rules: Number of the entry of the configuration that each falls under.
        at_seconds: When they were found.
        depth: How many links away they are from what a sitemap, a feed or a person named.
    """

    addresses: Sequence[str]
    hosts: Sequence[str]
    rules: Sequence[int]
    at_seconds: float
    depth: int = 0


@dataclass(frozen=True, slots=True)
class PagesChanged:
    """Pages whose standing or rule moved without a visit.

    Args:
        pages: Their numbers.
        changes: Where each stands from now on; None to leave that alone.
        rules: What each falls under from now on; None to leave that alone.
    """

    pages: Sequence[int]
    changes: Sequence[PageChange] | None = None
    rules: Sequence[int] | None = None


@dataclass(frozen=True, slots=True)
class HostSeen:
    """How a host is to be treated, as a whole: what is None is not known.

    Args:
        name: The host.
        delay: Days between two requests.
        blocked_until_seconds: Nothing is asked before.
        latency_seconds: How long it takes to answer.
        failures: Failed requests since one last succeeded.
    """

    name: str
    delay: float | None = None
    blocked_until_seconds: float | None = None
    latency_seconds: float | None = None
    failures: int = 0


@dataclass(frozen=True, slots=True)
class HostBelieved:
    """How far a host's word was found to be right, as a whole.

    Args:
        name: The host.
        words: Counts by the kind of word: `recrawl.detect.reliability` says what they count.
        masks: What is known of the bits of all its pages that differ by themselves, as text.
    """

    name: str
    words: Mapping[str, Sequence[float]]
    masks: str = ""


@dataclass(frozen=True, slots=True)
class RobotsRead:
    """A host's robots.txt.

    Args:
        host: The host.
        at_seconds: When it was asked.
        http: Status code, None where there was no answer.
        body: What it said, None where it said nothing.
    """

    host: str
    at_seconds: float
    http: int | None = None
    body: bytes | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Checkpoint:
    """The learned state of a crawl, in place of the checkpoint before.

    Args:
        parts: Arrays, or values that JSON can hold, by name. An array must not change before
            it is written.
        visit: Number of the last visit that they take into account; None for the last one
            written before them.
    """

    parts: Mapping[str, Any]
    visit: int | None = None


@dataclass(frozen=True, slots=True)
class Prune:
    """The moment to let old versions of all pages go, as the store's retention says.

    Args:
        now_seconds: What time it is.
    """

    now_seconds: float


Entry: TypeAlias = (
    VisitMade
    | PagesFound
    | PagesChanged
    | HostSeen
    | HostBelieved
    | RobotsRead
    | Checkpoint
    | Prune
    | ListingSynced
)


@dataclass(frozen=True, slots=True)
class Found:
    """What became of the addresses of a `PagesFound`.

    Args:
        pages: Number of each page, in the order of the addresses.
        known: How many pages there were before: numbers from this on are new.

    Examples:
        >>> Found(pages=[0, 3, 4], known=3).new
        [3, 4]
    """

    pages: Sequence[int]
    known: int

    @property
    def new(self) -> list[int]:
        """Numbers of the pages nobody knew, each once, rising."""
        return sorted({page for page in self.pages if page >= self.known})


# Number of the visit or the host, pages found, versions dropped, or nothing to tell.
Receipt: TypeAlias = int | Found | None
