"""Heritrix's adaptive revisiting.

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
