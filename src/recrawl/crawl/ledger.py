"""What a crawl writes down, and what it does once that is on disk.

A visit counts once it is on disk: only then is it counted and told to whoever watches. A crawl that
cannot write must end.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.crawl.tally import Tally
from recrawl.errors import StoreError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from recrawl.fetch.fetcher import Answer
    from recrawl.store.entries import Copy, Entry, Receipt, VisitMade
    from recrawl.store.writer import Writer
    from recrawl.visits.status import Outcome


@dataclass(frozen=True, slots=True)
class Told:
    """A visit that is on disk.

    Args:
        number: Its number.
        page: Number of the page.
        address: Its address.
        at: When, in days after 1970.
        outcome: What it found.
        answer: The answer.
    """

    number: int
    page: int
    address: str
    at: float
    outcome: Outcome
    answer: Answer


class Ledger:
    """Writes down what happens.

    Args:
        writer: Writes entries in a thread of its own.
        told: Told of each visit once it is on disk.
        fail: Told of what must end the crawl.

    Attributes:
        tally: What was written, in numbers.
        last_visit: Number of the last visit that was written; 0 before the first.
    """

    def __init__(
        self,
        writer: Writer,
        told: Callable[[Told], object],
        fail: Callable[[BaseException], object],
    ) -> None:
        self.tally = Tally()
        self.last_visit = 0
        self._writer = writer
        self._told = told
        self._fail = fail
        self._copies: dict[int, Copy] = {}

    def put(self, entry: Entry) -> asyncio.Future[Receipt]:
        """Write something down; the future holds its receipt once it is on disk."""
        future = self._writer.put(entry)
        future.add_done_callback(self._written)
        return future

    def put_visit(self, made: VisitMade, address: str, at: float, answer: Answer) -> None:
        """Write a visit down, and count and tell it once it is on disk."""
        page, copy = made.page - 1, made.copy
        if copy is not None:
            self._copies[page] = copy

        def written(done: asyncio.Future[Receipt]) -> None:
            if copy is not None and self._copies.get(page) is copy:
                del self._copies[page]
            if done.cancelled() or done.exception() is not None:
                return
            number = done.result()
            assert isinstance(number, int)  # noqa: S101 - a visit's receipt is its number
            self._acknowledge(Told(number, page, address, at, made.outcome, answer))

        self.put(made).add_done_callback(written)

    def copy(self, page: int, on_disk: Copy | None) -> Copy | None:
        """What is known of a page's copy: what was found a moment ago may not be on disk yet."""
        return self._copies.get(page, on_disk)

    def _written(self, future: asyncio.Future[Receipt]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        # An entry that was refused for its own sake is missing; all others go on.
        if isinstance(error, StoreError):
            self._fail(error)
        elif error is not None:
            self.tally.lost += 1

    def _acknowledge(self, visit: Told) -> None:
        self.last_visit = max(self.last_visit, visit.number)
        self.tally.count(visit.outcome, visit.answer)
        try:
            self._told(visit)
        except Exception as error:  # noqa: BLE001 - whoever watches may fail in any way
            self._fail(error)
