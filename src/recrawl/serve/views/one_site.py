"""One host: politeness, robots.txt, reliability of its signals, errors, sections, discovery.

Touches: a store.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.detect.reliability import MODIFIED, NOT_MODIFIED, SignalRecord, dates_changes, denies
from recrawl.errors import UnknownPage
from recrawl.frontier.sources import unknown_pages
from recrawl.parse.addresses import host_of
from recrawl.report.charts.heat_map import SectionActivity
from recrawl.report.words import percent
from recrawl.serve.views.sites import delay_of
from recrawl.state.sources import wanted_sources
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.entries.entries import RobotsRead
    from recrawl.entries.filtering import RefusedAddresses
    from recrawl.entries.records import Host
    from recrawl.entries.sources import Source
    from recrawl.entries.store import ReadStore
    from recrawl.frontier.sources import UnknownPages
    from recrawl.policies.recrawl.state import RecrawlState
    from recrawl.serve.views.page_table import PagesView
    from recrawl.settings.settings import Settings
    from recrawl.state.snapshot import Snapshot

_MOST_PAGES = 20_000  # of a host that are looked at for its sections, drawn at random
_MOST_SECTIONS = 30
_SIGNALS = {
    "not_modified": "“not modified” responses",
    "etag": "ETags",
    "modified": "Last-Modified dates",
    "sitemap": "dates in sitemaps",
    "feed": "dates in feeds",
    "noise": "pages the same when fetched twice",
    "hint": "hints",
}


@dataclass(frozen=True, slots=True)
class SignalShown:
    """What is known of one of a host's signals.

    Args:
        name: The signal.
        checked: How often it was checked.
        wrong: How often it was wrong.
        band: Share that is wrong, as a band.
        verdict: What follows from that.
    """

    name: str
    checked: int
    wrong: int
    band: str
    verdict: str


@dataclass(frozen=True, slots=True)
class RobotsShown:
    """The robots.txt of an origin.

    Args:
        origin: The origin.
        read: What was read.
        text: Its text; empty where there was none.
    """

    origin: str
    read: RobotsRead
    text: str


@dataclass(frozen=True, slots=True)
class SectionRow:
    """A section of a host.

    Args:
        address: What addresses of its pages begin with, after the host.
        pages: How many of its pages are known, about.
        fresh: Mean chance that a copy is fresh; nan where there is none.
        rate: Mean changes a day of a page; nan where none is known.
        visits: Visits to its pages so far, about.
        changes: How many of them found a change, about.
    """

    address: str
    pages: int
    fresh: float
    rate: float
    visits: int
    changes: int


@dataclass(frozen=True, slots=True)
class SiteView:
    """One host.

    Args:
        at: The instant that all this is of, in days after 1970.
        host: Its politeness.
        delay: Days between two requests.
        pages: How many of its pages are known.
        robots: Its robots.txt, one per origin.
        signals: How reliable its signals are.
        errors: Pages whose last visit met something else, by what it met.
        sections: Its sections, most pages first.
        more_sections: How many there are besides.
        sources: Its sources of new pages.
        unknown: Pages expected to exist that are not known; None without sources.
        refused: Addresses that were not taken in.
    """

    at: float
    host: Host
    delay: float
    pages: int
    robots: list[RobotsShown]
    signals: list[SignalShown]
    errors: list[tuple[str, int]]
    sections: list[SectionRow]
    more_sections: int
    sources: list[Source]
    unknown: UnknownPages | None
    refused: list[RefusedAddresses]


def read_site(settings: Settings, reader: ReadStore, table: PagesView, name: str) -> SiteView:
    """All that is known of a host; refused where there is none of that name."""
    host = reader.host(name)
    if host is None:
        raise UnknownPage(f"there is no host {name!r} in this crawl")
    pages = np.flatnonzero(table.host == host.number)
    failures = Counter(each for each in table.rows.failure[pages].tolist() if each)
    sources = [each for each in wanted_sources(settings, reader) if _is_of(each.origin, name)]
    known = [each for each in sources if each.exposure]
    sections = sections_of(table, pages, reader)
    return SiteView(
        at=table.now,
        host=host,
        delay=delay_of(settings, host),
        pages=len(pages),
        robots=_robots(reader, name),
        signals=_signals(reader, name),
        errors=failures.most_common(),
        sections=sections[:_MOST_SECTIONS],
        more_sections=max(len(sections) - _MOST_SECTIONS, 0),
        sources=sources,
        unknown=unknown_pages(known, table.now) if known else None,
        refused=[each for host_name, each in reader.refused_addresses() if host_name == name],
    )


def _is_of(origin: str, host: str) -> bool:
    return host_of(origin + "/") == host


def _robots(reader: ReadStore, name: str) -> list[RobotsShown]:
    found = []
    for each in reader.robots_read():
        if _is_of(each.origin, name):
            whole = reader.robots(each.origin)
            body = whole.body if whole is not None else None
            text = "" if body is None else body.decode("utf-8", "replace")
            found.append(RobotsShown(each.origin, each, text))
    return found


def _signals(reader: ReadStore, name: str) -> list[SignalShown]:
    found = []
    for host, kind, counts in reader.signal_records():
        record = SignalRecord(*counts)
        if host != name or not record.checked:
            continue
        low, high = record.band()
        found.append(
            SignalShown(
                _SIGNALS.get(kind, kind),
                round(record.checked),
                round(record.wrong),
                f"{percent(low)} to {percent(high)}",
                _verdict(kind, record),
            )
        )
    return found


def _verdict(kind: str, record: SignalRecord) -> str:
    if kind == NOT_MODIFIED:
        return "not trusted: pages are fetched whole" if denies(record) else "trusted, and audited"
    if kind == MODIFIED:
        return "dates changes" if dates_changes(record) else "not trusted: dates are ignored"
    return "counted as evidence"


# Sections.


def section_names(addresses: list[str]) -> list[str]:
    """Section of each address: what is between its host and its last `/`.

    >>> section_names(["https://a.org/news/2026/1", "https://a.org/", "https://a.org"])
    ['/news/2026/', '/', '/']
    """
    found = []
    for address in addresses:
        path = address.partition("?")[0].partition("://")[2].partition("/")[2]
        found.append("/" + path.rpartition("/")[0] + ("/" if "/" in path else ""))
    return found


def _drawn(pages: Ints) -> Ints:
    if len(pages) <= _MOST_PAGES:
        return pages
    drawn = np.random.default_rng(len(pages)).choice(pages, _MOST_PAGES, replace=False)
    return np.sort(drawn)


def sections_of(table: PagesView, pages: Ints, reader: ReadStore) -> list[SectionRow]:
    """Sections of some pages, most pages first; of very many pages, from some of them."""
    some = _drawn(pages)
    times = len(pages) / max(len(some), 1)
    names, place = np.unique(
        np.array(section_names(reader.addresses(some.tolist())), np.object_),
        return_inverse=True,
    )
    rows = table.rows.take(some)

    def mean(figures: Floats) -> list[float]:
        there = ~np.isnan(figures)
        sums = np.bincount(place[there], figures[there], len(names))
        known = np.bincount(place[there], minlength=len(names))
        with np.errstate(invalid="ignore", divide="ignore"):
            means: list[float] = (sums / known).tolist()
        return means

    counts = np.bincount(place, minlength=len(names))
    visits, changes = (
        np.bincount(place, each.astype(np.float64), len(names))
        for each in (rows.visits, rows.changes)
    )
    fresh, rate = mean(rows.fresh), mean(rows.rate)
    found = [
        SectionRow(
            name,
            round(times * counts[row]),
            fresh[row],
            rate[row],
            round(times * visits[row]),
            round(times * changes[row]),
        )
        for row, name in enumerate(names.tolist())
    ]
    return sorted(found, key=lambda section: (-section.pages, section.address))


@dataclass(frozen=True, slots=True)
class SiteActivity:
    """How active the sections of a host were.

    Args:
        sections: The sections.
        edges_seconds: Where the stretches of their paces begin and end.
    """

    sections: list[SectionActivity]
    edges_seconds: list[float]


def read_activity(
    snapshot: Snapshot, table: PagesView, name: str, reader: ReadStore
) -> SiteActivity | None:
    """How active the sections of a host were lately; None where our policy knows nothing of it."""
    if name not in table.hosts:
        raise UnknownPage(f"there is no host {name!r} in this crawl")
    pages = _drawn(np.flatnonzero(table.host == table.hosts.index(name)))
    wanted = [section.address for section in sections_of(table, pages, reader)[:_MOST_SECTIONS]]
    names = np.array(section_names(reader.addresses(pages.tolist())), np.object_)
    for pool in snapshot.pools:
        state = pool.state
        place = np.full(len(snapshot.rule), -1)
        place[pool.pages] = np.arange(len(pool.pages))
        inside = pages < len(place)
        row = np.where(inside, place[np.minimum(pages, len(place) - 1)], -1)
        if state is None or not (row >= 0).any():
            continue
        sections = [
            SectionActivity(each, _pace(state, row[(names == each) & (row >= 0)]))
            for each in wanted
            if ((names == each) & (row >= 0)).any()
        ]
        clocks = state.clocks
        began = max(clocks.oldest, state.began)
        bins = len(clocks.near[0])
        edges = clocks.oldest + np.arange(bins + 1) * clocks.width
        first = int(np.searchsorted(edges, began, side="right")) - 1
        return SiteActivity(
            [SectionActivity(each.name, each.pace[first:]) for each in sections],
            (edges[first:] * SECONDS_A_DAY).tolist(),
        )
    return None


def _pace(state: RecrawlState, rows: Ints) -> list[float]:
    """Mean pace of pages in each stretch."""
    nodes, pages = np.unique(state.sections.leaf[rows], return_counts=True)
    weight = pages / pages.sum()
    pace: list[float] = (weight @ state.clocks.pace(nodes)).tolist()
    return pace
