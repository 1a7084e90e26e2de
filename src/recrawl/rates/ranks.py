"""Pages ordered by their number of gaps, so that a block is processed rank by rank.

Pages differ in how many gaps they have. Sorted by that, most first, the pages that still have a
gap of rank k are always a prefix, so a loop over ranks works on plain slices.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints
    from recrawl.visits.histories import Histories


def most_first(counts: Ints) -> tuple[Ints, list[int]]:
    """Order of pages by count, largest first, and how many pages reach each rank.

    >>> most_first(np.array([1, 3, 0]))
    (array([1, 0, 2]), [2, 1, 1])
    """
    most = int(counts.max(initial=0))
    fewer = most - counts
    # numpy sorts small integers by radix, several times faster.
    small = fewer.astype(np.uint16) if most < 2**16 else fewer
    order = np.argsort(small, kind="stable")
    reached = np.cumsum(np.bincount(fewer, minlength=most + 1))
    return order, reached[:most][::-1].tolist()


def over_ranks(step: Callable[[int, Ints, Ints], None], histories: Histories) -> None:
    """Call `step(rank, pages, rows)` for all first gaps, then all second ones, and so on.

    `pages` are those of a block that have a gap of the rank, `rows` are these gaps.
    """

    def work(pages: slice) -> None:
        edges = histories.offsets[pages.start : pages.stop + 1]
        order, ranks = most_first(np.diff(edges))
        numbers, starts = pages.start + order, edges[:-1][order]
        for rank, left in enumerate(ranks):
            step(rank, numbers[:left], starts[:left] + rank)

    over_blocks(work, len(histories))


def step_size(number: Floats | float, exponent: float) -> Floats:
    """(number + 1)^-exponent, the same bits for one number as for a column of them.

    >>> step_size(3.0, 0.5)
    array([0.5])
    """
    # Not the power of a Python float: numpy's own rounds differently.
    return np.power(np.atleast_1d(number) + 1.0, -exponent)


def total_in_order(histories: Histories, values: Floats) -> Floats:
    """Sum of `values`, one per gap, over each page, added up one after the other.

    Not `Histories.total`: that adds in pairs, which rounds differently from a sum that grows
    with every visit.
    """
    totals = np.zeros(len(histories))

    def work(pages: slice) -> None:
        edges = histories.offsets[pages.start : pages.stop + 1]
        order, ranks = most_first(np.diff(edges))
        starts, sums = edges[:-1][order], np.zeros(len(order))
        for rank, left in enumerate(ranks):
            sums[:left] += values[starts[:left] + rank]
        totals[pages.start + order] = sums

    over_blocks(work, len(histories))
    return totals
