"""Miniflux's polling by entry frequency, with pages in the place of feeds.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_order, check_positive
from recrawl.policies.rivals.recent import Recent
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

_WEEK = 7.0
_PLACES = 64  # more changes a week than that are told by the last so many
_FEWEST = 2  # changes that have a frequency


@dataclass(frozen=True, slots=True)
class Miniflux:
    r"""Poll as often as a page changed in the last week.

    With $n$ changes found in the last seven days, the first and the last of them $d$ days apart,

    $$ w = \lceil 7 (n - 1) / d \rceil , \qquad
       I = \text{clip}(7 / (w \cdot \text{factor}), \text{shortest}, \text{longest}) , $$

    and the longest where $n < 2$. A feed tells when each entry was published; a page shows at
    most one change a visit, so that a page visited too rarely looks quiet.

    Args:
        factor: Polls an entry.
        shortest: Fewest days to wait.
        longest: Most days to wait.

    References:
        Miniflux 2.x, polling scheduler "entry_frequency".

    Examples:
        Changes found two days apart are 4 a week, when there is room for as long an interval:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> rule, row, yes = Miniflux(longest=28.0), np.array([0]), np.array([True])
        >>> _, memory = rule.begin(np.array([0.0]))
        >>> for day in (2.0, 4.0):
        ...     now = np.array([day])
        ...     wait = rule.after(memory, row, VisitRows(now, now, now, yes, now, gap=7.0))
        >>> wait
        array([1.75])
    """

    factor: float = 1.0
    shortest: float = 300 / SECONDS_A_DAY
    longest: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(factor=self.factor)
        check_order(shortest=self.shortest, longest=self.longest)

    def begin(self, found: Floats) -> tuple[Floats, Recent]:
        """The longest interval, and no changes."""
        return np.full(len(found), self.longest), Recent.none(found, _PLACES)

    def after(self, memory: Recent, rows: Ints, visits: VisitRows) -> Floats:
        """Days to wait after visits."""
        memory.add(rows, visits)
        count, first = memory.since(rows, visits.now - _WEEK)
        some = np.flatnonzero((count >= _FEWEST) & (memory.last[rows] > first))
        apart = memory.last[rows[some]] - first[some]
        weekly = np.ceil(_WEEK * (count[some] - 1) / apart)
        interval = np.full(len(rows), self.longest)
        interval[some] = np.clip(_WEEK / (weekly * self.factor), self.shortest, self.longest)
        return interval
