"""Delivery of the change feed: one task per destination, in order, at least once.

The feed is the outbox. A destination has a position in it, which moves once a receiver has
answered; so a process that is killed between the two delivers the event again, under the same id.
A receiver that is dead holds up itself alone.

Touches: the network, a store, the clock, threads.
"""

from __future__ import annotations

import asyncio
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

from recrawl.entries.deliveries import DestinationMoved
from recrawl.errors import StoreCorrupt
from recrawl.fetch.fetcher import RequestLimits
from recrawl.parse.messages import Request
from recrawl.publish.content import ContentReader
from recrawl.publish.cursors import cursor_text
from recrawl.publish.events import EventFilter
from recrawl.publish.webhooks.bodies import CONTENT_TYPE, event_body
from recrawl.publish.webhooks.retries import (
    after_attempt,
    is_delivered,
    wait_seconds,
    what_failed,
)
from recrawl.publish.webhooks.signing import read_secret
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recrawl.clock import Clock
    from recrawl.entries.entries import Entry, Receipt
    from recrawl.entries.records import Destination, FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.parse.messages import Response
    from recrawl.publish.webhooks.signing import Secret
    from recrawl.settings.settings import Settings
    from recrawl.settings.webhook_keys import Webhook

    Write = Callable[[Entry], asyncio.Future[Receipt]]

Made = TypeVar("Made")

