"""The protocols of a store: what everybody may read, and what one process writes.

A backend (SQLite, PostgreSQL) implements both; `recrawl.store` opens one by its address.
`tests/laws/test_stores.py` states what all of them obey:

- Pages and hosts are numbered from 0 in the order in which they were found. No number is skipped,
  none is ever given twice.
- Visits are numbered from 1 in the order in which they were written. The number of the last visit
  that somebody has read is the position from which to go on: `after=0` means from the beginning.
- A call of `write` takes effect as a whole or not at all. What has a receipt is read back by every
  reader from then on, and after a crash.
- What one method returns is what the store held at one instant.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from types import TracebackType

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.columns import OutcomeColumns, PageColumns, SampledVisits, VisitColumns
    from recrawl.entries.entries import Copy, Entry, Receipt
    from recrawl.entries.listings import ListingHistory, StoredObject, Sync
    from recrawl.entries.records import Host, PageCount, SavedCheckpoint, Version

VISITS_AT_A_TIME = 1 << 17  # rows of a batch, unless a reader asks for fewer


class ReadStore(Protocol):
    """A store open for reading, whoever writes meanwhile; used by one thread at a time."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""
        ...

    def close(self) -> None:
        """Let go of the store. Idempotent."""
        ...

    def __enter__(self) -> Self:
        """Use the store as a context that closes it."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        ...

    # Pages.

    def page_count(self) -> int:
        """How many pages there are: numbers run from 0 to before this."""
        ...

    def pages(self) -> PageColumns:
        """All pages."""
        ...

    def addresses(self, pages: Sequence[int]) -> list[str]:
        """Addresses of some pages, in the order asked.

        Raises:
            InvalidParameter: One of the numbers is not that of a page.
        """
        ...

    def all_addresses(self, first: int = 0) -> Iterator[list[str]]:
        """Addresses of all pages from number `first` on, many at a time."""
        ...

    def find_pages(self, addresses: Sequence[str]) -> list[int | None]:
        """Numbers of the pages with these addresses; None where there is no such page."""
        ...

    def depth(self, page: int) -> int:
        """How many links away a page is from what a sitemap, a feed or a person named."""
        ...

    def rules(self) -> Ints:
        """Number of each page's rule."""
        ...

    def rules_and_hosts(self, pages: Ints) -> tuple[Ints, Ints]:
        """Number of the rule and of the host of each of some pages."""
        ...

    def page_counts(self, now_seconds: float) -> list[PageCount]:
        """Pages counted by rule and status."""
        ...

    def pages_with_copy(self, rules: Sequence[int]) -> tuple[Ints, Ints]:
        """Pages of some rules that have a copy, rising, and the rule of each."""
        ...

    def pages_without_content(self) -> Ints:
        """Pages that are gone, refused or moved, rising: no copy of them is fresh."""
        ...

    def appointed_pages(self) -> Ints:
        """Pages that have an appointment, rising."""
        ...

    # Copies.

    def copies(self, pages: Sequence[int]) -> list[Copy | None]:
        """What is known of the copies of some pages; None where there is none."""
        ...

    def masks(self, pages: Sequence[int]) -> list[str]:
        """Masks of some pages, as text; empty where there are none."""
        ...

    def versions(self, page: int) -> list[Version]:
        """Versions of a page that are kept, oldest first."""
        ...

    def newest_body(self, page: int) -> bytes | None:
        """Body of the newest version of a page; None where none is kept."""
        ...

    def body(self, digest: bytes) -> bytes | None:
        """A body by its digest; None where it is not kept."""
        ...

    # Visits.

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        ...

    def visits(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[VisitColumns]:
        """Visits with numbers above `after` up to now, at most `rows` at a time."""
        ...

    def outcomes(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[OutcomeColumns]:
        """What visits with numbers above `after` found, up to now: half the work of `visits`."""
        ...

    def history(self, page: int, most: int | None = None) -> VisitColumns:
        """Visits of one page, oldest first; only the newest `most` where that is given."""
        ...

    def first_visit_since(self, seconds: float) -> int:
        """Number of the first visit at or after an instant; one more than the last if none is."""
        ...

    def latest_visits(self, pages: Ints) -> Floats:
        """When each of some different pages was last visited, in epoch seconds; nan if never."""
        ...

    def recent_visit_counts(self, pages: Ints, since_seconds: float) -> Ints:
        """How many visits were made to each of some different pages at or after an instant."""
        ...

    def sampled_visits(self, visits: Ints, enough: int) -> SampledVisits:
        """Visits by number, and how many before each compared its page, up to `enough`."""
        ...

    def daily_visits(self, first_day: int = 0) -> list[tuple[int, int, int]]:
        """Visits by day and outcome: (days since 1970, `VisitOutcome`, visits), rising."""
        ...

    # Hosts.

    def hosts(self) -> Iterator[Host]:
        """All hosts in the order of their numbers."""
        ...

    def host(self, name: str) -> Host | None:
        """A host by its name; None where it is unknown."""
        ...

    def host_delays(self, hosts: Ints) -> tuple[Floats, Floats]:
        """Days between requests and seconds until an answer of some hosts; 0 where unknown."""
        ...

    def host_masks(self) -> dict[str, str]:
        """Masks of all pages of a host, as text, by the host's name."""
        ...

    def signal_records(self) -> list[tuple[str, str, tuple[float, ...]]]:
        """Host, kind of signal, and how often it was right and wrong."""
        ...

    def signal_records_of(self, kind: str) -> dict[int, tuple[float, ...]]:
        """How often one kind of signal was right and wrong, by the number of the host."""
        ...

    # What a crawl has learned.

    def checkpoint(self, names: Collection[str] | None = None) -> SavedCheckpoint | None:
        """The last checkpoint, or some of its parts; None before the first."""
        ...

    # Listings.

    def listing_names(self) -> list[str]:
        """Names of all listings, in the order of their first syncs."""
        ...

    def syncs(self, listing: str) -> list[Sync]:
        """Every sync of a listing, in order; none where it is unknown."""
        ...

    def listed_objects(self, listing: str) -> dict[str, dict[str, str]]:
        """Attributes of the objects that are believed to be listed, by key."""
        ...

    def objects(self, listing: str) -> list[StoredObject]:
        """Every object of a listing, in the order in which they were first seen."""
        ...

    def listing_history(self, listing: str) -> ListingHistory:
        """All that is known of a listing."""
        ...


class WriteStore(Protocol):
    """A store held for writing by one process; used by one thread at a time."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def page_count(self) -> int:
        """How many pages there are: numbers run from 0 to before this."""
        ...

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        ...

    def write(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Write all entries or none, and return a receipt for each.

        Raises:
            InvalidInput: An entry cannot be written, whatever the state of the store.
            StoreError: The store cannot be written to.
        """
        ...

    def check(self) -> list[str]:
        """What is wrong with the store, read as a whole; empty for nothing."""
        ...

    def close(self) -> None:
        """Let go of the store, with everything tidied up. Idempotent."""
        ...

    def abandon(self) -> None:
        """Let go of the store at once; what was written stays written. Idempotent."""
        ...

    def __enter__(self) -> Self:
        """Use the store as a context that closes it."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it, or abandon it where it has failed."""
        ...
