"""What a crawl writes down, and what it does once that is on disk.

A visit counts once it is on disk: only then is it counted, and `on_visit` called. A crawl that
cannot write must end.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from recrawl.crawl.tally import Tally
from recrawl.errors import StoreCorrupt, StoreError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from recrawl.crawl.page_visit import PageVisit
    from recrawl.entries.entries import Copy, Entry, Receipt, VisitMade
    from recrawl.entries.records import VersionLines
    from recrawl.entries.reports import VisitsReported
    from recrawl.entries.store import ReadStore
    from recrawl.store.writer import Writer


class NewestVersions:
    """The newest version of each page, on disk or about to be.

    Args:
        ledger: Knows what is about to be.
        reader: Reads what is on disk.
    """

    def __init__(self, ledger: Ledger, reader: ReadStore) -> None:
        self._ledger = ledger
        self._reader = reader

    def body(self, page: int) -> bytes | None:
        """The newest version of a page; None where none is kept that can be read."""
        made = self._ledger.version(page)
        try:
            return self._reader.newest_body(page) if made is None else made.body
        except StoreCorrupt:  # the copy's signatures tell changes, too, and `check` tells of it
            return None

    def lines(self, page: int) -> VersionLines | None:
        """What a reader saw of it; None where that is not kept."""
        made = self._ledger.version(page)
        try:
            return self._reader.newest_lines(page) if made is None else made.lines
        except StoreCorrupt:  # there is the body, if it is not that
            return None


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
        self._writer.put_visit(made, partial(self._visit_written, made, visit))

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

    def version(self, page: int) -> VisitMade | None:
        """The visit that brought the newest version of a page, where it is not on disk yet."""
        return self._versions.get(page)

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
        if not future.cancelled() and (error := future.exception()) is not None:
            self._lose(error)

    def _lose(self, error: BaseException) -> None:
        # An entry that was refused for its own sake is missing; all others go on.
        if isinstance(error, StoreError):
            self._fail(error)
        else:
            self.tally.lost += 1

    def _visit_written(
        self, made: VisitMade, visit: PageVisit, answer: Receipt | Exception
    ) -> None:
        self._forget(made)
        if isinstance(answer, Exception):
            self._lose(answer)
            return
        assert isinstance(answer, int)  # noqa: S101 - a visit's receipt is its number
        visit.number = answer
        self.tally.count(visit)
        try:
            self._on_visit(visit)
        except Exception as error:  # noqa: BLE001 - whoever watches may fail in any way
            self._fail(error)
