"""The reading side of a store: any number at a time, whoever writes meanwhile.

Long reads are cut into short ones, so that a reader never keeps the writer's log from being
copied into the file. Visits are only ever appended, so nothing is missed between two of them.

Touches: files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import zstandard

from recrawl.entries.entries import Copy
from recrawl.errors import InvalidParameter
from recrawl.store.sqlite import beliefs, meta
from recrawl.store.sqlite import checkpoints as learnt
from recrawl.store.sqlite.columns import (
    joined,
    outcome_columns,
    page_columns,
    visit_columns,
)
from recrawl.store.sqlite.connections import as_it_was_written, one_view
from recrawl.store.sqlite.latest_visits import newest_visit
from recrawl.store.sqlite.open_store import OpenStore
from recrawl.store.sqlite.pages import find_pages

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from recrawl.store.sqlite.columns import OutcomeColumns, PageColumns, VisitColumns

_PAGES_AT_A_TIME = 1 << 20
_ALL_BITS = (1 << 64) - 1  # SQLite's whole numbers have a sign
_VISITS_AT_A_TIME = 1 << 17
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
_HOSTS = """
    select name, id, delay_days, blocked_until / 1000.0, latency_seconds, failures,
           read_at / 1000.0, http, body
    from hosts left join robots on robots.host = hosts.id
