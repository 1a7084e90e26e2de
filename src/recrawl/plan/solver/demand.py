"""Demand for visits: how often pages are visited at a price.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recrawl.plan.due import NEVER, log_due, most_value

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.plan.solver.inverse_value import InverseValue

_STEEPEST = 1e6
_EDGE = 0.02  # how near a cut-off visits are still smooth enough: chosen with benchmarks/plan.py
_TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False)
class KnownRateDemand:
    """Demand of pages of known rates.

    Args:
        rate: Changes per day; 0 for pages that are not worth a visit at any price.
        scale: Cost rate^power / weight.
        inverse: Changes to wait for at a price.
    """

    rate: Floats
    scale: Floats
    inverse: InverseValue

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.rate)

    @property
    def live(self) -> Bools:
        """Which pages are worth a visit at some price."""
        return self.rate > 0

    def visits(self, rows: slice, price: Floats | float) -> Floats:
        """Visits per day of some pages."""
        changes = self.inverse.changes(self.scale[rows], price)
        return np.divide(self.rate[rows], changes, out=changes)

    def visits_and_slope(self, rows: slice, price: Floats | float) -> tuple[Floats, Floats]:
        """The same, and how fast they fall."""
        scale = self.scale[rows]
        changes = self.inverse.changes(scale, price)
        slope = self.inverse.elasticity(changes, scale * price)
        visits = np.divide(self.rate[rows], changes, out=changes)
        slope *= visits
        return visits, slope

    def edge(self, price: float) -> Ints:
        """Pages whose value is nearly at its bound."""
        if not self.inverse.bounded:
            return np.empty(0, np.int64)
        return _within(self.scale, (1 - _EDGE) / price, (1 + _EDGE) / price)

    def take(self, rows: Ints) -> KnownRateDemand:
        """Some of the pages."""
        return KnownRateDemand(self.rate[rows], self.scale[rows], self.inverse)


@dataclass(frozen=True, slots=True, eq=False)
class UncertainDemand:
    """Demand of pages whose rates follow Gamma distributions.

    Args:
        objective: What a visit is worth.
        shape: Events of each distribution.
        exposure: Its days; infinite for pages that are not worth a visit at any price.
        scale: Cost / weight / exposure^power.
        last: Logarithm of interval / exposure as last found, from where the next search begins.
    """

    objective: Objective
    shape: Floats
    exposure: Floats
    scale: Floats
    last: Floats

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.shape)

    @property
    def live(self) -> Bools:
        """Which pages are worth a visit at some price."""
        return self.exposure < np.inf

    def visits(self, rows: slice, price: Floats | float) -> Floats:
        """Visits per day of some pages."""
        wanted = self.scale[rows] * price
        start = self.last[rows]
        known = not np.isnan(start[:1]).any()
        log = log_due(self.objective, self.shape[rows], wanted, start if known else None)
        self.last[rows] = log
        return np.where(log < NEVER, np.exp(-log), 0.0) / self.exposure[rows]

    def visits_and_slope(self, rows: slice, price: Floats | float) -> tuple[Floats, Floats]:
        """The same, and how fast they fall: by V over its slope."""
        visits = self.visits(rows, price)
        shape, wanted = self.shape[rows], self.scale[rows] * price
        u = np.exp(self.last[rows])
        wear = self.objective.expected_wear(shape, np.ones_like(u), u)
        elasticity = np.minimum(wanted / np.maximum(u * wear, _TINY), _STEEPEST)
        return visits, visits * elasticity

    def edge(self, price: float) -> Ints:
        """Pages whose value is nearly at its bound."""
        share = self.scale * price / most_value(self.objective, self.shape)
        return _within(share, 1 - _EDGE, 1 + _EDGE)

    def take(self, rows: Ints) -> UncertainDemand:
        """Some of the pages."""
        return UncertainDemand(
            self.objective, self.shape[rows], self.exposure[rows], self.scale[rows], self.last[rows]
        )


Demand: TypeAlias = KnownRateDemand | UncertainDemand


def _within(figures: Floats, low: float, high: float) -> Ints:
    """Rows between two bounds."""
    return np.flatnonzero((figures > low) & (figures < high))
