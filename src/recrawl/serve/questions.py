"""What pages and calls ask of the store, and how long each answer is kept.

Touches: a store, threads.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from recrawl.errors import RecrawlError
from recrawl.inspect.status.overview import plan_basis
from recrawl.inspect.status.what_if import curve
from recrawl.report.plain_values import plain_figure
from recrawl.serve.source import now
from recrawl.serve.views.freshness import read_freshness
from recrawl.serve.views.listings import read_listing
from recrawl.serve.views.one_page import read_page, read_why
from recrawl.serve.views.one_site import read_activity, read_site
from recrawl.serve.views.overview import read_overview
from recrawl.serve.views.page_table import PagesView
from recrawl.serve.views.sites import read_sites
from recrawl.serve.views.what_if import read_what_if
from recrawl.state.snapshot import load_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from recrawl.arrays.types import Ints
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.status.overview import PlanBasis
    from recrawl.inspect.status.values import BudgetOutlook
    from recrawl.inspect.why.values import Why
    from recrawl.report.charts.freshness import FreshnessPoint
    from recrawl.serve.answers import Answers
    from recrawl.serve.source import ServedCrawl
    from recrawl.serve.views.listings import ListingView
    from recrawl.serve.views.one_page import PageView
    from recrawl.serve.views.one_site import SiteActivity, SiteView
    from recrawl.serve.views.overview import Overview
    from recrawl.serve.views.page_table import TableQuery
    from recrawl.serve.views.sites import SiteTable
    from recrawl.serve.views.what_if import WhatIfView
    from recrawl.state.snapshot import Snapshot

_GLANCE_SECONDS = 5.0
_TABLE_SECONDS = 60.0
_SNAPSHOT_SECONDS = 10.0
_MOST_NAMES = 1000
_LATE_SECONDS = 600.0  # that an answer for all is handed out while the next is worked out
T = TypeVar("T")


class Asking(Protocol):
    """Whoever asks: a request, or the server itself."""

    @property
    def app(self) -> Any:  # noqa: ANN401 - the server, which holds the source and its answers
        """The server."""


def _asked(request: Asking) -> tuple[ServedCrawl, Answers]:
    return request.app.state.source, request.app.state.answers


async def overview(request: Asking) -> Overview:
    """How the crawl stands."""
    source, answers = _asked(request)

    def work(reader: ReadStore) -> Overview:
        return read_overview(source.settings(reader), reader, now(reader))

    return await answers.ask("overview", work, seconds=_GLANCE_SECONDS, late=_LATE_SECONDS)


async def freshness(request: Asking) -> list[FreshnessPoint]:
    """Freshness over time: as it was expected, and as it turned out."""
    _, answers = _asked(request)
    return await answers.ask(
        "freshness",
        lambda reader: read_freshness(reader, now(reader)),
        seconds=_TABLE_SECONDS,
        late=_LATE_SECONDS,
    )


async def plan_basis_of(request: Asking) -> PlanBasis:
    """What plans rest on."""
    source, answers = _asked(request)

    def work(reader: ReadStore) -> PlanBasis:
        return plan_basis(source.settings(reader), reader, now(reader))

    return await answers.ask("plan", work, seconds=_TABLE_SECONDS, late=_LATE_SECONDS)


async def budget_curve(request: Asking) -> Sequence[BudgetOutlook]:
    """Freshness in the long run by budget."""
    source, answers = _asked(request)
    basis = await plan_basis_of(request)

    def work(reader: ReadStore) -> Sequence[BudgetOutlook]:
        return curve(source.settings(reader), reader, basis)

    return await answers.ask("curve", work, seconds=_TABLE_SECONDS, late=_LATE_SECONDS)


async def what_if(request: Asking, asked: Mapping[str, str]) -> WhatIfView:
    """What other settings would bring."""
    source, answers = _asked(request)
    basis = await plan_basis_of(request)

    def work(reader: ReadStore) -> WhatIfView:
        return read_what_if(source.settings(reader), reader, basis, asked)

    key = ("what if", id(basis), tuple(sorted(asked.items())))
    return await answers.ask(key, work, seconds=_GLANCE_SECONDS)


async def warm(request: Asking) -> None:
    """Work out what most pages need, so that the first who look need not wait."""
    for question in (overview, page_table, budget_curve, freshness, sites):
        with suppress(RecrawlError):  # whoever asks is told
            await question(request)


async def of_page(request: Asking, key: Hashable, work: Callable[[ReadStore], T]) -> T:
    """Something about one page."""
    _, answers = _asked(request)
    return await answers.ask(key, work, seconds=_GLANCE_SECONDS)


async def read(request: Asking, work: Callable[[ReadStore], T]) -> T:
    """Something that nobody else asks for."""
    _, answers = _asked(request)
    return await answers.ask(object(), work)


async def snapshot(request: Asking) -> Snapshot:
    """The crawl as it stands."""
    source, answers = _asked(request)

    def work(reader: ReadStore) -> Snapshot:
        return load_snapshot(source.settings(reader), reader, now(reader))

    return await answers.ask("snapshot", work, seconds=_SNAPSHOT_SECONDS, late=_LATE_SECONDS)


async def page_view(request: Asking, page: int) -> PageView:
    """All that is known of a page, but why it is visited next."""
    return await of_page(request, ("page", page), lambda reader: read_page(reader, page))


async def why(request: Asking, page: int) -> Why:
    """Why a page is visited next."""
    _, answers = _asked(request)
    seen = await snapshot(request)

    def work(reader: ReadStore) -> Why:
        return read_why(seen, reader, page)

    # Many virtual crawls, each of some hundred visits.
    return await answers.ask(("why", page), work, seconds=_GLANCE_SECONDS, late=_LATE_SECONDS)


async def page_table(request: Asking) -> PagesView:
    """All pages."""
    _, answers = _asked(request)
    seen = await snapshot(request)
    before: PagesView | None = answers.last("table")

    def work(reader: ReadStore) -> PagesView:
        return PagesView.read(seen, reader, before)

    return await answers.ask("table", work, seconds=_TABLE_SECONDS, late=_LATE_SECONDS)


async def host_names(request: Asking) -> list[str]:
    """Names of hosts, as many as a field offers."""
    _, answers = _asked(request)

    def work(reader: ReadStore) -> list[str]:
        return [each.name for each in islice(reader.hosts(), _MOST_NAMES)]

    return await answers.ask("hosts", work, seconds=_TABLE_SECONDS, late=_LATE_SECONDS)


async def sites(request: Asking) -> SiteTable:
    """All hosts."""
    source, answers = _asked(request)
    table = await page_table(request)

    def work(reader: ReadStore) -> SiteTable:
        return read_sites(source.settings(reader), reader, table)

    return await answers.ask(("sites", id(table)), work, seconds=_TABLE_SECONDS)


async def one_site(request: Asking, name: str) -> SiteView:
    """One host."""
    source, answers = _asked(request)
    table = await page_table(request)

    def work(reader: ReadStore) -> SiteView:
        return read_site(source.settings(reader), reader, table, name)

    return await answers.ask(("site", name, id(table)), work, seconds=_GLANCE_SECONDS)


async def activity(request: Asking, name: str) -> SiteActivity | None:
    """How active the sections of a host were."""
    _, answers = _asked(request)
    table, seen = await page_table(request), await snapshot(request)
    return await answers.ask(
        ("activity", name, id(table)),
        lambda reader: read_activity(seen, table, name, reader),
        seconds=_TABLE_SECONDS,
    )


async def one_listing(request: Asking, name: str) -> ListingView:
    """One listing."""
    source, answers = _asked(request)

    def work(reader: ReadStore) -> ListingView:
        return read_listing(source.settings(reader), reader, name, now(reader))

    return await answers.ask(("listing", name), work, seconds=_TABLE_SECONDS, late=_LATE_SECONDS)


@dataclass(frozen=True, slots=True)
class PageList:
    """A part of the table of pages.

    Args:
        rows: One object per page.
        total: How many there are in all.
        hosts: Names of all hosts.
    """

    rows: list[dict[str, Any]]
    total: int
    hosts: list[str]


async def page_list(request: Asking, query: TableQuery) -> PageList:
    """Some pages."""
    table = await page_table(request)
    _, answers = _asked(request)

    def work(reader: ReadStore) -> PageList:
        found, total = table.find(query, reader)
        return PageList(page_objects(table, found, reader), total, table.hosts)

    return await answers.ask(("pages", id(table), query), work, seconds=_GLANCE_SECONDS)


async def some_pages(request: Asking, pages: Sequence[int]) -> list[dict[str, Any]]:
    """Facts about some pages; those that were found since the table was read are left out."""
    table = await page_table(request)
    known = np.array([each for each in pages if each < len(table.rows)], np.int64)
    key = ("some pages", id(table), tuple(known.tolist()))
    return await of_page(request, key, lambda reader: page_objects(table, known, reader))


def page_objects(table: PagesView, pages: Ints, reader: ReadStore) -> list[dict[str, Any]]:
    """Facts about pages, as JSON holds them."""
    rows = table.rows.take(pages)
    names, next_visits = reader.addresses(pages.tolist()), table.next_visits(pages, reader)

    def instant(at: np.datetime64) -> str | None:
        return None if np.isnat(at) else f"{np.datetime_as_string(at, unit='s')}Z"

    return [
        {
            "page": int(page),
            "address": names[row],
            "status": table.label(int(page)),
            "rate_per_day": plain_figure(float(rows.rate[row])),
            "rate_low_per_day": plain_figure(float(rows.low[row])),
            "rate_high_per_day": plain_figure(float(rows.high[row])),
            "fresh": plain_figure(float(rows.fresh[row])),
            "visits": int(rows.visits[row]),
            "changes": int(rows.changes[row]),
            "last_visit": instant(rows.last_visit[row]),
            "last_change": instant(rows.last_change[row]),
            "next_visit": instant(next_visits[row]),
            "weight": plain_figure(float(rows.weight[row])),
            "failure": rows.failure[row] or None,
            "moved_to": rows.moved_to[row] or None,
        }
        for row, page in enumerate(pages.tolist())
    ]
