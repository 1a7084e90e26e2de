"""StormCrawler's adaptive scheduler, and the one of the news crawl that runs on it.

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

_MINUTES_A_DAY = SECONDS_A_DAY / 60
_MINUTE = 1 / _MINUTES_A_DAY


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
