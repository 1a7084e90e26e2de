"""Boards that list things, on loopback, and clocks that a test moves by hand."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from aiohttp import web

from recrawl.listings.live.rules import ListingRule
from recrawl.parse.items.item import Layout
from recrawl.store import open_store
from tests.crawl.crawls import START, crawling, settings, store_in

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from recrawl.crawl.crawler import Crawler
    from recrawl.entries.listings import ListingHistory, ListingSynced

HTML = Layout("li.job", "a@href", {"title": "a"})


class HandClock:
    """A clock that moves when it is told to, and when somebody waits."""

    def __init__(self) -> None:
        self.time = START

    def now(self) -> float:
        return self.time

    def seconds(self, days: float) -> float:
        return days

    async def sleep(self, days: float) -> None:
        self.time += days
        await asyncio.sleep(0)


@dataclass
class Asked:
    """One request: what a board decides by."""

    method: str
    path: str
    query: dict[str, str]
    form: dict[str, str]

    @property
    def sent(self) -> dict[str, str]:
        return self.query | self.form


@dataclass
class Board:
    """A web server whose every answer is decided by one function.

    It returns a body, or a status and a body; JSON where it is a list or a table.
    """

    answer: Callable[[Asked], Any]
    robots: str = ""
    requests: list[Asked] = field(default_factory=list)
    port: int = 0
    _runner: web.AppRunner | None = None

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._serve)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    def address(self, path: str = "/jobs") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def rule(self, path: str = "/jobs", **more: Any) -> ListingRule:
        """A rule for what begins at a path."""
        wanted: dict[str, Any] = {"layout": HTML, "local": True} | more
        return ListingRule("jobs", (self.address(path),), **wanted)

    async def _serve(self, request: web.Request) -> web.Response:
        if request.path == "/robots.txt":
            return web.Response(text=self.robots)
        form = {key: str(value) for key, value in (await request.post()).items()}
        asked = Asked(request.method, request.path, dict(request.query), form)
        self.requests.append(asked)
        said = self.answer(asked)
        status, body = said if isinstance(said, tuple) else (200, said)
        if status in (301, 302, 303, 307):
            return web.Response(status=status, headers={"Location": body})
        if isinstance(body, bytes):
            return web.Response(status=status, body=body, content_type="text/html")
        if isinstance(body, str):
            return web.Response(status=status, text=body, content_type="text/html")
        return web.Response(status=status, text=json.dumps(body), content_type="application/json")


def items(names: Any, after: str = "") -> str:
    """A page that lists some jobs by their numbers."""
    rows = "".join(f'<li class=job><a href="/jobs/{name}">Job {name}</a></li>' for name in names)
    return f"<html><body><ul>{rows}</ul>{after}</body></html>"


@asynccontextmanager
async def keeping(
    folder: Path, rule: ListingRule, clock: HandClock | None = None
) -> AsyncIterator[tuple[Crawler, Callable[..., Any]]]:
    """A crawler, and what syncs its listing after some days of a clock moved by hand."""
    clock = clock or HandClock()
    async with crawling(folder, settings(listings=(rule,)), clock) as crawler:

        async def sync(after: float = 0.0) -> ListingSynced:
            clock.time += after
            async with asyncio.timeout(20):
                return await crawler._listings.sync(rule)  # what the loop calls when it is due

        yield crawler, sync


def history(folder: Path, name: str = "jobs") -> ListingHistory:
    """All that a store knows of a listing."""
    with open_store(store_in(folder)) as reader:
        return reader.listing_history(name)


def listed(folder: Path, name: str = "jobs") -> dict[str, dict[str, str]]:
    """Objects that a store takes to be listed."""
    with open_store(store_in(folder)) as reader:
        return reader.listed_objects(name)
