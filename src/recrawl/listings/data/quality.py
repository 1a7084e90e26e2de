r"""Precision and recall of a copy of a list, and their averages over time.

A copy $L$ made at one time is compared with the list $R$ at another:

$$ \text{precision} = \frac{|L \cap R|}{|L|}, \qquad
   \text{recall} = \frac{|L \cap R|}{|R|} . $$

Between two days quality is linear: it falls from 1 just after a sync to what it is
just before the next.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from recrawl.arrays.types import Floats


def precision(both: npt.ArrayLike, copied: npt.ArrayLike) -> Floats:
    """Share of the copy that is still listed; 1 for an empty copy.

    >>> precision(8, 10)
    array(0.8)
    """
    return _share(both, copied)


def recall(both: npt.ArrayLike, listed: npt.ArrayLike) -> Floats:
    """Share of what is listed that the copy has; 1 where nothing is listed.

    >>> recall(8, 12).round(6)
    np.float64(0.666667)
    """
    return _share(both, listed)


def _share(part: npt.ArrayLike, whole: npt.ArrayLike) -> Floats:
    parts, wholes = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(
        parts, wholes, out=np.ones(np.broadcast(parts, wholes).shape), where=wholes > 0
    )


def time_average(path: Floats) -> float:
    r"""Average quality over a cycle, $Q$: the trapezoid rule over daily values.

    Args:
        path: Quality on each day of the cycle, the first just after a sync, the last
            just before the next.

    Examples:
        >>> round(time_average(np.array([1, 0.95, 0.91, 0.86])), 6)
        0.93
    """
    if len(path) < 2:  # noqa: PLR2004 - no time passes between fewer than two instants
        return float(path[0]) if len(path) else 1.0
    return float(np.mean((path[1:] + path[:-1]) / 2))


def share_below(path: Floats, target: float) -> float:
    """Share of a cycle's time in which quality is under `target`.

    A day that begins above the target and ends below it counts from where the line between them
    crosses it.

    Examples:
        >>> round(share_below(np.array([1, 0.95, 0.91, 0.86]), 0.9), 6)
        0.266667
    """
    if len(path) < 2:  # noqa: PLR2004 - no time passes between fewer than two instants
        return 0.0
    low, high = np.minimum(path[1:], path[:-1]), np.maximum(path[1:], path[:-1])
    flat = high == low
    part = np.divide(target - low, high - low, out=(low < target).astype(np.float64), where=~flat)
    return float(np.mean(np.clip(part, 0.0, 1.0)))
