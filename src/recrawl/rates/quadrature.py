"""Sums over points and values between points that lie evenly.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints


def total(values: Floats) -> Floats:
    """Sum over the rows, added one after the other, whatever the number of columns.

    numpy adds a single column, and columns that do not lie side by side, in another order. So the
    one is given a second, and the others are laid out anew.
    """
    columns, values = values.shape[1], np.ascontiguousarray(values)
    if columns == 1:
        values = np.concatenate([values, values], axis=1)
    sums: Floats = np.add.reduce(values, axis=0)
    return sums[:columns]


def running(values: Floats) -> Floats:
    """Sums of no row, the first, the first two, ...: several times faster than np.cumsum."""
    sums = np.zeros((len(values) + 1, values.shape[1]))
    for row, value in enumerate(values):
        np.add(sums[row], value, out=sums[row + 1])
    return sums


def cubic(places: Floats, points: Floats) -> tuple[Ints, Floats]:
    """First of the four points around each place, and their weights in a cubic through them.

    Places outside of the inner points are taken for the nearest of these.

    >>> first, weights = cubic(np.array([2.0]), np.arange(6.0))
    >>> first, weights.ravel()
    (array([1]), array([-0.,  1.,  0., -0.]))
    """
    step = points[1] - points[0]
    place = np.clip((places - points[0]) / step, 1, len(points) - 2)
    cell = np.minimum(place.astype(np.int64), len(points) - 3)
    s = place - cell
    before, after, beyond = s + 1, s - 1, s - 2
    weights = np.stack(
        [
            -s * after * beyond / 6,
            before * after * beyond / 2,
            -before * s * beyond / 2,
            before * s * after / 6,
        ]
    )
    return cell - 1, weights
