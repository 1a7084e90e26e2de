"""What deliveries share: the feed to read from, and a wait that can be cut short.

The feed is the outbox. A destination has a position in it, which moves once somebody has taken what
was sent; so a process that is killed between the two sends it again.

Touches: a store, the clock, threads.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from recrawl.adapters.documents.converter import DocumentConverter
from recrawl.errors import StoreCorrupt
from recrawl.publish.content import ContentReader
from recrawl.publish.webhooks.bodies import event_body
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.entries.deliveries import DestinationMoved
    from recrawl.entries.entries import Entry, Receipt
    from recrawl.entries.records import Destination, FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.settings.settings import Settings

    Write = Callable[[Entry], asyncio.Future[Receipt]]

Made = TypeVar("Made")

LONGEST_SLEEP_SECONDS = 60.0
_EVENTS_AT_A_TIME = 100


class Outbox:
    """Reads events, and what they bring with them, in a thread of its own.

    Args:
        store: The store; it is read through a clone.
        settings: Settings of its crawl.

    Attributes:
        feed: Name of the feed.
        settings: Settings of its crawl.
        documents: Reads PDF and Office documents.
    """

    def __init__(self, store: ReadStore, settings: Settings) -> None:
        self._store = store.clone()
        self.settings = settings
        self.documents = DocumentConverter()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recrawl-outbox")
        self.feed = self._store.feed_range().feed

    async def destination(self, name: str) -> Destination:
        """How far a destination is that was named."""
        found = await self.read(lambda store: store.destinations())
        return next(each for each in found if each.name == name)

    async def after(self, number: int) -> list[FeedEvent]:
        """The next events after a number; none at the end of the feed."""
        return await self.read(lambda store: next(store.events(number, _EVENTS_AT_A_TIME), []))

    async def body(self, event: FeedEvent, parts: tuple[str, ...]) -> bytes:
        """What is posted of an event."""
        return await self.read(lambda store: self._body(store, event, parts))

    def _body(self, store: ReadStore, event: FeedEvent, parts: tuple[str, ...]) -> bytes:
        try:
            reader = ContentReader(store, self.settings, parts, self.documents)
            content = reader.of(event)
        except (StoreCorrupt, RecursionError):  # the event itself is whole: it is told without
            content = dict.fromkeys(parts)
        return event_body(self.feed, event, content)

    async def read(self, work: Callable[[ReadStore], Made]) -> Made:
        """Do something with the store, in the thread."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._store)

    async def close(self) -> None:
        """Close the store once nobody reads it. Idempotent."""
        self.documents.close()
        await self.read(lambda store: store.close())
        self._thread.shutdown(wait=False)


class Alarm:
    """Waits on a clock until the time has come, or something may be there to deliver.

    Args:
        clock: Source of the current time.

    Attributes:
        ending: Whether there is nothing more to wait for.
    """

    def __init__(self, clock: Clock) -> None:
        self.ending = False
        self._clock = clock
        self._woken = asyncio.Event()

    def wake(self) -> None:
        """Have whoever waits look again."""
        self._woken.set()

    def end(self) -> None:
        """The same, for the last time."""
        self.ending = True
        self._woken.set()

    def reset(self) -> None:
        """Forget that it was woken: whatever it was for is looked at next."""
        self._woken.clear()

    async def sleep(self, seconds: float) -> None:
        """Wait so long on the clock, or until woken."""
        real = self._clock.seconds(min(seconds, LONGEST_SLEEP_SECONDS) / SECONDS_A_DAY)
        timer = asyncio.get_running_loop().call_later(real, self._woken.set)
        try:
            await self._woken.wait()
        finally:
            timer.cancel()

    def now(self) -> float:
        """Epoch seconds."""
        return self._clock.now() * SECONDS_A_DAY


class Positions:
    """Writes down how far a destination is, without waiting for the disk.

    Args:
        write: Writes to the store.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._written: asyncio.Future[Receipt] | None = None

    def put(self, moved: DestinationMoved) -> None:
        """Write it down; raise where the last time has failed."""
        if self._written is not None and self._written.done():
            self._written.result()
        self._written = self._write(moved)
        self._written.add_done_callback(_heed)


def _heed(written: asyncio.Future[Receipt]) -> None:
    """Take note of a failure: the next write raises it."""
    if not written.cancelled():
        written.exception()
