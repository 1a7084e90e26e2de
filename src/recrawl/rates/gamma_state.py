r"""The Gamma state of a page: shape and exposure of its rate's posterior, updated gap by gap.

A rate is believed to follow a Gamma distribution with *shape* $a$ (events seen, and what the
prior counts as seen) and *exposure* $b$ (days watched). Every kind of gap $g$ moves it:

| gap | new state |
|---|---|
| unchanged | $a$, $b + g$ |
| changed, the last time $t$ days before its end | $a + 1$, $b + t$ |
| changed $k$ times, all of them known | $a + k$, $b + g$ |
| changed, no telling when or how often | the Gamma with the true posterior's mean and variance |

The last has no exact form. With $\rho = b / (b + g)$ the posterior's first moments are

$$ m_1 = \frac{a}{b} \frac{1 - \rho^{a+1}}{1 - \rho^a}, \qquad
   m_2 = \frac{a (a+1)}{b^2} \frac{1 - \rho^{a+2}}{1 - \rho^a}, $$

and the new state is $m_1^2 / v$, $m_1 / v$ with $v = m_2 - m_1^2$. Because
$\rho^{a+1} = \rho^a \rho$, one logarithm and one exponential serve both.

A change may be reported though there was none: clocks, tokens and advertisements differ by
themselves. Where that happens at a visit to an unchanged page with chance $\epsilon$, a reported
change is real with chance

$$ \pi = \frac{Z}{Z + \epsilon \rho^a z}, $$

where $Z$ is what the state gives to a real change: $1 - \rho^a$ and $z = 1$ where it has no date,
$\frac{a}{b} \left(\frac{b}{b + t}\right)^{a+1}$ and $z = 1 / g$ where it has one. The new state has
the mean and variance of the mixture of both, the changed with weight $\pi$ and the unchanged.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.rates.ranks import most_first

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.visits.histories import Histories


# Pages at a time: their gaps stay in the cache while each is read for itself. Half and twice as
# many differ by less than the noise of a shared machine.
_BLOCK = 16384


def gamma_states(
    histories: Histories, shape: Floats, exposure: Floats, false_changes: float = 0.0
) -> tuple[Floats, Floats]:
    """States of all pages after all their gaps, from the states before the first.

    Args:
        histories: The pages.
        shape: Shape of each before.
        exposure: Exposure of each before.
        false_changes: Chance that a change is reported at a visit to an unchanged page.
    """
    shape, exposure = shape.copy(), exposure.copy()

    def work(pages: slice) -> None:
        _update_block(histories, pages, shape, exposure, false_changes)

    over_blocks(work, len(histories), _BLOCK)
    return shape, exposure


def _update_block(
    histories: Histories, pages: slice, shape: Floats, exposure: Floats, false_changes: float
) -> None:
    """Take the pages of one block through their gaps: all first gaps, all second gaps, ..."""
    order, ranks = most_first(np.diff(histories.offsets[pages.start : pages.stop + 1]))
    starts = histories.offsets[:-1][pages][order]
    a, b = shape[pages][order], exposure[pages][order]
    age = histories.age if histories.knows_age else None
    count = histories.count if histories.knows_count else None
    for rank, pages_left in enumerate(ranks):
        rows = starts[:pages_left]
        _learn(
            a[:pages_left],
            b[:pages_left],
            rows_at(histories.gaps, rows, rank),
            rows_at(histories.changed, rows, rank),
            None if age is None else age[rows + rank],
            None if count is None else count[rows + rank],
            np.full(pages_left, false_changes) if false_changes else None,
        )
    shape[pages.start + order], exposure[pages.start + order] = a, b


def rows_at(column: Any, rows: Ints, rank: int) -> Any:  # noqa: ANN401 - of the column's type
    """`column[rows + rank]` of rows that are known to be there, in half the time."""
    return column[rank:].take(rows, mode="clip")


def step(  # noqa: PLR0913, PLR0917 - a gap has so many columns, and a page two
    shape: Floats,
    exposure: Floats,
    gaps: Floats,
    changed: Bools,
    age: Floats | None = None,
    count: Ints | None = None,
    false_changes: Floats | None = None,
) -> tuple[Floats, Floats]:
    """State of each page after one more gap.

    Args:
        shape: Shape before.
        exposure: Exposure before.
        gaps: Days of the gap.
        changed: Whether a change was reported.
        age: Days from the last change to the end of the gap; nan where that is unknown.
        count: Changes in the gap; -1 where that is unknown.
        false_changes: Chance that a change is reported at a visit to an unchanged page; None
            for never. Counted changes are taken as true.
    """
    shape, exposure = shape.copy(), exposure.copy()
    _learn(shape, exposure, gaps, changed, age, count, false_changes)
    return shape, exposure


def _learn(  # noqa: PLR0913, PLR0917 - as above
    shape: Floats,
    exposure: Floats,
    gaps: Floats,
    changed: Bools,
    age: Floats | None,
    count: Ints | None,
    false_changes: Floats | None,
) -> None:
    """Change the states, in place, to those after one more gap."""
    before = None if false_changes is None else (shape.copy(), exposure.copy())
    unseen = changed
    if age is not None:
        unseen = unseen & np.isnan(age)
    if count is not None:
        unseen = unseen & (count < 0)
    hidden = np.flatnonzero(unseen)
    a, b = shape[hidden], exposure[hidden]
    ratio = gaps[hidden] / b
    seen = np.log1p(ratio)
    seen *= -a
    np.expm1(seen, out=seen)
    after = after_hidden_change(a, b, ratio, np.negative(seen, out=seen))
    add_known(shape, exposure, gaps, age, count)
    shape[hidden], exposure[hidden] = after
    if false_changes is not None and before is not None:
        reported = changed if count is None else changed & (count < 0)
        rows = np.flatnonzero(reported & (false_changes > 0))
        if len(rows):
            _doubt(rows, before, (shape, exposure), gaps, age, false_changes)


def _doubt(
    rows: Ints,
    before: tuple[Floats, Floats],
    after: tuple[Floats, Floats],
    gaps: Floats,
    age: Floats | None,
    false_changes: Floats,
) -> None:
    """Mix the states after reported changes with those after none, by how likely each is."""
    a, b, gap = before[0][rows], before[1][rows], gaps[rows]
    same = np.exp(-a * np.log1p(gap / b))
    real, false = 1 - same, false_changes[rows] * same
    if age is not None:
        told = age[rows]
        dated = ~np.isnan(told)
        with np.errstate(invalid="ignore"):
            density = a / b * np.exp(-(a + 1) * np.log1p(told / b))
        real = np.where(dated, density, real)
        false = np.where(dated, false / gap, false)
    weight = real / (real + false)
    shape, exposure = (part[rows] for part in after)
    first = weight * shape / exposure + (1 - weight) * a / (b + gap)
    second = weight * shape * (shape + 1) / exposure**2
    second += (1 - weight) * a * (a + 1) / (b + gap) ** 2
    variance = second - first**2
    after[0][rows], after[1][rows] = first**2 / variance, first / variance


def add_known(
    shape: Floats, exposure: Floats, gaps: Floats, age: Floats | None, count: Ints | None
) -> None:
    """Add, in place, what gaps without a hidden change tell: days, dated changes and counts.

    Shapes and exposures may be those of several states of each page, a row for each state.
    """
    if age is not None:
        told = ~np.isnan(age)
        if count is not None:
            told &= count < 0
        shape[..., told] += 1
        gaps = np.where(told, age, gaps)
    exposure += gaps
    if count is not None:
        counted = count >= 0
        shape[..., counted] += count[counted]


def after_hidden_change(
    shape: Floats, exposure: Floats, ratio: Floats, seen: Floats
) -> tuple[Floats, Floats]:
    r"""Gamma with the moments of the posterior after a change at an unknown time.

    With $l = 1 - \rho$ and $q = l / (1 - \rho^a)$ the moments are those above, and in

    $$ m_1 = \frac{a}{b} (q + \rho), \qquad
       \frac{b^2}{a} v = a q (l - q) + q + \rho (q + \rho) $$

    no digits are lost: not those of $m_2 - m_1^2$ where the shape is large.

    Args:
        shape: Shape before.
        exposure: Exposure before.
        ratio: Gap / exposure; changed in place.
        seen: 1 - rho^a, the chance of what was seen; changed in place.
    """
    rho = ratio + 1
    np.divide(1, rho, out=rho)
    ratio *= rho
    lost = ratio  # 1 - rho
    share = np.divide(lost, seen, out=seen)
    first = share + rho  # mean rate times exposure, by the shape
    lost -= share
    lost *= share
    lost *= shape
    lost += share
    variance = np.multiply(rho, first, out=rho)
    variance += lost
    scale = np.divide(first, variance, out=variance)
    first *= scale
    first *= shape
    scale *= exposure
    return first, scale
