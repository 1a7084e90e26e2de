"""True freshness of the copies of the demo's crawl, and what the crawl believed.

A copy is fresh if its page has not changed since the request that fetched or confirmed it. The
beliefs of the crawl are sampled several times a day.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Ints, Statuses
    from recrawl.demo.world import ExampleWorld

_PARTS = 10
_COMPARED = [outcome for outcome in VisitOutcome if outcome.compared]
_NOTHING_NEW = [outcome for outcome in _COMPARED if outcome is not VisitOutcome.CHANGED]


@dataclass(frozen=True, slots=True, eq=False)
class CopyVisits:
    """Visits that fetched or confirmed a copy, in the order of time.

    Args:
        page: Row of the page in the world.
        asked: When the request began.
        at: When the response was complete.
    """

    page: Ints
    asked: Floats
    at: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ExampleVisits:
    """All visits, one row each, in the order in which they were written.

    Args:
        page: Row of the page in the world; -1 if it is not in the world.
        asked: When the request began, in days after 1970.
        at: When the response was complete.
        outcome: Numbers of `VisitOutcome`.
        age: Days from the page's last change to the visit; nan if the site did not say.
        size: Bytes of the body; -1 if there was none.
        audit: Numbers of `Audit`.

    Examples:
        Of three visits the second found a change, and the third got a 304, which saved the 90
        bytes of the changed page:

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
        """Number of visits with this outcome."""
        return int(np.count_nonzero(self.outcome == outcome))

    @property
    def found_nothing_new(self) -> Bools:
        """Which visits found a page unchanged."""
        return np.isin(self.outcome, _NOTHING_NEW)

    @property
    def saved_bytes(self) -> int:
        """Bytes that responses with status 304 saved."""
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
        """Visits that made a copy, the first or a new one. Others have left the copy as it was."""
        kept = np.isin(self.outcome, [VisitOutcome.FIRST, VisitOutcome.CHANGED]) & (self.page >= 0)
        order = np.argsort(self.at[kept], kind="stable")
        return CopyVisits(self.page[kept][order], self.asked[kept][order], self.at[kept][order])


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Beliefs of a crawl about its copies at an instant.

    Args:
        at: The instant.
        page: Rows of the pages that have a copy.
        chance: Probability that each is fresh.
    """

    at: float
    page: Ints
    chance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class BeliefComparison:
    """Share of fresh copies in groups of beliefs, as expected and as it was.

    Args:
        expected: Mean probability of freshness in each group; nan for an empty group.
        true: Share of its copies that were fresh.
    """

    expected: Floats
    true: Floats


def truly_fresh(world: ExampleWorld, visits: CopyVisits, beliefs: Sequence[Belief]) -> list[Bools]:
    """Which copies were fresh at the instants of beliefs, in their rows.

    Examples:
        A page changes on the second day; a copy of the first day is fresh until then:

        >>> from recrawl.demo.world import ExampleWorld
        >>> world = ExampleWorld.of([("/a", 0, 1.0)], [[2.0]], start=0.0, end=9.0)
        >>> visits = CopyVisits(np.array([0]), np.array([1.0]), np.array([1.1]))
        >>> looked = [Belief(at, np.array([0]), np.array([0.5])) for at in (1.5, 2.5)]
        >>> truly_fresh(world, visits, looked)
        [array([ True]), array([False])]
    """
    asked = np.full(len(world), np.nan)
    found, done = [], 0
    for belief in beliefs:
        until = int(np.searchsorted(visits.at, belief.at, side="right"))
        # The later of two visits to a page is assigned last.
        asked[visits.page[done:until]] = visits.asked[done:until]
        done = until
        found.append(world.unchanged(belief.page, asked[belief.page], belief.at))
    return found


def tenths(
    beliefs: Sequence[Belief], fresh: Sequence[Bools], *, start: float, end: float
) -> BeliefComparison:
    """Means over each tenth of the time from `start` to `end`."""
    at = np.array([belief.at for belief in beliefs])
    part = np.clip(((at - start) / (end - start) * _PARTS).astype(np.int64), 0, _PARTS - 1)
    expected = np.array([belief.chance.mean() for belief in beliefs])
    true = np.array([each.mean() for each in fresh])
    return BeliefComparison(_means(part, expected), _means(part, true))


def _means(part: Ints, figures: Floats) -> Floats:
    counts = np.bincount(part, minlength=_PARTS)
    sums = np.bincount(part, figures, minlength=_PARTS)
    return np.asarray(np.divide(sums, counts, out=np.full(_PARTS, np.nan), where=counts > 0))


def calibration(beliefs: Sequence[Belief], fresh: Sequence[Bools]) -> BeliefComparison:
    """Beliefs and truth in ten groups of equal size, by rising probability.

    Examples:
        Of ten copies with rising chances the upper five are fresh:

        >>> belief = Belief(0.0, np.arange(10), np.arange(10) / 10)
        >>> calibration([belief], [np.arange(10) >= 5]).true
        array([0., 0., 0., 0., 0., 1., 1., 1., 1., 1.])
    """
    chance = np.concatenate([belief.chance for belief in beliefs])
    order = np.argsort(chance, kind="stable")
    true = np.concatenate(fresh)
    groups = [group for group in np.array_split(order, _PARTS) if len(group)]
    return BeliefComparison(
        expected=np.array([chance[group].mean() for group in groups]),
        true=np.array([true[group].mean() for group in groups]),
    )