"""


@dataclass(frozen=True, slots=True)
class Host:
    """A host as the store knows it; what is None is not known.

    Args:
        name: Its name.
        number: Its number.
        delay: Days between two requests.
        blocked_until_seconds: Nothing is asked before.
        latency_seconds: How long it takes to answer.
        failures: Failed requests since one last succeeded.
        robots_at_seconds: When its robots.txt was asked for.
        robots_http: Status code of that.
        robots: What it said.
    """

    name: str
    number: int
    delay: float | None
    blocked_until_seconds: float | None
    latency_seconds: float | None
    failures: int
    robots_at_seconds: float | None
    robots_http: int | None
    robots: bytes | None


@dataclass(frozen=True, slots=True)
class Version:
    """A body that a page once had.

    Args:
        at_seconds: When it was first seen.
        digest: First 16 bytes of its SHA-256.
        size: Its bytes.
    """

    at_seconds: float
    digest: bytes
    size: int


class Reader(OpenStore):
    """A store open for reading."""

    def __init__(self, path: Path | str) -> None:
        """Open it, and refuse what cannot be read."""
        super().__init__(path)
        try:
            with as_it_was_written(self.path):
                self._seed = meta.get(self._connection, "seed")
        except BaseException:
            self.close()
            raise

    def page_count(self) -> int:
        """How many pages there are: numbers run from 1 to this."""
        return self._number("select coalesce(max(id), 0) from pages")

    def last_visit(self) -> int:
        """Number of the last visit, 0 before the first."""
        return self._number("select coalesce(max(id), 0) from visits")

    def pages(self) -> PageColumns:
        """All pages as columns, row = number - 1."""
        with as_it_was_written(self.path), one_view(self._connection):
            count = self._number("select coalesce(max(id), 0) from pages")
            starts = range(0, max(count, 1), _PAGES_AT_A_TIME)
            step = _PAGES_AT_A_TIME
            return joined([page_columns(self._connection, start, step) for start in starts])

    def addresses(self, pages: Sequence[int]) -> list[str]:
        """Addresses of some pages, in the order of the numbers."""
        query = "select address from pages where id = ?"
        found = [row[0] for row in self._many(query, ((int(page),) for page in pages))]
        if len(found) != len(pages):
            message = f"{self.path}: every number must be that of a page (got some that are not)"
            raise InvalidParameter(message)
        return found

    def all_addresses(self, after: int = 0) -> Iterator[list[str]]:
        """Addresses of the pages with numbers above `after`, many at a time."""
        query = "select address from pages where id > ? and id <= ? order by id"
        for start in range(after, self.page_count(), _VISITS_AT_A_TIME):
            yield [row[0] for row in self._rows(query, start, start + _VISITS_AT_A_TIME)]

    def depth(self, page: int) -> int:
        """How many links away a page is from what a sitemap, a feed or a person named."""
        return int(self._rows("select depth from pages where id = ?", page)[0][0])

    def numbers(self, addresses: Sequence[str]) -> list[int]:
        """Numbers of the pages with these addresses; 0 where there is no such page."""
        with as_it_was_written(self.path):
            found = find_pages(self._connection, addresses, self._seed)
        return [found.get(address, 0) for address in addresses]

    def copies(self, pages: Sequence[int]) -> list[Copy | None]:
        """What is known of the copies of some pages; None where there is none."""
        query = """
            select page, bytes_signature, text_signature, etag, modified_seconds, likeness
            from copies where page = ?
        """
        rows = self._many(query, ((int(page),) for page in pages))
        found = {
            page: Copy(content, text, etag, modified, None if bits is None else bits & _ALL_BITS)
            for page, content, text, etag, modified, bits in rows
        }
        return [found.get(page) for page in pages]

    def visits(self, after: int = 0, rows: int = _VISITS_AT_A_TIME) -> Iterator[VisitColumns]:
        """Visits with numbers above `after` up to now, at most `rows` at a time."""
        query = "select * from visits where id > ? and id <= ? order by id"
        for start in range(after, self.last_visit(), rows):
            with as_it_was_written(self.path):
                batch = visit_columns(self._connection, query, (start, start + rows))
            yield batch

    def first_visit_since(self, seconds: float) -> int:
        """Number of the first visit at or after an instant; one more than the last if none is."""
        low, high = 1, self.last_visit() + 1
        query = "select at from visits where id = ?"
        while low < high:  # visits are written in the order of time, but for a moment or two
            middle = (low + high) // 2
            if self._rows(query, middle)[0][0] < seconds * 1000:
                low = middle + 1
            else:
                high = middle
        return low

    def outcomes(self, after: int = 0, rows: int = _VISITS_AT_A_TIME) -> Iterator[OutcomeColumns]:
        """What visits with numbers above `after` found, up to now: half the work of `visits`."""
        for start in range(after, self.last_visit(), rows):
            with as_it_was_written(self.path):
                batch = outcome_columns(self._connection, start, rows)
            yield batch

    def history(self, page: int, most: int = 1 << 62) -> VisitColumns:
        """The newest visits of one page, oldest first."""
        with as_it_was_written(self.path), one_view(self._connection):
            newest = newest_visit(self._connection, page)
            return visit_columns(self._connection, _CHAIN, (newest, most))

    def visits_a_day(self, since_day: int = 0) -> list[tuple[int, int, int]]:
        """How many visits had each outcome on each day: (days since 1970, outcome, visits)."""
        query = "select day, outcome, visits from days where day >= ? order by day, outcome"
        return self._rows(query, since_day)

    def hosts(self) -> Iterator[Host]:
        """All hosts in the order of their numbers."""
        for start in range(0, self._number("select coalesce(max(id), 0) from hosts"), 1000):
            where = " where hosts.id > ? and hosts.id <= ? order by hosts.id"
            for row in self._rows(_HOSTS + where, start, start + 1000):
                yield self._host(row)

    def host(self, name: str) -> Host | None:
        """A host by its name; None where it is unknown."""
        rows = self._rows(_HOSTS + " where name = ?", name)
        return self._host(rows[0]) if rows else None

    def versions(self, page: int) -> list[Version]:
        """Versions of a page that are kept, oldest first."""
        query = """
            select versions.at / 1000.0, bodies.digest, bodies.size
            from versions join bodies on bodies.id = versions.body
            where versions.page = ? order by versions.at
        """
        return [Version(*row) for row in self._rows(query, page)]

    def newest_body(self, page: int) -> bytes | None:
        """Body of the newest version of a page; None where none is kept."""
        query = """
            select data from versions join bodies on bodies.id = versions.body
            where page = ? order by at desc limit 1
        """
        rows = self._rows(query, page)
        return self._unpacked(rows[0][0]) if rows else None

    def body(self, digest: bytes) -> bytes | None:
        """A body by its digest; None where it is not kept."""
        rows = self._rows("select data from bodies where digest = ?", digest)
        return self._unpacked(rows[0][0]) if rows else None

    def masks(self, pages: Sequence[int]) -> list[str]:
        """What differs by itself on some pages, as text; empty where nothing is known."""
        rows = self._many(
            "select page, data from masks where page = ?", ((int(page),) for page in pages)
        )
        found = dict(rows)
        return [found.get(page, "") for page in pages]

    def words_of_hosts(self) -> list[tuple[str, str, tuple[float, ...]]]:
        """Host, kind of word and how often it was right and wrong."""
        with as_it_was_written(self.path):
            return list(beliefs.words_of_hosts(self._connection))

    def words_of_kind(self, kind: str) -> dict[int, tuple[float, ...]]:
        """How often one kind of word was right and wrong, by the number of the host."""
        query = "select host, right, wrong, silent, quiet_days from honesty where kind = ?"
        return {host: tuple(counts) for host, *counts in self._rows(query, kind)}

    def masks_of_hosts(self) -> dict[str, str]:
        """What differs by itself on all pages of a host, as text, by the host's name."""
        with as_it_was_written(self.path):
            return beliefs.masks_of_hosts(self._connection)

    def learnt(self, names: Collection[str] | None = None) -> tuple[dict[str, Any], int] | None:
        """Learnt parts by name and the last visit they know of; None before the first saving."""
        with as_it_was_written(self.path), one_view(self._connection):
            return learnt.load(self._connection, names)

    def _rows(self, query: str, *binding: Any) -> list[Any]:  # noqa: ANN401 - whatever it binds
        with as_it_was_written(self.path):
            return self._connection.execute(query, binding).fetchall()

    def _many(self, query: str, bindings: Iterator[tuple[int]]) -> list[Any]:
        with as_it_was_written(self.path):
            return self._connection.executemany(query, bindings).fetchall()

    def _number(self, query: str) -> int:
        with as_it_was_written(self.path):
            return int(self._connection.execute(query).get)

    def _host(self, row: Sequence[Any]) -> Host:
        return Host(*[*row[:-1], self._unpacked(row[-1])])

    def _unpacked(self, packed: bytes | None) -> bytes | None:
        with as_it_was_written(self.path):
            return None if packed is None else zstandard.decompress(packed)
