"""The reading side of a store: any number of readers, also while a crawl writes.

Long reads are split into short ones, so that a reader never holds up a database that tidies itself
up. Visits are append-only, so nothing is missed between two reads.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from recrawl.entries.entries import Copy
from recrawl.entries.store import EVENTS_AT_A_TIME, VISITS_AT_A_TIME
from recrawl.errors import InvalidParameter, StoreCorrupt
from recrawl.store.rows import body_lines, checking, checkpoints, meta, object_feed
from recrawl.store.rows import deliveries as delivery_rows
from recrawl.store.rows import details as detail_rows
from recrawl.store.rows import feed as feed_rows
from recrawl.store.rows import filtering as filter_rows
from recrawl.store.rows import freshness as freshness_rows
from recrawl.store.rows import hints as hint_rows
from recrawl.store.rows import hosts as host_rows
from recrawl.store.rows import latest_visits as visit_rows
from recrawl.store.rows import listings as listing_rows
from recrawl.store.rows import manifests as manifest_rows
from recrawl.store.rows import pages as page_rows
from recrawl.store.rows import reports as report_rows
from recrawl.store.rows import sources as source_rows
from recrawl.store.rows import subscriptions as subscription_rows
from recrawl.store.rows import versions as version_rows
from recrawl.store.rows.clock_ahead import newest_instant
from recrawl.store.rows.columns import (
    joined,
    largest_id,
    outcome_columns,
    page_columns,
    visit_columns,
    visits_after,
)
from recrawl.store.rows.erasure import tombstones
from recrawl.store.rows.values import FIRST_INSTANT, LAST_INSTANT, exactly, instant, maybe, number
from recrawl.visits.status import RobotsTag, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from recrawl.arrays.types import Ints
    from recrawl.entries.columns import OutcomeColumns, PageColumns, VisitColumns
    from recrawl.entries.listings import ObjectEvent
    from recrawl.entries.records import (
        Checked,
        DiskUsage,
        FeedEvent,
        Host,
        SavedCheckpoint,
        SavedSlots,
    )
    from recrawl.entries.store import ReadStore
    from recrawl.settings.slots import SlotScope
    from recrawl.store.rows.database import Database

_PAGES_AT_A_TIME = 1 << 20
_ADDRESSES_AT_A_TIME = 1 << 17
_HOSTS_AT_A_TIME = 1000
_ALL_TAGS = sum(RobotsTag)
_TAGS = tuple(map(RobotsTag, range(_ALL_TAGS + 1)))  # a look at a row finds one sooner than a call
_ALL_BITS = (1 << 64) - 1  # whole numbers of databases have a sign
_ALL_VISITS = 1 << 62
_CALENDAR_SECONDS = FIRST_INSTANT // 1000, LAST_INSTANT // 1000
_LAST_DAY = 2_932_896  # of the year 9999
_CHAIN = """
    with recursive chain(id, page, before, at, outcome, http, age_seconds, size,
                         took_milliseconds, share, audit, rank) as (
        select *, 1 from visits where id = ?
        union all
        select visits.*, rank + 1 from visits join chain on visits.id = chain.before
        where rank < ? and chain.before < chain.id -- so that a damaged chain cannot loop
    )
    select * from chain order by id
"""

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


def _query(
    read: Callable[Concatenate[Database, _P], _Result],
) -> Callable[Concatenate[RowReadStore, _P], _Result]:
    """Method that calls a function with the store's connection, in one read transaction."""

    @wraps(read)
    def method(self: RowReadStore, /, *args: _P.args, **kwargs: _P.kwargs) -> _Result:
        with self.at_one_instant() as connection:
            return read(connection, *args, **kwargs)

    return method


def _statement(
    read: Callable[Concatenate[Database, _P], _Result],
) -> Callable[Concatenate[RowReadStore, _P], _Result]:
    """The same of a function of one statement, which sees one state of the store by itself.

    Where the store is on a server, a transaction takes three times as long.
    """

    @wraps(read)
    def method(self: RowReadStore, /, *args: _P.args, **kwargs: _P.kwargs) -> _Result:
        with self._reading() as connection:
            return read(connection, *args, **kwargs)

    return method


