r"""The Gamma state: what is known of a page's rate, in two numbers.

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

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates.ranks import most_first
from recrawl.visits.blocks import over_blocks

if TYPE_CHECKING:
    from recrawl.visits.arrays import Bools, Floats, Ints
    from recrawl.visits.histories import Histories


def gamma_states(histories: Histories, shape: Floats, exposure: Floats) -> tuple[Floats, Floats]:
    """States of all pages after all their gaps, from the states before the first."""
    shape, exposure = shape.copy(), exposure.copy()
    over_blocks(lambda pages: _update_block(histories, pages, shape, exposure), len(histories))
    return shape, exposure


def _update_block(histories: Histories, pages: slice, shape: Floats, exposure: Floats) -> None:
    """Take the pages of one block through their gaps: all first gaps, all second gaps, ..."""
    order, ranks = most_first(np.diff(histories.offsets[pages.start : pages.stop + 1]))
    starts = histories.offsets[:-1][pages][order]
    a, b = shape[pages][order], exposure[pages][order]
    for rank, pages_left in enumerate(ranks):
        rows = starts[:pages_left] + rank
        a[:pages_left], b[:pages_left] = step(
            a[:pages_left],
            b[:pages_left],
            histories.gaps[rows],
            histories.changed[rows],
            histories.age[rows] if histories.knows_age else None,
            histories.count[rows] if histories.knows_count else None,
        )
    shape[pages.start + order], exposure[pages.start + order] = a, b


def step(
    shape: Floats,
    exposure: Floats,
    gaps: Floats,
    changed: Bools,
    age: Floats | None = None,
    count: Ints | None = None,
) -> tuple[Floats, Floats]:
    """State of each page after one more gap."""
    shape, exposure = shape.copy(), exposure.copy()
    unseen = changed
    if age is not None:
        dated = ~np.isnan(age)
        unseen = unseen & ~dated
    if count is not None:
        counted = count >= 0
        unseen = unseen & ~counted
    hidden = np.flatnonzero(unseen)
    after = _after_hidden_change(shape[hidden], exposure[hidden], gaps[hidden])

    if age is not None:
        told = dated if count is None else dated & ~counted
        shape[told] += 1
        gaps = np.where(told, age, gaps)
    exposure += gaps
    if count is not None:
        shape[counted] += count[counted]
    shape[hidden], exposure[hidden] = after
    return shape, exposure


def _after_hidden_change(shape: Floats, exposure: Floats, gaps: Floats) -> tuple[Floats, Floats]:
    """Gamma with the moments of the posterior after a change at an unknown time.

    Sums of positive terms throughout: 1 - rho^(a+1) is (1 - rho) + rho (1 - rho^a).
    """
    ratio = gaps / exposure
    rho = 1 / (1 + ratio)
    seen = -np.expm1(-shape * np.log1p(ratio))  # 1 - rho^a: the chance of what was seen
    lost = ratio * rho  # 1 - rho
    first = (lost / seen + rho) * shape  # mean rate times exposure
    second = (lost * (1 + rho) / seen + rho * rho) * (shape * (shape + 1))
    variance = second - first * first
    scale = first / variance
    return first * scale, scale * exposure
