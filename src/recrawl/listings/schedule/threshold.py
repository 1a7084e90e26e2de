r"""When to synchronise so that quality stays above a threshold.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats


def first_violation(quality: Floats, threshold: float) -> int | None:
    """First day on which the forecast quality is below the threshold: the paper's rule.

    Args:
        quality: Forecast for 1, 2, ... days after the synchronisation.
        threshold: Least quality wanted.

    Returns:
        The day, or None where the forecast does not reach so far.

    Examples:
        The paper's own: 0.92 on day 3, 0.89 on day 4.

        >>> first_violation(np.array([0.97, 0.95, 0.92, 0.89]), 0.9)
        4
    """
    below = np.flatnonzero(np.asarray(quality) < threshold)
    return int(below[0]) + 1 if len(below) else None


def guarantee(quality: Floats, threshold: float) -> int | None:
    """Last day on which the forecast quality is not yet below the threshold; at least 1.

    >>> guarantee(np.array([0.97, 0.95, 0.92, 0.89]), 0.9)
    3
    >>> guarantee(np.array([0.5]), 0.9)
    1
    """
    day = first_violation(quality, threshold)
    return None if day is None else max(day - 1, 1)


def days_above(rate: float, threshold: float) -> float:
    r"""Days until a decay without memory reaches a threshold, $-\ln \theta / \alpha$.

    >>> round(days_above(0.05, 0.9), 4)
    2.1072
    """
    if not 0 < threshold < 1:
        raise InvalidParameter(f"threshold must lie between 0 and 1 (got {threshold})")
    return -float(np.log(threshold)) / rate if rate else float("inf")
