"""A crawl put together from its settings and its store, and taken apart again.

Touches: the network and a store.
"""

from __future__ import annotations

import gc
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

from recrawl.crawl.crawler import Crawler
from recrawl.fetch.http import HttpFetcher
from recrawl.state.opening import open_crawl
from recrawl.store.retention import Retention
from recrawl.store.sqlite.reader import Reader
from recrawl.store.sqlite.store import Store
from recrawl.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from recrawl.clock import Clock
    from recrawl.crawl.ledger import Told
    from recrawl.fetch.fetcher import Fetcher, Limits
    from recrawl.settings.settings import Settings

_COLLECT_AFTER = 50_000, 20, 20


@asynccontextmanager
async def running(  # noqa: PLR0913 - what a crawl works with, and who is told of it
    settings: Settings,
    path: Path,
    clock: Clock,
    *,
    told: Callable[[Told], object] = bool,
    relearnt: Callable[[int], object] = int,
    limits: Limits | None = None,
    recorded: Callable[[Fetcher], Fetcher] | None = None,
) -> AsyncIterator[Crawler]:
    """A crawler at work on a store, which is held for writing until it is done.

    Args:
        settings: What is asked of the crawl.
        path: The store.
        clock: What time it is.
        told: Told of each visit once it is on disk.
        relearnt: Told how many visits have been learnt again, now and then.
        limits: What one request may cost.
        recorded: Makes of what fetches something that also writes down what was fetched.
    """
    retention = Retention(max(settings.versions, 1), settings.keep, settings.size)
    with Store.open(path, retention) as store, Reader(path) as reader:
        crawl = open_crawl(settings, store, reader, clock.now(), told=relearnt)
        fetcher: Fetcher = HttpFetcher(settings.agent, limits)
        if recorded is not None:
            fetcher = recorded(fetcher)
        writer = Writer(store)
        try:
            with _fewer_collections():
                yield Crawler(crawl, reader, writer, fetcher, clock, told)
        finally:
            try:
                await fetcher.close()
            finally:
                await writer.close()


@contextmanager
def _fewer_collections() -> Iterator[None]:
    """Look less often for cycles of dead objects.

    Each visit leaves some hundreds of objects that live for its time. Looking through them every
    seven hundred took a tenth of all CPU time, and found next to nothing.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AFTER)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
