"""Webhooks by hand: `recrawl changes --deliver`, `--undelivered` and `--redeliver`.

Touches: the network, a store, files, the environment, the clock, the standard streams.
"""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from recrawl.cli import inspecting, screen, shared

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from recrawl.entries.records import FeedEvent, Undelivered
    from recrawl.entries.store import ReadStore
    from recrawl.publish.webhooks.delivery import Delivery, WebhookTarget
    from recrawl.settings.settings import Settings
    from recrawl.store.writer import Writer

_HEADER = ("event", "webhook", "given up", "why")


def deliver(settings: Path) -> None:
    """Deliver what waits, where no crawl does so by itself."""
    asked, targets = _load(settings)
    asyncio.run(_deliver(settings, asked, targets))


def redeliver(settings: Path, cursor: str) -> None:
    """Deliver one event again: to those that it was given up at, or to all that want it."""
    asked, targets = _load(settings)
    asyncio.run(_redeliver(settings, asked, targets, cursor))


def show_undelivered(settings: Path, *, as_json: bool) -> None:
    """Show events that were given up."""
    from recrawl.publish.cursors import cursor_text
    from recrawl.publish.events import utc
    from recrawl.report.table import printable

    with inspecting.open_crawl(settings) as (_, reader):
        found, feed = reader.undelivered(), reader.feed_range().feed
    rows = [
        (cursor_text(feed, each.number), _label(each), utc(each.at_seconds), each.problem)
        for each in found
    ]
    if as_json or not screen.is_terminal(sys.stdout):
        for row in rows:
            screen.say(
                json.dumps(dict(zip(("event", "webhook", "at", "problem"), row, strict=True)))
            )
        return
    shown = [tuple(map(printable, row)) for row in rows[-screen.MOST_ROWS :]]
    shared.show(_HEADER, shown, total=len(rows), unit="events", left=(0, 1, 2, 3))
    if not rows:
        screen.remark("No event was given up.")


def _label(given_up: Undelivered) -> str:
    """Name of a destination; an address without its query, in which some put a password."""
    return given_up.destination.partition("?")[0]


def _load(settings: Path) -> tuple[Settings, tuple[WebhookTarget, ...]]:
    from recrawl.cli.crawling import load_settings
    from recrawl.errors import InvalidSettings
    from recrawl.publish.webhooks.delivery import targets_of

    asked = load_settings(settings)
    if not asked.webhooks:
        raise InvalidSettings(f"{settings} has no [[webhook]] to deliver to")
    return asked, targets_of(asked, settings.parent)


@asynccontextmanager
async def _opened(
    settings: Path, asked: Settings, targets: tuple[WebhookTarget, ...]
) -> AsyncIterator[tuple[list[Delivery], ReadStore, Writer]]:
    """Deliveries from a store that no crawl holds."""
    from recrawl.cli.crawling import store_of
    from recrawl.clock import RealClock
    from recrawl.entries.deliveries import DestinationsNamed
    from recrawl.errors import StoreLocked
    from recrawl.publish.webhooks.tasks import Hooks, open_deliveries
    from recrawl.store import open_for_writing, open_store
    from recrawl.store.retention import Retention
    from recrawl.store.writer import Writer

    path = store_of(settings, asked)
    try:
        store = open_for_writing(path, Retention.of(asked))
    except StoreLocked as error:
        raise StoreLocked(f"{error}; a crawl delivers by itself") from None
    with store, open_store(path) as reader:
        store.write([DestinationsNamed(Hooks(targets).names)])
        writer = Writer(store)
        hooks, clock = Hooks(targets), RealClock()
        try:
            async with open_deliveries(
                hooks, reader, asked, writer.put, clock, screen.remark
            ) as deliveries:
                yield deliveries, reader, writer
        finally:
            await writer.close()


async def _deliver(settings: Path, asked: Settings, targets: tuple[WebhookTarget, ...]) -> None:
    from recrawl.errors import DeliveryFailed
    from recrawl.report.words import counted

    async with _opened(settings, asked, targets) as (deliveries, _, _):
        for delivery in deliveries:
            delivery.end()
        await asyncio.gather(*(delivery.run(by_hand=True) for delivery in deliveries))
    waiting = []
    for target, delivery in zip(targets, deliveries, strict=True):
        screen.remark(f"{target.webhook.label}: {counted(delivery.delivered, 'event')} delivered.")
        if delivery.waits:
            waiting.append(target.webhook.label)
    if waiting:
        raise DeliveryFailed(f"events still wait to be delivered to {', '.join(waiting)}")


async def _redeliver(
    settings: Path, asked: Settings, targets: tuple[WebhookTarget, ...], cursor: str
) -> None:
    from recrawl.entries.deliveries import Redelivered
    from recrawl.errors import DeliveryFailed
    from recrawl.publish.webhooks.retries import is_delivered, what_failed

    failed = []
    async with _opened(settings, asked, targets) as (deliveries, reader, writer):
        event = _event(reader, cursor)
        given_up = {
            each.destination for each in reader.undelivered() if each.number == event.number
        }
        for target, delivery in zip(targets, deliveries, strict=True):
            webhook = target.webhook
            if webhook.key not in given_up and (given_up or not delivery.wants(event)):
                continue
            response = await delivery.deliver(event)
            if is_delivered(response):
                await writer.put(Redelivered(webhook.key, event.number))
                screen.remark(f"{webhook.label}: delivered.")
            else:
                failed.append(f"{webhook.label} ({what_failed(response)})")
    if failed:
        raise DeliveryFailed(f"event {cursor} could not be delivered to {', '.join(failed)}")


def _event(reader: ReadStore, cursor: str) -> FeedEvent:
    from recrawl.errors import InvalidParameter
    from recrawl.publish.cursors import position

    number = position(cursor, reader.feed_range(), reader.name)
    event = next(reader.events(number - 1, 1), [None])[0] if number else None
    if event is None or event.number != number:
        raise InvalidParameter(f"{reader.name}: event {cursor} is not kept")
    return event
