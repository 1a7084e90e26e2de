"""The demo's site: a web server on loopback whose pages change over time.

Pages and the dates of responses follow the clock of the crawl. Sections with honest validators
answer conditional requests correctly. One of the hosts answers every conditional request with 304,
and serves a wall from time to time.

Touches: the network, the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from aiohttp import web

from recrawl.demo import jobs as example_jobs
from recrawl.demo import pages
from recrawl.demo.world import HOSTS, SECTIONS, Says
from recrawl.parse.dates import http_date
from recrawl.units import SECONDS_A_DAY, http_text

if TYPE_CHECKING:
    from recrawl.clock import Clock
    from recrawl.demo.jobs import ExampleJobs
    from recrawl.demo.world import ExampleWorld

_HOST = "127.0.0.1"
_XML = "application/xml"


@dataclass(slots=True)
class Requests:
    """Counts of requests.

    Attributes:
        all: Requests of any kind.
        robots: For robots.txt.
        forbidden: For what robots.txt forbids.
        not_modified: Answered with status 304.
        walled: Answered with a wall.
        sent_bytes: Bytes of bodies.
    """

    all: int = 0
    robots: int = 0
    forbidden: int = 0
    not_modified: int = 0
    walled: int = 0
    sent_bytes: int = 0


class ExampleSite:
    """A site that serves a world.

    Args:
        world: Its pages.
        clock: Source of the current time.
        jobs: Its job board; None for none.
    """

    def __init__(self, world: ExampleWorld, clock: Clock, jobs: ExampleJobs | None = None) -> None:
        self.requests = Requests()
        self.origins: list[str] = []
        self._world = world
        self._jobs = jobs
        self._clock = clock
        self._page = {path: page for page, path in enumerate(world.path)}
        self._random = np.random.default_rng(world.seed)
        self._runners: list[web.AppRunner] = []

    async def start(self) -> None:
        """Listen on free loopback ports, one per host."""
        for host in range(HOSTS):
            app = web.Application()
            app.router.add_get("/{path:.*}", partial(self._answer, host))
            runner = web.AppRunner(app, access_log=None)
            self._runners.append(runner)
            await runner.setup()
            await web.TCPSite(runner, _HOST, 0).start()
            self.origins.append(f"http://{_HOST}:{runner.addresses[0][1]}")

    async def close(self) -> None:
        """Stop listening."""
        for runner in self._runners:
            await runner.cleanup()

    async def _answer(self, host: int, request: web.Request) -> web.Response:
        now = self._clock.now()
        answer = self._response(request, host, now)
        answer.headers["Date"] = http_text(now * SECONDS_A_DAY)
        self.requests.all += 1
        self.requests.not_modified += answer.status == web.HTTPNotModified.status_code
        self.requests.sent_bytes += len(answer.body) if isinstance(answer.body, bytes) else 0
        return answer

    def _response(self, request: web.Request, host: int, now: float) -> web.Response:
        path = request.path
        if self._world.walled(host, now) and path != "/robots.txt":
            self.requests.walled += 1
            return web.Response(text=pages.WALL, content_type="text/html")
        page = self._page.get(path)
        if page is not None and SECTIONS[self._world.section[page]].host == host:
            return self._page_response(request, page, now)
        if path == example_jobs.PATH and self._jobs is not None:
            number = int(request.query.get("page", "1"))
            return web.Response(text=self._jobs.page(now, number), content_type="text/html")
        if path in pages.MOVED:
            return web.Response(status=301, headers={"Location": pages.MOVED[path]})
        if path.startswith(pages.FORBIDDEN):
            self.requests.forbidden += 1
        text = self._other(path, host, now)
        if text is None:
            return web.Response(status=404, text="There is no such page.")
        kind = "text/plain" if path == "/robots.txt" else _XML
        return web.Response(text=text, content_type=kind)

    def _other(self, path: str, host: int, now: float) -> str | None:
        """Content of an address that is not a page."""
        origin = self.origins[host]
        if path == "/robots.txt":
            self.requests.robots += 1
            return pages.robots_text(origin)
        if path == pages.SITEMAP:
            return pages.sitemap_index(origin, host)
        if path == pages.FEED and not host:
            return pages.feed(self._world, origin, now)
        for section, each in enumerate(SECTIONS):
            if path == pages.sitemap_of(section) and each.host == host:
                return pages.sitemap(self._world, section, origin, now)
        return None

    def _page_response(self, request: web.Request, page: int, now: float) -> web.Response:
        world = self._world
        section = SECTIONS[world.section[page]]
        version = world.version(page, now)
        changed = int(world.changed_at(page, now) * SECONDS_A_DAY)
        headers = {}
        if section.says is Says.TAG_AND_DATE:
            headers["ETag"] = f'"{page}-{version}"'
        if section.says is not Says.NOTHING:
            wrong = section.says is Says.WRONG_DATE
            headers["Last-Modified"] = http_text(now * SECONDS_A_DAY if wrong else changed)
        if section.says is Says.DENIES:
            headers = {"Last-Modified": http_text(world.start * SECONDS_A_DAY)}
            changed = int(world.start * SECONDS_A_DAY)
        if section.says is not Says.WRONG_DATE and _has_it(request, headers, changed):
            return web.Response(status=304, headers=headers)
        token = self._random.bytes(8).hex() if section.token else ""
        number = int(self._random.integers(86_400)) if section.noise else None
        html = pages.page_html(world, page, version, token, number)
        return web.Response(text=html, content_type="text/html", headers=headers)


def _has_it(request: web.Request, headers: dict[str, str], changed: int) -> bool:
    """Whether the client has this version; an ETag takes precedence over a date."""
    tag = headers.get("ETag")
    if tag and "If-None-Match" in request.headers:
        return request.headers["If-None-Match"] == tag
    since = http_date(request.headers.get("If-Modified-Since", ""))
    return "Last-Modified" in headers and since is not None and since >= changed
