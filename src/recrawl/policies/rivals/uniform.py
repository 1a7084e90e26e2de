"""Every page equally often.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import epoch_days, instants_after_epoch

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.policies.pages import Outcomes, Pages


@dataclass(slots=True)
class UniformState:
    """When each page was last visited, in days after 1970, and how long to wait."""

    last: Floats
    gap: float


@dataclass(frozen=True, slots=True)
class Uniform:
    """Visit all pages in turn: the page that waited longest goes first.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change.
        ACM Transactions on Internet Technology 3(3), 256-290, section 6.4.
    """

    def start(self, pages: Pages, now: np.datetime64, gap: float) -> UniformState:
        """State of a crawl that begins now with these pages."""
        del now
        return UniformState(epoch_days(pages.first_seen), gap)

    def found(self, state: UniformState, pages: Pages) -> UniformState:
        """State with more pages."""
        state.last = np.concatenate([state.last, epoch_days(pages.first_seen)])
        return state

    def with_mean_gap(self, state: UniformState, gap: float) -> UniformState:
        """State of a crawl whose mean gap has moved."""
        state.gap = gap
        return state

    def seen(
        self, state: UniformState, rows: Ints, now: Instants, outcomes: Outcomes
    ) -> UniformState:
        """State after visits."""
        del outcomes
        state.last[rows] = epoch_days(now)
        return state

    def due(self, state: UniformState, rows: Ints, price: float) -> Instants:
        """A gap after the last visit."""
        del price
        return instants_after_epoch(state.last[rows] + state.gap)
