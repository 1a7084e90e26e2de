"""Notifiers at work on a store, on a clock that a test sets."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from recrawl.entries.deliveries import DestinationsNamed
from recrawl.publish.notify.messages import MessageRoom
from recrawl.publish.notify.services import NotifyTarget, Service
from recrawl.publish.retries import Attempt
from recrawl.publish.tasks import Hooks, at_work, open_notifiers
from recrawl.settings.notify_keys import Recipient
from recrawl.settings.settings import read_settings
from recrawl.store import open_for_writing, open_store
from recrawl.store.writer import Writer
from recrawl.units import SECONDS_A_DAY
from tests.publish import fed
from tests.store.made import NOON
from tests.waiting import HANGS_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from recrawl.publish.notify.messages import Message
    from recrawl.visits.status import FeedKind

HOUR = 3600.0
_LOOKS = 5  # at the clock: whoever waits has looked for events and decided what to do


class SetClock:
    """A clock that goes on when a test says so; who waits looks at it again and again."""

    def __init__(self) -> None:
        self.hours = 0.0
        self.looks = 0

    def now(self) -> float:
        """Days after 1970."""
        self.looks += 1
        return (NOON + self.hours * HOUR) / SECONDS_A_DAY

    def seconds(self, days: float) -> float:
        """Real seconds until the next look."""
        return 0.002

    async def sleep(self, days: float) -> None:
        """Wait for a look."""
        await asyncio.sleep(0.002)


class Told:
    """Takes messages instead of a service.

    Args:
        answer: What comes of a message, by how many came before: its problem, empty for none.
    """

    def __init__(self, answer: Callable[[int], str] = lambda _: "") -> None:
        self.answer = answer
        self.tried: list[str] = []
        self.taken: list[str] = []

    async def __call__(self, service: Service, message: Message) -> Attempt:
        """Take a message."""
        problem = self.answer(len(self.tried))
        said = f"{message.title}\n{message.body}"
        self.tried.append(said)
        if problem == "hang":
            await asyncio.sleep(HANGS_SECONDS)
        if not problem:
            self.taken.append(said)
        return Attempt(problem, ours=problem == "ours")


def target(name: str = "me", address: str = "json://unused", **asked: Any) -> NotifyTarget:
    """A recipient once an hour, whose service takes text."""
    recipient = Recipient("env:UNUSED", name, **{"every": 1 / 24} | asked)
    return NotifyTarget(recipient, Service(address, MessageRoom()))


class Work:
    """What a test does while notifiers are at work."""

    def __init__(self, clock: SetClock, writer: Writer) -> None:
        self.clock = clock
        self._writer = writer

    async def event(self, kind: FeedKind, page: int, body: bytes | None, *, hour: int) -> None:
        """Write a visit with an event, and wait until all have looked at it."""
        await self._writer.put(fed._made(kind, page, body, hour))
        await self.at(self.clock.hours)

    async def at(self, hours: float) -> None:
        """Set the clock, and wait until all have looked at it."""
        self.clock.hours, looks = hours, self.clock.looks
        async with asyncio.timeout(HANGS_SECONDS):
            while self.clock.looks < looks + _LOOKS:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.002)


@asynccontextmanager
async def notifying(
    path: Path, send: Any, *targets: NotifyTarget, clock: Any = None, said: Any = bool
) -> AsyncIterator[Work]:
    """Notify from a store beside the block, and of what is left after it."""
    hooks, clock = Hooks(recipients=targets, send=send), clock or SetClock()
    settings = read_settings(fed.SETTINGS)
    with open_for_writing(path) as store, open_store(path) as reader:
        store.write([DestinationsNamed(hooks.names)])
        writer = Writer(store, longest_wait_seconds=0.005)
        try:
            async with (
                open_notifiers(hooks, reader, settings, writer.put, clock, said) as notifiers,
                at_work(notifiers, said) as wake,
            ):
                writer.on_commit = wake
                yield Work(clock, writer)
        finally:
            await writer.close()
