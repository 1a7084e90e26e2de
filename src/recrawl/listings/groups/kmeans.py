r"""Numbers put into m groups of neighbours so that they lie as close to their means as they can.

On a line the best groups are stretches of the sorted numbers, so dynamic programming finds them
exactly: with $c(i, j)$ the sum of squares of the numbers from $i$ to before $j$,

$$ C_m(j) = \min_{i < j}\ C_{m-1}(i) + c(i, j) . $$

Equally good groupings are told apart: the one with the more balanced numbers of events wins,
else the one whose cut comes first from below.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints

_EQUAL = 1e-9  # sums of squares this close, as a share of all, are a tie


def clusters(
    values: Floats, groups: int, *, weights: Floats | None = None, events: Floats | None = None
) -> Ints:
    """Group of each number, counted from the lowest group.

    Args:
        values: Numbers in any order.
        groups: How many groups to make; at most one per number.
        weights: How much each number counts in the sums of squares; equally if None.
        events: What each number rests on, to settle ties; as much as any other if None.

    References:
        Fisher (1958). On grouping for maximum homogeneity.
        Journal of the American Statistical Association 53, 789-798.

    Examples:
        Table 4 of the quality-aware paper, cars by year from 2000 to 2006:

        >>> years = -np.array([73, 70, 68, 63, 58, 59, 59]) / 1000
        >>> for groups in (2, 3, 4):
        ...     print(clusters(years, groups))
        [0 0 0 1 1 1 1]
        [0 0 0 1 2 2 2]
        [0 1 1 2 3 3 3]
    """
    values = np.asarray(values, np.float64)
    if not 1 <= groups <= max(len(values), 1):
        raise InvalidParameter(f"groups must lie between 1 and {len(values)} (got {groups})")
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    events = np.ones(len(values)) if events is None else np.asarray(events, np.float64)
    order = np.argsort(values, kind="stable")
    cuts = _best_cuts(values[order], weight[order], events[order], groups)
    labels = np.empty(len(values), np.int64)
    labels[order] = np.searchsorted(cuts, np.arange(len(values)), side="right")
    return labels


def _best_cuts(values: Floats, weights: Floats, events: Floats, groups: int) -> Ints:
    """Where each group but the first begins."""
    count = len(values)
    centred = values - np.mean(values) if count else values
    total, first, second, held = (
        np.concatenate([[0.0], np.cumsum(column)])
        for column in (weights, weights * centred, weights * centred**2, events)
    )

    def squares(start: Ints, end: int) -> Floats:
        weight = np.maximum(total[end] - total[start], 1e-300)
        spread = second[end] - second[start] - (first[end] - first[start]) ** 2 / weight
        least: Floats = np.maximum(spread, 0.0)
        return least

    tie = _EQUAL * (second[-1] + 1e-300)
    none = np.zeros(1, np.int64)
    cost = np.array([np.inf, *(float(squares(none, end)[0]) for end in range(1, count + 1))])
    balance = held**2
    begins = np.zeros((groups, count + 1), np.int64)
    for group in range(1, groups):
        new_cost, new_balance = np.full(count + 1, np.inf), np.full(count + 1, np.inf)
        for end in range(group + 1, count + 1):
            starts = np.arange(group, end)
            costs = cost[starts] + squares(starts, end)
            close = starts[costs <= np.min(costs) + tie]
            uneven = balance[close] + (held[end] - held[close]) ** 2
            start = close[np.argmax(uneven <= np.min(uneven) * (1 + _EQUAL))]
            begins[group, end] = start
            new_cost[end] = cost[start] + squares(start[None], end)[0]
            new_balance[end] = balance[start] + (held[end] - held[start]) ** 2
        cost, balance = new_cost, new_balance

    cuts, end = [], count
    for group in range(groups - 1, 0, -1):
        end = int(begins[group, end])
        cuts.append(end)
    return np.array(cuts[::-1], np.int64)
