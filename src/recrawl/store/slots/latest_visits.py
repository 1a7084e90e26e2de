"""The latest visit of each page of a slot.

Touches: a database, through what it is given.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from recrawl.store.rows import meta
from recrawl.store.rows.columns import largest_id, read_columns
from recrawl.store.rows.latest_visits import SAVED, SAVED_EVERY, LatestVisits, load_saved

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.store.rows.database import Database
    from recrawl.store.slots.numbers import SlotNumbers

_BYTES = 8
_SINCE = """
    select visits.page - 1 as page, max(visits.id) as visit from visits
    join pages on pages.id = visits.page join slot_hosts on slot_hosts.host = pages.host
    where visits.id > ? and slot_hosts.slot = ? group by visits.page
"""


class OwnLatestVisits:
    """The newest visit of each page of a slot, by the numbers of the whole store.

    See `recrawl.store.rows.latest_visits.NewestVisits` for its methods.

    Args:
        connection: To the store.
        numbers: Which pages the slot has.
        pages: How many the store has.
        visits: How many visits it has.
    """

    def __init__(self, connection: Database, numbers: SlotNumbers, pages: int, visits: int) -> None:
        """Load what was saved, and follow the visits since."""
        saved, self.saved_visit = load_saved(connection, pages, visits)
        own = numbers.pages
        newest = np.zeros(len(own), np.int64)
        known = own < len(saved)
        newest[known] = saved[own[known]]
        values = self.saved_visit, numbers.scope.slot
        page, visit = read_columns(connection, ("page", "visit"), _SINCE, values)
        newest[np.searchsorted(own, page)] = visit
        self._numbers = numbers
        self._newest = array("q", newest.tobytes())

    def of(self, page: int) -> int:
        """Number of the page's newest visit; 0 where it has none or is new itself."""
        own = self._numbers.own_page(page)
        return self._newest[own] if own is not None and own < len(self._newest) else 0

    def move(self, pages: int, newest: Mapping[int, int]) -> None:  # noqa: ARG002 - others' as well
        """Take over what a committed transaction brought."""
        for page, visit in newest.items():
            own = self._numbers.own_page(page)
            if own is None:  # nobody visits a page before the slot knows it
                continue
            self._newest.frombytes(bytes(_BYTES * max(own + 1 - len(self._newest), 0)))
            self._newest[own] = visit

    def save(self, connection: Database, visit: int) -> None:
        """Write those of the whole store down, unless another slot has done so lately."""
        if visit - meta.get(connection, SAVED) >= SAVED_EVERY // 2:
            LatestVisits(connection, largest_id(connection, "pages"), visit).save(connection, visit)
