"""All deliveries of a process, side by side: webhooks, notifications, a program of one's own.

Touches: the network, processes, a store, the clock, threads.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recrawl.fetch.http.client import HttpFetcher
from recrawl.publish.notify.delivery import Notifier
from recrawl.publish.notify.services import notify_targets, send
from recrawl.publish.outbox import Outbox
from recrawl.publish.programs import DESTINATION, MOST_SECONDS, ProgramRunner
from recrawl.publish.webhooks.delivery import LIMITS, Delivery, targets_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path
    from typing import Protocol

    from recrawl.clock import Clock
    from recrawl.entries.store import ReadStore
    from recrawl.fetch.fetcher import RequestLimits
    from recrawl.publish.notify.services import NotifyTarget, Send
    from recrawl.publish.outbox import Write
    from recrawl.publish.webhooks.delivery import WebhookTarget
    from recrawl.settings.settings import Settings

    class EventTask(Protocol):
        """What is told of events, until there are no more.

        Attributes:
            grace_seconds: How long it may take to end.
        """

        grace_seconds: float

        def wake(self) -> None:
            """Look for events."""

        def end(self) -> None:
            """Do what there is to do, and end."""

        async def run(self, *, by_hand: bool = False) -> None:
            """Tell one event after the other."""


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who is told of events, and what one attempt may cost.

    Args:
        targets: Webhooks with their secrets.
        limits: Limits of one attempt.
        command: Program that is run for each event, and its arguments; empty for none.
        command_seconds: After which it is killed.
        recipients: People who get messages, with their services.
        send: Sends them.
    """

    targets: tuple[WebhookTarget, ...] = ()
    limits: RequestLimits = LIMITS
    command: tuple[str, ...] = ()
    command_seconds: float = MOST_SECONDS
    recipients: tuple[NotifyTarget, ...] = ()
    send: Send = send

    @classmethod
    def of(cls, settings: Settings, folder: Path, command: tuple[str, ...] = ()) -> Hooks:
        """Those of the settings, with their secrets.

        Args:
            settings: The settings.
            folder: Where paths of secrets begin.
            command: Program that is run for each event; empty for none.

        Raises:
            InvalidSettings: A secret is not where it should be.
            MissingExtra: Messages are to be sent, and nothing is installed that can.
        """
        recipients = notify_targets(settings, folder)
        return cls(targets_of(settings, folder), command=command, recipients=recipients)

    @property
    def names(self) -> list[str]:
        """Names of their destinations."""
        return [
            *(each.webhook.key for each in self.targets),
            *(each.recipient.key for each in self.recipients),
            *([DESTINATION] if self.command else []),
        ]


@asynccontextmanager
async def open_deliveries(
    hooks: Hooks,
    store: ReadStore,
    settings: Settings,
    write: Write,
    clock: Clock,
    on_remark: Callable[[str], object],
) -> AsyncIterator[list[Delivery]]:
    """Deliveries of all webhooks, not yet at work; their destinations must have been named.

    Args:
        hooks: Who is told.
        store: The store.
        settings: Settings of its crawl.
        write: Writes down how far each is.
        clock: Source of the current time.
        on_remark: Called with a sentence on what people should know.
    """
    if not hooks.targets:
        yield []
        return
    outbox, fetcher = Outbox(store, settings), HttpFetcher(settings.agent, hooks.limits)
    try:
        yield [
            Delivery(target, outbox, fetcher, write, clock, on_remark) for target in hooks.targets
        ]
    finally:
        try:
            await fetcher.close()
        finally:
            await outbox.close()


@asynccontextmanager
async def open_notifiers(
    hooks: Hooks,
    store: ReadStore,
    settings: Settings,
    write: Write,
    clock: Clock,
    on_remark: Callable[[str], object],
) -> AsyncIterator[list[Notifier]]:
    """Messages to all recipients, not yet at work; arguments as above."""
    if not hooks.recipients:
        yield []
        return
    outbox = Outbox(store, settings)  # of their own: to look for words takes long
    try:
        yield [
            Notifier(target, outbox, hooks.send, write, clock, on_remark)
            for target in hooks.recipients
        ]
    finally:
        await outbox.close()


@asynccontextmanager
async def open_programs(
    hooks: Hooks,
    store: ReadStore,
    settings: Settings,
    write: Write,
    clock: Clock,
    on_remark: Callable[[str], object],
) -> AsyncIterator[list[ProgramRunner]]:
    """The program that is run for each event, if there is one; arguments as above."""
    if not hooks.command:
        yield []
        return
    outbox = Outbox(store, settings)
    try:
        yield [ProgramRunner(hooks.command, outbox, write, clock, on_remark, hooks.command_seconds)]
    finally:
        await outbox.close()


@asynccontextmanager
async def at_work(
    deliveries: Sequence[EventTask], on_remark: Callable[[str], object], *, by_hand: bool = False
) -> AsyncIterator[Callable[[], None]]:
    """Deliver beside the block; gives what is to be called when something was committed.

    After the block what was committed last is delivered, for a few seconds at most.

    Args:
        deliveries: Deliveries that are not yet at work.
        on_remark: Called with a sentence where one has ended by itself.
        by_hand: Whether somebody asks for it, so that those who had enough are asked again.
    """
    tasks = [asyncio.create_task(delivery.run(by_hand=by_hand)) for delivery in deliveries]
    for task in tasks:
        task.add_done_callback(partial(_ended, on_remark))

    def wake() -> None:
        for delivery in deliveries:
            delivery.wake()

    try:
        yield wake
        for delivery in deliveries:
            delivery.end()
        ending = zip(tasks, deliveries, strict=True)
        await asyncio.gather(*(_wait(task, each.grace_seconds) for task, each in ending))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _wait(task: asyncio.Task[None], seconds: float) -> None:
    """Wait for the end of a task, so long at most."""
    await asyncio.wait([task], timeout=seconds)


def _ended(on_remark: Callable[[str], object], task: asyncio.Task[None]) -> None:
    """Say why a delivery has ended that should not have: the crawl goes on."""
    if not task.cancelled() and (error := task.exception()) is not None:
        on_remark(f"Deliveries to one destination have stopped until the next start ({error}).")
