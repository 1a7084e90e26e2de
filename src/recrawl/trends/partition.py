r"""Best partition of a page's changes into windows, by likelihood.

Inside a window the rate is constant or a power of time since its beginning. With changes at
$s_1 < \dots < s_n$ days since then and $S = \sum_i \ln(s_n / s_i)$, minus twice the log-likelihood
is, up to what no partition changes,

$$ 2 \kappa n \ln \frac{s_n}{n} \qquad \text{(constant)}, \qquad
   - 2 \kappa \left( (n - 1) \ln \frac{n - 1}{S} + S - (n - 1) \right)
   \qquad \text{(what a power gains)} . $$

A window costs $c \ln N$ more, and a power half of that, for a page with $N$ changes. The
cheapest partition of all is found by dynamic programming: the cheapest up to a change ends with
some last window, and what is before it is partitioned in its own cheapest way.

$\kappa$ is the shape of the gaps: 1 where changes come at random, above where they come by the
clock, below where they come in bursts. The same jump of the rate is worth the more, the more
regular the gaps. It is estimated from neighbouring gaps alone, as a partition hardly touches
these: for two gaps $a$, $b$ with a Gamma distribution of shape $\kappa$

$$ \operatorname{E} \ln \frac{(a + b)^2}{4 a b} = 2 (\psi(2 \kappa) - \psi(\kappa) - \ln 2) , $$

or, if that is less, as one over the squared coefficient of variation of eight gaps in a row: a few
very long gaps among short ones make means uncertain, and hardly show in pairs.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.trends.points import Points

# Chosen on made Poisson pages and steps by benchmarks/windows.py; run it again before changing.
_POWER_SHARE = 0.5  # what a power costs, of what a window costs
_PAIRS_BEFORE = 2.0  # pairs of random gaps that every page is taken to have had
_SHAPES = (0.15, 30.0)
_RUN = 8  # gaps
_RUNS_BEFORE = 0.5  # runs of random gaps that every page is taken to have had

_TINY = 1e-12
_CELLS = 1 << 16  # of a block, pages times their points: it stays in the cache


def best_partition(points: Points, *, threshold: float, least: int) -> tuple[Ints, Ints]:
    """First point of each window, page after page, and whether the rate falls, stays or rises.

    Args:
        points: Change points; a page without any has no window.
        threshold: What one more window must gain, in units of the logarithm of the page's points.
        least: Fewest points of a window; a page with fewer is one window.

    Returns:
        Rows of the points, and -1, 0 or 1 for each window.

    Examples:
        Twelve gaps of a week, then twelve of a day:

        >>> from recrawl.trends.points import Points
        >>> times = np.cumsum([7.0] * 12 + [1.0] * 12)
        >>> page = Points(times, np.array([0, 24]), times[-1:])
        >>> best_partition(page, threshold=3.0, least=4)
        (array([ 0, 12]), array([0, 0]))
    """
    begins = np.zeros(len(points.times), np.bool_)
    turns = np.zeros(len(points.times), np.int64)
    counts, shape = points.points_of_page, gap_shape(points)
    order = np.argsort(-counts, kind="stable")
    order = order[counts[order] > 0]
    start = 0
    while start < len(order):
        some = order[start : start + max(1, _CELLS // int(counts[order[start]]))]
        block = _Block.of(points, some, shape[some], threshold=threshold, least=least)
        block.cut(begins, turns)
        start += len(some)
    rows = np.flatnonzero(begins)
    return rows, turns[rows]


def gap_shape(points: Points) -> Floats:
    """Gamma shape of the gaps between the changes of each page, from neighbouring ones.

    A few random gaps are added, so that short pages are close to 1.
    """
    return np.minimum(_shape_by_pairs(points), 1 / _variation(points))


def _shape_by_pairs(points: Points) -> Floats:
    """Shape by the logarithms of neighbouring gaps."""
    gaps, page = points.gaps, points.page_of_point
    # Not the first gap of a page: a visit began it, not a change.
    second = np.flatnonzero(page[2:] == page[:-2]) + 2
    one, two = gaps[second - 1], gaps[second]
    odd = 2 * np.log((one + two) / 2) - np.log(one) - np.log(two)
    shapes, means = _expected_oddness()
    total = _sums(odd, page[second], len(points)) + _PAIRS_BEFORE * np.interp(1.0, shapes, means)
    mean = total / (_sums(np.ones(len(odd)), page[second], len(points)) + _PAIRS_BEFORE)
    found: Floats = np.interp(-mean, -means, shapes)
    return found


def _variation(points: Points) -> Floats:
    """Squared coefficient of variation of gaps in a row, on average over all runs of a page."""
    gaps, page = points.gaps, points.page_of_point
    first = np.flatnonzero(page[_RUN:] == page[:-_RUN]) + 1
    mean, square = np.zeros(len(first)), np.zeros(len(first))
    for place in range(_RUN):
        mean += gaps[first + place] / _RUN
    for place in range(_RUN):
        square += (gaps[first + place] / mean - 1) ** 2
    square *= (_RUN + 1) / (_RUN * (_RUN - 1))  # 1 on average for random gaps
    runs = _sums(np.ones(len(first)), page[first], len(points))
    average = _sums(square, page[first], len(points)) / np.maximum(runs, 1.0)
    alone = np.where(runs > 0, (points.points_of_page - 1) / _RUN, 0.0)  # runs without a gap twice
    variation: Floats = (average * alone + _RUNS_BEFORE) / (alone + _RUNS_BEFORE)
    return variation


def _sums(values: Floats, page: Ints, pages: int) -> Floats:
    return np.bincount(page, values, pages).astype(np.float64)  # of integers where empty


@cache
def _expected_oddness() -> tuple[Floats, Floats]:
    """Shapes, and the mean logarithm that two gaps of each shape have."""
    from scipy.special import digamma  # slow to load: only where it is needed

    shapes: Floats = np.geomspace(*_SHAPES, 200)
    return shapes, 2 * (digamma(2 * shapes) - digamma(shapes) - np.log(2))


@dataclass(slots=True, eq=False)
class _Block:
    """Some pages, most points first, and the cheapest partition up to each of their points.

    Args:
        first: Row of each page's first point.
        counts: Points of each page.
        times: Origin and points of each page, in days; zeros beyond the last.
        weight: Twice the shape of the gaps of each page.
        fee: What one more window costs.
        least: Fewest points of a window.
        logs: Sum of ln s of the points so far, for a window that begins after each of them.
        cheapest: What the cheapest partition up to each point costs.
        before: Point at which the last window of that partition begins.
        turn: Whether its rate falls, stays or rises.
    """

    first: Ints
    counts: Ints
    times: Floats
    weight: Floats
    fee: Floats
    least: int
    logs: Floats
    cheapest: Floats
    before: Ints
    turn: Ints

    @classmethod
    def of(
        cls, points: Points, pages: Ints, shape: Floats, *, threshold: float, least: int
    ) -> _Block:
        """The named pages, which are in the order of their points."""
        first, counts = points.offsets[pages], points.points_of_page[pages]
        size = int(counts[0])
        rows = np.minimum(first[:, np.newaxis] + np.arange(size), len(points.times) - 1)
        times = np.zeros((len(pages), size + 1))
        times[:, 1:] = points.times[rows] * (np.arange(size) < counts[:, np.newaxis])
        cheapest = np.full(times.shape, np.inf)
        cheapest[:, 0] = 0.0
        return cls(
            first,
            counts,
            times,
            2 * shape[:, np.newaxis],
            threshold * np.log(np.maximum(counts, 2))[:, np.newaxis],
            least,
            np.zeros((len(pages), size)),
            cheapest,
            np.zeros(times.shape, np.int64),
            np.zeros(times.shape, np.int64),
        )

    def cut(self, begins: Bools, turns: Ints) -> None:
        """Mark the first point of each window, and how its rate moves."""
        for last in range(1, self.times.shape[1]):
            self._extend(last, int(np.searchsorted(-self.counts, -last, side="right")))
        stop = self.counts.copy()
        while (going := np.flatnonzero(stop > 0)).size:
            start = self.before[going, stop[going]]
            rows = self.first[going] + start
            begins[rows] = True
            turns[rows] = self.turn[going, stop[going]]
            stop[going] = start

    def _extend(self, last: int, left: int) -> None:
        """Find the cheapest partition up to the points number `last` of the first pages."""
        span = np.log(self.times[:left, last : last + 1] - self.times[:left, :last])
        self.logs[:left, :last] += span
        if last < self.least:
            return
        starts = last - self.least + 1
        number = last - np.arange(starts, dtype=np.float64)
        free, span = number - 1, span[:, :starts]
        weight, fee = self.weight[:left], self.fee[:left]
        depth = np.maximum(number * span - self.logs[:left, :starts], _TINY)
        gain = weight * (free * np.log(free / depth) + depth - free) - _POWER_SHARE * fee
        total = self.cheapest[:left, :starts] + weight * number * (span - np.log(number))
        total -= np.maximum(gain, 0.0)
        total[:, 1:] += fee

        page, best = np.arange(left), np.argmin(total, axis=1)
        self.cheapest[:left, last] = total[page, best]
        self.before[:left, last] = best
        rises = np.where(depth[page, best] < free[best], 1, -1)
        self.turn[:left, last] = np.where(gain[page, best] > 0, rises, 0)
