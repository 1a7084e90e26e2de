"""The protocols of a store: `ReadStore` for any number of readers, `WriteStore` for one writer.

A backend (SQLite, PostgreSQL) implements both; `recrawl.store` opens one by its address.
`tests/laws/test_stores.py` states what all of them obey:

- Pages and hosts are numbered from 0 in the order in which they were found. No number is skipped,
  none is ever given twice.
- Visits are numbered from 1 in the order in which they were written. The number of the last visit
  read is the position to resume from: `after=0` means from the beginning.
- A call of `write` takes effect as a whole or not at all. Every reader sees an entry that has a
  receipt from then on, also after a crash.
- Each method reads one snapshot of the store.
- A page that was removed or erased has no rule and stays so, whoever finds it again, until it is
  found with `again`; a visit to it is refused. Of an erased page nothing comes back but its
  number, its host, its visits and its tombstone, and of its address only a hash is kept.
- No version is kept of a page whose copy asks for `NOARCHIVE`.
- Events of the change feed are numbered from 1 in the order in which they are committed, together
  with the entry that has them. Whoever has read up to a number finds all later events above it, the
  same ones until they are pruned; no number is given twice, also after all events were pruned.
- A destination begins after the newest event that there was when it was named, and is from then on
  wherever it was last moved to. An event that was given up stays so until it is redelivered, or
  pruned.
- The manifest of a copy is kept while an event that tells of the copy, or of the one after it, is,
  and while no later copy has come. None is kept of a page that is erased, or asks for `NOARCHIVE`.
- A page is listed, and so in a snapshot, from an event that begins it to one that ends it.
- A detail page has the rule that it was found with as long as an object that has it is listed; it
  loses that rule, if it is the listing's own, in the transaction of the sync that missed the last.
  A visit that comes later leaves nothing behind but its row.
- Events of listings are numbered from 1 without a gap, in the same way, and none is ever pruned.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.columns import OutcomeColumns, PageColumns, SampledVisits, VisitColumns
    from recrawl.entries.entries import Copy, Entry, Receipt, RobotsRead
    from recrawl.entries.filtering import DuplicateOf, RefusedAddresses, ShapeJudged
    from recrawl.entries.freshness import FreshnessNoted
    from recrawl.entries.listings import ListingHistory, ObjectEvent, StoredObject, Sync
    from recrawl.entries.manifests import Manifest
    from recrawl.entries.pushes import Subscription
    from recrawl.entries.records import (
        Checked,
        Destination,
        DiskUsage,
        FeedEvent,
        FeedRange,
        Host,
        PageCount,
        SavedCheckpoint,
        SavedSlots,
        Tombstone,
        Undelivered,
        Version,
        VersionLines,
    )
    from recrawl.entries.reports import AnsweredReport
    from recrawl.entries.sources import Source

VISITS_AT_A_TIME = 1 << 17  # rows of a batch, unless a reader asks for fewer
EVENTS_AT_A_TIME = 1000
ERASED = "erased:"  # begins what an erased page has for an address


class ReadStore(Protocol):
    """A store open for reading, also while another process writes; used by one thread at a time."""

    @property
    def name(self) -> str:
        """Name used in messages."""

    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""

    def close(self) -> None:
        """Close the store. Idempotent."""

    def __enter__(self) -> Self:
        """Use the store as a context that closes it."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        """Close it."""

    # Pages.

    def page_count(self) -> int:
        """How many pages there are: numbers run from 0 to before this."""

    def pages(self) -> PageColumns:
        """All pages."""

    def addresses(self, pages: Sequence[int]) -> list[str]:
        """Addresses of pages, in the given order.

        Raises:
            InvalidParameter: One of the numbers is not that of a page.
        """

    def all_addresses(self, first: int = 0) -> Iterator[list[str]]:
        """Addresses of all pages from number `first` on, many at a time."""

    def find_pages(self, addresses: Sequence[str]) -> list[int | None]:
        """Numbers of the pages with these addresses, also if erased; None where there is none."""

    def depth(self, page: int) -> int:
        """Links between a page and the nearest address of a sitemap, a feed or the settings."""

    def rules(self) -> Ints:
        """Number of the rule of every page."""

    def rules_and_hosts(self, pages: Ints) -> tuple[Ints, Ints]:
        """Numbers of the rules and of the hosts of pages."""

    def page_counts(self, now_seconds: float) -> list[PageCount]:
        """Pages counted by rule and status."""

    def pages_with_copy(self, rules: Sequence[int]) -> tuple[Ints, Ints]:
        """Pages of some rules that have a copy, ascending, and the rule of each."""

    def pages_without_content(self) -> Ints:
        """Pages that are neither new nor copied, or have no rule, ascending: none is kept fresh."""

    def appointed_pages(self) -> Ints:
        """Pages with a scheduled retry or recheck, ascending."""

    def pages_holding(self, words: Sequence[str]) -> Ints:
        """Pages whose addresses hold all of some words, whatever the case of A to Z, ascending."""

    def pages_by_address(self, most: int, *, last_first: bool) -> Ints:
        """The first so many pages in the order of their addresses, or in the reverse order."""

    def tombstones(self, after: int = 0) -> list[Tombstone]:
        """Pages that were taken out after a visit, in the order in which that was done."""

    def waiting_pages(self, host: int) -> Sequence[tuple[int, str]]:
        """Pages of a host that links led to and that were not visited yet, with addresses."""

    def duplicates(self) -> dict[int, DuplicateOf]:
        """Which page each duplicate is a copy of, by its number."""

    def duplicates_of(self, page: int, most: int) -> list[int]:
        """Pages that are copies of a page, at most so many, ascending."""

    def signatures(self) -> tuple[Ints, Ints]:
        """Pages that have a copy, ascending, and the signature of its text, or else its bytes."""

    def refused_addresses(self) -> list[tuple[str, RefusedAddresses]]:
        """Addresses that were found and not taken in, with their hosts, most first."""

    def address_shapes(self) -> list[ShapeJudged]:
        """What is known of all shapes of addresses."""

    # Copies.

    def copies(self, pages: Sequence[int]) -> list[Copy | None]:
        """Copies of pages; None for a page without one."""

    def robots_tags(self) -> tuple[Ints, Ints]:
        """Pages whose copies ask something of crawlers, ascending, and `RobotsTag` of each."""

    def hints(self, after: int, most: int) -> list[tuple[int, float, str]]:
        """Hints with numbers above `after`: number, epoch seconds, address of each, in order."""

    def handed_details(self, after: int, most: int) -> list[tuple[int, str, str]]:
        """Detail pages handed over with numbers above `after`: number, listing, address of each."""

    def shells(self) -> Ints:
        """Pages whose copies are empty JavaScript shells, ascending."""

    def moves(self, pages: Sequence[int]) -> list[str]:
        """Address that each of some pages has moved to; empty where none is known."""

    def masks(self, pages: Sequence[int]) -> list[str]:
        """Masks of some pages, as text; empty where there are none."""

    def versions(self, page: int) -> list[Version]:
        """Versions of a page that are kept, oldest first."""

    def newest_body(self, page: int) -> bytes | None:
        """Body of the newest version of a page; None where none is kept."""

    def newest_lines(self, page: int) -> VersionLines | None:
        """Lines of the newest version of a page; None where none are kept."""

    def body(self, digest: bytes) -> bytes | None:
        """A body by its digest; None where it is not kept."""

    # Visits.

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""

    def newest_instant(self) -> float:
        """Seconds after 1970 of the latest visit, sync or robots.txt; 0 before the first."""

    def visits(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[VisitColumns]:
        """Visits with numbers above `after` up to now, at most `rows` at a time."""

    def outcomes(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[OutcomeColumns]:
        """Outcomes of visits with numbers above `after` up to now: half the work of `visits`."""

    def history(self, page: int, most: int | None = None) -> VisitColumns:
        """Visits of one page, oldest first; only the newest `most` where that is given."""

    def first_visit_since(self, seconds: float) -> int:
        """Number of the first visit at or after an instant; one more than the last if none is."""

    def latest_visits(self, pages: Ints) -> Floats:
        """Last visit of each of some distinct pages, in epoch seconds; nan if never."""

    def latest_responses(self, pages: Ints) -> tuple[Ints, Ints, Floats]:
        """Outcome, status code and epoch seconds of the last visit to each of distinct pages.

        Of a page that was never visited -1, 0 and nan; a visit without a response has the code 0.
        """

    def failing_pages(self, most: int) -> Ints:
        """Pages of a rule whose last visit failed, ascending, but no more than so many."""

    def recent_visit_counts(self, pages: Ints, since_seconds: float) -> Ints:
        """Number of visits to each of some distinct pages at or after an instant."""

    def sampled_visits(self, visits: Ints, enough: int) -> SampledVisits:
        """Visits by number, and how many before each compared its page, up to `enough`."""

    def daily_visits(self, first_day: int = 0) -> list[tuple[int, int, int]]:
        """Visits by day and outcome: (days since 1970, `VisitOutcome`, visits), ascending."""

    # The change feed.

    def feed_range(self) -> FeedRange:
        """Name of the change feed, and which of its events are kept."""

    def events(self, after: int = 0, rows: int = EVENTS_AT_A_TIME) -> Iterator[list[FeedEvent]]:
        """Events with numbers above `after`, at most `rows` at a time, to the end of the feed."""

    def latest_events(self, after: int = 0) -> tuple[Ints, Ints]:
        """Newest event above `after` of each page that has one, ascending, and its first."""

    def first_event_since(self, seconds: float) -> int:
        """Number of the first event seen at or after an instant; one more than all if none is."""

    def count_changes(self, since_seconds: float) -> tuple[int, float | None]:
        """How many copies turned out to be outdated since an instant, and since when is counted.

        That is the instant of the first event that is kept, in seconds after 1970; None if there
        is none.
        """

    def snapshot(self, rows: int = EVENTS_AT_A_TIME) -> Iterator[list[FeedEvent]]:
        """Copies that readers of the feed have, as events, at most `rows` in one short read.

        What is written meanwhile may be in it or not: a reader that asks for `feed_range` first
        and for all events after it has no hole.
        """

    def manifest(self, name: int | None) -> Manifest | None:
        """A manifest by the name that events have for it; None where it is not kept."""

    def destinations(self) -> list[Destination]:
        """All destinations of the feed, in the order in which they were added."""

    def undelivered(self) -> list[Undelivered]:
        """Events that were given up, by their numbers."""

    def data_version(self) -> int:
        """Number that differs from the last one if the store was written to meanwhile."""

    # Hosts.

    def hosts(self) -> Iterator[Host]:
        """All hosts in the order of their numbers."""

    def host(self, name: str) -> Host | None:
        """A host by its name; None where it is unknown."""

    def robots(self, origin: str) -> RobotsRead | None:
        """The robots.txt of an origin; None where it was never asked for."""

    def robots_read(self) -> list[RobotsRead]:
        """Every robots.txt, without its body."""

    def discovered(self) -> dict[str, float]:
        """Seconds after 1970 at which new pages of sites were last looked for, by address."""

    def sources(self) -> list[Source]:
        """All sources of new pages, in the order of their addresses."""

    def subscriptions(self) -> list[Subscription]:
        """All subscriptions to feeds, in the order of their addresses."""

    def host_delays(self, hosts: Ints) -> tuple[Floats, Floats]:
        """Politeness delays in days and response times in seconds of hosts; 0 if unknown."""

    def host_masks(self) -> dict[str, str]:
        """Masks of all pages of a host, as text, by the host's name."""

    def signal_records(self) -> list[tuple[str, str, tuple[float, ...]]]:
        """All signal records: host, kind of signal, counts."""

    def signal_records_of(self, kind: str) -> dict[int, tuple[float, ...]]:
        """Counts of one kind of signal, by the number of the host."""

    # What a crawl has learned.

    def freshness_noted(self, since_seconds: float = 0.0) -> list[FreshnessNoted]:
        """Expected freshness hour by hour since an instant, oldest first."""

    def settings_used(self) -> str:
        """Plain settings that the store is used with, as JSON; empty where a file has them."""

    def report(self, key: str) -> AnsweredReport | None:
        """A batch of visits that was reported under a key, within a day; None if none was."""

    def saved_slots(self) -> SavedSlots | None:
        """What workers have left of their slots; None where there are none."""

    def slot(self, scope: Any) -> tuple[ReadStore, Ints]:  # noqa: ANN401 - rooms above know no slots
        """A slot as a store of its own, over this reader, and the numbers of its pages here.

        Args:
            scope: The slot: a `recrawl.settings.slots.SlotScope`.
        """

    def checkpoint(self, names: Collection[str] | None = None) -> SavedCheckpoint | None:
        """The last checkpoint, or some of its parts; None before the first, or if it is damaged."""

    @property
    def remarks(self) -> Sequence[str]:
        """Damage that was found and made good, one sentence each."""

    def remark_damage(self, found: str) -> None:
        """Note that the checkpoint is damaged, and that all visits are replayed for that."""

    # The store itself.

    def disk_usage(self) -> DiskUsage:
        """What the store takes on disk."""

    def check(self, *, quick: bool = False) -> Iterator[Checked]:
        """Check checksums, and that rows fit each other, part by part.

        Args:
            quick: Whether to leave out what reads every byte.
        """

    # Listings.

    def listing_names(self) -> list[str]:
        """Names of all listings, in the order of their first syncs."""

    def syncs(self, listing: str) -> list[Sync]:
        """Every sync of a listing, in order; none where it is unknown."""

    def listed_objects(self, listing: str) -> dict[str, dict[str, str]]:
        """Attributes of the currently listed objects, by key."""

    def objects(self, listing: str) -> list[StoredObject]:
        """Every object of a listing, in the order in which they were first seen."""

    def detail_addresses(self, listing: str) -> dict[str, str | None]:
        """Addresses of detail pages of the currently listed objects, by key; None if erased."""

    def detail_pages(self, listing: str) -> Ints:
        """Detail pages of the currently listed objects, ascending."""

    def listings_of_page(self, page: int) -> list[str]:
        """Names of the listings that list an object whose detail page this is."""

    def listing_history(self, listing: str) -> ListingHistory:
        """Objects, syncs and events of a listing."""

    def object_feed_range(self) -> FeedRange:
        """Name of the feed of all listings, and which of its events are kept."""

    def object_events(
        self, after: int = 0, rows: int = EVENTS_AT_A_TIME
    ) -> Iterator[list[ObjectEvent]]:
        """Events of all listings with numbers above `after`, at most `rows` at a time."""

    def first_object_event_since(self, seconds: float) -> int:
        """Number of the first event of a sync at or after an instant; one more than all if none."""

    def object_snapshot(self, rows: int = EVENTS_AT_A_TIME) -> Iterator[list[ObjectEvent]]:
        """Objects that are listed now, as events, at most `rows` in one short read.

        What is written meanwhile may be in it or not, as in `snapshot`.
        """


