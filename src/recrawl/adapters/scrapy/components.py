"""What the add-on puts into Scrapy: a scheduler, a downloader middleware, a spider middleware.

    scheduler              pages that are due become requests; requests of the spider become pages
    downloader middleware  conditional requests; every visit judged and written down
    spider middleware      notes when the spider has done with a page

Requests that are for no page (forms, callbacks that are no methods) go their way as ever.

Touches: a store, files, threads, the event loop.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, Any, Self

from scrapy.core.scheduler import BaseScheduler, Scheduler
from scrapy.exceptions import IgnoreRequest
from scrapy.responsetypes import responsetypes

from recrawl.adapters.scrapy.request_book import OUTCOME, PAGE
from recrawl.adapters.scrapy.revisits import Revisits

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.internet.defer import Deferred

    from recrawl.scheduler import DuePage
    from recrawl.visits.status import VisitOutcome

_NOT_MODIFIED = 304
_PERMANENT = frozenset({301, 308})
_LARGE_BODY = 1 << 16  # bytes from which on a page is read in a thread
_SHORTEST_TIMER_SECONDS = 0.01


class RevisitScheduler(BaseScheduler):
    """Scrapy's scheduler for the pages of a spider.

    Args:
        crawler: Whose.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._others = Scheduler.from_crawler(crawler)
        self._revisits: Revisits | None = None
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it as Scrapy does."""
        return cls(crawler)

    def open(self, spider: Spider) -> Deferred[None] | None:
        """Hold the store, and ask again for what a run that was killed has not parsed."""
        opened = self._others.open(spider)
        self._revisits = Revisits.open(self._crawler)
        for request in self._revisits.unparsed():
            self._others.enqueue_request(request)
        return opened

    def close(self, reason: str) -> Deferred[None] | None:
        """Save what was learned, and let the store go."""
        self._stop_timer()
        if self._revisits is not None:
            self._revisits.close()
        return self._others.close(reason)

    def has_pending_requests(self) -> bool:
        """Whether this run may have more to do."""
        if self._others.has_pending_requests():
            return True
        return self._revisits is not None and self._revisits.is_pending()

    def enqueue_request(self, request: Request) -> bool:
        """Take in a page, or queue what is none."""
        if self._revisits is not None and self._revisits.take_in(request):
            return True
        return self._others.enqueue_request(request)

    def next_request(self) -> Request | None:
        """What is to be asked next."""
        request = self._others.next_request()
        if request is None and self._revisits is not None:
            request = self._revisits.next_request()
            if request is None:
                self._start_timer(self._revisits.due_in())
        return request

    def _start_timer(self, seconds: float) -> None:
        """Feed the engine when a page is due: by itself it asks only every five seconds."""
        self._stop_timer()
        loop = _running_loop()
        if loop is not None and seconds < inf:
            self._timer = loop.call_later(max(seconds, _SHORTEST_TIMER_SECONDS), self._feed)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _feed(self) -> None:
        engine = self._crawler.engine
        request = self.next_request()
        if request is not None and engine is not None:
            engine.crawl(request)


class RevisitMiddleware:
    """Makes requests for pages conditional, and writes down what became of them.

    Args:
        crawler: Whose.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._keeps_unchanged = crawler.settings.get("RECRAWL_UNCHANGED", "drop") == "parse"

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it as Scrapy does."""
        return cls(crawler)

    def process_request(self, request: Request, spider: Spider | None = None) -> None:
        """Ask for a page only if it was modified."""
        del spider
        revisits = Revisits.of(self._crawler)
        page = revisits.page_of(request) if revisits else None
        if page is not None and "redirect_times" not in request.meta:
            for name, value in page.headers.items():
                request.headers.setdefault(name, value)

    async def process_response(
        self, request: Request, response: Response, spider: Spider | None = None
    ) -> Response:
        """Write a visit down; what has not changed comes to the spider only if asked for."""
        del spider
        revisits = Revisits.of(self._crawler)
        page = revisits.page_of(request) if revisits else None
        if revisits is None or page is None:
            return response
        outcome = await self._record(revisits, page, request, response)
        self._count(outcome)
        request.meta[OUTCOME] = outcome.label
        if not outcome.compared or outcome.brings_content:
            return response
        if not self._keeps_unchanged:
            revisits.parsed(page.address)
            raise IgnoreRequest(f"recrawl: {page.address} is unchanged")
        return self._kept(revisits, page, response) if _is_304(response) else response

    def process_exception(
        self, request: Request, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Write down that a visit failed, or that it was not made."""
        del spider
        revisits = Revisits.of(self._crawler)
        page = revisits.page_of(request) if revisits else None
        if revisits is None or page is None:
            return
        if not isinstance(exception, IgnoreRequest):
            self._count(revisits.seen(page, outcome="failed"))
        elif "robots.txt" in str(exception):
            self._count(revisits.seen(page, outcome="refused"))
        else:
            revisits.release(page)

    async def _record(
        self, revisits: Revisits, page: DuePage, request: Request, response: Response
    ) -> VisitOutcome:
        """Judge a response and write it down, in a thread where that takes long."""
        reasons = request.meta.get("redirect_reasons", ())
        found: dict[str, Any] = {
            "status": response.status,
            "headers": _headers(response),
            "body": response.body,
            "url": response.url,
        }
        if reasons and _PERMANENT.issuperset(reasons):
            revisits.moved(page, response.url)
            found |= {"status": reasons[0], "headers": {"location": response.url}, "url": None}
        if not _is_304(response):
            revisits.begin_parsing(page)
        if len(response.body) < _LARGE_BODY or _running_loop() is None:
            return revisits.seen(page, **found)
        return await asyncio.to_thread(revisits.seen, page, **found)

    def _count(self, outcome: VisitOutcome) -> None:
        if self._crawler.stats is not None:
            self._crawler.stats.inc_value(f"recrawl/{outcome.label}")

    @staticmethod
    def _kept(revisits: Revisits, page: DuePage, response: Response) -> Response:
        """The version that is kept, in place of a 304; the 304 where none is."""
        body = revisits.copy(page.address)
        if body is None:
            return response
        kind = responsetypes.from_args(headers=response.headers, url=response.url, body=body)
        return kind(response.url, 200, response.headers, body, ["recrawl-kept"], response.request)


class ParsedMiddleware:
    """Notes when the spider has done with a page.

    Args:
        crawler: Whose.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Make it as Scrapy does."""
        return cls(crawler)

    def process_spider_output(
        self, response: Response, result: Iterable[Any], spider: Spider | None = None
    ) -> Iterator[Any]:
        """Hand on what the spider finds."""
        del spider
        yield from result
        self._parsed(response)

    async def process_spider_output_async(
        self, response: Response, result: AsyncIterator[Any], spider: Spider | None = None
    ) -> AsyncIterator[Any]:
        """Hand on what the spider finds."""
        del spider
        async for each in result:
            yield each
        self._parsed(response)

    def process_spider_exception(
        self, response: Response, exception: Exception, spider: Spider | None = None
    ) -> None:
        """Let a page go that the spider cannot parse: it could not the next time, either."""
        del exception, spider
        self._parsed(response)

    def _parsed(self, response: Response) -> None:
        revisits = Revisits.of(self._crawler)
        request = response.request
        address = request.meta.get(PAGE) if request is not None else None
        if revisits is not None and isinstance(address, str):
            revisits.parsed(address)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop; None under a reactor that has none, which does without what needs it."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _headers(response: Response) -> list[tuple[str, str]]:
    """Headers of a response as plain text."""
    return [
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    ]


def _is_304(response: Response) -> bool:
    return response.status == _NOT_MODIFIED
