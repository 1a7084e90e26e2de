"""A slot that this worker holds, open for writing and reading.

Touches: the network.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from recrawl.store.postgres.read_store import PatientReadStore
from recrawl.store.postgres.write_slot import HeldSlot, PostgresWriteSlot
from recrawl.store.slots.numbers import SlotNumbers
from recrawl.store.slots.read_slot import ReadSlot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.parse.store_addresses import PostgresAddress
    from recrawl.settings.slots import SlotScope
    from recrawl.store.retention import Retention
    from recrawl.store.slots.leases import SlotLease


@contextmanager
def open_slot(
    address: PostgresAddress,
    scope: SlotScope,
    lease: SlotLease,
    retention: Retention,
) -> Iterator[tuple[WriteStore, ReadStore]]:
    """A slot for a crawl, which sees nothing else of the store.

    Args:
        address: Where the store is.
        scope: The slot.
        lease: How long it lasts, and whether it is over.
        retention: Which versions to keep.
    """
    numbers = SlotNumbers(scope)
    held = HeldSlot(address, numbers, lease)
    with (
        PostgresWriteSlot.hold(held, retention) as written,
        PatientReadStore(address, is_over=lease.is_over) as whole,
    ):
        yield written, cast("ReadStore", ReadSlot(whole, numbers))
