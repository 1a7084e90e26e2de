"""The reading side of a SQLite store: any number at a time, whoever writes meanwhile.

Long reads are cut into short ones, so that a reader never keeps the writer's log from being
copied into the file. Visits are only ever appended, so nothing is missed between two of them.

Touches: files.
"""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from recrawl.entries.entries import Copy
from recrawl.entries.store import VISITS_AT_A_TIME
from recrawl.errors import InvalidParameter
from recrawl.store.sqlite import checkpoints, listings, lookups, meta, schema, versions
from recrawl.store.sqlite import hosts as host_rows
from recrawl.store.sqlite import pages as page_rows
from recrawl.store.sqlite.columns import joined, outcome_columns, page_columns, visit_columns
from recrawl.store.sqlite.connections import (
    connect_to_read,
    read_transaction,
    translate_read_errors,
)
from recrawl.store.sqlite.latest_visits import latest_visit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence
    from types import TracebackType

    import apsw

    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.columns import OutcomeColumns, PageColumns, SampledVisits, VisitColumns
    from recrawl.entries.listings import ListingHistory, StoredObject, Sync
    from recrawl.entries.records import Host, PageCount, SavedCheckpoint, Version

_PAGES_AT_A_TIME = 1 << 20
_ADDRESSES_AT_A_TIME = 1 << 17
_HOSTS_AT_A_TIME = 1000
_ALL_BITS = (1 << 64) - 1  # SQLite's whole numbers have a sign
_ALL_VISITS = 1 << 62
_CHAIN = """
    with recursive chain(id, page, before, at, outcome, http, age_seconds, size,
                         took_milliseconds, share, audit, rank) as (
        select *, 1 from visits where id = ?
        union all
        select visits.*, rank + 1 from visits join chain on visits.id = chain.before
        where rank < ? and chain.before < chain.id -- so that damage makes no ring of it
    )
    select * from chain order by id
"""


