"""Leases of slots, and how a worker comes by them.

Touches: the network, through what it opens.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Protocol

from recrawl.errors import InvalidSettings
from recrawl.parse.store_addresses import is_postgres, read_address

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.plan.shared_price import SlotDemand
    from recrawl.settings.slots import SlotScope
    from recrawl.store import Address
    from recrawl.store.retention import Retention

LEASE_SECONDS = 30.0
_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


@dataclass(frozen=True, slots=True)
class LeaseState:
    """What a worker learns each time that it renews its leases.

    Args:
        held: Slots that are still its own.
        free: Slots that nobody holds.
        workers: How many workers there are, with itself.
        fewest: How many slots the worker holds that holds fewest.
        now_seconds: Seconds after 1970 by the server's clock.
    """

    held: frozenset[int]
    free: tuple[int, ...]
    workers: int
    fewest: int
    now_seconds: float


@dataclass(slots=True, eq=False)
class SlotLease:
    """A lease of a slot, as the worker that has it knows it.

    Args:
        fence: Number of the taking: that of whoever takes the slot next is higher.
        seconds: How long a lease lasts.
        until: When it is over, by a clock of this machine that nobody can set.
    """

    fence: int
    seconds: float
    until: float

    @staticmethod
    def now() -> float:
        """Seconds by that clock, which goes on while the machine sleeps."""
        return time.clock_gettime(_STEADY)

    def is_over(self) -> bool:
        """Whether another worker may have the slot by now."""
        return self.now() >= self.until

    def renewed(self, asked: float) -> None:
        """Note that it was renewed, by a question that was asked at an instant."""
        self.until = asked + self.seconds

    def lose(self) -> None:
        """Note that it is over."""
        self.until = -inf


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
        """What each slot said last, whether somebody holds it or not."""

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


def has_workers(store: Address) -> bool:
    """Whether workers crawl a store."""
    if not is_postgres(os.fspath(store)):
        return False
    from recrawl.store.postgres.leases import has_workers

    return has_workers(read_address(os.fspath(store)))


def open_slot(
    store: Address,
    scope: SlotScope,
    lease: SlotLease,
    retention: Retention,
) -> AbstractContextManager[tuple[WriteStore, ReadStore]]:
    """A slot of a store for a crawl, which sees nothing else of the store.

    Args:
        store: Its address.
        scope: The slot.
        lease: How long it lasts, and whether it is over.
        retention: Which versions to keep.
    """
    from recrawl.store.postgres import open_slot as postgres

    return postgres.open_slot(read_address(os.fspath(store)), scope, lease, retention)
