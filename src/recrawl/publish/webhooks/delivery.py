"""Delivery of the change feed to a webhook: one event after the other, at least once.

A process that is killed before a receiver has answered delivers the event again, under the same id.
A receiver that is dead holds up itself alone.

Touches: the network, a store, the clock, threads.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from recrawl.entries.deliveries import DestinationMoved
from recrawl.fetch.fetcher import RequestLimits
from recrawl.parse.headers import retry_after
from recrawl.parse.messages import Request
from recrawl.publish.cursors import cursor_text
from recrawl.publish.events import EventFilter
from recrawl.publish.outbox import LONGEST_SLEEP_SECONDS, Alarm, Positions
from recrawl.publish.retries import Attempt, after_attempt, wait_seconds
from recrawl.publish.webhooks.bodies import CONTENT_TYPE
from recrawl.publish.webhooks.signing import read_secret
from recrawl.report.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from recrawl.clock import Clock
    from recrawl.entries.records import Destination, FeedEvent
    from recrawl.fetch.fetcher import Fetcher
    from recrawl.parse.messages import Response
    from recrawl.publish.outbox import Outbox, Write
    from recrawl.publish.webhooks.signing import SigningKey
    from recrawl.settings.settings import Settings
    from recrawl.settings.webhook_keys import Webhook

# What one attempt may cost. An answer is one of a few words.
LIMITS = RequestLimits(
    connect_seconds=10.0,
    idle_seconds=15.0,
    total_seconds=20.0,
    raw_bytes=1 << 16,
    decoded_bytes=1 << 16,
)
_GONE = 410


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """A webhook and the secret that signs what it is sent."""

    webhook: Webhook
    secret: SigningKey = field(repr=False)


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


class Delivery:
    """Delivers events to one webhook.

    Args:
        target: Where to.
        outbox: Where from.
        fetcher: Posts them.
        write: Writes down how far it is.
        clock: Source of the current time.
        on_remark: Called with a sentence when it begins to fail, recovers or ends.

    Attributes:
        key: What the store knows it by.
        label: What people are shown.
        delivered: How many were delivered.
        waits: Whether the last attempt failed, so that events wait.
    """

    grace_seconds = 5.0
    thing = "event"

    def __init__(
        self,
        target: WebhookTarget,
        outbox: Outbox,
        fetcher: Fetcher,
        write: Write,
        clock: Clock,
        on_remark: Callable[[str], object] = bool,
    ) -> None:
        self.key, self.label = target.webhook.key, target.webhook.label
        self.delivered = 0
        self.waits = False
        self._webhook, self._secret = target.webhook, target.secret
        self._filter = EventFilter(frozenset(target.webhook.kinds), frozenset(target.webhook.hosts))
        self._outbox = outbox
        self._fetcher = fetcher
        self._positions = Positions(write)
        self._alarm = Alarm(clock)
        self._on_remark = on_remark
        self._random = random.Random()  # noqa: S311 - spreads those who wait, no secret

    def wake(self) -> None:
        """Look for events: some may have been committed."""
        self._alarm.wake()

    def end(self) -> None:
        """Deliver what there is, and end; what must wait for its time waits for the next run."""
        self._alarm.end()

    async def run(self, *, by_hand: bool = False) -> None:
        """Deliver until there is nothing more to come.

        Args:
            by_hand: Whether somebody asks for it, so that a receiver which had asked to be told no
                more is asked again.
        """
        at = await self._outbox.destination(self.key)
        if at.disabled and not by_hand:
            self._say("it had answered 410; `recrawl changes --deliver` tries it again")
        while not at.disabled or by_hand:
            if not await self._wait_for_turn(at):
                return
            self._alarm.reset()
            events = await self._outbox.after(at.cursor)
            if events and events[0].number != at.cursor + 1:
                lost = events[0].number - at.cursor - 1
                self._say(f"{counted(lost, 'event')} dropped before being delivered")
            at = await self._deliver(at, events)
            if at.disabled:
                return
            if not events:
                if self._alarm.ending:
                    return
                await self._alarm.sleep(LONGEST_SLEEP_SECONDS)

    async def wants(self, event: FeedEvent) -> bool:
        """Whether the settings ask for an event to be delivered."""
        return self._filter.holds(event)

    async def deliver(self, event: FeedEvent) -> Attempt:
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
        return attempt_of(await self._fetcher.fetch(request), self._alarm.now())

    async def _deliver(self, at: Destination, events: list[FeedEvent]) -> Destination:
        """Deliver events one after the other, until one fails."""
        for event in events:
            if not self._filter.holds(event):
                continue
            attempt = await self.deliver(event)
            done = replace(at, cursor=event.number, next_at_seconds=None)
            moved = after_attempt(
                at, done, attempt, self._alarm.now(), chance=self._random.random()
            )
            self._tell(at, moved, attempt)
            self.waits = bool(attempt.problem) and not moved.given_up
            self._positions.put(moved)
            at = moved.destination
            if at.cursor != event.number:
                return at
            self.delivered += not attempt.problem
        if events and at.cursor != events[-1].number:  # none of the last ones is wanted
            at = replace(at, cursor=events[-1].number)
            self._positions.put(DestinationMoved(at, self._alarm.now()))
        return at

    def _tell(self, before: Destination, moved: DestinationMoved, attempt: Attempt) -> None:
        """Say what people should know: the first failure, the last, and that all is well again."""
        if moved.given_up:
            why = attempt.problem
            self._say(f"an event was given up ({why}); see `recrawl changes --undelivered`")
        elif moved.destination.disabled:
            self._say("answered 410; nothing more is sent to it")
        elif not attempt.problem:
            if before.attempts or before.disabled:
                self._say("answers again")
        elif not before.attempts:
            self._say(f"{attempt.problem}; retrying")

    def _say(self, said: str) -> None:
        self._on_remark(f"Webhook {self.label}: {said}.")

    async def _wait_for_turn(self, at: Destination) -> bool:
        """Wait until the next attempt is due; False where that is after the end."""
        while (seconds := wait_seconds(at, self._alarm.now())) > 0:
            if self._alarm.ending:
                self.waits = True
                return False
            self._alarm.reset()
            await self._alarm.sleep(seconds)
        return True


def attempt_of(response: Response, now_seconds: float) -> Attempt:
    """What a receiver's response means: its status says whether it took the event.

    >>> from recrawl.parse.messages import Response
    >>> attempt_of(Response("https://a.org/", status=500), 0.0).problem
    'answered 500'
    """
    if response.status // 100 == 2:  # noqa: PLR2004 - 200 to 299, whatever becomes of the rest
        return Attempt()
    problem = f"answered {response.status}" if response.status else response.problem
    asked = retry_after(response.headers.get("retry-after", ""), now_seconds) or 0.0
    return Attempt(
        problem,
        gone=response.status == _GONE,
        ours=response.problem == "overloaded",
        wait_days=asked,
    )
