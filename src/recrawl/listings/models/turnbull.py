r"""Survival without a model where removals are known only between two ages.

Chance lies in the cells that no interval divides. Each object spreads itself over the cells it
may have been removed in, in proportion to what is there already, until nothing moves:

$$ p_j \leftarrow \frac{1}{n} \sum_i
   \frac{1\{j \in A_i\}\, p_j}{\sum_{k \in A_i} p_k} . $$

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.models.kaplan_meier import SurvivalCurve

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.lifetimes import Lifetimes

_MOST_ROUNDS = 5000
_SETTLED = 1e-9


def turnbull(lifetimes: Lifetimes, *, watched_by: float = 1.0) -> SurvivalCurve:
    """Turnbull's self-consistent curve; its steps stand at the upper end of each cell.

    Objects of unknown age, and those first watched at an age above `watched_by`, are left out:
    their curve would need a correction for truncation. The curve is that of objects which live
    to be seen at all.

    References:
        Turnbull (1976). The empirical distribution function with arbitrarily grouped, censored
        and truncated data. Journal of the Royal Statistical Society B 38, 290-295.

    Examples:
        Without overlap the curve counts: one removal in (0, 1], two in (1, 2], one still listed.

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> lifetimes = Lifetimes.of([0.0, 1.0, 2.0], [1.0, 2.0, np.inf], count=[1, 2, 1])
        >>> curve = turnbull(lifetimes)
        >>> curve.age, curve.survival.round(6)
        (array([1., 2.]), array([0.75, 0.25]))
    """
    known = lifetimes.with_known_age()
    rows = known.take(known.entry <= watched_by)
    if not rows.removals:
        return SurvivalCurve(np.empty(0), np.empty(0), np.empty(0))
    ends = _ends_of_cells(rows.low, rows.high)
    # An interval is open below: a cell that ends where it begins is not in it.
    point = rows.low == rows.high
    first = np.where(
        point,
        np.searchsorted(ends, rows.low, side="left"),
        np.searchsorted(ends, rows.low, side="right"),
    )
    last = np.searchsorted(ends, rows.high, side="right")
    chance = _self_consistent(first, last, rows.count, len(ends))
    kept = np.isfinite(ends)
    survival = np.clip(1 - np.cumsum(chance)[kept], 0, 1)
    start = float(np.average(rows.entry, weights=rows.count))
    return SurvivalCurve(ends[kept], survival, np.full(len(survival), np.nan), start)


def _ends_of_cells(low: Floats, high: Floats) -> Floats:
    """Upper ends of the innermost cells: a lower end and then an upper one, no end in between.

    A removal at a known age is a cell of no width. At one age its ends come first, for intervals
    hold their upper end; then the upper ends of intervals, then the lower ones.
    """
    point = low == high
    ends = np.concatenate([low[point], high[point], high[~point], low[~point]])
    points, intervals = int(np.sum(point)), int(np.sum(~point))
    kind = np.repeat([0, 1, 2, 3], [points, points, intervals, intervals])
    pairs = np.unique(np.stack([ends, kind], axis=1), axis=0)
    lower = (pairs[:, 1] == 0) | (pairs[:, 1] == 3)  # noqa: PLR2004 - as numbered above
    inner = np.flatnonzero(lower[:-1] & ~lower[1:])
    return np.asarray(pairs[inner + 1, 0], np.float64)


def _self_consistent(first: Ints, last: Ints, count: Floats, cells: int) -> Floats:
    """Chance of each cell; object i was removed in one from its first to before its last."""
    chance = np.full(cells, 1 / cells)
    for _ in range(_MOST_ROUNDS):
        sums = np.concatenate([[0.0], np.cumsum(chance)])
        weight = count / np.maximum(sums[last] - sums[first], 1e-300)
        change = np.bincount(first, weight, cells + 1) - np.bincount(last, weight, cells + 1)
        moved = chance * np.cumsum(change)[:cells] / np.sum(count)
        settled = np.max(np.abs(moved - chance)) < _SETTLED
        chance = moved
        if settled:
            break
    scaled: Floats = chance / np.sum(chance)
    return scaled
