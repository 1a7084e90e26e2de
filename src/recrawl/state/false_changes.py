"""How likely it is that a visit finds an unchanged page changed.

Some pages differ by themselves: counters, dates, advertisements. Pages that are fetched twice at
once tell how often, for the page itself and for its host; what a host's pages do not tell, those of
all hosts do.

Touches: a store, through what it is given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.growing import append_rows
from recrawl.detect.reliability import NO_RECORD, NOISE, SignalRecord, false_changes
from recrawl.state.checkpoint import some_parts
from recrawl.visits.status import Audit, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.arrays.types import Bools, Floats, Ints, Statuses
    from recrawl.entries.columns import OutcomeColumns
    from recrawl.entries.store import ReadStore

PAIRS = CHECKED, DIFFERED = "checked", "differed"  # names in a checkpoint
_MOST_PAIRS = 255


class FalseChangeModel:
    """Counts of pages that were fetched twice at once, and the chances that follow from them.

    Args:
        pages: How many pages there are.

    Attributes:
        checked: How often each page was fetched twice at once, with the masks that it has.
        differed: How often it differed by itself all the same.
    """

    def __init__(self, pages: int = 0) -> None:
        self.checked: Statuses = np.zeros(pages, np.uint8)
        self.differed: Statuses = np.zeros(pages, np.uint8)
        self._hosts: dict[int, SignalRecord] = {}
        self._all = NO_RECORD

    def grow(self, pages: int) -> None:
        """Make room for pages that were never fetched."""
        self.checked = append_rows(self.checked, np.zeros(pages, np.uint8))
        self.differed = append_rows(self.differed, np.zeros(pages, np.uint8))

    def resume(self, parts: Mapping[str, Statuses]) -> None:
        """Take up the counts of pages from a checkpoint, as far as it has them."""
        for name, counts in zip(PAIRS, (self.checked, self.differed), strict=True):
            if name in parts and parts[name].dtype == counts.dtype:
                rows = min(len(counts), len(parts[name]))
                counts[:rows] = parts[name][:rows]
        np.minimum(self.differed, self.checked, out=self.differed)

    def dump(self) -> dict[str, Statuses]:
        """Counts of pages for a checkpoint."""
        return {CHECKED: self.checked.copy(), DIFFERED: self.differed.copy()}

    def count_host(self, host: int, record: SignalRecord) -> None:
        """Count pages of a host that were drawn at random and fetched twice."""
        self._hosts[host] = self.of_host(host).plus(**record.counts)
        self._all = self._all.plus(**record.counts)

    def count_page(self, page: int, *, differed: bool, masked: bool) -> None:
        """Count a page that was fetched twice at once.

        Args:
            page: The page.
            differed: Whether it differed though what is known to differ was left out.
            masked: Whether what differed is left out from now on: with these masks the page was
                never seen.
        """
        if differed and masked:
            self.checked[page] = self.differed[page] = 0
        elif self.checked[page] < _MOST_PAIRS:
            self.checked[page] += 1
            self.differed[page] += differed

    def of_host(self, host: int) -> SignalRecord:
        """Pages of a host that were fetched twice, and how many differed."""
        return self._hosts.get(host, NO_RECORD)

    def chance(self, host: int, page: int) -> float:
        """Chance that a visit to the unchanged page would show a change."""
        pairs = float(self.checked[page]), float(self.differed[page])
        return false_changes(self.of_host(host), self._all, *pairs)

    def chances(
        self, visits: OutcomeColumns, rows: Ints, hosts_of: Callable[[Ints], Ints]
    ) -> Floats:
        """Chance that each of some visits would have found a change of the unchanged page.

        Only changes are in doubt, and a change that was fetched twice is not.

        Args:
            visits: Visits.
            rows: Those that are asked about.
            hosts_of: Gives the hosts of pages.
        """
        found = np.zeros(len(rows))
        changed: Bools = visits.outcome[rows] == VisitOutcome.CHANGED
        doubtful = np.flatnonzero(changed & (visits.audit[rows] == Audit.NONE))
        pages, which = np.unique(visits.page[rows[doubtful]], return_inverse=True)
        each = zip(hosts_of(pages).tolist(), pages.tolist(), strict=True)
        chance = np.array([self.chance(*one) for one in each], np.float64)
        found[doubtful] = chance[which]
        return found

    @classmethod
    def load(cls, store: ReadStore) -> FalseChangeModel:
        """What a store knows."""
        model = cls(store.page_count())
        model.resume(some_parts(store, *PAIRS))
        for host, counts in store.signal_records_of(NOISE).items():
            model.count_host(host, SignalRecord(*counts))
        return model
