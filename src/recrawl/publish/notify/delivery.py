"""Notifications of one recipient: what changed, gathered and sent as one message.

At most one message comes in `every`. The first change after a quiet time waits for a tenth of that,
so that those found with it come in the same message; the end of a crawl waits no longer. Where the
last message was sent is kept in the store, and so is when the next one may be: a crawl that is
killed sends none twice but the last.

Touches: processes, a store, the clock, threads.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import islice
from math import inf
from typing import TYPE_CHECKING

from recrawl.entries.deliveries import DestinationMoved
from recrawl.publish.notify.changes import ChangeReader
from recrawl.publish.notify.digest import Digest
from recrawl.publish.notify.messages import message_of
from recrawl.publish.notify.services import send
from recrawl.publish.outbox import LONGEST_SLEEP_SECONDS, Alarm, Positions
from recrawl.publish.retries import after_attempt, wait_seconds
from recrawl.report.words import counted
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.clock import Clock
    from recrawl.entries.records import Destination, FeedEvent
    from recrawl.entries.store import ReadStore
    from recrawl.publish.notify.services import NotifyTarget, Send
    from recrawl.publish.outbox import Outbox, Write
    from recrawl.publish.retries import Attempt
    from recrawl.settings.settings import Settings

_TRIED = 1000  # newest events of which a message to try a recipient with is made
_TRIED_PAGES = 3
_SETTLE = 0.1  # share of `every` for which the first change waits for others


class Notifier:
    """Tells one recipient of changes.

    Args:
        target: Who is told, and the service that reaches them.
        outbox: Where events come from.
        send: Sends a message.
        write: Writes down how far they are.
        clock: Source of the current time.
        on_remark: Called with a sentence when it begins to fail and when it recovers.

    Attributes:
        key: What the store knows them by.
        label: What people are shown.
        delivered: How many messages were sent.
        waits: Whether changes wait that could not be told.
    """

    grace_seconds = 20.0
    thing = "message"

    def __init__(
        self,
        target: NotifyTarget,
        outbox: Outbox,
        send: Send,
        write: Write,
        clock: Clock,
        on_remark: Callable[[str], object] = bool,
    ) -> None:
        self.key = self.label = target.recipient.key
        self.delivered = 0
        self.waits = False
        self._every = target.recipient.every * SECONDS_A_DAY
        self._service, self._send_to = target.service, send
        self._changes = ChangeReader(target.recipient, outbox.settings, outbox.documents)
        self._outbox = outbox
        self._positions = Positions(write)
        self._alarm = Alarm(clock)
        self._on_remark = on_remark
        self._random = random.Random()  # noqa: S311 - spreads those who wait, no secret
        self._digest = Digest()
        self._read = 0  # number of the last event that was looked at
        self._failed = False  # the last attempt

    def wake(self) -> None:
        """Look for events: some may have been committed."""
        self._alarm.wake()

    def end(self) -> None:
        """Tell what may be told by now, and end; the rest waits for the next run."""
        self._alarm.end()

    async def run(self, *, by_hand: bool = False) -> None:
        """Gather and tell changes until there is nothing more to come.

        Args:
            by_hand: Whether somebody asks for it, so that no message waits for its time.
        """
        at = await self._outbox.destination(self.key)
        self._read = at.cursor
        while True:
            self._alarm.reset()
            at, more = await self._gather(at)
            if more:
                continue
            seconds = self._wait_seconds(at, by_hand=by_hand)
            if seconds <= 0:
                at = await self._tell(at)
            elif self._alarm.ending:
                self.waits = bool(self._digest) and (by_hand or bool(at.attempts))
                return
            else:
                await self._alarm.sleep(min(seconds, LONGEST_SLEEP_SECONDS))

    async def wants(self, event: FeedEvent) -> bool:
        """Whether the settings ask for an event to be told."""
        return await self._outbox.read(lambda store: self._changes.wants(store, event))

    async def deliver(self, event: FeedEvent) -> Attempt:
        """Make one attempt at a message on one event."""
        digest = Digest()
        digest.add(event)
        return await self._send(digest)

    async def _gather(self, at: Destination) -> tuple[Destination, bool]:
        """Look at the next events; whether there may be more of them."""
        if self._digest.is_full:
            return at, False
        events = await self._outbox.after(self._read)
        if not events:
            return at, False
        if events[0].number != self._read + 1:
            lost = events[0].number - self._read - 1
            self._say(f"{counted(lost, 'event')} dropped before being sent")
        for event in events:
            if await self.wants(event):
                self._digest.add(event)
        self._read = events[-1].number
        if not self._digest:  # nobody asked for any of them
            at = replace(at, cursor=self._read)
            self._positions.put(DestinationMoved(at, self._alarm.now()))
        return at, True

    def _wait_seconds(self, at: Destination, *, by_hand: bool) -> float:
        """Seconds until the next message may be sent; none is without a change."""
        now = self._alarm.now()
        if not self._digest:
            return inf
        if at.attempts or self._failed:
            return wait_seconds(at, now)
        if by_hand:
            return 0.0
        settle = self._every * _SETTLE
        left = wait_seconds(at, now, self._every)
        if self._alarm.ending:  # crawls that are begun every hour end a little sooner or later
            return left - settle
        settled = 0.0 if self._digest.is_full else self._digest.since_seconds + settle - now
        return max(left, min(settled, settle))

    async def _tell(self, at: Destination) -> Destination:
        """Make an attempt at the message that waits."""
        digest = self._digest
        attempt = await self._send(digest)
        now = self._alarm.now()
        done = replace(at, cursor=self._read, next_at_seconds=now + self._every)
        chance = self._random.random()
        moved = after_attempt(at, done, attempt, now, chance=chance, numbers=digest.numbers)
        self._say_outcome(at, moved, attempt)
        self._positions.put(moved)
        self._failed = bool(attempt.problem) and not moved.given_up
        if moved.destination.cursor == self._read:
            self._digest = Digest()
            self.delivered += not attempt.problem
        return moved.destination

    async def _send(self, digest: Digest) -> Attempt:
        room = self._service.room
        message = await self._outbox.read(lambda store: self._changes.message(store, digest, room))
        return await self._send_to(self._service, message)

    def _say_outcome(self, before: Destination, moved: DestinationMoved, attempt: Attempt) -> None:
        """Say what people should know: the first failure, the last, and that all is well again."""
        if moved.given_up:
            what = f"a message on {counted(len(moved.numbers), 'event')} was given up"
            self._say(f"{what} ({attempt.problem}); see `recrawl changes --undelivered`")
        elif not attempt.problem:
            if before.attempts:
                self._say("works again")
        elif not before.attempts:
            self._say(f"{attempt.problem}; retrying")

    def _say(self, said: str) -> None:
        self._on_remark(f"Notification {self.label}: {said}.")


async def send_trial(target: NotifyTarget, settings: Settings, store: ReadStore) -> Attempt:
    """Send the newest changes that a recipient asked for, or that there are none; nothing moves.

    Args:
        target: Who is told.
        settings: Settings of the crawl.
        store: Its store.
    """
    changes, digest = ChangeReader(target.recipient, settings), Digest()
    newest = store.feed_range().newest
    found = [event for batch in store.events(max(newest - _TRIED, 0)) for event in batch]
    wanted = (event for event in reversed(found) if changes.wants(store, event))
    for event in reversed(list(islice(wanted, _TRIED_PAGES))):
        digest.add(event)
    if digest:
        message = changes.message(store, digest, target.service.room)
    else:
        none = "Nothing that this [[notify]] asks for has changed yet."
        message = message_of("Test message", [], lambda _: none, target.service.room)
    return await send(target.service, message)
