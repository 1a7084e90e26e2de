"""All pages of a crawl as one table in memory, that is searched, sorted and shown in parts.

A million pages take about 200 MB and some seconds to read, so the table is read once for a while,
and every question is a look at arrays. What few ask for (words of addresses, the order of the next
visits) is worked out when the first one asks.

Touches: a store, locks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recrawl.arrays.texts import Texts
from recrawl.errors import InvalidParameter
from recrawl.inspect.next_visits import PricedVisits, next_visits
from recrawl.inspect.pages import STATUS_LABELS, page_rows
from recrawl.inspect.scenario import MOST_PAGES
from recrawl.report.pages import status_named
from recrawl.settings.pools import terms
from recrawl.units import epoch_days
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.pages import PageRows
    from recrawl.state.snapshot import Snapshot

MOST_ROWS = 500  # of one answer
ORDERS = ("rate", "fresh", "next", "visited", "changed", "visits", "weight", "address")
_NOTABLE = 1 / 1440  # days that a page must be late to count as overdue
_DESCENDING_FIRST = frozenset({"rate", "changed", "visits", "weight"})
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class TableQuery:
    """Which pages to show.

    Args:
        search: What their addresses hold, whatever the case; words are all to be found.
        host: Host that they are on; empty for all.
        status: How they are shown; empty for all but those that were erased.
        sort: One of `ORDERS`, with a `-` before it for the other way round.
        first: How many to skip.
        rows: How many to show.
    """

    search: str = ""
    host: str = ""
    status: str = ""
    sort: str = "rate"
    first: int = 0
    rows: int = 50

    def __post_init__(self) -> None:
        if self.sort.removeprefix("-") not in ORDERS:
            raise InvalidParameter(f"sort must be one of {', '.join(ORDERS)} (got {self.sort!r})")
        if self.status:
            status_named(self.status)
        if not 1 <= self.rows <= MOST_ROWS:
            raise InvalidParameter(f"limit must be between 1 and {MOST_ROWS} (got {self.rows})")
        if self.first < 0:
            raise InvalidParameter(f"offset must not be negative (got {self.first})")


@dataclass(frozen=True, slots=True, eq=False)
class WordIndex:
    """Finds the addresses that hold a word, among many.

    Args:
        text: All of them in small letters, one per line.
        ends: Where each line ends.

    Examples:
        >>> index = WordIndex.of(Texts.of(["/News/1", "/news", "/new", "s/"]))
        >>> index.holding("news").tolist()
        [True, True, False, False]
    """

    text: bytes
    ends: Ints

    @classmethod
    def of(cls, addresses: Texts) -> WordIndex:
        """The index of some addresses."""
        lines = [each.lower().encode() for each in addresses.tolist()]
        lengths = np.fromiter(map(len, lines), np.int64, len(lines))
        return cls(b"\n".join(lines), np.cumsum(lengths + 1) - 1)

    def holding(self, word: str) -> Bools:
        """Which addresses hold a word in small letters."""
        found = np.zeros(len(self.ends), np.bool_)
        sought = word.encode()
        between = np.fromiter(map(len, self.text.split(sought)), np.int64)
        at = np.cumsum(between[:-1] + len(sought)) - len(sought)
        found[np.searchsorted(self.ends, at)] = True
        return found


@dataclass(frozen=True, slots=True, eq=False)
class PagesView:
    """All pages.

    Args:
        snapshot: The crawl as it stood.
        rows: Facts about them.
        host: Number of the host of each.
        hosts: Names of hosts, by number.
        late: Days that each is past its set time, or the longest time between visits; nan for none.
    """

    snapshot: Snapshot
    rows: PageRows
    host: Ints
    hosts: list[str]
    late: Floats
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def read(cls, snapshot: Snapshot, reader: ReadStore) -> PagesView:
        """Read the table of a crawl."""
        rows = page_rows(snapshot, reader)
        return cls(
            snapshot=snapshot,
            rows=rows,
            host=snapshot.columns.host[: len(rows)],
            hosts=[each.name for each in reader.hosts()],
            late=_days_late(snapshot),
        )

    @property
    def now(self) -> float:
        """The instant that all this is of, in days after 1970."""
        return self.snapshot.now

    def find(self, query: TableQuery, reader: ReadStore) -> tuple[Ints, int]:
        """Numbers of the pages to show, in order, and how many there are in all."""
        chosen = self._chosen(query)
        if query.search:
            chosen = self._searched(chosen, query.search, reader)
        ordered = chosen[self._order(chosen, query.sort, reader)]
        return ordered[query.first : query.first + query.rows], len(chosen)

    def next_visits(self, pages: Ints, reader: ReadStore) -> Instants:
        """When some pages are visited next; NaT where they are not scheduled."""
        if len(self.rows) <= MOST_PAGES:
            return self._all_next_visits(reader)[pages]
        return self._once("prices", lambda: PricedVisits.of(self.snapshot)).at(pages)

    def _all_next_visits(self, reader: ReadStore) -> Instants:
        every = np.arange(len(self.rows))
        return self._once("next visits", lambda: next_visits(self.snapshot, reader, every))

    def _addresses(self, reader: ReadStore) -> Texts:
        def read() -> Texts:
            parts = [Texts.of(some) for some in reader.all_addresses()]
            return Texts.joined(parts).take(np.arange(len(self.rows)))

        return self._once("addresses", read)

    def _once(self, name: str, work: Callable[[], T]) -> T:
        """What is worked out when it is first asked for, by whoever asks first."""
        with self._lock:
            if name not in self._kept:
                self._kept[name] = work()
            return self._kept[name]  # type: ignore[no-any-return]

    def _chosen(self, query: TableQuery) -> Ints:
        status = self.rows.status
        wanted = status_named(query.status) if query.status else None
        selected = status != PageStatus.ERASED if wanted is None else status == wanted
        if query.host:
            if query.host not in self.hosts:
                return np.empty(0, np.int64)
            selected = selected & (self.host == self.hosts.index(query.host))
        return np.flatnonzero(selected)

    def _searched(self, chosen: Ints, search: str, reader: ReadStore) -> Ints:
        """Those whose addresses hold every word, whatever the case."""
        addresses = self._addresses(reader)
        index = self._once("words", lambda: WordIndex.of(addresses))
        for word in search.lower().split():
            chosen = chosen[index.holding(word)[chosen]]
        return chosen

    def _order(self, chosen: Ints, sort: str, reader: ReadStore) -> Ints:
        by = sort.removeprefix("-")
        if by == "address":
            names = self._addresses(reader).take(chosen).tolist()
            order = np.argsort(np.array(names, np.object_), kind="stable")
            return order[::-1] if sort.startswith("-") else order
        key = self._key(by, reader)[chosen]
        unknown = np.isnan(key)
        falling = (by in _DESCENDING_FIRST) != sort.startswith("-")
        # What is not known comes last either way.
        return np.argsort(np.where(unknown, np.inf, -key if falling else key), kind="stable")

    def _key(self, by: str, reader: ReadStore) -> Floats:
        rows = self.rows
        if by in ("rate", "fresh", "weight"):
            return np.asarray(getattr(rows, by))
        if by == "visits":
            return rows.visits.astype(np.float64)
        if by == "next":
            at = self._all_next_visits(reader)
        else:
            at = rows.last_visit if by == "visited" else rows.last_change
        return np.where(np.isnat(at), np.nan, at.astype("datetime64[us]").astype(np.int64))

    def label(self, page: int) -> str:
        """How a page is shown."""
        return STATUS_LABELS[int(self.rows.status[page])]


def _days_late(snapshot: Snapshot) -> Floats:
    """Days that pages are past a set time, or past the longest time between visits."""
    every = terms(snapshot.settings)
    longest = np.array([each.interval or each.maximum for each in every])[snapshot.rule]
    due = np.fmin(epoch_days(snapshot.columns.next_at), snapshot.last + longest)
    late = snapshot.now - due
    ruled = snapshot.rule < len(snapshot.settings.rules)
    return np.where(ruled & (late > _NOTABLE), late, np.nan)
