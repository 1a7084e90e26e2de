r"""Demand for visits: how often pages are visited at a price.

A page whose rate follows Gamma(shape $a$, exposure $b$) is due at the root of $E V(\tau) = v$. In
$u = \tau / b$ the equation knows only $a$ and $v / b^p$, so one routine serves all pages, by
Newton's method on logarithms. Where a value is bounded ($1 / (a - 1)$ for freshness, 1 for
detected changes), what is left to the bound is solved for instead, which has a closed form: no
digits are lost however close to its cut-off a page is.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.plan.objectives import Detected, Freshness, Missed
from recrawl.plan.solver.starts import start_by_rest, start_by_value

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.plan.objectives import Objective
    from recrawl.plan.solver.inverse_value import InverseValue

_MOST_STEPS = 60
_CLOSE = 1e-6  # Newton's last step squares this
_ROUGH = 3e-3  # where six digits suffice
_SHORT = 1e-5  # a move along the slope that leaves half of its square
NEVER = 225.0  # logarithm of u that stands for never: 10^98 times what was watched
_HALF = 0.5
_STEEPEST = 1e6
_MOST_STEP = 40.0
_FARTHEST = 1.0  # that a start is moved from where the last search ended


class Due(NamedTuple):
    """When pages are due.

    Attributes:
        log: Logarithm of u; `NEVER` where there is none.
        elasticity: How fast it moves with the logarithm of what is wanted, to six digits.
    """

    log: Floats
    elasticity: Floats


def log_due(objective: Objective, shape: Floats, wanted: Floats) -> Floats:
    """Logarithm of u with E V = wanted for an exposure of 1; `NEVER` where there is none."""
    return _find_due(objective, shape, wanted, _log(wanted), None, _CLOSE).log


def _log(wanted: Floats) -> Floats:
    log: Floats = np.maximum(wanted, np.finfo(np.float64).tiny)
    return np.log(log, out=log)


def _find_due(
    objective: Objective,
    shape: Floats,
    wanted: Floats,
    log_wanted: Floats,
    start: Floats | None,
    close: float,
) -> Due:
    """Logarithm of u with E V = wanted for an exposure of 1, from `start` if there is one.

    A step of Newton's method that is shorter than `close` is the last.
    """
    if isinstance(objective, Missed):
        return Due((log_wanted + np.log(2 / shape)) / 2, np.full(len(shape), _HALF))
    if not isinstance(objective, Freshness | Detected):
        return _by_value(objective, shape, log_wanted, start, close)
    share = wanted / most_value(objective, shape)
    near = share > _HALF
    if not near.any():
        return _by_value(objective, shape, log_wanted, start, close)
    log, elasticity = np.empty((2, len(shape)))
    for rows, solve, goal in (
        (np.flatnonzero(~near), _by_value, log_wanted),
        (np.flatnonzero(near), _by_rest, share),
    ):
        if len(rows):
            begin = None if start is None else start[rows]
            log[rows], elasticity[rows] = solve(objective, shape[rows], goal[rows], begin, close)
    return Due(log, elasticity)


def most_value(objective: Objective, shape: Floats) -> Floats:
    """What a visit after very long is worth, for an exposure of 1."""
    if isinstance(objective, Freshness):
        most = shape - 1
        np.maximum(most, 0.0, out=most)
        with np.errstate(divide="ignore"):  # infinite for shapes up to 1
            np.divide(1, most, out=most)
        return most
    return np.full_like(shape, 1.0 if isinstance(objective, Detected) else np.inf)


def _by_value(
    objective: Objective, shape: Floats, want: Floats, start: Floats | None, close: float
) -> Due:
    """Newton on ln V over ln u, which is concave: all steps but the first come from below."""
    if start is None:
        start = start_by_value(objective, shape, want)

    def move(log: Floats, shape: Floats, want: Floats) -> tuple[Floats, Floats]:
        u = np.exp(log)
        value, wear = objective.value_and_wear(shape, u)
        wear *= u
        wear /= value
        slope = np.maximum(wear, 1e-12, out=wear)
        step = np.log(value, out=value)
        np.subtract(want, step, out=step)
        step /= slope
        np.clip(step, -_MOST_STEP, _MOST_STEP, out=step)
        step += log
        return np.minimum(step, NEVER, out=step), slope

    log, slope = _newton(move, np.minimum(start, NEVER), close, shape, want)
    return Due(log, np.minimum(1 / slope, _STEEPEST))


def _newton(
    move: Callable[..., tuple[Floats, Floats]], log: Floats, close: float, *columns: Floats
) -> tuple[Floats, Floats]:
    """Repeat `move(log, *columns)` until nothing moves; rows that stand still are left out.

    Returns where they stand, and the slope at the last step.
    """
    found, slopes, rows = log.copy(), np.empty_like(log), np.arange(len(log))
    for _ in range(_MOST_STEPS):
        before, (log, slope) = log, move(log, *columns)
        moving = np.flatnonzero(np.abs(log - before) >= close)
        if len(moving) <= _HALF * len(log):
            if len(rows) == len(found):
                found, slopes = log, slope
            else:
                found[rows], slopes[rows] = log, slope
            if not len(moving):
                return found, slopes
            rows, log = rows[moving], log[moving]
            columns = tuple(column[moving] for column in columns)
    found[rows] = log
    return found, slopes


def _by_rest(
    objective: Objective, shape: Floats, share: Floats, start: Floats | None, close: float
) -> Due:
    """Newton on -ln(1 - V / most) over ln u, which is convex and nearly straight far out."""
    reached = share < 1
    if not reached.all():
        log, elasticity = np.full(len(share), NEVER), np.zeros(len(share))
        rows = np.flatnonzero(reached)
        begin = None if start is None else start[rows]
        log[rows], elasticity[rows] = _by_rest(objective, shape[rows], share[rows], begin, close)
        return Due(log, elasticity)
    fresh, want = isinstance(objective, Freshness), -np.log1p(-share)
    if start is None:
        start = np.minimum(start_by_rest(objective, shape, want), NEVER)

    def move(log: Floats, shape: Floats, want: Floats) -> tuple[Floats, Floats]:
        u = np.exp(log)
        over = u if fresh else u / (1 + u)
        depth = shape * np.log1p(u) - np.log1p(shape * over)
        gone = u / (1 + u)
        bent = gone if fresh else gone / (1 + u)
        slope = shape * gone - shape * (over if fresh else bent) / (1 + shape * over)
        step = np.clip((want - depth) / slope, -_MOST_STEP, _MOST_STEP)
        return np.minimum(log + step, NEVER), slope

    log, slope = _newton(move, start, close, shape, want)
    return Due(log, np.minimum(share / (1 - share) / slope, _STEEPEST))


_EDGE = 0.02  # how near a cut-off visits are still smooth enough: chosen with benchmarks/plan.py


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

    def visits_nearby(self, rows: slice, price: Floats | float) -> Floats:
        """The same, whatever was asked last."""
        return self.visits(rows, price)

    def visits_and_slope(self, rows: slice, price: Floats | float) -> tuple[Floats, Floats]:
        """The same, and how fast they fall."""
        scale = self.scale[rows]
        changes = self.inverse.changes(scale, price)
        slope = self.inverse.elasticity(changes, scale * price)
        visits = np.divide(self.rate[rows], changes, out=changes)
        slope *= visits
        return visits, slope

    def roughly(self) -> KnownRateDemand:
        """The same pages: no digit costs more than another."""
        return self

    def edge(self, price: float) -> Ints:
        """Pages whose value is nearly at its bound."""
        if not self.inverse.bounded:
            return np.empty(0, np.int64)
        low, high = (1 - _EDGE) / price, (1 + _EDGE) / price
        return np.flatnonzero((self.scale > low) & (self.scale < high))

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
        last: What was wanted when pages were last asked, as a logarithm, and when they were due
            then, in three rows: the next search begins there.
        close: Last step of Newton's method.
    """

    objective: Objective
    shape: Floats
    exposure: Floats
    scale: Floats
    last: Floats
    close: float = _CLOSE

    @classmethod
    def of(
        cls, objective: Objective, shape: Floats, exposure: Floats, scale: Floats
    ) -> UncertainDemand:
        """Demand of pages that nobody has asked yet."""
        return cls(objective, shape, exposure, scale, np.full((3, len(shape)), np.nan))

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.shape)

    @property
    def live(self) -> Bools:
        """Which pages are worth a visit at some price."""
        return self.exposure < np.inf

    def visits(self, rows: slice, price: Floats | float) -> Floats:
        """Visits per day of some pages."""
        return self._visits(rows, price)[0]

    def visits_nearby(self, rows: slice, price: Floats | float) -> Floats:
        """The same, to ten digits, at a price next to the one that was asked last."""
        return self._visits(rows, price, _SHORT)[0]

    def visits_and_slope(self, rows: slice, price: Floats | float) -> tuple[Floats, Floats]:
        """The same, and how fast they fall: by V over its slope."""
        visits, elasticity = self._visits(rows, price)
        return visits, visits * elasticity

    def _visits(
        self, rows: slice, price: Floats | float, short: float = 0.0
    ) -> tuple[Floats, Floats]:
        wanted = self.scale[rows] * price
        if isinstance(self.objective, Missed):  # nothing is searched for
            # Roots first: the quotient of a price next to nothing would be infinite.
            visits = np.sqrt(self.shape[rows] / 2)
            visits /= np.sqrt(np.maximum(wanted, np.finfo(np.float64).tiny))
            visits /= self.exposure[rows]
            return visits, np.full(len(visits), _HALF)
        due = self._due(rows, wanted, short)
        visits = np.where(due.log < NEVER, np.exp(-due.log), 0.0)
        visits /= self.exposure[rows]
        return visits, due.elasticity

    def _due(self, rows: slice, wanted: Floats, short: float) -> Due:
        """When pages are due, searched from when they were due last.

        Pages that move by less than `short` along the slope are not searched.
        """
        at, shape, (last, log, elasticity) = _log(wanted), self.shape[rows], self.last[:, rows]
        if np.isnan(log[:1]).any():
            due = _find_due(self.objective, shape, wanted, at, None, self.close)
        else:
            move = at - last
            move *= elasticity
            start = log + np.clip(move, -_FARTHEST, _FARTHEST, out=move)
            # Pages that are never due have no slope to go along.
            far = np.flatnonzero((np.abs(move, out=move) >= short) | (log == NEVER))
            if len(far) > _HALF * len(log):
                due = _find_due(self.objective, shape, wanted, at, start, self.close)
            else:
                due = Due(start, elasticity.copy())
                due.log[far], due.elasticity[far] = _find_due(
                    *(self.objective, shape[far], wanted[far], at[far], start[far], self.close)
                )
        self.last[0, rows], self.last[1, rows], self.last[2, rows] = at, *due
        return due

    def roughly(self) -> UncertainDemand:
        """The same pages, asked for six digits; the next search begins where this one ends."""
        return replace(self, close=_ROUGH)

    def edge(self, price: float) -> Ints:
        """Pages whose value is nearly at its bound."""
        near = np.empty(len(self), np.bool_)

        def work(rows: slice) -> None:
            share = self.scale[rows] * price
            share /= most_value(self.objective, self.shape[rows])
            share -= 1
            np.less(np.abs(share, out=share), _EDGE, out=near[rows])

        over_blocks(work, len(self))
        return np.flatnonzero(near)

    def take(self, rows: Ints) -> UncertainDemand:
        """Some of the pages."""
        return UncertainDemand(
            self.objective,
            self.shape[rows],
            self.exposure[rows],
            self.scale[rows],
            self.last[:, rows],
            self.close,
        )


Demand: TypeAlias = KnownRateDemand | UncertainDemand
