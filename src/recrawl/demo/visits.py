"""The visits of a crawl of the example site.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.demo.truth import CopyVisits
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints, Statuses

_COMPARED = [outcome for outcome in VisitOutcome if outcome.compared]
_NOTHING_NEW = [outcome for outcome in _COMPARED if outcome is not VisitOutcome.CHANGED]


@dataclass(frozen=True, slots=True, eq=False)
class ExampleVisits:
    """All visits, a row each, in the order in which they were written.

    Args:
        page: Row of the page in the world; -1 where it has none.
        asked: When the request began, in days after 1970.
        at: When the answer was there.
        outcome: Numbers of `VisitOutcome`.
        age: Days from the page's last change to the visit; nan where the site did not tell.
        size: Bytes of the body; -1 where none came.
        audit: Numbers of `Audit`.

    Examples:
        Of three visits the second found a change, and the third was told "not modified", which
        saved the 90 bytes that the page had grown to:

        >>> found = VisitOutcome
        >>> visits = ExampleVisits(
        ...     page=np.array([0, 0, 0]),
        ...     asked=np.array([1.0, 2.0, 3.0]),
        ...     at=np.array([1.1, 2.1, 3.1]),
        ...     outcome=np.array([found.FIRST, found.CHANGED, found.NOT_MODIFIED]),
        ...     age=np.full(3, np.nan),
        ...     size=np.array([80, 90, -1]),
        ...     audit=np.zeros(3, np.int64),
        ... )
        >>> visits.saved_bytes, visits.found_nothing_new
        (90, array([False, False,  True]))
    """

    page: Ints
    asked: Floats
    at: Floats
    outcome: Statuses | Ints
    age: Floats
    size: Ints
    audit: Statuses | Ints

    def count(self, outcome: VisitOutcome) -> int:
        """How many visits found this."""
        return int(np.count_nonzero(self.outcome == outcome))

    @property
    def found_nothing_new(self) -> Bools:
        """Which visits found a page as it was."""
        return np.isin(self.outcome, _NOTHING_NEW)

    @property
    def saved_bytes(self) -> int:
        """Bytes that were not sent because the site said "not modified": those sent before."""
        last: dict[int, int] = {}
        saved = 0
        for page, outcome, size in zip(self.page.tolist(), self.outcome, self.size, strict=True):
            if outcome == VisitOutcome.NOT_MODIFIED:
                saved += last.get(page, 0)
            elif size >= 0:
                last[page] = int(size)
        return saved

    @property
    def of_copies(self) -> CopyVisits:
        """Visits that made a copy, the first or a new one.

        Others found the page as it was, or were told so: they have left the copy alone.
        """
        kept = np.isin(self.outcome, [VisitOutcome.FIRST, VisitOutcome.CHANGED]) & (self.page >= 0)
        order = np.argsort(self.at[kept], kind="stable")
        return CopyVisits(self.page[kept][order], self.asked[kept][order], self.at[kept][order])
