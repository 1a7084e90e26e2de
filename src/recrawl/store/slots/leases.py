"""Leases of slots, and how a worker comes by them.

Touches: the network, through what it opens.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from recrawl.errors import InvalidSettings
from recrawl.parse.store_addresses import is_postgres, read_address

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.plan.shared_price import SlotDemand
    from recrawl.settings.slots import SlotScope
    from recrawl.store import Address
    from recrawl.store.retention import Retention

LEASE_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class LeaseState:
    """What a worker learns each time that it renews its leases.

    Args:
        held: Slots that are still its own.
        free: Slots that nobody holds.
        workers: How many workers there are, with itself.
        now_seconds: Seconds after 1970 by the server's clock.
    """

    held: frozenset[int]
    free: tuple[int, ...]
    workers: int
    now_seconds: float


class SlotLeases(Protocol):
    """The leases of one worker; every call must come from one thread at a time."""

    @property
    def worker(self) -> str:
        """Name of the worker."""

    @property
    def seconds(self) -> float:
        """How long a lease lasts."""

    def prepare(self, slots: int) -> None:
        """Make the slots, where there are none or another number of them and nobody holds any.

        Raises:
            StoreError: Other workers run with another number of slots.
        """

    def renew(self, held: Mapping[int, int]) -> LeaseState:
        """Renew the leases of slots, by their fences, and look around."""

    def take(self, slot: int) -> int | None:
        """Take a slot that nobody holds; returns its fence, None where somebody was faster."""

    def release(self, slot: int, fence: int) -> None:
        """Give a slot back, where it is still ours."""

    def leave(self) -> None:
        """Be no worker any more."""

    def publish(self, demands: Mapping[int, tuple[int, SlotDemand]]) -> None:
        """Say what slots would spend, each by its fence."""

    def demands(self) -> dict[int, SlotDemand]:
        """What each slot that somebody holds said last."""

    def price(self) -> float | None:
        """The price that was last set; None before the first."""

    def set_price(self, price: float) -> None:
        """Set the price of all, unless another worker is just setting it."""

    def close(self) -> None:
        """Close the connection. Idempotent."""


def lease_slots(store: Address, seconds: float = LEASE_SECONDS) -> SlotLeases:
    """Leases of slots of a store.

    Args:
        store: Its address.
        seconds: How long a lease lasts.

    Raises:
        InvalidSettings: The store is one that only a single process writes to.
    """
    if not is_postgres(os.fspath(store)):
        raise InvalidSettings(
            f"workers need a store in PostgreSQL (got {store}); `recrawl move` moves this one there"
        )
    from recrawl.store.postgres.leases import PostgresLeases

    return PostgresLeases(read_address(os.fspath(store)), seconds)


def open_slot(
    store: Address,
    scope: SlotScope,
    fence: int,
    is_over: Callable[[], bool],
    retention: Retention,
) -> AbstractContextManager[tuple[WriteStore, ReadStore]]:
    """A slot of a store for a crawl, which sees nothing else of the store.

    Args:
        store: Its address.
        scope: The slot.
        fence: Number of its taking.
        is_over: Whether its lease is over, by this worker's own steady clock.
        retention: Which versions to keep.
    """
    from recrawl.store.postgres import open_slot as postgres

    return postgres.open_slot(read_address(os.fspath(store)), scope, fence, is_over, retention)
