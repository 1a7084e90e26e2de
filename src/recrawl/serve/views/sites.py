"""All hosts of a crawl as one table.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan, nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.detect.reliability import MODIFIED, NOT_MODIFIED, SignalRecord, dates_changes, denies
from recrawl.errors import InvalidParameter
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import WITH_A_COPY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats
    from recrawl.entries.records import Host
    from recrawl.entries.store import ReadStore
    from recrawl.serve.views.page_table import PagesView
    from recrawl.settings.settings import Settings

ORDERS = ("pages", "fresh", "changes", "visits", "failing", "overdue", "host")
MANY_FAILURES = 5  # requests in a row, after which a host counts as unreachable


@dataclass(frozen=True, slots=True)
class SitesQuery:
    """Which hosts to show.

    Args:
        search: What their names hold.
        sort: One of `ORDERS`, with a `-` before it for the other way round.
        first: How many to skip.
        rows: How many to show.
    """

    search: str = ""
    sort: str = "pages"
    first: int = 0
    rows: int = 50

    def __post_init__(self) -> None:
        if self.sort.removeprefix("-") not in ORDERS:
            raise InvalidParameter(f"sort must be one of {', '.join(ORDERS)} (got {self.sort!r})")


@dataclass(frozen=True, slots=True)
class SiteRow:
    """A host.

    Args:
        host: Its name.
        pages: How many of its pages are known.
        copies: How many of them have a copy.
        fresh: Mean chance that a copy is fresh; nan without copies.
        visits: Visits to its pages so far.
        changes: How many of them found a change.
        failing: Pages whose last visit met something else.
        overdue: Pages whose next visit is late.
        delay: Days between two requests.
        latency_seconds: Response time; None where it is unknown.
        trouble: What is wrong with it now; empty for nothing.
    """

    host: str
    pages: int
    copies: int
    fresh: float
    visits: int
    changes: int
    failing: int
    overdue: int
    delay: float
    latency_seconds: float | None
    trouble: str


@dataclass(frozen=True, slots=True)
class SiteTable:
    """All hosts.

    Args:
        rows: One per host that has pages.
        at: The instant that all this is of, in days after 1970.
    """

    rows: list[SiteRow]
    at: float

    def find(self, query: SitesQuery) -> tuple[list[SiteRow], int]:
        """The hosts to show, and how many there are in all."""
        words = query.search.lower().split()
        fits = [row for row in self.rows if all(word in row.host for word in words)]
        by = query.sort.removeprefix("-")
        turned = query.sort.startswith("-")
        if by == "host":
            fits.sort(key=lambda row: row.host, reverse=turned)
        elif by == "fresh":  # the stalest first, those without copies last either way
            fits.sort(key=lambda row: (isnan(row.fresh), (-1 if turned else 1) * _known(row.fresh)))
        else:
            fits.sort(key=lambda row: getattr(row, by), reverse=not turned)
        return fits[query.first : query.first + query.rows], len(fits)


def _known(figure: float) -> float:
    return 0.0 if isnan(figure) else figure


def read_sites(settings: Settings, reader: ReadStore, table: PagesView) -> SiteTable:
    """All hosts that have pages."""
    rows, count = table.rows, len(table.hosts)
    host = table.host

    def total(weights: Floats | None = None) -> Floats:
        return np.bincount(host, weights, count).astype(np.float64)

    copied = np.isin(rows.status, WITH_A_COPY)
    fresh = np.where(np.isnan(rows.fresh), 0.0, rows.fresh)
    known = total((~np.isnan(rows.fresh)).astype(np.float64))
    failing = np.array([bool(each) for each in rows.failure.tolist()], np.float64)
    late = np.isfinite(table.late).astype(np.float64)
    columns = [
        each.tolist()
        for each in (
            total(),
            total(copied.astype(np.float64)),
            np.divide(total(fresh), known, out=np.full(count, nan), where=known > 0),
            total(rows.visits.astype(np.float64)),
            total(rows.changes.astype(np.float64)),
            total(failing),
            total(late),
        )
    ]
    distrusted = distrusted_hosts(reader)
    found = []
    for each in reader.hosts():
        if each.number >= count or not columns[0][each.number]:
            continue
        pages, copies, share, visits, changes, failed, overdue = (
            column[each.number] for column in columns
        )
        found.append(
            SiteRow(
                each.name,
                *(round(pages), round(copies), share, round(visits), round(changes)),
                *(round(failed), round(overdue)),
                delay=delay_of(settings, each),
                latency_seconds=each.latency_seconds,
                trouble=_trouble(each, table.now, distrusted),
            )
        )
    return SiteTable(found, table.now)


def distrusted_hosts(reader: ReadStore) -> dict[str, str]:
    """Hosts whose signals are not trusted any more, with what is wrong with them."""
    found: dict[str, str] = {}
    for host, kind, counts in reader.signal_records():
        record = SignalRecord(*counts)
        if kind == NOT_MODIFIED and denies(record):
            found[host] = "denies changes"
        elif kind == MODIFIED and not dates_changes(record):
            found.setdefault(host, "dates wrong")
    return found


def delay_of(settings: Settings, host: Host) -> float:
    """Days between two requests to a host: the longest of what it asks for and what is set."""
    return max(settings.delays.get(host.name, settings.delay), host.delay or 0.0)


def _trouble(host: Host, now: float, distrusted: Mapping[str, str]) -> str:
    if (host.blocked_until_seconds or 0.0) > now * SECONDS_A_DAY:
        return "asked to wait"
    if host.failures >= MANY_FAILURES:
        return "unreachable"
    return distrusted.get(host.name, "")
