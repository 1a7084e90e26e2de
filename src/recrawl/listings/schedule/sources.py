"""A budget of syncs over several sources.

Each step takes the sync that avoids the greatest predicted loss of quality for its
cost. A source that is synced k times in a span of time is so at even steps, and its loss is
the time by which its quality falls short of 1, times its weight. Each further sync
avoids less than the one before, so that step by step is also best on the whole, but for the last
one that no longer fits.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Ints


@dataclass(frozen=True, slots=True, eq=False)
class BudgetedSource:
    """One source to keep.

    Args:
        quality: Forecast 1, 2, ... days after a sync: precision, recall or their
            product.
        cost: What a sync costs.
        weight: How much its quality matters.
    """

    quality: Floats
    cost: float = 1.0
    weight: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        if self.cost <= 0 or self.weight < 0:
            raise InvalidParameter(
                f"a source must have a cost above 0 and a weight of at least 0 "
                f"(got {self.cost} and {self.weight})"
            )

    def loss(self, syncs: int, days: float) -> float:
        """Predicted loss in a span of time with so many syncs, the first at its start.

        Without any the copy is as old as the forecast reaches: what it says of its last day.

        >>> BudgetedSource(np.array([0.9, 0.8, 0.7, 0.6])).loss(2, 4.0).__round__(6)
        0.4
        """
        path = np.concatenate([[1.0], self.quality])
        if syncs == 0:
            return self.weight * days * float(1.0 - path[-1])
        step = days / syncs
        knots = np.minimum(np.arange(len(path), dtype=np.float64), step)
        level = np.interp(knots, np.arange(len(path)), path)
        area = float(np.trapezoid(1.0 - level, knots))
        area += max(step - (len(path) - 1), 0.0) * float(1.0 - path[-1])
        return self.weight * syncs * area


def share_budget(sources: Sequence[BudgetedSource], budget: float, days: float) -> Ints:
    """How often to sync each source within a span of time.

    Args:
        sources: What there is to keep.
        budget: What all syncs may cost together.
        days: Length of the span.

    Examples:
        Twice the decay is worth more visits, but not twice as many:

        >>> slow, fast = (np.exp(-rate * np.arange(1, 31)) for rate in (0.02, 0.04))
        >>> share_budget([BudgetedSource(slow), BudgetedSource(fast)], 24, 30.0)
        array([10, 14])
    """
    syncs = np.zeros(len(sources), dtype=np.int64)
    gains = [(-_gain(source, 0, days), row) for row, source in enumerate(sources)]
    heapify(gains)
    left = budget
    while gains and gains[0][0] < 0:
        row = gains[0][1]
        source = sources[row]
        if source.cost > left + 1e-9 * budget:
            heapreplace(gains, (0.0, row))
            continue
        left -= source.cost
        syncs[row] += 1
        heapreplace(gains, (-_gain(source, int(syncs[row]), days), row))
    return syncs


def _gain(source: BudgetedSource, syncs: int, days: float) -> float:
    """Loss that one more sync avoids for its cost."""
    return (source.loss(syncs, days) - source.loss(syncs + 1, days)) / source.cost
