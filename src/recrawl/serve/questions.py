"""What pages and calls ask of the store, and how long each answer is kept.

Touches: a store, threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recrawl.report.plain_values import plain_figure
from recrawl.serve.source import now
from recrawl.serve.views.one_page import read_page, read_why
from recrawl.serve.views.overview import read_overview
from recrawl.serve.views.page_table import PageTable
from recrawl.state.snapshot import load_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from fastapi import Request

    from recrawl.arrays.types import Ints
    from recrawl.entries.store import ReadStore
    from recrawl.inspect.why.values import Why
    from recrawl.serve.answers import Answers
    from recrawl.serve.source import Source
    from recrawl.serve.views.one_page import PageView
    from recrawl.serve.views.overview import Overview
    from recrawl.serve.views.page_table import TableQuery
    from recrawl.state.snapshot import Snapshot

_GLANCE_SECONDS = 5.0
_TABLE_SECONDS = 60.0
_SNAPSHOT_SECONDS = 10.0
T = TypeVar("T")


def _asked(request: Request) -> tuple[Source, Answers]:
    return request.app.state.source, request.app.state.answers


async def overview(request: Request) -> Overview:
    """How the crawl stands."""
    source, answers = _asked(request)

    def work(reader: ReadStore) -> Overview:
        return read_overview(source.settings(reader), reader, now(reader))

    return await answers.ask("overview", work, seconds=_GLANCE_SECONDS)


async def of_page(request: Request, key: Hashable, work: Callable[[ReadStore], T]) -> T:
    """Something about one page."""
    _, answers = _asked(request)
    return await answers.ask(key, work, seconds=_GLANCE_SECONDS)


async def read(request: Request, work: Callable[[ReadStore], T]) -> T:
    """Something that nobody else asks for."""
    _, answers = _asked(request)
    return await answers.ask(object(), work)


def numbers(pages: Sequence[int]) -> Ints:
    """Numbers of pages as arrays have them."""
    return np.array(pages, np.int64)


async def snapshot(request: Request) -> Snapshot:
    """The crawl as it stands."""
    source, answers = _asked(request)

    def work(reader: ReadStore) -> Snapshot:
        return load_snapshot(source.settings(reader), reader, now(reader))

    return await answers.ask("snapshot", work, seconds=_SNAPSHOT_SECONDS)


async def page_view(request: Request, page: int) -> PageView:
    """All that is known of a page, but why it is visited next."""
    return await of_page(request, ("page", page), lambda reader: read_page(reader, page))


async def why(request: Request, page: int) -> Why:
    """Why a page is visited next."""
    seen = await snapshot(request)
    return await of_page(request, ("why", page), lambda reader: read_why(seen, reader, page))


async def page_table(request: Request) -> PageTable:
    """All pages."""
    source, answers = _asked(request)

    def work(reader: ReadStore) -> PageTable:
        return PageTable.read(load_snapshot(source.settings(reader), reader, now(reader)), reader)

    return await answers.ask("table", work, seconds=_TABLE_SECONDS)


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


async def page_list(request: Request, query: TableQuery) -> PageList:
    """Some pages."""
    table = await page_table(request)
    _, answers = _asked(request)

    def work(_: ReadStore) -> PageList:
        found, total = table.find(query)
        return PageList(page_objects(table, found), total, table.hosts)

    return await answers.ask(("pages", id(table), query), work, seconds=_GLANCE_SECONDS)


def page_objects(table: PageTable, pages: np.ndarray[Any, Any]) -> list[dict[str, Any]]:
    """Facts about pages, as JSON holds them."""
    rows = table.rows.take(pages)
    names = table.addresses.take(pages).tolist()

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
            "next_visit": instant(table.next_visit[page]),
            "weight": plain_figure(float(rows.weight[row])),
            "failure": rows.failure[row] or None,
            "moved_to": rows.moved_to[row] or None,
        }
        for row, page in enumerate(pages.tolist())
    ]
