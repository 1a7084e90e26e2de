"""The rate under which as many gaps would show a change as did, for gaps of any length.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import expand_ranges, sums
from recrawl.arrays.special import gamma_quantile
from recrawl.checks import check_fraction
from recrawl.rates.estimates import Estimates, status_of

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.visits.histories import Histories

_MOST_STEPS = 200
_SPREADS = (1e-6, 4.0)  # squared coefficient of variation of gaps: limits for the scale
_LEAST_SHAPE = 0.1  # a rate known to within a few orders of magnitude
_PAGES = 8192  # a block's gaps stay in the cache
_TINY = 1e-280  # instead of 0, far beyond the answer
_FARTHEST = 600.0  # minus its logarithm; from there the way back is found by halving
_CURVED = 30.0  # a step of Newton's method of size s leaves an error below the square of this s


@dataclass(frozen=True, slots=True)
class MomentMatching:
    r"""Poisson change rate that expects as many changed gaps as there were.

    With $X$ of the gaps $g_1, \dots, g_n$ changed, the rate solves

    $$ \sum_j \left( 1 - e^{-r g_j} \right) = X . $$

    Unlike the likelihood it forgets which of the gaps changed, so it is less accurate where
    gaps differ much; for equal gaps both agree. It is infinite where every gap changed.

    The band is that of a Gamma distribution with the variance that so many changes in so many
    gaps have at most; where nothing changed, or everything did, it is the exact one-sided bound
    for gaps of average length.

    Args:
        level: Probability that the rate lies in its band.
        tolerance: Largest relative error of a returned rate.

    References:
        Upadhyay, Busa-Fekete, Kotlowski, Pal and Szorenyi (2020). Learning to crawl. AAAI 34(4),
        6046-6053.

    Examples:
        Six changes in ten daily visits:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1.0] * 10, [True] * 6 + [False] * 4)])
        >>> MomentMatching().estimate(daily).rate.round(4)
        array([0.9163])
    """

    level: float = 0.9
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level, tolerance=self.tolerance)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        changes, visits = histories.changes, histories.visits
        gaps, columns = histories.gaps_of_page, np.full((3, len(histories)), np.nan)

        def work(pages: slice) -> None:
            some = _Gaps.of(histories, pages)
            inside = (changes[pages] > 0) & (changes[pages] < gaps[pages])
            share = np.where(inside, changes[pages], 1) / np.where(inside, gaps[pages], 2)
            tolerance = np.sqrt(self.tolerance) / _CURVED
            columns[:, pages] = some.matching(-np.log1p(-share), tolerance)
            columns[1:, pages.start + np.flatnonzero(~inside)] = np.nan

        over_blocks(work, len(histories), _PAGES)
        days, rate, told = columns
        # Changed gaps among unequal ones vary less than X among n equal ones do.
        variance = changes * (1 - changes / np.maximum(gaps, 1))
        shape = np.maximum(np.square(told) / np.where(variance > 0, variance, 1), _LEAST_SHAPE)
        never, always = (gaps > 0) & (changes == 0), (gaps > 0) & (changes == gaps)
        rate[never], rate[always] = 0.0, np.inf
        low, high = self._band(rate, shape)
        tail = (1 - self.level) / 2
        low[never], high[never] = 0.0, -np.log(tail) / days[never]
        least = -np.log1p(-(tail ** (1 / gaps[always])))  # changes a gap
        low[always], high[always] = least * gaps[always] / days[always], np.inf
        return Estimates(
            rate=rate,
            low=low,
            high=high,
            shape=shape,
            exposure=shape / np.where(np.isnan(shape), 1.0, rate),
            changes=changes,
            visits=visits,
            status=status_of(changes, visits),
            flags=histories.flags.copy(),
            method="moment-matching",
        )

    def _band(self, rate: Floats, shape: Floats) -> tuple[Floats, Floats]:
        """Quantiles of the Gamma with this shape and the rate for its mean."""
        tail = (1 - self.level) / 2
        at = np.where(np.isnan(shape), 1.0, shape)
        low = np.minimum(gamma_quantile(at, tail) / at, 1) * rate
        return low, np.maximum(gamma_quantile(at, 1 - tail) / at, 1) * rate


@dataclass(frozen=True, slots=True, eq=False)
class _Gaps:
    """Gaps of some pages, end to end."""

    gaps: Floats
    offsets: Ints

    @classmethod
    def of(cls, histories: Histories, pages: slice) -> _Gaps:
        rows, offsets = histories.block(pages)
        return cls(histories.gaps[rows], offsets)

    def take(self, pages: Ints) -> _Gaps:
        counts = np.diff(self.offsets)[pages]
        rows = expand_ranges(self.offsets[:-1][pages], counts)
        return _Gaps(self.gaps[rows], np.concatenate([[0], np.cumsum(counts)]))

    def matching(self, goal: Floats, tolerance: float) -> tuple[Floats, Floats, Floats]:
        """Days; rates at which -ln of the mean chance to pass unchanged is `goal`; changes told.

        Newton's method on the scale on which gaps of a Gamma distribution with the same mean
        and variance would need a single step. The changes told are by how many the expected
        number of unchanged gaps falls when the logarithm of the rate rises by 1.
        """
        counts = np.maximum(np.diff(self.offsets), 1)
        days = sums(self.gaps, self.offsets)
        mean = np.where(np.diff(self.offsets) > 0, days, 1.0) / counts
        square = sums(self.gaps * self.gaps, self.offsets) / counts
        spread = np.clip(square / (mean * mean) - 1, *_SPREADS)
        answer, told = np.empty(len(goal)), np.empty(len(goal))
        pages, rows = self, np.arange(len(goal))
        place, near, far = goal, np.zeros(len(goal)), np.full(len(goal), np.inf)
        for number in range(_MOST_STEPS):
            rate = np.expm1(spread * place) / (spread * mean)
            left, falls = pages.unchanged(rate)
            told[rows] = rate * falls
            reached = np.log(counts / left)
            slope = falls / left * (1 / mean + rate * spread)  # on the scale of `place`
            guess = place + (goal - reached) / slope
            if number == 0:  # nearly all need a second step, whatever the first
                place = np.clip(guess, place / 4, 4 * place)
                continue
            short = reached < goal
            near, far = np.where(short, place, near), np.where(short, far, place)
            sound = (guess >= near) & (guess <= far) & (guess < 4 * place) & (reached < _FARTHEST)
            place = np.where(sound, guess, np.minimum((near + far) / 2, 2 * place))
            answer[rows] = np.expm1(spread * place) / (spread * mean)
            going = (np.abs(np.log(answer[rows] / rate)) > tolerance) | ~sound
            still = np.flatnonzero(going & (np.diff(pages.offsets) > 0))
            if not len(still):
                break
            pages, rows, goal, counts = pages.take(still), rows[still], goal[still], counts[still]
            mean, spread = mean[still], spread[still]
            place, near, far = place[still], near[still], far[still]
        return days, answer, told

    def unchanged(self, rate: Floats) -> tuple[Floats, Floats]:
        """Gaps of each page to expect unchanged at this rate, and how fast they get fewer."""
        stays = np.repeat(-rate, np.diff(self.offsets))
        stays *= self.gaps
        np.exp(stays, out=stays)
        left = np.maximum(sums(stays, self.offsets), _TINY)
        stays *= self.gaps
        return left, np.maximum(sums(stays, self.offsets), _TINY)