class WriteStore(Protocol):
    """A store held for writing by one process; used by one thread at a time."""

    @property
    def name(self) -> str:
        """Name used in messages."""

    def page_count(self) -> int:
        """How many pages there are: numbers run from 0 to before this."""

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""

    def write(self, entries: Sequence[Entry]) -> list[Receipt]:
        """Write all entries or none, and return a receipt for each.

        Raises:
            InvalidInput: An entry cannot be written, whatever the state of the store.
            StoreError: The store cannot be written to.
        """

    def date_back(self, now_seconds: float) -> int:
        """Date back to now what a clock ahead of time has written; returns how many visits.

        The checkpoint goes with them: what was learned is learned again.
        """

    def wipe(self) -> bool:
        """Leave no byte of what was erased in the store's files; False where a reader prevents it.

        Nothing is done where nothing was erased since the last time.
        """

    def check(self) -> list[str]:
        """Problems found by an integrity check; empty if there are none."""

    def compact(self) -> None:
        """Give unused room back to the system; needs room for two copies meanwhile."""

    def close(self) -> None:
        """Flush and close the store. Idempotent."""

    def abandon(self) -> None:
        """Close the store at once; committed entries stay committed. Idempotent."""

    def __enter__(self) -> Self:
        """Use the store as a context that closes it."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object, /) -> None:
        """Close it, or abandon it after a failure."""
