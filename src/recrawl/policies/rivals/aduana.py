"""Aduana's scheduling by changes over time known.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_positive
from recrawl.policies.rivals.counts import Counts

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows


@dataclass(frozen=True, slots=True)
class Aduana:
    r"""Visit as often as a page was seen to change, and one change more.

    $$ I = \frac{1}{\text{scale} \cdot r} , \qquad r = \frac{X + 1}{T} $$

    with $X$ changes found in the $T$ days from the first visit to the last. Before the second
    visit the page waits for the mean gap.

    Args:
        scale: Visits a change.

    References:
        Aduana (Scrapinghub), frequency scheduler with page rates; stride scheduling.

    Examples:
        One change in ten days counts as two:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row = Aduana(), np.array([0])
        >>> _, counts = rule.begin(np.array([0.0]))
        >>> now = np.array([10.0])
        >>> rule.after(counts, row, VisitRows(now, now, now, np.array([True]), now, gap=7.0))
        array([5.])
    """

    scale: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(scale=self.scale)

    def begin(self, found: Floats) -> tuple[Floats, Counts]:
        """The mean gap, and nothing counted."""
        return np.full(len(found), np.nan), Counts.none(len(found))

    def after(self, memory: Counts, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.add(rows, visits)
        wait = memory.days[rows] / (self.scale * (memory.changes[rows] + 1))
        return np.where(memory.gaps[rows] > 0, wait, np.nan)
