"""Subscriptions to feeds at WebSub hubs, as a store keeps them.

The secrets of a subscription are not among it: they are made anew by every crawl, and never leave
its memory but for the hub.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Subscription:
    """What is known of the subscription to a feed.

    Args:
        feed: Address of the feed.
        hub: Address of its hub.
        until_seconds: When it ends unless it is renewed; None where it is not confirmed.
        pushes: How many pushes were taken, of this and of earlier subscriptions.
        pushed_at_seconds: When the last of them was; None for never.
    """

    feed: str
    hub: str
    until_seconds: float | None = None
    pushes: int = 0
    pushed_at_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class SubscriptionsKnown:
    """Subscriptions as they stand, and feeds that have none any more.

    Args:
        subscriptions: Those that have changed.
        dropped: Addresses of feeds to forget.
    """

    subscriptions: Sequence[Subscription] = ()
    dropped: Sequence[str] = ()
