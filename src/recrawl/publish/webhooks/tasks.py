"""All deliveries of a process, side by side.

Touches: the network, a store, the clock, threads.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from recrawl.fetch.http.client import HttpFetcher
from recrawl.publish.webhooks.delivery import LIMITS, Delivery, Outbox

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from recrawl.clock import Clock
    from recrawl.entries.store import ReadStore
    from recrawl.fetch.fetcher import RequestLimits
    from recrawl.publish.webhooks.delivery import Target, Write
    from recrawl.settings.settings import Settings

_GRACE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Hooks:
    """Who is told of events, and what one attempt may cost.

    Args:
        targets: Webhooks with their secrets.
        limits: Limits of one attempt.
    """

    targets: tuple[Target, ...] = ()
    limits: RequestLimits = LIMITS


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
async def at_work(
    deliveries: list[Delivery], on_remark: Callable[[str], object], *, by_hand: bool = False
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
        if tasks:
            await asyncio.wait(tasks, timeout=_GRACE_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _ended(on_remark: Callable[[str], object], task: asyncio.Task[None]) -> None:
    """Say why a delivery has ended that should not have: the crawl goes on."""
    if not task.cancelled() and (error := task.exception()) is not None:
        on_remark(f"A webhook is told nothing until the next start ({error}).")
