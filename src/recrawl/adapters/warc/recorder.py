"""Fetchers that write all they fetch to WARC files.

Writing takes place in a thread, in the order in which responses come. A response is handed on once
it is written: so the files never lack what a crawl has seen, and no more waits to be written than
is being fetched. Files that cannot be written end the crawl. The crawls of one process, such as a
worker's slots, share one recorder: a folder of files has one writer.

Touches: the network through what it is given, files, the clock.
"""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import inf
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Self, TypeAlias

from recrawl.adapters.warc.fetches import RecordedFetch
from recrawl.errors import RecrawlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.adapters.warc.folder import WarcFolder
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.parse.messages import Request, Response

_Waiting: TypeAlias = "tuple[RecordedFetch, asyncio.Future[None]]"

_SYNC_SECONDS = 5.0


class WarcRecorder:
    """Writes down what fetchers fetch.

    Made, used and closed inside of a running event loop. The folder belongs to it until it is
    closed, and is closed with it.

    Args:
        folder: Where to write.
        may_archive: Whether the content of a fetch may be written down; all by default.
        sync_seconds: After so long what was written is on disk, whatever happens to the machine.
    """

    def __init__(
        self,
        folder: WarcFolder,
        *,
        may_archive: Callable[[RecordedFetch], bool] = bool,
        sync_seconds: float = _SYNC_SECONDS,
    ) -> None:
        self._folder = folder
        self._may_archive = may_archive
        self._sync_seconds = sync_seconds
        self._loop = asyncio.get_running_loop()
        self._failure: Exception | None = None
        self._raised = False
        self._queue: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="recrawl-warc", daemon=True)
        self._thread.start()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the files; raises what nobody who fetched has heard of."""
        self._queue.put(None)
        await self._loop.run_in_executor(None, self._thread.join)
        if self._failure is not None and not self._raised:
            raise self._failure

    def wrap(self, fetcher: Fetcher) -> RecordingFetcher:
        """A fetcher whose fetches are written down."""
        return RecordingFetcher(fetcher, self)

    async def record(self, fetched: RecordedFetch) -> None:
        """Write a fetch down; raises `CannotWrite` where it cannot be."""
        written = self._loop.create_future()
        self._queue.put((fetched, written))
        await written

    def _notify(self, written: asyncio.Future[None]) -> None:
        """Tell who waits; in the loop."""
        if written.done():  # nobody waits any more
            return
        if self._failure is None:
            written.set_result(None)
        else:
            self._raised = True
            written.set_exception(self._failure)

    def _work(self) -> None:
        """Write one fetch after the other; in the thread."""
        due = inf  # when to put what was written on disk
        while True:
            if time.monotonic() >= due:
                self._attempt(self._folder.sync)
                due = inf
            try:
                wait = None if due == inf else max(due - time.monotonic(), 0.0)
                waiting = self._queue.get(timeout=wait)
            except Empty:
                continue
            if waiting is None:
                break
            fetched, written = waiting
            self._attempt(partial(self._write, fetched))
            due = min(due, time.monotonic() + self._sync_seconds)
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._notify, written)
        try:
            self._folder.close()
        except RecrawlError as error:
            self._failure = self._failure or error

    def _write(self, fetched: RecordedFetch) -> None:
        self._folder.write(replace(fetched, archived=self._may_archive(fetched)))

    def _attempt(self, write: Callable[[], None]) -> None:
        """Write something, unless that has failed before."""
        if self._failure is not None:
            return
        try:
            write()
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of our own slips, too
            self._failure = error


class RecordingFetcher:
    """Fetches as another fetcher does, and has what was fetched written down.

    Args:
        fetcher: Makes the requests; closed with it.
        recorder: Writes them down.
    """

    def __init__(self, fetcher: Fetcher, recorder: WarcRecorder) -> None:
        self._fetcher = fetcher
        self._recorder = recorder

    async def fetch(self, request: Request, on_send: Callable[[], object] = bool) -> Response:
        """Response to one request, once it is written; raises `CannotWrite` where it cannot be."""
        at = int(time.time() * 1000)
        response = await self._fetcher.fetch(request, on_send)
        await self._recorder.record(RecordedFetch(request, response, at))
        return response

    async def close(self) -> None:
        """Let go of all connections; idempotent."""
        await self._fetcher.close()
