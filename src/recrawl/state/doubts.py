"""How likely changes are false that visits have found, for who only looks at a crawl.

A crawl knows of pages that differ by themselves, and weighs each change by the chance that it is
none. What it knew when it last wrote that down is read here, as it is when a crawl is taken up.

Touches: a store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.detect.reliability import NO_RECORD, NOISE, SignalRecord, false_changes
from recrawl.state.trust import PAIRS
from recrawl.visits.status import Audit, VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats, Ints, Statuses
    from recrawl.entries.columns import OutcomeColumns
    from recrawl.entries.store import ReadStore

_NO_PAIRS: Statuses = np.empty(0, np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class FalseChangeModel:
    """What is known of pages that differ by themselves.

    Args:
        reader: The store.
        words: Pairs of fetches of each host's pages, by the number of the host.
        of_all: Those of all hosts.
        checked: How often each of the first pages was fetched twice at once.
        differed: How often it differed.
    """

    reader: ReadStore
    words: Mapping[int, SignalRecord]
    of_all: SignalRecord
    checked: Statuses
    differed: Statuses

    @classmethod
    def of(cls, reader: ReadStore) -> FalseChangeModel:
        """What a store knows."""
        learnt = reader.checkpoint(PAIRS)
        parts = learnt[0] if learnt else {}
        words = {
            host: SignalRecord(*counts) for host, counts in reader.signal_records_of(NOISE).items()
        }
        of_all = NO_RECORD
        for word in words.values():
            of_all = of_all.plus(right=word.right, wrong=word.wrong)
        pairs = (parts.get(name, _NO_PAIRS) for name in PAIRS)
        return cls(reader, words, of_all, *pairs)

    def chances(self, visits: OutcomeColumns, places: Ints) -> Floats:
        """Chance that each of some visits would have found a change of the unchanged page.

        A change that was looked at twice is one, and what is unchanged is not in doubt.
        """
        found = np.zeros(len(places))
        changed = visits.outcome[places] == VisitOutcome.CHANGED
        unsure = np.flatnonzero(changed & (visits.audit[places] == Audit.NONE))
        pages, which = np.unique(visits.page[places[unsure]], return_inverse=True)
        _, hosts = self.reader.rules_and_hosts(pages)
        each = [self._chance(*one) for one in zip(hosts.tolist(), pages.tolist(), strict=True)]
        found[unsure] = np.array(each, np.float64)[which]
        return found

    def _chance(self, host: int, page: int) -> float:
        pairs = (0, 0)
        if page < len(self.checked):
            pairs = int(self.checked[page]), int(self.differed[page])
        return false_changes(self.words.get(host, NO_RECORD), self.of_all, *pairs)
