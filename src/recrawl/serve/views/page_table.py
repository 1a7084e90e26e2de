"""All pages of a crawl as one table in memory, that is searched, sorted and shown in parts.

A million pages take about 200 MB and some seconds to read, so the table is read once for a while,
and every question is a look at arrays; addresses stay in the store, which is asked for them. The
next visits of all pages are worked out when somebody first asks for their order, and from then on
together with each table that takes the place of one that was asked for it, so that nobody waits for
them again. Visits are counted once: the next table goes on from the counts of the last.

Touches: a store, locks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.inspect.next_visits import PricedVisits, next_visits
from recrawl.inspect.pages import STATUS_LABELS, VisitCounts, page_rows
from recrawl.inspect.scenario import MOST_PAGES
from recrawl.report.pages import status_named
from recrawl.settings.pools import terms
from recrawl.units import epoch_days
from recrawl.visits.status import PageStatus

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.pages import PageRows
    from recrawl.state.snapshot import Snapshot

MOST_ROWS = 500  # of one answer
ORDERS = ("rate", "fresh", "next", "visited", "changed", "visits", "weight", "address")
_NOTABLE = 1 / 1440  # days that a page must be late to count as overdue
_DESCENDING_FIRST = frozenset({"rate", "changed", "visits", "weight"})
# Pages whose addresses are all read to order them; of more, those that the store orders by itself.
_FEW, _MOST_ORDERED = 20_000, 20_000


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
class PagesView:
    """All pages.

    Args:
        snapshot: The crawl as it stood.
        rows: Facts about them.
        host: Number of the host of each.
        hosts: Names of hosts, by number.
        late: Days that each is past its set time, or the longest time between visits; nan for none.
        counts: Visits to each.
        asked: What was asked for that is not worked out for every table.
    """

    snapshot: Snapshot
    rows: PageRows
    host: Ints
    hosts: list[str]
    late: Floats
    counts: VisitCounts
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)
    asked: set[str] = field(default_factory=set, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    @classmethod
    def read(
        cls, snapshot: Snapshot, reader: ReadStore, before: PagesView | None = None
    ) -> PagesView:
        """Read the table of a crawl.

        Args:
            snapshot: The crawl.
            reader: Its store.
            before: The last table of it: what that one was asked for is worked out for this one.
        """
        counts = VisitCounts.of(reader, before.counts if before else None)
        rows = page_rows(snapshot, reader, counts)
        table = cls(
            snapshot=snapshot,
            rows=rows,
            host=snapshot.columns.host[: len(rows)],
            hosts=[each.name for each in reader.hosts()],
            late=_days_late(snapshot),
            counts=counts,
        )
        if before is not None:
            for name in tuple(before.asked):  # others may ask meanwhile
                table._kept[name] = table._work(name, reader)
        return table

    @property
    def now(self) -> float:
        """The instant that all this is of, in days after 1970."""
        return self.snapshot.now

    def find(self, query: TableQuery, reader: ReadStore) -> tuple[Ints, int]:
        """Numbers of the pages to show, in order, and how many there are in all."""
        chosen = self._chosen(query)
        if query.search:
            chosen = self._searched(chosen, query.search, reader)
        ordered = self._ordered(chosen, query, reader)
        return ordered[query.first : query.first + query.rows], len(chosen)

    def next_visits(self, pages: Ints, reader: ReadStore) -> Instants:
        """When some pages are visited next; NaT where they are not scheduled."""
        if len(self.rows) <= MOST_PAGES:
            return self._once("next visits", reader)[pages]  # type: ignore[no-any-return]
        return self._once("prices", reader).at(pages)  # type: ignore[no-any-return]

    def _work(self, name: str, reader: ReadStore) -> Any:  # noqa: ANN401 - by its name
        """What is worked out when it is first asked for, by its name."""
        if name == "prices":
            return PricedVisits.of(self.snapshot)
        return next_visits(self.snapshot, reader, np.arange(len(self.rows)))

    def _once(self, name: str, reader: ReadStore) -> Any:  # noqa: ANN401 - by its name
        """The same, once for all who ask."""
        with self._lock:
            self.asked.add(name)
            if name not in self._kept:
                self._kept[name] = self._work(name, reader)
            return self._kept[name]

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
        held = np.zeros(len(self.rows), np.bool_)
        found = reader.pages_holding(search.split())
        held[found[found < len(held)]] = True
        return chosen[held[chosen]]

    def _by_address(self, chosen: Ints, query: TableQuery, reader: ReadStore) -> Ints:
        """Some pages in the order of their addresses, as far as the query goes."""
        falling, wanted = query.sort.startswith("-"), query.first + query.rows
        share = len(chosen) / max(len(self.rows), 1)
        if len(chosen) > _FEW and wanted / share < _MOST_ORDERED:
            # The first of all pages, a few more than needed if the chosen lie evenly among them.
            first = reader.pages_by_address(round(2 * wanted / share) + 1000, last_first=falling)
            ordered = first[np.isin(first, chosen)]
            if len(ordered) >= min(wanted, len(chosen)):
                return ordered
        names = np.array(reader.addresses(chosen.tolist()), np.object_)
        order = np.argsort(names, kind="stable")
        return chosen[order[::-1] if falling else order]

    def _ordered(self, chosen: Ints, query: TableQuery, reader: ReadStore) -> Ints:
        by = query.sort.removeprefix("-")
        if by == "address":
            return self._by_address(chosen, query, reader)
        key = self._key(by, reader)[chosen]
        unknown = np.isnan(key)
        falling = (by in _DESCENDING_FIRST) != query.sort.startswith("-")
        # What is not known comes last either way.
        key = np.where(unknown, np.inf, -key if falling else key)
        return chosen[np.argsort(key, kind="stable")]

    def _key(self, by: str, reader: ReadStore) -> Floats:
        rows = self.rows
        if by in ("rate", "fresh", "weight"):
            return np.asarray(getattr(rows, by))
        if by == "visits":
            return rows.visits.astype(np.float64)
        if by == "next":
            at = self._once("next visits", reader)
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
