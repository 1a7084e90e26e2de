"""The reading side of a SQLite store: any number of readers, also while a crawl writes.

Long reads are split into short ones, so that a reader never blocks the writer's checkpoints. Visits
are append-only, so nothing is missed between two reads.

Touches: files.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from recrawl.entries.entries import Copy
from recrawl.entries.store import VISITS_AT_A_TIME
from recrawl.errors import InvalidParameter
from recrawl.store.sqlite import checkpoints, meta, schema
from recrawl.store.sqlite import hosts as host_rows
from recrawl.store.sqlite import latest_visits as visit_rows
from recrawl.store.sqlite import listings as listing_rows
from recrawl.store.sqlite import pages as page_rows
from recrawl.store.sqlite import versions as version_rows
from recrawl.store.sqlite.clock_ahead import newest_instant
from recrawl.store.sqlite.columns import joined, outcome_columns, page_columns, visit_columns
from recrawl.store.sqlite.connections import (
    connect_to_read,
    read_transaction,
    translate_read_errors,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import apsw

    from recrawl.entries.columns import OutcomeColumns, PageColumns, VisitColumns
    from recrawl.entries.records import Host

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
        where rank < ? and chain.before < chain.id -- so that a damaged chain cannot loop
    )
    select * from chain order by id
"""

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


def _query(
    read: Callable[Concatenate[apsw.Connection, _P], _Result],
) -> Callable[Concatenate[SqliteReadStore, _P], _Result]:
    """Method that calls a function with the store's connection, in one read transaction."""

    @wraps(read)
    def method(self: SqliteReadStore, /, *args: _P.args, **kwargs: _P.kwargs) -> _Result:
        with self._at_one_instant() as connection:
            return read(connection, *args, **kwargs)

    return method


class SqliteReadStore:
    """A SQLite store open for reading; see `recrawl.entries.store.ReadStore` for its methods.

    Args:
        path: The file.
    """

    def __init__(self, path: Path | str) -> None:
        """Open the store; raise if it cannot be read."""
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
        """Name used in messages."""
        return str(self._path)

    def clone(self) -> Self:
        """Open another reader of the same store, for another thread; the caller closes it."""
        return type(self)(self._path)

    def close(self) -> None:
        """Close the file. Idempotent."""
        self._connection.close(True)  # noqa: FBT003 - also with a read half done

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
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
        """Addresses of pages, in the given order."""
        found = [row[0] for row in self._of_pages("select address from pages where id = ?", pages)]
        if len(found) != len(pages):
            raise InvalidParameter(f"{self.name}: some page numbers do not exist")
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
        """Links between a page and the nearest address of a sitemap, a feed or the settings."""
        with self._reading() as connection:
            return int(connection.execute("select depth from pages where id = ? + 1", (page,)).get)

    rules = _query(page_rows.rules_of_pages)
    rules_and_hosts = _query(page_rows.rules_and_hosts)
    page_counts = _query(page_rows.page_counts)
    pages_with_copy = _query(page_rows.pages_with_copy)
    pages_without_content = _query(page_rows.pages_without_content)
    appointed_pages = _query(page_rows.appointed_pages)

    # Copies.

    def copies(self, pages: Sequence[int]) -> list[Copy | None]:
        """Copies of pages; None for a page without one."""
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

    versions = _query(version_rows.versions_of)
    newest_body = _query(version_rows.newest_body)
    body = _query(version_rows.body_of)

    # Visits.

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        return self._largest("select coalesce(max(id), 0) from visits")

    def newest_instant(self) -> float:
        """Seconds after 1970 of the latest visit, sync or robots.txt; 0 before the first."""
        with self._at_one_instant() as connection:
            return newest_instant(connection) / 1000

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
            newest = visit_rows.latest_visit(connection, page)
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

    latest_visits = _query(visit_rows.latest_visit_times)
    recent_visit_counts = _query(visit_rows.visit_counts)
    sampled_visits = _query(visit_rows.sampled_visits)

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

    host = _query(host_rows.host_named)
    robots = _query(host_rows.robots_of_origin)
    robots_read = _query(host_rows.robots_read)
    discovered = _query(host_rows.discovered)
    host_delays = _query(host_rows.host_delays)
    host_masks = _query(host_rows.masks_of_hosts)
    signal_records = _query(host_rows.signal_records)
    signal_records_of = _query(host_rows.signal_records_of)

    # What a crawl has learned.

    checkpoint = _query(checkpoints.load)

    # Listings.

    listing_names = _query(listing_rows.listing_names)
    syncs = _query(listing_rows.syncs_of)
    listed_objects = _query(listing_rows.listed_objects)
    objects = _query(listing_rows.objects_of)
    listing_history = _query(listing_rows.history_of)

    # Connections.

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
