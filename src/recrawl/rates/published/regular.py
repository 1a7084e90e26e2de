"""Counts for the methods of regular access: gaps, changed gaps, and the average gap.

They are exact for gaps of one length. For others they take the average gap, which overlooks
that long gaps hide more changes than short ones; a page whose gaps differ much is flagged.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import sums
from recrawl.rates.binomial import clopper_pearson
from recrawl.rates.estimates import Estimates, Status, status_of
from recrawl.visits.visit import Flag

if TYPE_CHECKING:
    from recrawl.arrays.types import FlagBits, Floats, Ints
    from recrawl.visits.histories import Histories

# Gaps whose coefficient of variation is above this are no regular access. Jitter of a quarter
# either way, which a polite crawler adds, has 0.14.
_IRREGULAR = 0.3

_MOST_EXPECTED = 500.0  # changes a gap: more than any number of gaps can tell apart
_LEAST_SHAPE = 0.1  # a rate known to within a few orders of magnitude


@dataclass(frozen=True, slots=True, eq=False)
class Regular:
    """Counts of each page.

    Args:
        changes: Gaps that showed a change, X.
        gaps: Gaps, n.
        length: Average gap, I; nan where there is none.
        visits: Visits.
        flags: Bits of `Flag`.
    """

    changes: Ints
    gaps: Ints
    length: Floats
    visits: Ints
    flags: FlagBits

    @classmethod
    def of(cls, histories: Histories) -> Regular:
        """Count each page's gaps and changes."""
        days, squares = np.empty(len(histories)), np.empty(len(histories))
        changes = np.empty(len(histories), np.int64)

        def work(pages: slice) -> None:
            rows, edges = histories.block(pages)
            gaps = histories.gaps[rows]
            days[pages], squares[pages] = sums(gaps, edges), sums(gaps * gaps, edges)
            changes[pages] = sums(histories.changed[rows].view(np.uint8), edges, np.int64)

        over_blocks(work, len(histories))
        gaps = histories.gaps_of_page
        with np.errstate(invalid="ignore"):  # no days in no gaps
            length = days / gaps
        flags = histories.flags.copy()
        spread = squares > (1 + _IRREGULAR**2) * days * length
        flags[spread] |= np.uint32(Flag.IRREGULAR_GAPS)
        return cls(changes, gaps, length, histories.visits, flags)

    def band(self, level: float) -> tuple[Floats, Floats]:
        """Changes to expect in a gap, at least and at most, by Clopper and Pearson."""
        low, high = clopper_pearson(self.changes, self.gaps, level)
        with np.errstate(divide="ignore"):  # every gap changed: no upper bound
            return 0 - np.log1p(-low), 0 - np.log1p(-high)

    def estimates(self, expected: Floats, band: tuple[Floats, Floats], method: str) -> Estimates:
        """Estimates from the changes to expect in a gap, widening the band to hold them.

        The Gamma for planners has the information that so many gaps hold about the logarithm
        of a rate, n x^2 / (e^x - 1) where x changes are to be expected in a gap.
        """
        known = self.gaps > 0
        inside = known & (expected > 0) & (expected < np.inf)
        at = np.where(inside, expected, 1.0)
        information = self.gaps * at * at / np.expm1(np.minimum(at, _MOST_EXPECTED))
        shape = np.where(inside, np.maximum(information, _LEAST_SHAPE), np.nan)
        length = np.where(known, self.length, np.nan)
        status = status_of(self.changes, self.visits)
        status[(status == Status.ALL_CHANGED) & np.isfinite(expected)] = Status.SATURATED
        return Estimates(
            rate=expected / length,
            low=np.minimum(band[0], expected) / length,
            high=np.maximum(band[1], expected) / length,
            shape=shape,
            exposure=shape * length / at,
            changes=self.changes,
            visits=self.visits,
            status=status,
            flags=self.flags,
            method=method,
        )
