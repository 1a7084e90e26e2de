"""Writer thread of a store: entries from an event loop, written in batches.

    loop      put put put ... put     a batch is full, or 50 ms are over
    thread                       write, commit
    loop                                       receipts: now they are on disk

An entry with a receipt is never lost. When the disk fails, the current batch and everything after
it fail with the same error, and none of it is written. An entry that is invalid fails alone.

Touches: files, threads.
"""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeAlias

from recrawl.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recrawl.entries.entries import Entry, Receipt
    from recrawl.entries.store import WriteStore

_Answer: TypeAlias = "Receipt | Exception"
_OnAnswer: TypeAlias = "Callable[[_Answer], object]"
_Waiting: TypeAlias = "tuple[Entry, asyncio.Future[Receipt] | _OnAnswer]"

_MOST_ENTRIES = 100
_LONGEST_WAIT_SECONDS = 0.05
_MOST_QUEUED = 10_000


class Writer:
    """Writes entries in a thread of its own, in the order in which they were put.

    Made, used and closed inside of a running event loop. The store belongs to the writer until
    it is closed.

    Args:
        store: Where to.
        most_entries: Largest batch.
        longest_wait_seconds: Until a batch that is not full is written.

    Attributes:
        queued: How many entries nobody has been told of yet that they are on disk: while it is 0,
            the callbacks of all futures have run.
        on_commit: Called in the event loop whenever a batch is on disk.
    """

    def __init__(
        self,
        store: WriteStore,
        *,
        most_entries: int = _MOST_ENTRIES,
        longest_wait_seconds: float = _LONGEST_WAIT_SECONDS,
    ) -> None:
        """Start the thread."""
        self._store = store
        self._most_entries = most_entries
        self._longest_wait_seconds = longest_wait_seconds
        self._loop = asyncio.get_running_loop()
        self._batch: list[_Waiting] = []
        self._timer: asyncio.TimerHandle | None = None
        self._put = self._answered = 0  # how many entries
        self._progress: asyncio.Future[None] | None = None  # of whoever waits for answers
        self._closed = False
        self._failure: StoreError | None = None
        self._room = asyncio.Event()
        self._room.set()
        self.queued = 0
        self.on_commit: Callable[[], object] = bool
        # Batches, not entries: the thread wakes up once for all of them.
        self._batches: SimpleQueue[list[_Waiting] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="recrawl-store", daemon=True)
        self._thread.start()

    def put(self, entry: Entry) -> asyncio.Future[Receipt]:
        """Queue an entry; the future holds its receipt once it is on disk."""
        future: asyncio.Future[Receipt] = self._loop.create_future()
        self._queue(entry, future)
        return future

    def put_visit(self, entry: Entry, on_answer: _OnAnswer) -> None:
        """Queue an entry of which there are many; a future for each would cost more than it tells.

        Args:
            entry: The entry.
            on_answer: Called in the event loop with its receipt, or with why it was not written;
                it must not fail.
        """
        self._queue(entry, on_answer)

    def _queue(self, entry: Entry, waiting: asyncio.Future[Receipt] | _OnAnswer) -> None:
        if self._closed:
            raise StoreError(f"{self._store.name}: the store is being closed")
        self._batch.append((entry, waiting))
        self._put += 1
        self.queued += 1
        if len(self._batch) >= self._most_entries:
            self._hand_over()
        elif self._timer is None:
            self._timer = self._loop.call_later(self._longest_wait_seconds, self._hand_over)
        if self.queued >= _MOST_QUEUED:
            self._room.clear()

    async def room(self) -> None:
        """Wait while the queue is full (backpressure)."""
        await self._room.wait()

    async def written(self) -> None:
        """Wait until everything put so far is on disk, or has failed."""
        number = self._put
        while self._answered < number:
            if self._progress is None:
                self._progress = self._loop.create_future()
            await asyncio.shield(self._progress)

    async def close(self) -> None:
        """Write everything queued, and end the thread. Idempotent."""
        if not self._closed:
            self._closed = True
            self._hand_over()
            self._batches.put(None)
        await self._loop.run_in_executor(None, self._thread.join)

    def _hand_over(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._batch:
            self._batches.put(self._batch)
            self._batch = []

    def _tell(self, batch: Sequence[_Waiting], answers: Sequence[_Answer]) -> None:
        """Tell whoever waits for the entries of a batch; runs in the event loop."""
        for (_, waiting), answer in zip(batch, answers, strict=True):
            if not isinstance(waiting, asyncio.Future):
                waiting(answer)
            elif waiting.done():  # nobody waits any more
                continue
            elif isinstance(answer, Exception):
                waiting.set_exception(answer)
            else:
                waiting.set_result(answer)
        self._answered += len(batch)
        if self._progress is not None:
            self._progress.set_result(None)
            self._progress = None
        # The loop calls in order: the callbacks of these futures run before.
        self._loop.call_soon(self._delivered, len(batch))
        self.on_commit()

    def _delivered(self, entries: int) -> None:
        self.queued -= entries
        if self.queued < _MOST_QUEUED:
            self._room.set()

    def _work(self) -> None:
        """Write batch after batch; runs in the thread."""
        while (batch := self._batches.get()) is not None:
            answers = self._write([entry for entry, _ in batch])
            with suppress(RuntimeError):  # the loop is closed: nobody waits any more
                self._loop.call_soon_threadsafe(self._tell, batch, answers)

    def _write(self, entries: Sequence[Entry]) -> Sequence[_Answer]:
        if self._failure is not None:
            return [self._failure] * len(entries)
        try:
            return self._store.write(entries)
        except StoreError as error:
            self._failure = error
            return [error] * len(entries)
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of our own slips, too
            if len(entries) == 1:
                return [error]
            # One invalid entry must not fail its neighbours, nor stop the crawl.
            return [self._write([entry])[0] for entry in entries]
