"""Chances of statistics, and what they are worth when many have been looked at.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats


def chance_above(statistic: float, freedom: float) -> float:
    """Chance that a chi-square is above a statistic.

    The paper's threshold of 1.5 accepts 22 % of splits that mean nothing:

    >>> round(chance_above(1.5, 1), 4)
    0.2207
    """
    from scipy.special import chdtrc  # slow to load: only where it is needed

    return float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def threshold_for(level: float, tests: int = 1) -> float:
    """Gain that one more group must exceed, at a level shared among several tests (Bonferroni).

    >>> round(threshold_for(0.05), 2), round(threshold_for(0.05, tests=10), 2)
    (3.84, 7.88)
    """
    from scipy.special import chdtri  # slow to load: only where it is needed

    return float(chdtri(1, level / tests))


def bonferroni(chances: Floats) -> Floats:
    """Chances times how many there are, at most 1.

    >>> bonferroni(np.array([0.01, 0.4, 0.03]))
    array([0.03, 1.  , 0.09])
    """
    chances = np.asarray(chances, np.float64)
    return np.minimum(chances * len(chances), 1.0)


def benjamini_hochberg(chances: Floats) -> Floats:
    """Share of false finds to expect among all finds at least as good.

    References:
        Benjamini and Hochberg (1995). Controlling the false discovery rate.
        Journal of the Royal Statistical Society B 57, 289-300.

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.4, 0.03]))
        array([0.03 , 0.4  , 0.045])
    """
    chances = np.asarray(chances, np.float64)
    order = np.argsort(chances, kind="stable")[::-1]
    ranks = np.arange(len(chances), 0, -1)
    adjusted = np.empty(len(chances))
    adjusted[order] = np.minimum.accumulate(chances[order] * len(chances) / ranks)
    return np.minimum(adjusted, 1.0)
