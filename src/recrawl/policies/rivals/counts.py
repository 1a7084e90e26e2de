"""Visits and changes counted for each page: what rules and estimators of regular access read.

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
class Counts:
    """Gaps of each page, those of them that changed, and the days they took together."""

    gaps: Ints
    changes: Ints
    days: Floats

    @classmethod
    def none(cls, pages: int) -> Counts:
        """Pages before their second visit."""
        return cls(np.zeros(pages, np.int64), np.zeros(pages, np.int64), np.zeros(pages))

    def add(self, rows: Ints, visits: VisitRows) -> None:
        """Count visits; a second look at once is none."""
        later = visits.gaps > 0
        self.gaps[rows] += later
        self.changes[rows] += later & visits.changed
        self.days[rows] += visits.gaps
