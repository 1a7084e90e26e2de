"""Every page equally often.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.rivals.interval import IntervalPolicy

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows


@dataclass(frozen=True, slots=True)
class _MeanGap:
    """A rule without an opinion: every page waits for the mean gap."""

    @staticmethod
    def begin(found: Floats) -> tuple[Floats, None]:
        return np.full(len(found), np.nan), None

    @staticmethod
    def after(memory: None, rows: Ints, visits: VisitRows) -> Floats:
        del memory, visits
        return np.full(len(rows), np.nan)


def uniform() -> IntervalPolicy[None]:
    """Visit all pages in turn: the page that waited longest goes first.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change.
        ACM Transactions on Internet Technology 3(3), 256-290, section 6.4.
    """
    return IntervalPolicy(_MeanGap())
