"""A small crawl of the pages that change often, and a complete one now and then.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_order, check_positive

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows


@dataclass(slots=True)
class TierMemory:
    """Logarithm of the odds that each page is of the fast class."""

    odds: Floats


@dataclass(frozen=True, slots=True)
class TwoTier:
    r"""Visit pages every week or every three months, by which class they more probably are of.

    A page changes at the rate $r_1$ (weekly) or $r_2$ (monthly). Each gap $g$ multiplies the
    odds of the first by

    | gap | factor |
    |---|---|
    | unchanged | $e^{-(r_1 - r_2) g}$ |
    | changed, no telling when | $(1 - e^{-r_1 g}) / (1 - e^{-r_2 g})$ |
    | changed, the last time $t$ days before its end | $(r_1 / r_2) \, e^{-(r_1 - r_2) t}$ |

    Args:
        fast: Changes a day of pages in the small crawl.
        slow: Changes a day of the others.
        often: Days between small crawls.
        rarely: Days between complete crawls.
        odds: Of being fast, before anything is seen; above 1 a page begins in the small crawl.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Section 2, where it is sketched; `Classes` of
        `recrawl.rates` has the same probabilities for any number of classes.

    Examples:
        A month without a change: the odds of a weekly page fall to $e^{-30/7 + 1} = 0.037$.

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, month = TwoTier(), np.array([0]), np.array([30.0])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> unknown = np.array([np.nan])
        >>> rule.after(memory, row, VisitRows(month, month, month, np.array([False]), unknown, 7.0))
        array([91.])
        >>> np.exp(memory.odds).round(3)
        array([0.037])
    """

    fast: float = 1 / 7
    slow: float = 1 / 30
    often: float = 7.0
    rarely: float = 91.0
    odds: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(odds=self.odds)
        check_order(slow=self.slow, fast=self.fast)
        check_order(often=self.often, rarely=self.rarely)

    def begin(self, found: Floats) -> tuple[Floats, TierMemory]:
        """The crawl of the class that is more probable before anything is seen."""
        odds = np.full(len(found), np.log(self.odds))
        return self._interval(odds), TierMemory(odds)

    def after(self, memory: TierMemory, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.odds[rows] += np.where(visits.gaps > 0, self._told(visits), 0.0)
        return self._interval(memory.odds[rows])

    def _told(self, visits: VisitRows) -> Floats:
        """What each visit adds to the logarithm of the odds."""
        apart = self.fast - self.slow
        gaps = np.where(visits.gaps > 0, visits.gaps, 1.0)
        hidden = np.log(np.expm1(-self.fast * gaps) / np.expm1(-self.slow * gaps))
        dated = np.log(self.fast / self.slow) - apart * visits.age
        changed = np.where(np.isnan(visits.age), hidden, dated)
        return np.where(visits.changed, changed, -apart * gaps)

    def _interval(self, odds: Floats) -> Floats:
        return np.where(odds >= 0, self.often, self.rarely)
