"""Made populations of pages that change as Poisson processes, and visits that look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl import Histories

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats

Chance = np.random.Generator

# Rates of so many pages, by the family they come from.
POPULATIONS: dict[str, Callable[[Chance, int], Floats]] = {
    "gamma": lambda chance, pages: chance.gamma(1.0, 1 / 1.5, pages),
    "two-point": lambda chance, pages: chance.choice([0.05, 2.0], pages),
    "Pareto": lambda chance, pages: 0.1 * (1 + chance.pareto(1.5, pages)),
    "log-normal": lambda chance, pages: chance.lognormal(-0.7, 1.0, pages),
}

# Days between the visits to so many pages.
GAPS: dict[str, Callable[[Chance, tuple[int, int]], Floats]] = {
    "regular": lambda _, size: np.ones(size),
    "exponential": lambda chance, size: chance.exponential(1.0, size),
}


def visited(rates: Floats, gaps: Floats, chance: Chance) -> Histories:
    """Histories of pages with these rates, a row of `gaps` a page; a change hides its time."""
    changed = chance.random(gaps.shape) < -np.expm1(-rates[:, np.newaxis] * gaps)
    return Histories(
        gaps=gaps.ravel(),
        changed=changed.ravel(),
        offsets=np.arange(len(rates) + 1) * gaps.shape[1],
    )
