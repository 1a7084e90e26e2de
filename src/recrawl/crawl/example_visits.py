"""The visits of a crawl of the example site, and what they tell of its pages.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.crawl.example_truth import CopyVisits
from recrawl.rates.gamma import Gamma
from recrawl.rates.priors import fit_prior
from recrawl.visits.histories import Histories
from recrawl.visits.status import Outcome

if TYPE_CHECKING:
    from recrawl.crawl.example_world import ExampleWorld
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.arrays import Bools, Floats, Ints, Statuses

_COMPARED = [outcome for outcome in Outcome if outcome.compared]
_OF_COPIES = [Outcome.FIRST, *_COMPARED]
_NOTHING_NEW = [outcome for outcome in _COMPARED if outcome is not Outcome.CHANGED]


@dataclass(frozen=True, slots=True, eq=False)
class ExampleVisits:
    """All visits, a row each, in the order in which they were written.

    Args:
        page: Row of the page in the world; -1 where it has none.
        asked: When the request began, in days after 1970.
        at: When the answer was there.
        outcome: Numbers of `Outcome`.
        age: Days from the page's last change to the visit; nan where the site did not tell.
        size: Bytes of the body; -1 where none came.

    Examples:
        Of three visits the second found a change, and the third was told "not modified", which
        saved the 90 bytes that the page had grown to:

        >>> visits = ExampleVisits(
        ...     page=np.array([0, 0, 0]),
        ...     asked=np.array([1.0, 2.0, 3.0]),
        ...     at=np.array([1.1, 2.1, 3.1]),
        ...     outcome=np.array([Outcome.FIRST, Outcome.CHANGED, Outcome.NOT_MODIFIED]),
        ...     age=np.full(3, np.nan),
        ...     size=np.array([80, 90, -1]),
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

    def count(self, outcome: Outcome) -> int:
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
            if outcome == Outcome.NOT_MODIFIED:
                saved += last.get(page, 0)
            elif size >= 0:
                last[page] = int(size)
        return saved

    @property
    def of_copies(self) -> CopyVisits:
        """Visits that fetched or confirmed a copy."""
        kept = np.isin(self.outcome, _OF_COPIES) & (self.page >= 0)
        order = np.argsort(self.at[kept], kind="stable")
        return CopyVisits(self.page[kept][order], self.asked[kept][order], self.at[kept][order])

    def estimates(self, world: ExampleWorld) -> Estimates:
        """Rate of each page of the world, by the default estimator, pooled over sections."""
        kept = np.flatnonzero(np.isin(self.outcome, _OF_COPIES) & (self.page >= 0))
        kept = kept[np.lexsort((self.at[kept], self.page[kept]))]
        page, at = self.page[kept], self.at[kept]
        ends = np.flatnonzero(page[1:] == page[:-1]) + 1
        counts = np.bincount(page[ends], minlength=len(world))
        changed = self.outcome[kept][ends] == Outcome.CHANGED
        gaps, age = at[ends] - at[ends - 1], self.age[kept][ends]
        histories = Histories(
            gaps=gaps,
            changed=changed,
            offsets=np.concatenate([[0], np.cumsum(counts)]),
            age=np.where(changed & (age < gaps), age, np.nan),
        )
        return Gamma(fit_prior(histories, world.section)).estimate(histories)
