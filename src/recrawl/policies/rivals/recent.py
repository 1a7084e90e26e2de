"""The last changes found on each page: what rules for feeds read.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows


@dataclass(slots=True)
class Recent:
    """When each page's last changes were found, in days after 1970: one ring per page.

    Args:
        times: Instants in no order; -inf where a place is free.
        count: Changes found so far.
        last: The latest, or when the page was found.
    """

    times: Floats
    count: Ints
    last: Floats

    @classmethod
    def none(cls, found: Floats, places: int) -> Recent:
        """Pages without changes so far."""
        times = np.full((len(found), places), -np.inf)
        return cls(times, np.zeros(len(found), np.int64), found.copy())

    def add(self, rows: Ints, visits: VisitRows) -> None:
        """Remember the changes that visits found."""
        changed = np.flatnonzero(visits.changed)
        some = rows[changed]
        self.times[some, self.count[some] % self.times.shape[1]] = visits.now[changed]
        self.count[some] += 1
        self.last[some] = visits.now[changed]

    def since(self, rows: Ints, begin: Floats) -> tuple[Ints, Floats]:
        """How many changes were found after `begin`, and when the first of them was."""
        times = self.times[rows]
        late = times > begin[:, np.newaxis]
        return late.sum(axis=1), np.where(late, times, np.inf).min(axis=1)
