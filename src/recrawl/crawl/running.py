"""A crawl put together from its settings and its store, and taken apart again.

Touches: the network and a store.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import resource
import sys
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from recrawl.adapters.documents.converter import DocumentConverter
from recrawl.crawl.crawler import Crawler
from recrawl.crawl.remarks import Remarks
from recrawl.entries.deliveries import DestinationsNamed
from recrawl.fetch.access import AccessTable
from recrawl.fetch.http.client import PER_ADDRESS, HttpFetcher
from recrawl.publish.tasks import (
    Hooks,
    at_work,
    open_deliveries,
    open_notifiers,
    open_programs,
)
from recrawl.report.plans import weights_sentence
from recrawl.state.opening import open_crawl
from recrawl.state.weights import check_weights
from recrawl.store import open_for_writing, open_store
from recrawl.store.retention import Retention
from recrawl.store.writer import Writer
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from contextlib import AbstractContextManager

    from recrawl.clock import Clock
    from recrawl.crawl.page_visit import PageVisit
    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.fetch.fetcher import Fetcher, RequestLimits
    from recrawl.settings.settings import Settings
    from recrawl.state.opening import Crawl
    from recrawl.store import Address

    Opener = Callable[[Retention], AbstractContextManager[tuple[WriteStore, ReadStore]]]

_OTHERS_SECONDS = 2.0  # after which events of other workers are seen
_COLLECT_AFTER = 50_000, 20, 20
_MOST_FILES = 1 << 16
_SWITCH_SECONDS = 0.0005
_MMAP_THRESHOLD, _LARGE_BLOCK = -3, 1 << 20


@asynccontextmanager
async def running(  # noqa: PLR0913 - what a crawl works with, and who is told of it
    settings: Settings,
    store: Address,
    clock: Clock,
    *,
    on_visit: Callable[[PageVisit], object] = bool,
    on_replay: Callable[[int], object] = int,
    on_dated_back: Callable[[int], object] = int,
    on_remark: Callable[[str], object] = bool,
    limits: RequestLimits | None = None,
    access: AccessTable | None = None,
    record: Callable[[Fetcher], Fetcher] | None = None,
    hooks: Hooks | None = None,
    seed: int | None = None,
    opened: Opener | None = None,
    feed: ReadStore | None = None,
) -> AsyncIterator[Crawler]:
    """A crawler at work on a store, which is held for writing until it is done.

    Args:
        settings: What is asked of the crawl.
        store: Path or URL of the store.
        clock: Source of the current time.
        on_visit: Called with each visit once it is on disk.
        on_replay: Called now and then with how many visits have been replayed.
        on_dated_back: Called with how many visits a clock ahead of time had put into the future.
        on_remark: Called with a sentence on damage that was made good, and on what holds the crawl
            up, each once an hour.
        limits: What one request may cost.
        access: How addresses are asked for; as the settings say, with paths that begin in the
            working folder, unless given.
        record: Wraps the fetcher in one that also writes down what was fetched.
        hooks: Who is told of events.
        seed: Seed of all that is left to chance; a fresh one if none is given.
        opened: Opens the store, or the part of it that the crawl is of; all of it by default.
        feed: Whose events the hooks are told of; those of what is opened by default.
    """
    weights = check_weights(settings)  # before anything is written
    _allow_files()
    _return_large_blocks()
    access = access or AccessTable(settings, Path())
    retention = Retention.of(settings)
    with ExitStack() as stack:

        def begin() -> tuple[WriteStore, ReadStore, Crawl]:
            part = opened(retention) if opened else _whole(store, retention)
            written, reader = stack.enter_context(part)
            dated_back = written.date_back(clock.now() * SECONDS_A_DAY)
            if dated_back:
                on_dated_back(dated_back)
            random = np.random.default_rng(seed)
            crawl = open_crawl(
                settings, written, reader, clock.now(), random=random, on_replay=on_replay
            )
            return written, reader, crawl

        # Other parts are crawled meanwhile, in the loop of this thread.
        written, reader, crawl = await asyncio.to_thread(begin) if opened else begin()
        for sentence in (*reader.remarks, *access.expired()):
            on_remark(sentence)
        if weights is not None:
            names = settings.weights, weights, crawl.named, len(crawl.agenda)
            on_remark(weights_sentence(*names))
        fetcher: Fetcher = HttpFetcher(
            settings.agent,
            limits,
            per_address=max(PER_ADDRESS, 2 * settings.together),
            access=access,
            on_remark=Remarks(on_remark, clock),
        )
        if record is not None:
            fetcher = record(fetcher)
        hooks = hooks or Hooks()
        if hooks.names:  # before the first visit: they are told of all that come
            written.write([DestinationsNamed(hooks.names)])
        writer = Writer(written)
        try:
            with _fewer_collections(), _quick_switches():
                given = (hooks, feed or reader, settings, writer.put, clock, on_remark)
                async with (
                    open_deliveries(*given) as webhooks,
                    open_notifiers(*given) as notifiers,
                    open_programs(*given) as programs,
                    at_work([*webhooks, *notifiers, *programs], on_remark) as wake,
                    _waking(wake, bool(hooks.names) and feed is not None),
                ):
                    writer.on_commit = wake
                    with DocumentConverter() as documents:
                        yield Crawler(
                            crawl, reader, writer, fetcher, clock, on_visit, on_remark, documents
                        )
        finally:
            try:
                await fetcher.close()
            finally:
                await writer.close()


@asynccontextmanager
async def _waking(wake: Callable[[], None], shared: bool) -> AsyncIterator[None]:  # noqa: FBT001 - whether
    """Have deliveries look again now and then, where others commit events, too."""

    async def keep_waking() -> None:
        while True:
            await asyncio.sleep(_OTHERS_SECONDS)
            wake()

    task = asyncio.create_task(keep_waking()) if shared else None
    try:
        yield
    finally:
        if task is not None:
            task.cancel()


@contextmanager
def _whole(store: Address, retention: Retention) -> Iterator[tuple[WriteStore, ReadStore]]:
    """A store open for writing and reading."""
    with open_for_writing(store, retention) as written, open_store(store) as reader:
        yield written, reader


def _allow_files() -> None:
    """Let the process open as many files as the system allows it to: the usual 1,024 are few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(OSError, ValueError):  # as it was is fine, only slower
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _return_large_blocks() -> None:
    """Let large blocks of memory go back to the system as soon as they are free.

    The C library of most Linux systems keeps blocks up to the size of the largest that was ever
    freed: after a few pages of 20 MB, some 130 MB for nothing.
    """
    with suppress(OSError, AttributeError):  # another C library has other habits
        ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)


@contextmanager
def _quick_switches() -> Iterator[None]:
    """Let the event loop go on soon after it wants to, though a thread reads a large page."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_SECONDS)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


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