# What one attempt may cost. An answer is one of a few words.
LIMITS = RequestLimits(
    connect_seconds=10.0,
    idle_seconds=15.0,
    total_seconds=20.0,
    raw_bytes=1 << 16,
    decoded_bytes=1 << 16,
)
_EVENTS_AT_A_TIME = 100
_LONGEST_SLEEP_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A webhook and the secret that signs what it is sent."""

    webhook: Webhook
    secret: Secret = field(repr=False)


def targets_of(settings: Settings, folder: Path) -> tuple[WebhookTarget, ...]:
    """Webhooks of the settings with their secrets.

    Args:
        settings: The settings.
        folder: Where paths of secrets begin.

    Raises:
        InvalidSettings: A secret is not where it should be.
    """
    return tuple(
        WebhookTarget(webhook, read_secret(webhook.secret, folder)) for webhook in settings.webhooks
    )


class Outbox:
    """Reads events, and what they bring with them, in a thread of its own.

    Args:
        store: The store; it is read through a clone.
        settings: Settings of its crawl.
    """

    def __init__(self, store: ReadStore, settings: Settings) -> None:
        self._store = store.clone()
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="recrawl-outbox")
        self.feed = self._store.feed_range().feed

    async def destination(self, name: str) -> Destination:
        """How far a destination is that was named."""
        found = await self._run(self._store.destinations)
        return next(each for each in found if each.name == name)

    async def after(self, number: int) -> list[FeedEvent]:
        """The next events after a number; none at the end of the feed."""
        return await self._run(lambda: next(self._store.events(number, _EVENTS_AT_A_TIME), []))

    async def body(self, event: FeedEvent, parts: tuple[str, ...]) -> bytes:
        """What is posted of an event."""
        return await self._run(lambda: self._body(event, parts))

    def _body(self, event: FeedEvent, parts: tuple[str, ...]) -> bytes:
        try:
            content = ContentReader(self._store, self._settings, parts).of(event)
        except (StoreCorrupt, RecursionError):  # the event itself is whole: it is told without
            content = dict.fromkeys(parts)
        return event_body(self.feed, event, content)

    async def _run(self, work: Callable[[], Made]) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def close(self) -> None:
        """Close the store once nobody reads it. Idempotent."""
        await self._run(self._store.close)
        self._thread.shutdown(wait=False)


class Delivery:
    """Delivers events to one destination.

    Args:
        target: Where to.
        outbox: Where from.
        fetcher: Posts them.
        write: Writes down how far it is.
        clock: Source of the current time.
        on_remark: Called with a sentence when it begins to fail, recovers or ends.

    Attributes:
        delivered: How many were delivered.
        waits: Whether the last attempt failed, so that events wait.
    """

    def __init__(
        self,
        target: WebhookTarget,
        outbox: Outbox,
        fetcher: Fetcher,
        write: Write,
        clock: Clock,
        on_remark: Callable[[str], object] = bool,
    ) -> None:
        self.delivered = 0
        self.waits = False
        self._webhook, self._secret = target.webhook, target.secret
        self._filter = EventFilter(frozenset(target.webhook.kinds), frozenset(target.webhook.hosts))
        self._outbox = outbox
        self._fetcher = fetcher
        self._write = write
        self._clock = clock
        self._on_remark = on_remark
        self._random = random.Random()  # noqa: S311 - spreads those who wait, no secret
        self._woken = asyncio.Event()
        self._written: asyncio.Future[Receipt] | None = None
        self._ending = False

    def wake(self) -> None:
        """Look for events: some may have been committed."""
        self._woken.set()

    def end(self) -> None:
        """Deliver what there is, and end; what must wait for its time waits for the next run."""
        self._ending = True
        self._woken.set()

    async def run(self, *, by_hand: bool = False) -> None:
        """Deliver until there is nothing more to come.

        Args:
            by_hand: Whether somebody asks for it, so that a receiver which had asked to be told no
                more is asked again.
        """
        at = await self._outbox.destination(self._webhook.key)
        if at.disabled and not by_hand:
            self._say("it had answered 410; `recrawl changes --deliver` tries it again")
        while not at.disabled or by_hand:
            if not await self._wait_for_turn(at):
                return
            self._woken.clear()
            events = await self._outbox.after(at.cursor)
            if events and events[0].number != at.cursor + 1:
                lost = events[0].number - at.cursor - 1
                self._say(f"{lost:,} events were dropped before they could be delivered")
            at = await self._deliver(at, events)
            if at.disabled:
                return
            if not events:
                if self._ending:
                    return
                await self._sleep(_LONGEST_SLEEP_SECONDS)

    def wants(self, event: FeedEvent) -> bool:
        """Whether the settings ask for an event to be delivered."""
        return self._filter.holds(event)

    async def deliver(self, event: FeedEvent) -> Response:
        """Make one attempt at one event, signed for this moment."""
        body = await self._outbox.body(event, self._webhook.parts)
        name = cursor_text(self._outbox.feed, event.number)
        # The receiver compares it with its own clock, so that nobody sends it again later.
        signed = self._secret.headers(name, body, int(time.time()))
        request = Request(
            self._webhook.address,
            local=self._webhook.local,
            body=body,
            headers={"Content-Type": CONTENT_TYPE, **signed},
        )
        return await self._fetcher.fetch(request)

    async def _deliver(self, at: Destination, events: list[FeedEvent]) -> Destination:
        """Deliver events one after the other, until one fails."""
        for event in events:
            if not self.wants(event):
                continue
            response = await self.deliver(event)
            now = self._now()
            moved = after_attempt(at, event.number, response, now, self._random.random())
            self._tell(at, moved, response)
            self.waits = not is_delivered(response) and not moved.given_up
            self._put(moved)
            at = moved.destination
            if at.cursor != event.number:
                return at
            self.delivered += is_delivered(response)
        if events and at.cursor != events[-1].number:  # none of the last ones is wanted
            at = replace(at, cursor=events[-1].number)
            self._put(DestinationMoved(at, self._now()))
        return at

    def _tell(self, before: Destination, moved: DestinationMoved, response: Response) -> None:
        """Say what people should know: the first failure, the last, and that all is well again."""
        why = what_failed(response)
        if moved.given_up:
            self._say(f"an event was given up ({why}); see `recrawl changes --undelivered`")
        elif moved.destination.disabled:
            self._say("answered 410: it is told no more")
        elif is_delivered(response):
            if before.attempts or before.disabled:
                self._say("answers again")
        elif not before.attempts:
            self._say(f"{why}; it is tried again")

    def _say(self, said: str) -> None:
        self._on_remark(f"Webhook {self._webhook.label}: {said}.")

    def _put(self, moved: DestinationMoved) -> None:
        """Write down how far it is, without waiting for the disk; raise where that has failed."""
        if self._written is not None and self._written.done():
            self._written.result()
        self._written = self._write(moved)
        self._written.add_done_callback(_heed)

    async def _wait_for_turn(self, at: Destination) -> bool:
        """Wait until the next attempt is due; False where that is after the end."""
        while (seconds := wait_seconds(at, self._now())) > 0:
            if self._ending:
                self.waits = True
                return False
            self._woken.clear()
            await self._sleep(min(seconds, _LONGEST_SLEEP_SECONDS))
        return True

    async def _sleep(self, seconds: float) -> None:
        """Wait so long on the clock, or until woken."""
        real = self._clock.seconds(seconds / SECONDS_A_DAY)
        timer = asyncio.get_running_loop().call_later(real, self._woken.set)
        try:
            await self._woken.wait()
        finally:
            timer.cancel()

    def _now(self) -> float:
        return self._clock.now() * SECONDS_A_DAY


def _heed(written: asyncio.Future[Receipt]) -> None:
    """Take note of a failure: the next write raises it."""
    if not written.cancelled():
        written.exception()
