r"""Demand for visits: how often pages are visited at a price.

A page whose rate follows Gamma(shape $a$, exposure $b$) is due at the root of $E V(\tau) = v$. In
$u = \tau / b$ the equation knows only $a$ and $v / b^p$, so one routine serves all pages, by
Newton's method on logarithms. Where a value is bounded ($1 / (a - 1)$ for freshness, 1 for
detected changes), what is left to the bound is solved for instead, which has a closed form: no
digits are lost however close to its cut-off a page is.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recrawl.plan.objectives import Detected, Freshness, Missed

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.plan.solver.inverse_value import InverseValue

_MOST_STEPS = 60
_CLOSE = 1e-7  # Newton's last step squares this
NEVER = 225.0  # logarithm of u that stands for never: 10^98 times what was watched
_HALF = 0.5


def log_due(
    objective: Objective, shape: Floats, wanted: Floats, start: Floats | None = None
) -> Floats:
    """Logarithm of u with E V = wanted for an exposure of 1; `NEVER` where there is none."""
    if isinstance(objective, Missed):
        return np.log(wanted * 2 / shape) / 2
    most = most_value(objective, shape)
    share = wanted / most
    if isinstance(objective, Freshness | Detected):
        log, near = np.empty_like(shape), share > _HALF
        for rows, solve, goal in (
            (np.flatnonzero(~near), _by_value, wanted),
            (np.flatnonzero(near), _by_rest, share),
        ):
            if len(rows):
                begin = None if start is None else start[rows]
                log[rows] = solve(objective, shape[rows], goal[rows], begin)
        return log
    return _by_value(objective, shape, wanted, start)


def most_value(objective: Objective, shape: Floats) -> Floats:
    """What a visit after very long is worth, for an exposure of 1."""
    if isinstance(objective, Freshness):
        return np.where(shape > 1, 1 / np.maximum(shape - 1, 1e-300), np.inf)
    return np.full_like(shape, 1.0 if isinstance(objective, Detected) else np.inf)


def _by_value(objective: Objective, shape: Floats, wanted: Floats, start: Floats | None) -> Floats:
    """Newton on ln V over ln u, from below: V is at most a u^2 / 2, and ln V is concave."""
    want = np.log(np.maximum(wanted, np.finfo(np.float64).tiny))
    least = _least(objective, shape, want)
    log = least if start is None else np.clip(start, least, NEVER)

    def move(log: Floats, shape: Floats, want: Floats, least: Floats) -> Floats:
        u = np.exp(log)
        value, wear = objective.value_and_wear(shape, u)
        slope = u * wear / value
        step = np.clip((want - np.log(value)) / np.maximum(slope, 1e-12), -40, 40)
        return np.clip(log + step, least, NEVER)

    return _newton(move, log, shape, want, least)


def _newton(move: Callable[..., Floats], log: Floats, *columns: Floats) -> Floats:
    """Repeat `move(log, *columns)` until nothing moves; rows that stand still are left out."""
    found, rows = log.copy(), np.arange(len(log))
    for _ in range(_MOST_STEPS):
        before, log = log, move(log, *columns)
        moving = np.flatnonzero(np.abs(log - before) >= _CLOSE)
        if len(moving) <= _HALF * len(log):
            found[rows] = log
            if not len(moving):
                return found
            rows, log = rows[moving], log[moving]
            columns = tuple(column[moving] for column in columns)
    found[rows] = log
    return found


def _least(objective: Objective, shape: Floats, want: Floats) -> Floats:
    """A logarithm of u that is too small."""
    if objective.power == 2:  # noqa: PLR2004 - V is at most a u^3 / 3, and at most u^2 / 2
        least: Floats = np.maximum((want - np.log(shape / 3)) / 3, (want + np.log(2)) / 2)
        return least
    log: Floats = (want + np.log(2 / shape)) / 2
    if isinstance(objective, Detected):  # a (a + 1) u^2 / 2
        log -= np.log(shape + 1) / 2
        return log
    return log if isinstance(objective, Freshness) else np.maximum(log, want)


def _by_rest(objective: Objective, shape: Floats, share: Floats, start: Floats | None) -> Floats:
    """Newton on -ln(1 - V / most) over ln u, which is convex and nearly straight far out."""
    fresh = isinstance(objective, Freshness)
    with np.errstate(divide="ignore"):
        want = -np.log1p(-np.minimum(share, 1.0))
    if start is None:
        start = _by_value(objective, shape, most_value(objective, shape) / 2, None)

    def move(log: Floats, shape: Floats, want: Floats) -> Floats:
        u = np.exp(log)
        over = u if fresh else u / (1 + u)
        depth = shape * np.log1p(u) - np.log1p(shape * over)
        gone = u / (1 + u)
        bent = gone if fresh else gone / (1 + u)
        slope = shape * gone - shape * (over if fresh else bent) / (1 + shape * over)
        step = np.clip((want - depth) / slope, -40, 40)
        moved: Floats = np.minimum(log + step, NEVER)
        return moved

    return np.where(share < 1, _newton(move, start, shape, want), NEVER)


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
        _, wear = self.objective.value_and_wear(shape, u)
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
