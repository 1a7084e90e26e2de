"""Deliveries by hand: `recrawl changes --deliver`, `--undelivered`, `--redeliver` and `--test`.

Touches: the network, processes, a store, files, the environment, the clock, the standard streams.
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
    from recrawl.publish.notify.delivery import Notifier
    from recrawl.publish.tasks import Hooks
    from recrawl.publish.webhooks.delivery import Delivery
    from recrawl.settings.settings import Settings
    from recrawl.store.writer import Writer

_HEADER = ("event", "destination", "given up", "why")


def deliver(settings: Path) -> None:
    """Deliver what waits, where no crawl does so by itself."""
    asked, hooks = _load(settings)
    asyncio.run(_deliver(settings, asked, hooks))


def redeliver(settings: Path, cursor: str) -> None:
    """Deliver one event again: to those that it was given up at, or to all that want it."""
    asked, hooks = _load(settings)
    asyncio.run(_redeliver(settings, asked, hooks, cursor))


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
                json.dumps(dict(zip(("event", "destination", "at", "problem"), row, strict=True)))
            )
        return
    shown = [tuple(map(printable, row)) for row in rows[-screen.most_rows() :]]
    shared.show(_HEADER, shown, total=len(rows), unit="event", left=(0, 1, 2, 3))
    if not rows:
        screen.remark("No undelivered events.")


def test(settings: Path, name: str) -> None:
    """Send the newest changes that a recipient asked for, or a sample, whatever runs meanwhile."""
    from dataclasses import replace

    from recrawl.errors import DeliveryFailed, InvalidParameter
    from recrawl.publish.notify.delivery import send_trial
    from recrawl.publish.notify.services import notify_targets
    from recrawl.store.settings_file import load_settings

    asked = load_settings(settings)
    ours = tuple(each for each in asked.recipients if each.key == name)
    if not ours:
        if any(name in (each.key, each.label) for each in asked.webhooks):
            said = f"{name} is a [[webhook]]: its receiver would take a test for a real event"
            raise InvalidParameter(f"{said}; --redeliver posts an event again")
        known = ", ".join(each.key for each in asked.recipients) or "it has none"
        raise InvalidParameter(f"{settings} has no [[notify]] called {name} ({known})")
    (target,) = notify_targets(replace(asked, recipients=ours), settings.parent)
    with inspecting.open_crawl(settings) as (_, reader):
        attempt = asyncio.run(send_trial(target, asked, reader))
    if attempt.problem:
        raise DeliveryFailed(f"no message could be sent to {name} ({attempt.problem})")
    screen.remark(f"{name}: a message was sent.")


def _label(given_up: Undelivered) -> str:
    """Name of a destination; an address without its query, in which some put a password."""
    return given_up.destination.partition("?")[0]


def _load(settings: Path) -> tuple[Settings, Hooks]:
    from recrawl.errors import InvalidSettings
    from recrawl.publish.tasks import Hooks
    from recrawl.store.settings_file import load_settings

    asked = load_settings(settings)
    if not asked.webhooks and not asked.recipients:
        raise InvalidSettings(f"{settings} has no [[webhook]] or [[notify]] to deliver to")
    return asked, Hooks.of(asked, settings.parent)


@asynccontextmanager
async def _opened(
    settings: Path, asked: Settings, hooks: Hooks
) -> AsyncIterator[tuple[list[Delivery | Notifier], ReadStore, Writer]]:
    """Deliveries from a store that no crawl holds."""
    from recrawl.clock import RealClock
    from recrawl.entries.deliveries import DestinationsNamed
    from recrawl.errors import StoreLocked
    from recrawl.publish.tasks import open_deliveries, open_notifiers
    from recrawl.store import open_for_writing, open_store
    from recrawl.store.retention import Retention
    from recrawl.store.settings_file import store_of
    from recrawl.store.writer import Writer

    path = store_of(settings, asked)
    try:
        store = open_for_writing(path, Retention.of(asked))
    except StoreLocked as error:
        raise StoreLocked(f"{error}; a crawl delivers by itself") from None
    with store, open_store(path) as reader:
        store.write([DestinationsNamed(hooks.names)])
        writer = Writer(store)
        given = (hooks, reader, asked, writer.put, RealClock(), screen.remark)
        try:
            async with open_deliveries(*given) as webhooks, open_notifiers(*given) as notifiers:
                yield [*webhooks, *notifiers], reader, writer
        finally:
            await writer.close()


async def _deliver(settings: Path, asked: Settings, hooks: Hooks) -> None:
    from recrawl.errors import DeliveryFailed
    from recrawl.report.words import counted

    async with _opened(settings, asked, hooks) as (deliveries, _, _):
        for delivery in deliveries:
            delivery.end()
        await asyncio.gather(*(delivery.run(by_hand=True) for delivery in deliveries))
    for delivery in deliveries:
        count = counted(delivery.delivered, delivery.thing)
        screen.remark(f"{delivery.label}: {count} delivered.")
    waiting = [delivery.label for delivery in deliveries if delivery.waits]
    if waiting:
        raise DeliveryFailed(f"events still wait to be delivered to {', '.join(waiting)}")


async def _redeliver(settings: Path, asked: Settings, hooks: Hooks, cursor: str) -> None:
    from recrawl.entries.deliveries import Redelivered
    from recrawl.errors import DeliveryFailed

    failed = []
    async with _opened(settings, asked, hooks) as (deliveries, reader, writer):
        event = _event(reader, cursor)
        given_up = {
            each.destination for each in reader.undelivered() if each.number == event.number
        }
        for delivery in deliveries:
            if delivery.key not in given_up and (given_up or not await delivery.wants(event)):
                continue
            attempt = await delivery.deliver(event)
            if attempt.problem:
                failed.append(f"{delivery.label} ({attempt.problem})")
            else:
                await writer.put(Redelivered(delivery.key, event.number))
                screen.remark(f"{delivery.label}: delivered.")
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
