"""Malcolm and Armitage's two listings: visits that follow the estimated change interval.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_order, check_positive
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

_STOP = 100


@dataclass(slots=True)
class MalcolmMemory:
    """Days watched in gaps that changed and in gaps that did not, and changes."""

    changed: Floats
    quiet: Floats
    changes: Ints


@dataclass(frozen=True, slots=True)
class MalcolmPolicy:
    r"""Wait for the estimated interval while it is short, for a third of it when it is long.

    $k$ changes were found in $S$ days, of which $U$ passed in gaps without one. The estimate is

    $$ e = \frac{1}{1/A + 1/S} , \qquad A = \frac{(S - U) / k}{\ln(S / U)} , $$

    $S$ where nothing changed and 0 where every gap did. The wait is $e$ up to `soft`, beyond it
    $\max(\text{soft}, e / \text{ratio})$, and never below `shortest`. Published to stop after
    100 changes, when the interval is known well enough: a crawl that is to stay fresh must go
    on (`stop=None`).

    Args:
        soft: Days beyond which the estimate is divided.
        ratio: What to divide it by.
        shortest: Fewest days to wait, also at first.
        stop: Changes after which a page is never visited again; None for no end.

    References:
        Malcolm and Armitage. Bandwidth efficient web object change interval estimation.
        Listing 2 and equation 3.

    Examples:
        Twenty days, eleven of them quiet, two changes: 5.47 days, more than 2, so a third, but 2:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, flags = MalcolmPolicy(), np.array([0]), (True, False, True)
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> for days, flag in zip((4.0, 11.0, 5.0), flags, strict=True):
        ...     gap = np.array([days])
        ...     wait = rule.after(memory, row, VisitRows(gap, gap, gap, np.array([flag]), gap, 7.0))
        >>> rule.estimate(memory, row).round(6), wait
        (array([5.468884]), array([2.]))
    """

    soft: float = 2.0
    ratio: float = 3.0
    shortest: float = 600 / SECONDS_A_DAY
    stop: int | None = _STOP

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(ratio=self.ratio)
        check_order(shortest=self.shortest, soft=self.soft)

    def begin(self, found: Floats) -> tuple[Floats, MalcolmMemory]:
        """The shortest interval, and nothing watched."""
        none = np.zeros(len(found))
        memory = MalcolmMemory(none, none.copy(), np.zeros(len(found), np.int64))
        return np.full(len(found), self.shortest), memory

    def after(self, memory: MalcolmMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        changed = visits.changed & (visits.gaps > 0)
        memory.changed[rows] += np.where(changed, visits.gaps, 0.0)
        memory.quiet[rows] += np.where(changed, 0.0, visits.gaps)
        memory.changes[rows] += changed
        wait = self.estimate(memory, rows)
        wait = np.where(wait > self.soft, np.maximum(self.soft, wait / self.ratio), wait)
        wait = np.maximum(wait, self.shortest)
        return _until(self.stop, memory.changes[rows], wait)

    @staticmethod
    def estimate(memory: MalcolmMemory, rows: Ints) -> Floats:
        """Days between changes; 0 where every gap changed."""
        changed, quiet, changes = memory.changed[rows], memory.quiet[rows], memory.changes[rows]
        both = (changed > 0) & (quiet > 0)
        safe = np.where(quiet > 0, quiet, 1.0)
        rate = changes * np.log1p(changed / safe) / np.where(both, changed, 1.0)
        days = changed + quiet
        estimate = days / (1 + np.where(both, rate, 0.0) * days)
        return np.where((changes > 0) & ~both, 0.0, estimate)


@dataclass(slots=True)
class MalcolmAgeMemory:
    """When each page last changed, sum of its ages at all visits, visits and changes."""

    modified: Floats
    ages: Floats
    visits: Ints
    changes: Ints


@dataclass(frozen=True, slots=True)
class MalcolmLastModified:
    r"""Wait for a fifth of the mean age of a page, at least a day.

    $$ I = \max(\text{target}, e / \text{ratio}), \qquad e = \text{sum of ages} / \text{visits} . $$

    The first visit counts with the age that the page has then. A page that does not say when it
    changed is supposed to have changed in the middle of the gap; one that did not say so at its
    first visit, when it was found. Published to stop after 100 changes (`stop=None`: never).

    Args:
        target: Fewest days to wait.
        ratio: What to divide the estimate by.
        stop: Changes after which a page is never visited again; None for no end.

    References:
        Malcolm and Armitage. Bandwidth efficient web object change interval estimation.
        Listing 1 and equation 2.

    Examples:
        Last changed ten days before the first visit, so 10 and 30 days old at two visits: a fifth
        of ten days, then of twenty:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, now = MalcolmLastModified(), np.array([0]), np.array([20.0])
        >>> wait, memory = rule.begin_dated(np.array([0.0]), np.array([10.0]))
        >>> wait
        array([2.])
        >>> rule.after(memory, row, VisitRows(now, now, now, np.array([False]), now, gap=7.0))
        array([4.])
    """

    target: float = 1.0
    ratio: float = 5.0
    stop: int | None = _STOP

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(target=self.target, ratio=self.ratio)

    def begin(self, found: Floats) -> tuple[Floats, MalcolmAgeMemory]:
        """The target interval; pages without dates count as changed when they were found."""
        return self.begin_dated(found, np.full(len(found), np.nan))

    def begin_dated(self, found: Floats, age: Floats) -> tuple[Floats, MalcolmAgeMemory]:
        """The interval by the age of pages at their first visit."""
        pages, known = len(found), np.where(np.isnan(age), 0.0, age)
        memory = MalcolmAgeMemory(
            found - known, known, np.ones(pages, np.int64), np.zeros(pages, np.int64)
        )
        return np.maximum(self.target, known / self.ratio), memory

    @staticmethod
    def estimate(memory: MalcolmAgeMemory, rows: Ints) -> Floats:
        """Days between changes: the mean age of pages over all visits."""
        return memory.ages[rows] / memory.visits[rows]

    def after(self, memory: MalcolmAgeMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        age = np.where(np.isnan(visits.age), visits.gaps / 2, visits.age)
        modified = np.where(visits.changed, visits.now - age, memory.modified[rows])
        memory.modified[rows] = modified
        memory.ages[rows] += visits.now - modified
        memory.visits[rows] += 1
        memory.changes[rows] += visits.changed
        wait = np.maximum(self.target, self.estimate(memory, rows) / self.ratio)
        return _until(self.stop, memory.changes[rows], wait)


def _until(most: int | None, changes: Ints, wait: Floats) -> Floats:
    """The wait, without end for pages that changed often enough."""
    return wait if most is None else np.where(changes >= most, np.inf, wait)
