"""Clopper-Pearson bands of the chance that a gap shows a change.

Pages share few pairs of X and n, so each pair is worked out once.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints


def clopper_pearson(changes: Ints, gaps: Ints, level: float) -> tuple[Floats, Floats]:
    """Exact band of the chance that a gap shows a change; from 0 to 1 where there is no gap.

    References:
        Clopper and Pearson (1934). The use of confidence or fiducial limits illustrated in the
        case of the binomial. Biometrika 26, 404-413.

    >>> low, high = clopper_pearson(np.array([0, 6]), np.array([10, 10]), level=0.9)
    >>> low.round(4), high.round(4)
    (array([0.    , 0.3035]), array([0.2589, 0.85  ]))
    """
    tail = (1 - level) / 2

    def low(x: Ints, n: Ints) -> Floats:
        return np.where(x > 0, beta_quantile(np.maximum(x, 1), n - x + 1, tail), 0.0)

    def high(x: Ints, n: Ints) -> Floats:
        return np.where(x < n, beta_quantile(x + 1, np.maximum(n - x, 1), 1 - tail), 1.0)

    return for_each_pair(changes, gaps, low), for_each_pair(changes, gaps, high)


def beta_quantile(a: Any, b: Any, probability: float) -> Floats:  # noqa: ANN401 - any numbers
    """Quantile of the Beta distribution, one per row.

    >>> beta_quantile(np.array([1.0]), np.array([1.0]), 0.25)
    array([0.25])
    """
    from scipy.special import betaincinv  # slow to load: only where it is needed

    return np.asarray(betaincinv(a, b, probability), np.float64)


def for_each_pair(changes: Ints, gaps: Ints, work: Callable[[Ints, Ints], Floats]) -> Floats:
    """The same as `work(changes, gaps)`, which depends on each row alone, calling it once a pair.

    >>> for_each_pair(np.array([1, 1, 0]), np.array([2, 2, 2]), lambda x, n: x / n)
    array([0.5, 0.5, 0. ])
    """
    wide = int(gaps.max(initial=0)) + 1
    keys = gaps * wide + changes
    if wide * wide > len(keys):
        pairs, row = np.unique(keys, return_inverse=True)
    else:  # no need to sort
        seen = np.bincount(keys, minlength=1) > 0
        pairs, row = np.flatnonzero(seen), (np.cumsum(seen) - 1)[keys]
    return work(pairs % wide, pairs // wide)[row]
