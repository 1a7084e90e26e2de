"""How often pages are to be visited at a price: what a plan adds up, block by block.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from recrawl.plan.due import NEVER, log_due, most_value

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.plan.solver.inverse_value import Pace

_STEEPEST = 1e6
_EDGE = 0.02  # how near a cut-off visits are still smooth enough: chosen with benchmarks/plan.py
_TINY = 1e-300


class Demand(Protocol):
    """Pages that would be visited so often at a price."""

    @property
    def scale(self) -> Floats:
        """What the price is multiplied with, in the units of each page."""
        ...

    @property
    def live(self) -> Bools:
        """Which pages a visit is worth anything for."""
        ...

    @property
    def some_live(self) -> bool:
        """Whether there are such pages."""
        ...

    def __len__(self) -> int:
        """Count the pages."""
        ...

    def visits(self, rows: slice, price: Floats | float) -> Floats:
        """Visits a day of some pages."""
        ...

    def visits_and_slope(self, rows: slice, price: Floats | float) -> tuple[Floats, Floats]:
        """Visits a day, and how much fewer per unit of the logarithm of the price."""
        ...

    def edge(self, price: float) -> Ints:
        """Pages near their cut-off, where visits do not change smoothly with the price."""
        ...

    def take(self, rows: Ints) -> Demand:
        """Some of the pages."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class KnownRateDemand:
    """Demand of pages of known rates.

    Args:
        rate: Changes a day; 0 for pages that no visit is worth anything for.
        scale: Cost rate^power / weight.
        pace: Changes between visits.
    """

    rate: Floats
    scale: Floats
    pace: Pace

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.rate)

    @property
    def live(self) -> Bools:
        """Which pages a visit is worth anything for."""
        return self.rate > 0

    @property
    def some_live(self) -> bool:
        """Whether there are such pages."""
        return bool(self.rate.max(initial=0) > 0)

    def visits(self, rows: slice, price: Floats | float) -> Floats:
        """Visits a day of some pages."""
        changes = self.pace.changes(self.scale[rows], price)
        return np.divide(self.rate[rows], changes, out=changes)

    def visits_and_slope(self, rows: slice, price: Floats | float) -> tuple[Floats, Floats]:
        """The same, and how fast they fall."""
        scale = self.scale[rows]
        changes = self.pace.changes(scale, price)
        slope = self.pace.yielding(changes, scale * price)
        visits = np.divide(self.rate[rows], changes, out=changes)
        slope *= visits
        return visits, slope

    def edge(self, price: float) -> Ints:
        """Pages whose value is nearly at its bound."""
        if not self.pace.bounded:
            return np.empty(0, np.int64)
        return _within(self.scale, (1 - _EDGE) / price, (1 + _EDGE) / price)

    def take(self, rows: Ints) -> KnownRateDemand:
        """Some of the pages."""
        return KnownRateDemand(self.rate[rows], self.scale[rows], self.pace)


@dataclass(frozen=True, slots=True, eq=False)
class Uncertain:
    """Demand of pages whose rates follow Gamma distributions.

    Args:
        objective: What a visit is worth.
        shape: Events of each distribution.
        exposure: Its days; infinite for pages that no visit is worth anything for.
        scale: Cost / weight / exposure^power.
        last: Logarithm of each interval over the exposure, as last found; where to begin.
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
        """Which pages a visit is worth anything for."""
        return self.exposure < np.inf

    @property
    def some_live(self) -> bool:
        """Whether there are such pages."""
        return bool(self.exposure.min(initial=np.inf) < np.inf)

    def visits(self, rows: slice, price: Floats | float) -> Floats:
        """Visits a day of some pages."""
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
        yielding = np.minimum(wanted / np.maximum(u * wear, _TINY), _STEEPEST)
        return visits, visits * yielding

    def edge(self, price: float) -> Ints:
        """Pages whose value is nearly at its bound."""
        share = self.scale * price / most_value(self.objective, self.shape)
        return _within(share, 1 - _EDGE, 1 + _EDGE)

    def take(self, rows: Ints) -> Uncertain:
        """Some of the pages."""
        return Uncertain(
            self.objective, self.shape[rows], self.exposure[rows], self.scale[rows], self.last[rows]
        )


def _within(figures: Floats, low: float, high: float) -> Ints:
    """Rows between two bounds."""
    return np.flatnonzero((figures > low) & (figures < high))
