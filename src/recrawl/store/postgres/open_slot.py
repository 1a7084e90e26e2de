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
    from collections.abc import Callable, Iterator

    from recrawl.entries.store import ReadStore, WriteStore
    from recrawl.parse.store_addresses import PostgresAddress
    from recrawl.settings.slots import SlotScope
    from recrawl.store.retention import Retention


@contextmanager
def open_slot(
    address: PostgresAddress,
    scope: SlotScope,
    fence: int,
    is_over: Callable[[], bool],
    retention: Retention,
) -> Iterator[tuple[WriteStore, ReadStore]]:
    """A slot for a crawl, which sees nothing else of the store.

    Args:
        address: Where the store is.
        scope: The slot.
        fence: Number of its taking.
        is_over: Whether its lease is over, by this worker's own steady clock.
        retention: Which versions to keep.
    """
    numbers = SlotNumbers(scope)
    held = HeldSlot(address, numbers, fence, is_over)
    with (
        PostgresWriteSlot.hold(held, retention) as written,
        PatientReadStore(address, is_over=is_over) as whole,
    ):
        yield written, cast("ReadStore", ReadSlot(whole, numbers))
