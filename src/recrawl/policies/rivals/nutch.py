"""Apache Nutch's adaptive fetch schedule.

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

_SECOND = 1 / SECONDS_A_DAY


@dataclass(slots=True)
class NutchMemory:
    """When each page was last found changed, in days after 1970, and its interval in seconds."""

    modified: Floats
    seconds: Floats


@dataclass(frozen=True, slots=True)
class Nutch:
    r"""Wait longer by a share after each unchanged visit, shorter after each change.

    $$ I \leftarrow (1 - \text{less}) \, I \text{ if changed}, \qquad
       I \leftarrow (1 + \text{more}) \, I \text{ if not} , $$

    in whole seconds. With `sync`, which Nutch calls synchronising with the time of change, a page
    last changed $\delta$ days ago waits at least $\delta$, and the wait counts from `share`
    $\cdot \delta$ before the visit. As coded, that share is dropped where it exceeds `longest`.

    Without bounds and sync the interval settles where a page changes 0.92 times in it
    ($P = \ln 1.4 / (\ln 1.4 + \ln 1.25)$): visits are proportional to rates.

    Args:
        more: What to add after an unchanged visit, as a share.
        less: What to take away after a change, as a share.
        shortest: Fewest days to wait.
        longest: Most days to wait.
        first: Days to wait at first; the mean gap where not given (Nutch: 30).
        sync: Whether to synchronise.
        share: Of the days since the last change, for `sync`.

    References:
        Apache Nutch 1.x, class AdaptiveFetchSchedule with the defaults of nutch-default.xml.

    Examples:
        Ten days become 14 after an unchanged visit, then 11.2 after a change:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, unknown = Nutch(sync=False), np.array([0]), np.array([np.nan])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> waited, no, yes = np.array([10.0]), np.array([False]), np.array([True])
        >>> rule.after(memory, row, VisitRows(waited, waited, waited, no, unknown, 10.0))
        array([14.])
        >>> rule.after(memory, row, VisitRows(waited, waited, waited, yes, unknown, 10.0))
        array([11.2])
    """

    more: float = 0.4
    less: float = 0.2
    shortest: float = 60 * _SECOND
    longest: float = 365.0
    first: float | None = None
    sync: bool = True
    share: float = 0.3

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(more=self.more, first=1.0 if self.first is None else self.first)
        check_order(less=self.less, one=1.0)
        check_order(shortest=self.shortest, longest=self.longest)

    def begin(self, found: Floats) -> tuple[Floats, NutchMemory]:
        """The first interval; a page counts as changed when it is first copied."""
        first = np.full(len(found), np.nan if self.first is None else self.first)
        return first, NutchMemory(found.copy(), first * SECONDS_A_DAY)

    def after(self, memory: NutchMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        seconds = memory.seconds[rows]
        seconds = np.where(np.isnan(seconds), visits.gap * SECONDS_A_DAY, seconds)
        seconds = seconds * np.where(visits.changed, 1 - self.less, 1 + self.more)
        modified = np.where(visits.changed, visits.now, memory.modified[rows])
        memory.modified[rows] = modified
        early: Floats = np.zeros(len(rows))
        if self.sync:
            since = visits.now - modified
            seconds = np.maximum(seconds, since * SECONDS_A_DAY)
            early = self.share * since
            early[early > self.longest] = 0.0
        bounds = self.shortest * SECONDS_A_DAY, self.longest * SECONDS_A_DAY
        seconds = np.clip(np.floor(seconds + 0.5), *bounds)  # kept as whole seconds
        memory.seconds[rows] = seconds
        return np.maximum(seconds / SECONDS_A_DAY - early, 0.0)
