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

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.rates.ranks import most_first

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.visits.histories import Histories


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

    over_blocks(work, len(histories))
    return shape, exposure


def _update_block(
    histories: Histories, pages: slice, shape: Floats, exposure: Floats, false_changes: float
) -> None:
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
            np.full(len(rows), false_changes) if false_changes else None,
        )
    shape[pages.start + order], exposure[pages.start + order] = a, b


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
    before = shape, exposure
    shape, exposure = shape.copy(), exposure.copy()
    unseen = changed
    if age is not None:
        dated = ~np.isnan(age)
        unseen = unseen & ~dated
    if count is not None:
        counted = count >= 0
        unseen = unseen & ~counted
    hidden, span = np.flatnonzero(unseen), gaps
    after = _after_hidden_change(shape[hidden], exposure[hidden], gaps[hidden])

    if age is not None:
        told = dated if count is None else dated & ~counted
        shape[told] += 1
        gaps = np.where(told, age, gaps)
    exposure += gaps
    if count is not None:
        shape[counted] += count[counted]
    shape[hidden], exposure[hidden] = after
    if false_changes is not None:
        reported = unseen if age is None else changed & (unseen | told)
        rows = np.flatnonzero(reported & (false_changes > 0))
        if len(rows):
            _doubt(rows, before, (shape, exposure), span, age, false_changes)
    return shape, exposure


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
