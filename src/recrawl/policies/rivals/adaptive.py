"""Rules of crawlers that wait longer after an unchanged visit and shorter after a change.

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
_MINUTES_A_DAY = SECONDS_A_DAY / 60
_MINUTE = 1 / _MINUTES_A_DAY


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


@dataclass(frozen=True, slots=True)
class StormCrawler:
    r"""Wait 1.5 times as long after an unchanged visit; after a change go half-way to the shortest.

    $$ I \leftarrow \lfloor (1 - \text{less}) \, I + \text{less} \cdot \text{shortest} \rfloor
       \text{ if changed}, \qquad
       I \leftarrow \min(\lfloor (1 + \text{more}) \, I \rfloor, \text{longest})
       \text{ if not} , $$

    in whole minutes. Without bounds the interval settles where a page changes 0.46 times in it.

    Args:
        more: What to add after an unchanged visit, as a share.
        less: Share of the way to the shortest interval to go after a change.
        shortest: Fewest days to wait.
        longest: Most days to wait.
        first: Days to wait at first.

    References:
        Apache StormCrawler 2.x, class AdaptiveScheduler with its default configuration.

    Examples:
        A day becomes 36 hours after an unchanged visit, half a day and half an hour after a change:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> day, unknown = np.ones(2), np.full(2, np.nan)
        >>> seen = VisitRows(day, day, day, np.array([False, True]), unknown, gap=7.0)
        >>> StormCrawler().after(None, np.arange(2), seen) * 24
        array([36. , 12.5])
    """

    more: float = 0.5
    less: float = 0.5
    shortest: float = 60 * _MINUTE
    longest: float = 20_160 * _MINUTE
    first: float = 1_440 * _MINUTE

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(more=self.more, less=self.less)
        check_order(shortest=self.shortest, first=self.first, longest=self.longest)

    def begin(self, found: Floats) -> tuple[Floats, None]:
        """The first interval, and nothing to remember."""
        return np.full(len(found), self.first), None

    def after(self, memory: None, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        del memory, rows
        minutes = np.rint(visits.interval * _MINUTES_A_DAY)
        shortest = self.shortest * _MINUTES_A_DAY
        sooner = np.floor((1 - self.less) * minutes + self.less * shortest)
        later = np.minimum(np.floor(minutes * (1 + self.more)), self.longest * _MINUTES_A_DAY)
        return np.where(visits.changed, sooner, later) * _MINUTE


# The news crawl of Common Crawl: an hour and a half to ninety days.
NEWS_CRAWL = StormCrawler(less=0.2, shortest=90 * _MINUTE, longest=129_600 * _MINUTE)


@dataclass(frozen=True, slots=True)
class Heritrix:
    r"""Wait 1.5 times as long after an unchanged visit, 1.5 times shorter after a change.

    $$ I \leftarrow I / 1.5 \text{ if changed}, \qquad I \leftarrow 1.5 \, I \text{ if not} . $$

    Without bounds the interval settles where half of the visits find a change, 0.69 changes in
    an interval.

    Args:
        sooner: What to divide the interval by after a change.
        later: What to multiply it by after an unchanged visit.
        shortest: Fewest days to wait.
        longest: Most days to wait.
        first: Days to wait at first.
        use_overdue: Whether to add the days by which a visit came late before scaling.

    References:
        Heritrix 1.x, classes WaitEvaluator and AdaptiveRevisitFrontier.

    Examples:
        A day becomes 36 hours after an unchanged visit, 16 after a change:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> day, unknown = np.ones(2), np.full(2, np.nan)
        >>> seen = VisitRows(day, day, day, np.array([False, True]), unknown, gap=7.0)
        >>> Heritrix().after(None, np.arange(2), seen) * 24
        array([36., 16.])
    """

    sooner: float = 1.5
    later: float = 1.5
    shortest: float = 1 / 24
    longest: float = 28.0
    first: float = 1.0
    use_overdue: bool = False

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(sooner=self.sooner, later=self.later)
        check_order(shortest=self.shortest, first=self.first, longest=self.longest)

    def begin(self, found: Floats) -> tuple[Floats, None]:
        """The first interval, and nothing to remember."""
        return np.full(len(found), self.first), None

    def after(self, memory: None, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        del memory, rows
        waited = visits.interval
        if self.use_overdue:
            waited = np.maximum(waited, visits.gaps)
        waited = np.where(visits.changed, waited / self.sooner, waited * self.later)
        return np.clip(waited, self.shortest, self.longest)