class RowReadStore(ABC):
    """A store open for reading, whatever keeps it.

    See `recrawl.entries.store.ReadStore` for its methods. A backend opens and closes the database.

    Args:
        name: Name used in messages.
        remarks: Where to note damage that is made good.
    """

    _seed: int

    def __init__(self, name: str, remarks: list[str] | None = None) -> None:
        self._name = name
        self._remarks: list[str] = [] if remarks is None else remarks

    @property
    def name(self) -> str:
        """Name used in messages."""
        return self._name

    @abstractmethod
    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""

    @abstractmethod
    def close(self) -> None:
        """Close the store. Idempotent."""

    @abstractmethod
    def data_version(self) -> int:
        """Number that differs once another process has written to the store."""

    @abstractmethod
    def disk_usage(self) -> DiskUsage:
        """What the store takes on disk."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[Database]:
        """The database, for a single statement."""

    @abstractmethod
    def at_one_instant(self) -> AbstractContextManager[Database]:
        """The database, for statements that must see the same state."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Pages.

    def page_count(self) -> int:
        """How many pages there are."""
        return self._largest("pages")

    def pages(self) -> PageColumns:
        """All pages."""
        with self.at_one_instant() as connection:
            starts = range(0, max(self.page_count(), 1), _PAGES_AT_A_TIME)
            return joined([page_columns(connection, start, _PAGES_AT_A_TIME) for start in starts])

    def addresses(self, pages: Sequence[int]) -> list[str]:
        """Addresses of pages, in the given order."""
        query = "select id - 1, address from pages where id"
        with self._reading():
            rows = self._of_pages(query, pages)
            found = {page: exactly(str, address) for page, address in rows}
        try:
            return [found[page] for page in pages]
        except KeyError:
            raise InvalidParameter(f"{self.name}: some page numbers do not exist") from None

    def all_addresses(self, first: int = 0) -> Iterator[list[str]]:
        """Addresses of all pages from number `first` on, many at a time."""
        query = "select address from pages where id > ? and id <= ? order by id"
        for start in range(first, self.page_count(), _ADDRESSES_AT_A_TIME):
            with self._reading() as connection:
                rows = connection.execute(query, (start, start + _ADDRESSES_AT_A_TIME))
                some = [exactly(str, address) for (address,) in rows]
            yield some

    def find_pages(self, addresses: Sequence[str]) -> list[int | None]:
        """Numbers of the pages with these addresses; None where there is no such page."""
        with self._reading() as connection:
            found = page_rows.find_pages(connection, addresses, self._seed)
        return [found.get(address) for address in addresses]

    def depth(self, page: int) -> int:
        """Links between a page and the nearest address of a sitemap, a feed or the settings."""
        with self._reading() as connection:
            depth = connection.execute("select depth from pages where id = ? + 1", (page,)).get
            return number(depth)

    rules = _query(page_rows.rules_of_pages)
    rules_and_hosts = _query(page_rows.rules_and_hosts)
    page_counts = _query(page_rows.page_counts)
    pages_with_copy = _query(page_rows.pages_with_copy)
    pages_without_content = _query(page_rows.pages_without_content)
    appointed_pages = _query(page_rows.appointed_pages)
    pages_holding = _query(page_rows.pages_holding)
    pages_by_address = _query(page_rows.pages_by_address)
    tombstones = _query(tombstones)
    duplicates = _query(filter_rows.duplicates)
    duplicates_of = _statement(filter_rows.duplicates_of)
    signatures = _query(filter_rows.signatures)
    waiting_pages = _statement(filter_rows.waiting_pages)
    refused_addresses = _query(filter_rows.refused_addresses)
    address_shapes = _query(filter_rows.address_shapes)

    # Copies.

    def copies(self, pages: Sequence[int]) -> list[Copy | None]:
        """Copies of pages; None for a page without one."""
        query = """
            select page - 1, bytes_signature, text_signature, etag, modified_seconds, simhash,
                robots, unavailable_after, shell
            from copies where page
        """
        with self._reading():
            found = {page: _copy(row) for page, *row in self._of_pages(query, pages)}
        return [found.get(page) for page in pages]

    def masks(self, pages: Sequence[int]) -> list[str]:
        """Masks of some pages, as text; empty where there are none."""
        query = "select page - 1, data from masks where page"
        with self._reading():
            found = {page: exactly(str, data) for page, data in self._of_pages(query, pages)}
        return [found.get(page, "") for page in pages]

    hints = _statement(hint_rows.hints_after)
    handed_details = _statement(detail_rows.handed_details)
    robots_tags = _query(page_rows.robots_tags)
    shells = _query(page_rows.shells)
    moves = _statement(page_rows.moves)
    versions = _statement(version_rows.versions_of)
    newest_body = _statement(version_rows.newest_body)
    newest_lines = _statement(body_lines.newest_lines)
    body = _statement(version_rows.body_of)

    # Visits.

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        return self._largest("visits")

    def newest_instant(self) -> float:
        """Seconds after 1970 of the latest visit, sync or robots.txt; 0 before the first."""
        with self.at_one_instant() as connection:
            return newest_instant(connection) / 1000

    def visits(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[VisitColumns]:
        """Visits with numbers above `after` up to now, at most `rows` at a time."""
        for start in range(after, self.last_visit(), rows):
            with self._reading() as connection:
                batch = visits_after(connection, start, rows)
            yield batch

    def outcomes(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[OutcomeColumns]:
        """What visits with numbers above `after` found, up to now: half the work of `visits`."""
        for start in range(after, self.last_visit(), rows):
            with self._reading() as connection:
                batch = outcome_columns(connection, start, rows)
            yield batch

    def history(self, page: int, most: int | None = None) -> VisitColumns:
        """Visits of one page, oldest first; only the newest `most` where that is given."""
        with self.at_one_instant() as connection:
            newest = visit_rows.latest_visit(connection, page)
            found = visit_columns(
                connection, _CHAIN, (newest, _ALL_VISITS if most is None else most)
            )
            if (found.page != page).any() or bool(newest) != bool(len(found.page)):
                raise ValueError("the visits of a page lead to those of another")
            return found

    def first_visit_since(self, seconds: float) -> int:
        """Number of the first visit at or after an instant; one more than the last if none is."""
        query = "select at from visits where id = ?"
        with self.at_one_instant() as connection:
            low, high = 1, self.last_visit() + 1
            while low < high:  # visits are written in the order of time, but for a moment or two
                middle = (low + high) // 2
                if instant(connection.execute(query, (middle,)).get) < seconds:
                    low = middle + 1
                else:
                    high = middle
        return low

    latest_visits = _query(visit_rows.latest_visit_times)
    latest_responses = _query(visit_rows.latest_responses)
    failing_pages = _query(page_rows.failing_pages)
    recent_visit_counts = _query(visit_rows.visit_counts)
    sampled_visits = _query(visit_rows.sampled_visits)

    def daily_visits(self, first_day: int = 0) -> list[tuple[int, int, int]]:
        """Visits by day and outcome: (days since 1970, `VisitOutcome`, visits), rising."""
        query = "select day, outcome, visits from days where day >= ? order by day, outcome"
        with self._reading() as connection:
            return [
                (number(day, most=_LAST_DAY), int(VisitOutcome(outcome)), number(visits))
                for day, outcome, visits in connection.execute(query, (first_day,))
            ]

    # The change feed.

    feed_range = _query(feed_rows.feed_range)
    latest_events = _query(feed_rows.latest_events)
    manifest = _query(manifest_rows.manifest_named)
    first_event_since = _query(feed_rows.first_since)
    count_changes = _query(feed_rows.count_since)
    destinations = _query(delivery_rows.destinations)
    undelivered = _query(delivery_rows.undelivered)

    def events(self, after: int = 0, rows: int = EVENTS_AT_A_TIME) -> Iterator[list[FeedEvent]]:
        """Events of the change feed with numbers above `after`, at most `rows` at a time."""
        while True:
            with self._reading() as connection:
                batch = feed_rows.events_after(connection, after, rows)
            if not batch:
                return
            yield batch
            after = batch[-1].number

    def snapshot(self, rows: int = EVENTS_AT_A_TIME) -> Iterator[list[FeedEvent]]:
        """Copies that readers of the feed have, by page, at most `rows` at a time."""
        page = -1
        while True:
            with self._reading() as connection:
                batch = feed_rows.listed_after(connection, page, rows)
            if not batch:
                return
            yield batch
            page = batch[-1].page

    # Hosts.

    def hosts(self) -> Iterator[Host]:
        """All hosts in the order of their numbers."""
        with self._reading() as connection:
            count = host_rows.host_count(connection)
        for start in range(0, count, _HOSTS_AT_A_TIME):
            with self._reading() as connection:
                some = host_rows.some_hosts(connection, start, _HOSTS_AT_A_TIME)
            yield from some

    host = _statement(host_rows.host_named)
    robots = _statement(host_rows.robots_of_origin)
    robots_read = _query(host_rows.robots_read)
    discovered = _query(host_rows.discovered)
    sources = _query(source_rows.sources)
    subscriptions = _query(subscription_rows.subscriptions)
    report = _query(report_rows.report_of)
    host_delays = _query(host_rows.host_delays)
    host_masks = _query(host_rows.masks_of_hosts)
    signal_records = _query(host_rows.signal_records)
    signal_records_of = _query(host_rows.signal_records_of)

    # What a crawl has learned.

    freshness_noted = _query(freshness_rows.freshness_noted)

    def settings_used(self) -> str:
        """Plain settings that the store is used with, as JSON; empty where a file has them."""
        with self._reading() as connection:
            return meta.get_text(connection, "settings")

    def checkpoint(
        self, names: Collection[str] | None = None, owner: str = ""
    ) -> SavedCheckpoint | None:
        """The last checkpoint, or some of its parts; None before the first, or if it is damaged."""
        try:
            with self.at_one_instant() as connection:
                return checkpoints.load(connection, names, owner)
        except StoreCorrupt as error:
            self.remark_damage(str(error))
            return None

    def saved_slots(self) -> SavedSlots | None:
        """Nothing: one process crawls the whole store."""
        return None

    def slot(self, scope: SlotScope) -> tuple[ReadStore, Ints]:  # noqa: ARG002 - as of the protocol
        """Nothing that this store has."""
        raise InvalidParameter(f"{self.name} has no slots")

    @property
    def remarks(self) -> Sequence[str]:
        """Damage that was found and made good, one sentence each."""
        return self._remarks

    def remark_damage(self, found: str) -> None:
        """Note that what was learned is damaged, once."""
        said = f"{found}; its visits are replayed instead."
        if said not in self._remarks:
            self._remarks.append(said)

    # The store itself.

    def check(self, *, quick: bool = False) -> Iterator[Checked]:
        """Check checksums, and that rows fit each other, part by part."""
        with self.at_one_instant() as connection:
            yield from checking.check(connection, quick=quick)

    # Listings.

    listing_names = _query(listing_rows.listing_names)
    syncs = _query(listing_rows.syncs_of)
    listed_objects = _query(listing_rows.listed_objects)
    objects = _query(listing_rows.objects_of)
    detail_addresses = _query(listing_rows.detail_addresses)
    detail_pages = _query(listing_rows.detail_pages)
    listings_of_page = _query(listing_rows.listings_of_page)
    listing_history = _query(listing_rows.history_of)
    object_feed_range = _query(object_feed.feed_range)
    first_object_event_since = _query(object_feed.first_since)

    def object_events(
        self, after: int = 0, rows: int = EVENTS_AT_A_TIME
    ) -> Iterator[list[ObjectEvent]]:
        """Events of all listings with numbers above `after`, at most `rows` at a time."""
        while True:
            with self.at_one_instant() as connection:
                batch = object_feed.events_after(connection, after, rows)
            if not batch:
                return
            yield batch
            after = batch[-1].number

    def object_snapshot(self, rows: int = EVENTS_AT_A_TIME) -> Iterator[list[ObjectEvent]]:
        """Objects that are listed now, as events, at most `rows` at a time."""
        last = 0
        while True:
            with self.at_one_instant() as connection:
                batch, last = object_feed.listed_after(connection, last, rows)
            if not batch:
                return
            yield batch

    def _of_pages(self, query: str, numbers: Iterable[int]) -> list[Any]:
        """Rows of a query that ends in the name of a column of ids of pages."""
        with self._reading() as connection:
            return connection.each(query, [int(page) + 1 for page in numbers])

    def _largest(self, table: str) -> int:
        with self._reading() as connection:
            return largest_id(connection, table)


def _header_value(etag: str) -> str | None:
    """A validator to be sent again; None if it would break a header, as no server's does."""
    return None if "\r" in etag or "\n" in etag or "\0" in etag else etag


def _copy(row: Sequence[Any]) -> Copy:
    content, text, etag, modified, bits, robots, unavailable_after, shell = row
    return Copy(
        exactly(bytes, content),
        maybe(bytes, text),
        None if etag is None else _header_value(exactly(str, etag)),
        None if modified is None else number(modified, *_CALENDAR_SECONDS),
        None if bits is None else exactly(int, bits) & _ALL_BITS,
        _TAGS[number(robots, 0, _ALL_TAGS)],
        None if unavailable_after is None else number(unavailable_after, *_CALENDAR_SECONDS),
        bool(number(shell, 0, 1)),
    )
