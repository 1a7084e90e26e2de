r"""Tables of starting points for the interval at which an uncertain page is worth a price.

The root $u$ of $E V(u) = v$ depends on two numbers, the shape $a$ and $v$, so a table of both tells
it to two or three digits, and Newton's method needs three steps instead of ten. Coordinates are
those in which the root is nearly straight at all four ends: logarithms, of $v$ and $u$ in units of
the known rate where the shape is large, of $v$ over the shape where it is small. Near its bound a
value says little; there the table goes by what is left to the bound, $z = -\ln(1 - V / V_{max})$,
and gives $\ln(1 + u)$, which is about $z$ over the shape.

Between nodes a table is read bilinearly, beyond them along the last two.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from recrawl.plan.objectives import Freshness

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.plan.objectives import Objective

# Nodes: a table twice as fine saves no step of Newton's method (benchmarks/plan.py).
_STEP = 0.25
_SHAPES = np.arange(-9.0, 14.0, _STEP)  # logarithms
_VALUES = np.arange(-14.0, 10.0, _STEP)
_LOG_U = np.arange(-12.0, 16.0, 0.1)  # where values are worked out; of u in units of the rate


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """Figures at nodes that lie evenly, read in between.

    Args:
        figures: One row per node of x, one column per node of y.
        first: Where both begin.
    """

    figures: Floats
    first: tuple[float, float]

    def read(self, x: Floats, y: Floats) -> Floats:
        """Figure at each place."""
        rows, columns = self.figures.shape
        x, y = (x - self.first[0]) / _STEP, (y - self.first[1]) / _STEP
        row = np.clip(x, 0, rows - 2).astype(np.int64)
        column = np.clip(y, 0, columns - 2).astype(np.int64)
        # Beyond its shapes a table stands still, beyond its values it goes on.
        x = np.clip(x - row, 0, 1)
        y -= column
        place = row * columns + column
        flat = self.figures.ravel()
        low: Floats = flat.take(place)
        above: Floats = flat.take(place + columns)
        low += (flat.take(place + 1) - low) * y
        above += (flat.take(place + columns + 1) - above) * y
        above -= low
        above *= x
        above += low
        return above


def start_by_value(objective: Objective, shape: Floats, log_wanted: Floats) -> Floats:
    """About the logarithm of u with E V(u) = wanted, from the logarithm of `wanted`."""
    log_shape = np.log(shape)
    more = np.maximum(log_shape, 0)
    value = log_wanted + objective.power * more - np.minimum(log_shape, 0)
    found = _values_of(type(objective)).read(log_shape, value)
    found -= more
    return found


def start_by_rest(objective: Objective, shape: Floats, rest: Floats) -> Floats:
    """About the logarithm of u at which `rest`, -ln(1 - V / most), is reached."""
    log_shape = np.log(shape - 1 if isinstance(objective, Freshness) else shape)
    with np.errstate(over="ignore"):  # an infinite u is never
        log = np.exp(_rests_of(type(objective)).read(log_shape, np.log(rest)) - log_shape)
        start: Floats = np.where(log < 30, np.log(np.expm1(np.minimum(log, 30.0))), log)  # noqa: PLR2004
    return start


@cache
def _values_of(kind: type[Objective]) -> _Table:
    objective = kind()
    figures = np.empty((len(_SHAPES), len(_VALUES)))
    for row, log_shape in enumerate(_SHAPES.tolist()):
        more = max(log_shape, 0.0)
        u = np.exp(_LOG_U - more)
        value, _ = objective.value_and_wear(np.full(len(u), np.exp(log_shape)), u)
        log_value = np.log(value) + objective.power * more - min(log_shape, 0.0)
        # Where a value stands still at its bound, the last of many equal ones is of no use.
        rising = np.concatenate([[True], np.diff(np.maximum.accumulate(log_value)) > 1e-6])  # noqa: PLR2004
        figures[row] = _at(_VALUES, log_value[rising], _LOG_U[rising])
    return _Table(figures, (_SHAPES[0], _VALUES[0]))


@cache
def _rests_of(kind: type[Objective]) -> _Table:
    fresh = kind is Freshness
    places = np.arange(-1.0, 8.0, _STEP)
    figures = np.empty((len(_SHAPES), len(places)))
    for row, log_shape in enumerate(_SHAPES.tolist()):
        shape = np.exp(log_shape) + fresh
        log = np.exp(np.arange(-14.0, 10.0, 0.05) - log_shape)  # ln(1 + u)
        over = np.expm1(np.minimum(log, 700.0)) if fresh else -np.expm1(-log)
        rest = shape * log - np.log1p(shape * over)
        if fresh:  # beyond what a float can hold
            rest = np.where(log < 700, rest, (shape - 1) * log - np.log(shape))  # noqa: PLR2004
        good = rest > 0
        figures[row] = _at(places, np.log(rest[good]), np.log(log[good]) + log_shape)
    return _Table(figures, (_SHAPES[0], places[0]))


def _at(wanted: Floats, x: Floats, y: Floats) -> Floats:
    """Figures at some places, by straight lines through those known, which go on at both ends."""
    found = np.interp(wanted, x, y)
    before, after = wanted < x[0], wanted > x[-1]
    found[before] = y[0] + (wanted[before] - x[0]) * (y[1] - y[0]) / (x[1] - x[0])
    found[after] = y[-1] + (wanted[after] - x[-1]) * (y[-1] - y[-2]) / (x[-1] - x[-2])
    return found