class SqliteReadStore:
    """A SQLite store open for reading; `recrawl.entries.store.ReadStore` says what methods do.

    Args:
        path: The file.
    """

    def __init__(self, path: Path | str) -> None:
        """Open it, and refuse what cannot be read."""
        self._path = Path(path)
        self._connection = connect_to_read(self._path)
        try:
            schema.require_current(self._path, self._connection, schema.steps_in())
            with self._reading() as connection:
                self._seed = meta.get(connection, "seed")
        except BaseException:
            self._connection.close()
            raise

    @property
    def name(self) -> str:
        """What messages call it."""
        return str(self._path)

    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""
        return type(self)(self._path)

    def close(self) -> None:
        """Let go of the file. Idempotent."""
        self._connection.close(True)  # noqa: FBT003 - also with a read half done

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # Pages.

    def page_count(self) -> int:
        """How many pages there are."""
        return self._largest("select coalesce(max(id), 0) from pages")

    def pages(self) -> PageColumns:
        """All pages."""
        with self._at_one_instant() as connection:
            starts = range(0, max(self.page_count(), 1), _PAGES_AT_A_TIME)
            return joined([page_columns(connection, start, _PAGES_AT_A_TIME) for start in starts])

    def addresses(self, pages: Sequence[int]) -> list[str]:
        """Addresses of some pages, in the order asked."""
        found = [row[0] for row in self._of_pages("select address from pages where id = ?", pages)]
        if len(found) != len(pages):
            message = f"{self.name}: every number must be that of a page (got some that are not)"
            raise InvalidParameter(message)
        return found

    def all_addresses(self, first: int = 0) -> Iterator[list[str]]:
        """Addresses of all pages from number `first` on, many at a time."""
        query = "select address from pages where id > ? and id <= ? order by id"
        for start in range(first, self.page_count(), _ADDRESSES_AT_A_TIME):
            with self._reading() as connection:
                rows = connection.execute(query, (start, start + _ADDRESSES_AT_A_TIME))
                some = [address for (address,) in rows]
            yield some

    def find_pages(self, addresses: Sequence[str]) -> list[int | None]:
        """Numbers of the pages with these addresses; None where there is no such page."""
        with self._reading() as connection:
            found = page_rows.find_pages(connection, addresses, self._seed)
        return [found.get(address) for address in addresses]

    def depth(self, page: int) -> int:
        """How many links away a page is from what a sitemap, a feed or a person named."""
        with self._reading() as connection:
            return int(connection.execute("select depth from pages where id = ? + 1", (page,)).get)

    def rules(self) -> Ints:
        """Number of each page's rule."""
        with self._reading() as connection:
            return page_rows.rules_of_pages(connection)

    def rules_and_hosts(self, pages: Ints) -> tuple[Ints, Ints]:
        """Number of the rule and of the host of each of some pages."""
        with self._at_one_instant() as connection:
            return page_rows.rules_and_hosts(connection, pages)

    def page_counts(self, now_seconds: float) -> list[PageCount]:
        """Pages counted by rule and status."""
        with self._reading() as connection:
            return page_rows.page_counts(connection, now_seconds)

    def pages_with_copy(self, rules: Sequence[int]) -> tuple[Ints, Ints]:
        """Pages of some rules that have a copy, rising, and the rule of each."""
        with self._reading() as connection:
            return page_rows.pages_with_copy(connection, rules)

    def pages_without_content(self) -> Ints:
        """Pages that are gone, refused or moved, rising."""
        with self._reading() as connection:
            return page_rows.pages_without_content(connection)

    def appointed_pages(self) -> Ints:
        """Pages that have an appointment, rising."""
        with self._reading() as connection:
            return page_rows.appointed_pages(connection)

    # Copies.

    def copies(self, pages: Sequence[int]) -> list[Copy | None]:
        """What is known of the copies of some pages; None where there is none."""
        query = """
            select page - 1, bytes_signature, text_signature, etag, modified_seconds, simhash
            from copies where page = ?
        """
        found = {
            page: Copy(content, text, etag, modified, None if bits is None else bits & _ALL_BITS)
            for page, content, text, etag, modified, bits in self._of_pages(query, pages)
        }
        return [found.get(page) for page in pages]

    def masks(self, pages: Sequence[int]) -> list[str]:
        """Masks of some pages, as text; empty where there are none."""
        query = "select page - 1, data from masks where page = ?"
        found = dict(self._of_pages(query, pages))
        return [found.get(page, "") for page in pages]

    def versions(self, page: int) -> list[Version]:
        """Versions of a page that are kept, oldest first."""
        with self._reading() as connection:
            return versions.versions_of(connection, page)

    def newest_body(self, page: int) -> bytes | None:
        """Body of the newest version of a page; None where none is kept."""
        with self._reading() as connection:
            return versions.newest_body(connection, page)

    def body(self, digest: bytes) -> bytes | None:
        """A body by its digest; None where it is not kept."""
        with self._reading() as connection:
            return versions.body_of(connection, digest)

    # Visits.

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        return self._largest("select coalesce(max(id), 0) from visits")

    def visits(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[VisitColumns]:
        """Visits with numbers above `after` up to now, at most `rows` at a time."""
        query = "select * from visits where id > ? and id <= ? order by id"
        for start in range(after, self.last_visit(), rows):
            with self._reading() as connection:
                batch = visit_columns(connection, query, (start, start + rows))
            yield batch

    def outcomes(self, after: int = 0, rows: int = VISITS_AT_A_TIME) -> Iterator[OutcomeColumns]:
        """What visits with numbers above `after` found, up to now: half the work of `visits`."""
        for start in range(after, self.last_visit(), rows):
            with self._reading() as connection:
                batch = outcome_columns(connection, start, rows)
            yield batch

    def history(self, page: int, most: int | None = None) -> VisitColumns:
        """Visits of one page, oldest first; only the newest `most` where that is given."""
        with self._at_one_instant() as connection:
            newest = latest_visit(connection, page)
            return visit_columns(
                connection, _CHAIN, (newest, _ALL_VISITS if most is None else most)
            )

    def first_visit_since(self, seconds: float) -> int:
        """Number of the first visit at or after an instant; one more than the last if none is."""
        query = "select at from visits where id = ?"
        with self._at_one_instant() as connection:
            low, high = 1, self.last_visit() + 1
            while low < high:  # visits are written in the order of time, but for a moment or two
                middle = (low + high) // 2
                if connection.execute(query, (middle,)).get < seconds * 1000:
                    low = middle + 1
                else:
                    high = middle
        return low

    def latest_visits(self, pages: Ints) -> Floats:
        """When each of some different pages was last visited, in epoch seconds; nan if never."""
        with self._at_one_instant() as connection:
            return lookups.latest_visit_times(connection, pages)

    def recent_visit_counts(self, pages: Ints, since_seconds: float) -> Ints:
        """How many visits were made to each of some different pages at or after an instant."""
        with self._at_one_instant() as connection:
            return lookups.visit_counts(connection, pages, since_seconds)

    def sampled_visits(self, visits: Ints, enough: int) -> SampledVisits:
        """Visits by number, and how many before each compared its page, up to `enough`."""
        with self._at_one_instant() as connection:
            return lookups.sampled_visits(connection, visits, enough)

    def daily_visits(self, first_day: int = 0) -> list[tuple[int, int, int]]:
        """Visits by day and outcome: (days since 1970, `VisitOutcome`, visits), rising."""
        query = "select day, outcome, visits from days where day >= ? order by day, outcome"
        with self._reading() as connection:
            rows: list[Any] = connection.execute(query, (first_day,)).fetchall()
        return rows

    # Hosts.

    def hosts(self) -> Iterator[Host]:
        """All hosts in the order of their numbers."""
        with self._reading() as connection:
            count = host_rows.host_count(connection)
        for start in range(0, count, _HOSTS_AT_A_TIME):
            with self._reading() as connection:
                some = host_rows.some_hosts(connection, start, _HOSTS_AT_A_TIME)
            yield from some

    def host(self, name: str) -> Host | None:
        """A host by its name; None where it is unknown."""
        with self._reading() as connection:
            return host_rows.host_named(connection, name)

    def host_delays(self, hosts: Ints) -> tuple[Floats, Floats]:
        """Days between requests and seconds until an answer of some hosts; 0 where unknown."""
        with self._at_one_instant() as connection:
            return host_rows.host_delays(connection, hosts)

    def host_masks(self) -> dict[str, str]:
        """Masks of all pages of a host, as text, by the host's name."""
        with self._reading() as connection:
            return host_rows.masks_of_hosts(connection)

    def signal_records(self) -> list[tuple[str, str, tuple[float, ...]]]:
        """Host, kind of signal, and how often it was right and wrong."""
        with self._reading() as connection:
            return host_rows.signal_records(connection)

    def signal_records_of(self, kind: str) -> dict[int, tuple[float, ...]]:
        """How often one kind of signal was right and wrong, by the number of the host."""
        with self._reading() as connection:
            return host_rows.signal_records_of(connection, kind)

    # What a crawl has learned.

    def checkpoint(self, names: Collection[str] | None = None) -> SavedCheckpoint | None:
        """The last checkpoint, or some of its parts; None before the first."""
        with self._at_one_instant() as connection:
            return checkpoints.load(connection, names)

    # Listings.

    def listing_names(self) -> list[str]:
        """Names of all listings, in the order of their first syncs."""
        with self._reading() as connection:
            return listings.listing_names(connection)

    def syncs(self, listing: str) -> list[Sync]:
        """Every sync of a listing, in order; none where it is unknown."""
        with self._reading() as connection:
            return listings.syncs_of(connection, listing)

    def listed_objects(self, listing: str) -> dict[str, dict[str, str]]:
        """Attributes of the objects that are believed to be listed, by key."""
        with self._reading() as connection:
            return listings.listed_objects(connection, listing)

    def objects(self, listing: str) -> list[StoredObject]:
        """Every object of a listing, in the order in which they were first seen."""
        with self._at_one_instant() as connection:
            return listings.objects_of(connection, listing)

    def listing_history(self, listing: str) -> ListingHistory:
        """All that is known of a listing."""
        with self._at_one_instant() as connection:
            return listings.history_of(connection, listing)

    # How it is read.

    @contextmanager
    def _reading(self) -> Iterator[apsw.Connection]:
        """The connection, for a single statement."""
        with translate_read_errors(self._path):
            yield self._connection

    @contextmanager
    def _at_one_instant(self) -> Iterator[apsw.Connection]:
        """The connection, for statements that must see the same state."""
        with translate_read_errors(self._path), read_transaction(self._connection):
            yield self._connection

    def _of_pages(self, query: str, numbers: Iterable[int]) -> list[Any]:
        """Rows of a query that is asked for the id of each page."""
        with self._reading() as connection:
            return connection.executemany(query, ((int(page) + 1,) for page in numbers)).fetchall()

    def _largest(self, query: str) -> int:
        with self._reading() as connection:
            return int(connection.execute(query).get)
