"""Bodies made ready to be read beside the event loop: pages by threads, documents by their worker.

Sites take turns at the worker, of which a crawl has one, and what it takes is charged to them as
CPU time of their pages is.

Touches: threads, processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recrawl.adapters.documents.bounds import WALL_SECONDS
from recrawl.crawl.worker_threads import WorkerThreads
from recrawl.detect.change import not_converted
from recrawl.parse.addresses import site_of
from recrawl.parse.documents import document_kind

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from recrawl.adapters.documents.converter import DocumentConverter
    from recrawl.crawl.worker_threads import OnCpu, Run
    from recrawl.detect.change import Convert

# Two wait in threads for the worker: one that it works on, one that is next.
_LONGEST_SECONDS = 3.0 * WALL_SECONDS


@dataclass(frozen=True, slots=True)
class ReadyBody:
    """A body that can be read without waiting for anybody.

    Args:
        size: Bytes or characters that are to be read.
        convert: Gives the HTML of a document that was converted.
    """

    size: int
    convert: Convert = not_converted


class PageReader:
    """Makes bodies ready, and gives turns for reading them.

    Args:
        threads: Read large pages.
        documents: Reads documents; None to leave them unread.
        on_cpu: Called with the CPU seconds that a document of a site took.
        on_remark: Called with a sentence on the first document that cannot be read for a reason.
    """

    def __init__(
        self,
        threads: WorkerThreads,
        documents: DocumentConverter | None,
        on_cpu: OnCpu,
        on_remark: Callable[[str], object],
    ) -> None:
        self._threads = threads
        self._documents = documents
        self._waiting = WorkerThreads(_LONGEST_SECONDS)
        self._on_cpu = on_cpu
        self._on_remark = on_remark
        self._told: set[str] = set()

    def turn(self, size: int, address: str) -> AbstractAsyncContextManager[Run]:
        """Turn for reading so much of a page; see `WorkerThreads.turn`."""
        return self._threads.turn(size, site_of(address))

    async def ready(self, body: bytes, address: str) -> ReadyBody:
        """A body once it can be read: a document when it has been converted.

        Args:
            body: The body.
            address: Address of its page, whose site pays for it.
        """
        if self._documents is None or not document_kind(body):
            return ReadyBody(len(body))
        site = site_of(address)
        found = await self._waiting.run(partial(self._documents.convert, body), owner=site)
        self._on_cpu(site, found.seconds, large=False)
        if found.html is None and found.problem not in self._told:
            self._told.add(found.problem)
            self._on_remark(
                f"{address}: the document cannot be read ({found.problem}) and is compared by its "
                "bytes. Further documents with this problem are not reported."
            )
        return ReadyBody(len(found.html or ""), lambda _: found.html)
