r"""Gaps between changes, beside those of a Poisson process.

If a page changes at random at a constant rate, the gaps between its changes are exponential: a
share $e^{-x}$ of them is longer than $x$ times their mean. On a logarithmic axis the shares of
equal bins lie on a straight line. To pool pages of different rates, each gap is divided by the mean
of its page; with $n$ gaps to a page that mean knows the gap, and a share $(1 - x/n)^{n-1}$ is
longer.

Pure.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import sums
from recrawl.checks import check_at_least, check_positive

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.trends.points import Points

LEAST_GAPS = 4  # of a page: fewer say nothing of their mean


@dataclass(frozen=True, slots=True, eq=False)
class GapShares:
    """Shares of gaps, one row per bin.

    Args:
        start: Where a bin begins, in mean gaps of a page.
        stop: Where it ends; the last one ends at infinity.
        gaps: Gaps in it.
        share: Their share of all.
        exponential: Share to be expected of random changes at constant rates.
        pages: Pages that were pooled.
    """

    start: Floats
    stop: Floats
    gaps: Ints
    share: Floats
    exponential: Floats
    pages: int


def gap_shares(parts: Iterable[Points], *, width: float = 0.5, bins: int = 12) -> GapShares:
    """Gaps between the changes of all pages with enough of them, by length.

    Args:
        parts: Change points, some pages at a time.
        width: Width of a bin, in mean gaps of a page.
        bins: Number of bins; the last holds all that is longer.

    Examples:
        Clockwork: all gaps are as long as the mean.

        >>> from recrawl.trends.points import Points
        >>> clockwork = Points(np.arange(1.0, 12), np.array([0, 11]), np.array([11.0]))
        >>> gap_shares([clockwork], width=0.75, bins=3).gaps
        array([ 0, 10,  0])
    """
    check_positive(width=width)
    check_at_least(1, bins=bins)
    start: Floats = width * np.arange(bins, dtype=np.float64)
    edges = np.append(start, np.inf)
    found, pages_with = np.zeros(bins, np.int64), Counter[int]()
    for points in parts:
        relative, counts = _relative_gaps(points)
        found += np.histogram(relative + 1e-12, edges)[0]
        sizes, pages = np.unique(counts, return_counts=True)
        pages_with.update(dict(zip(sizes.tolist(), pages.tolist(), strict=True)))
    longer = np.zeros(bins + 1)
    for size, pages_of_size in sorted(pages_with.items()):
        longer[:-1] += pages_of_size * size * np.maximum(1 - start / size, 0.0) ** (size - 1)
    all_of_them = max(int(found.sum()), 1)
    return GapShares(
        start,
        edges[1:],
        found,
        found / all_of_them,
        (longer[:-1] - longer[1:]) / all_of_them,
        pages_with.total(),
    )


def _relative_gaps(points: Points) -> tuple[Floats, Ints]:
    """Gaps over the mean of their page, and how many each page has; only where there are enough."""
    page = points.page_of_point
    inner = np.ones(len(page), np.bool_)
    inner[points.offsets[:-1][points.points_of_page > 0]] = False  # a visit began the first
    counts = np.maximum(points.points_of_page - 1, 0)
    enough: Bools = counts >= LEAST_GAPS
    total = sums(np.where(inner, points.gaps, 0.0), points.offsets)
    mean = total / np.maximum(counts, 1)
    rows = np.flatnonzero(inner & enough[page])
    return points.gaps[rows] / mean[page[rows]], counts[enough]
