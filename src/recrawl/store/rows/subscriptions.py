"""Table of subscriptions to feeds.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recrawl.entries.pushes import Subscription
from recrawl.store.rows.columns import maybe_milliseconds
from recrawl.store.rows.database import upsert
from recrawl.store.rows.values import exactly, maybe_instant, number

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.store.rows.database import Database

_PUT = upsert("subscriptions", "feed, hub, until, pushes, pushed_at", "feed")


def put(connection: Database, subscriptions: Iterable[Subscription]) -> None:
    """Write subscriptions as they stand."""
    rows = (
        (
            *(each.feed, each.hub, maybe_milliseconds(each.until_seconds)),
            *(each.pushes, maybe_milliseconds(each.pushed_at_seconds)),
        )
        for each in subscriptions
    )
    connection.executemany(_PUT, rows)


def drop(connection: Database, feeds: Iterable[str]) -> None:
    """Forget subscriptions, by the addresses of their feeds."""
    rows = ((feed,) for feed in feeds)
    connection.executemany("delete from subscriptions where feed = ?", rows)


def subscriptions(connection: Database) -> list[Subscription]:
    """All subscriptions, in the order of the addresses of their feeds."""
    query = "select feed, hub, until, pushes, pushed_at from subscriptions order by feed"
    return [
        Subscription(
            exactly(str, feed),
            exactly(str, hub),
            maybe_instant(until),
            number(pushes),
            maybe_instant(pushed_at),
        )
        for feed, hub, until, pushes, pushed_at in connection.execute(query)
    ]
