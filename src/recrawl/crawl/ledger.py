"""What a crawl writes down, and what it does once that is on disk.

A visit counts once it is on disk: only then is it counted, and `on_visit` called. A crawl that
cannot write must end.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recrawl.crawl.tally import Tally
from recrawl.errors import StoreError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from recrawl.crawl.page_visit import PageVisit
    from recrawl.entries.entries import Copy, Entry, Receipt, VisitMade
    from recrawl.entries.reports import VisitsReported
    from recrawl.store.writer import Writer


class Ledger:
    """Writes down what happens.

    Args:
        writer: Writes entries in a thread of its own.
        on_visit: Called with each visit once it is on disk.
        fail: Called with what must end the crawl.

    Attributes:
        tally: What was written, in numbers.
    """

    def __init__(
        self,
        writer: Writer,
        on_visit: Callable[[PageVisit], object],
        fail: Callable[[BaseException], object],
    ) -> None:
        self.tally = Tally()
        self._writer = writer
        self._on_visit = on_visit
        self._fail = fail
        # What is not on disk yet: the newest visit of a page that says anything new, and the newest
        # that brought a version.
        self._news: dict[int, VisitMade] = {}
        self._versions: dict[int, VisitMade] = {}

    def put(self, entry: Entry) -> asyncio.Future[Receipt]:
        """Write something down; the future holds its receipt once it is on disk."""
        future = self._writer.put(entry)
        future.add_done_callback(self._written)
        return future

    def put_visit(self, made: VisitMade, visit: PageVisit) -> None:
        """Write a visit down, and count and report it once it is on disk."""
        self._remember(made)

        def written(done: asyncio.Future[Receipt]) -> None:
            self._forget(made)
            if done.cancelled() or done.exception() is not None:
                return
            number = done.result()
            assert isinstance(number, int)  # noqa: S101 - a visit's receipt is its number
            self._acknowledge(replace(visit, number=number))

        self.put(made).add_done_callback(written)

    def put_report(self, entry: VisitsReported) -> asyncio.Future[Receipt]:
        """Write visits down that another crawler made."""
        for made in entry.visits:
            self._remember(made)

        def written(_: asyncio.Future[Receipt]) -> None:
            for made in entry.visits:
                self._forget(made)

        future = self.put(entry)
        future.add_done_callback(written)
        return future

    def newest(self, page: int, copy: Copy | None, masks: str) -> tuple[Copy | None, str]:
        """A page's copy and masks: what was found a moment ago may not be on disk yet.

        Args:
            page: Number of the page.
            copy: Its copy on disk.
            masks: Its masks on disk.
        """
        made = self._news.get(page)
        if made is None:
            return copy, masks
        return made.copy or copy, masks if made.masks is None else made.masks

    def version(self, page: int) -> bytes | None:
        """The newest version of a page, where it is not on disk yet."""
        made = self._versions.get(page)
        return None if made is None else made.body

    def _remember(self, made: VisitMade) -> None:
        """Keep what a visit found until it is on disk."""
        if made.copy is not None or made.masks is not None:
            self._news[made.page] = made
        if made.body is not None:
            self._versions[made.page] = made

    def _forget(self, made: VisitMade) -> None:
        """Let go of what is on disk, unless something newer has come."""
        for kept in (self._news, self._versions):
            if kept.get(made.page) is made:
                del kept[made.page]

    def _written(self, future: asyncio.Future[Receipt]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        # An entry that was refused for its own sake is missing; all others go on.
        if isinstance(error, StoreError):
            self._fail(error)
        elif error is not None:
            self.tally.lost += 1

    def _acknowledge(self, visit: PageVisit) -> None:
        self.tally.count(visit)
        try:
            self._on_visit(visit)
        except Exception as error:  # noqa: BLE001 - whoever watches may fail in any way
            self._fail(error)
