r"""The likelihood of a constant rate given visits that hide how often and when a page changed.

For one page with $D$ events at known times, $E$ days known to be quiet and hidden changes
somewhere in gaps $c_1, \dots, c_m$, as a function of the rate $r$:

$$ \ell(r) = D \ln r - E r + \sum_i \ln(1 - e^{-r c_i}), \qquad
   r \ell'(r) = D + \sum_i \frac{r c_i}{e^{r c_i} - 1} - r E . $$

Everything here works on a block of pages at once: their first hidden gaps, then all second
ones, and so on, with the pages that have most of them first, so that each rank is a prefix.
A page's figures depend on its own gaps alone.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.ranges import sums
from recrawl.rates.ranks import most_first
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.visits.histories import Histories

_MICROSECOND = 1 / MICROSECONDS_A_DAY
_MOST_STEPS = 100
_LONGEST_STEP = 2.0  # in the logarithm of the rate

# A step of Newton's method of size s leaves an error of the order of s squared.
_BAND_STEP = 2e-2


@dataclass(frozen=True, slots=True, eq=False)
class Censored:
    """Sufficient statistics of the likelihood for a block of pages, most hidden gaps first.

    Args:
        page: Number of each page in its block.
        events: Changes at known times, D.
        quiet: Days known to be without a change, E.
        mean_gap: Average gap of a page; nan where it has none.
        gaps: Lengths of the hidden gaps, rank by rank.
        ranks: How many pages have a hidden gap of each rank.
    """

    page: Ints
    events: Floats
    quiet: Floats
    mean_gap: Floats
    gaps: Floats
    ranks: list[int]

    @classmethod
    def of(cls, histories: Histories, pages: slice) -> Censored:
        """Sort a block's gaps into quiet days, dated events and hidden changes."""
        rows, starts = histories.block(pages)
        gaps, changed = histories.gaps[rows], histories.changed[rows]
        # Multiplying is several times faster than choosing, and as exact.
        quiet, events, hidden = gaps * ~changed, None, changed
        if histories.knows_age:
            age = histories.age[rows]
            dated = ~np.isnan(age)
            hidden = hidden & ~dated
            # Instants are no finer: a change in the very moment of the visit has some age, too.
            quiet = np.where(dated, np.maximum(age, _MICROSECOND), quiet)
            events = dated.astype(np.float64)
        if histories.knows_count:
            count = histories.count[rows]
            counted = count >= 0
            hidden = hidden & ~counted
            quiet = np.where(counted, gaps, quiet)
            events = np.where(counted, count, 0.0 if events is None else events)

        counts = sums(hidden, starts, np.int64)
        page, ranks = most_first(counts)
        first = (np.cumsum(counts) - counts)[page]
        by_rank = [first[:left] + rank for rank, left in enumerate(ranks)]
        order = np.concatenate([np.empty(0, np.int64), *by_rank])
        with np.errstate(invalid="ignore"):
            mean_gap = sums(gaps, starts) / np.diff(starts)
        return cls(
            page=page,
            events=np.zeros(len(page)) if events is None else sums(events, starts)[page],
            quiet=sums(quiet, starts)[page],
            mean_gap=mean_gap[page],
            gaps=gaps[np.flatnonzero(hidden)[order]],
            ranks=ranks,
        )

    @property
    def hidden(self) -> Floats:
        """Hidden gaps of each page."""
        return self.over_page(np.ones(len(self.gaps)))

    def of_pages(self, wanted: Bools) -> Censored:
        """Only the wanted pages."""
        rows = np.concatenate([np.empty(0, np.bool_), *(wanted[:left] for left in self.ranks)])
        left = np.concatenate([[0], np.cumsum(wanted)])[self.ranks]
        return Censored(
            self.page[wanted],
            self.events[wanted],
            self.quiet[wanted],
            self.mean_gap[wanted],
            self.gaps[np.flatnonzero(rows)],  # several times faster than by the flags
            left[left > 0].tolist(),
        )

    def over_page(self, values: Floats) -> Floats:
        """Sum of `values`, one per hidden gap, over each page."""
        sums, start = np.zeros(len(self.page)), 0
        for left in self.ranks:
            sums[:left] += values[start : start + left]
            start += left
        return sums

    def longest(self) -> Floats:
        """Longest hidden gap of each page."""
        return self._extreme(np.maximum, 0.0)

    def shortest(self) -> Floats:
        """Shortest hidden gap of each page."""
        return self._extreme(np.minimum, np.inf)

    def _extreme(self, choose: np.ufunc, start: float) -> Floats:
        found, row = np.full(len(self.page), start), 0
        for left in self.ranks:
            choose(found[:left], self.gaps[row : row + left], out=found[:left])
            row += left
        return found

    def expected(self, rate: Floats) -> Floats:
        """Changes to expect in each hidden gap."""
        expected, start = np.empty(len(self.gaps)), 0
        for left in self.ranks:
            rows = slice(start, start + left)
            np.multiply(rate[:left], self.gaps[rows], out=expected[rows])
            start += left
        return expected

    def pull(self, rate: Floats) -> tuple[Floats, Floats]:
        """Score of the changes alone, and how fast it falls with the logarithm of the rate.

        The first is r l'(r) + r E, the second times -1 is its slope in ln r, less r E.
        """
        expected = self.expected(rate)
        with np.errstate(over="ignore"):  # infinite odds rightly pull with 0
            each = np.expm1(expected)
        np.divide(expected, each, out=each)
        expected += each
        expected *= each
        return self.events + self.over_page(each), self.events + self.over_page(expected)

    def height(self, rate: Floats, quiet: Floats) -> tuple[Floats, Floats]:
        """Log-likelihood with `quiet` for the quiet days, and its slope in ln r."""
        _, each, chance = self._chances(rate)
        height = self.events * np.log(rate) - quiet * rate + self.over_page(chance)
        return height, self.events - quiet * rate + self.over_page(each)

    def top(self, rate: Floats, quiet: Floats) -> tuple[Floats, Floats]:
        """Log-likelihood at its maximum, and its third derivative in ln r there."""
        expected, each, chance = self._chances(rate)
        height = self.events * np.log(rate) - quiet * rate + self.over_page(chance)
        rest = np.subtract(1 - each, expected, out=chance)
        slope = each * rest
        rest *= slope
        slope += expected
        slope *= each
        rest -= slope
        return height, self.over_page(rest) - quiet * rate

    def _chances(self, rate: Floats) -> tuple[Floats, Floats, Floats]:
        """Of each hidden gap: changes to expect x, x / (exp(x) - 1), ln of its chance.

        The second is off by a rounding of x, not of itself as in `pull`: one exponential less,
        and it is only added to terms of the order of 1.
        """
        expected = self.expected(rate)
        unlike = np.expm1(np.negative(expected))  # minus the chance of a change
        each = (unlike + 1) * expected
        np.negative(unlike, out=unlike)
        each /= unlike
        return expected, each, np.log(unlike, out=unlike)


def most_likely(seen: Censored, quiet: Floats, tolerance: float) -> tuple[Floats, Floats]:
    """Most likely rate of each page, and the information about its logarithm there.

    The rate is 0 where nothing changed and infinite where nothing was quiet. In between it is
    found by Newton's method on the rate at which equally long hidden gaps would pull as hard as
    the real ones do: for equal gaps the first step is exact, for others a few suffice.
    """
    changes = seen.events + seen.hidden
    rate = np.where(changes > 0, np.inf, 0.0)
    rate[(changes == 0) & (quiet == 0)] = np.nan  # no gaps
    information = np.full(len(rate), np.nan)

    open_ = (changes > 0) & (quiet > 0)
    rows, pages, days, count = (
        np.flatnonzero(open_),
        seen.of_pages(open_),
        quiet[open_],
        changes[open_],
    )
    length = pages.over_page(pages.gaps) / count
    goal = _as_if_equal(count, length, days)
    guess = goal.copy()
    for _ in range(_MOST_STEPS):
        if not len(rows):
            break
        pull, falling = pages.pull(guess)
        now = _as_if_equal(count, length, pull / guess)
        # d ln(now) / d ln(rate), by the chain rule through the pull.
        slope = falling / pull * -np.expm1(-now * length) / np.where(length > 0, now * length, 1)
        slope = np.where(length > 0, slope, falling / pull)
        move = np.clip(np.log(goal / now) / slope, -_LONGEST_STEP, _LONGEST_STEP)
        guess = guess * np.exp(move)
        rate[rows], information[rows] = guess, falling
        going = np.abs(move) > np.sqrt(tolerance) / 2
        rows, days, count = rows[going], days[going], count[going]
        length, goal, guess = length[going], goal[going], guess[going]
        pages = pages.of_pages(going)
    return rate, information


def _as_if_equal(count: Floats, length: Floats, pull: Floats) -> Floats:
    """Rate r with count * length / (exp(r length) - 1) = pull; count / pull for length 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(length > 0, np.log1p(count * length / pull) / length, count / pull)


def band(
    seen: Censored, quiet: Floats, rate: Floats, information: Floats, level: float
) -> tuple[Floats, Floats]:
    """Rates on both sides at which the log-likelihood has fallen by half a chi-square quantile.

    Where nothing changed, or nothing was quiet, one side is the exact bound at which what was
    seen has probability (1 - level) / 2, and the other side is open.
    """
    tail = (1 - level) / 2
    low, high = np.full(len(rate), np.nan), np.full(len(rate), np.nan)
    never = rate == 0
    low[never], high[never] = 0, -np.log(tail) / seen.quiet[never]
    always = (rate > 0) & (seen.quiet == 0)
    if always.any():
        # The added half gap may hold the rate itself below the bound.
        low[always] = np.minimum(_always_changed(seen.of_pages(always), tail), rate[always])
        high[always] = np.inf

    inside = (rate > 0) & ~always
    if inside.any():
        pages, days, best = seen.of_pages(inside), quiet[inside], rate[inside]
        quantile = NormalDist().inv_cdf(1 - tail)
        width = quantile / np.sqrt(information[inside])
        top, skew = pages.top(best, days)
        # Where a third-order curve through the maximum has fallen far enough.
        lean = np.clip(skew * width**3 / (6 * quantile**2), -0.5, 0.5)
        low[inside] = _falls(pages, days, best, top, -(1 - lean) * width, quantile)
        high[inside] = _falls(pages, days, best, top, (1 + lean) * width, quantile)
    return low, high


def _falls(
    seen: Censored, quiet: Floats, best: Floats, top: Floats, guess: Floats, quantile: float
) -> Floats:
    """Rate on the guess's side at which the likelihood is `quantile` deviations below its top.

    Newton's method on the signed root of the likelihood ratio over the distance from the best
    rate in the logarithm. The root is nearly a straight line there. Where it is not (a change
    somewhere in a very long gap makes a plateau), the steps stay between the distances known to
    be too near and too far.
    """
    side, best = np.sign(guess), np.log(best)
    answer, rows = np.empty(len(guess)), np.arange(len(guess))
    distance = np.clip(np.abs(guess), 1e-9, _LONGEST_STEP)
    near, far = np.zeros(len(guess)), np.full(len(guess), np.inf)
    for _ in range(_MOST_STEPS):
        if not len(rows):
            break
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            height, slope = seen.height(np.exp(best + side * distance), quiet)
            root = np.sqrt(np.maximum(2 * (top - height), 0))
            goal = distance + (quantile - root) * root / -(side * slope)
        too_far = ~(root < quantile)
        near, far = np.where(too_far, near, distance), np.where(too_far, distance, far)
        between = np.where(np.isinf(far), 4 * distance, (near + far) / 2)
        sound = (goal > near) & (goal < far) & (goal < 4 * distance + 1)
        goal = np.where(sound, goal, between)
        answer[rows] = best + side * goal
        going = (np.abs(goal - distance) > _BAND_STEP) | ~sound
        going &= far - near > _BAND_STEP * _BAND_STEP
        rows, quiet, top, side = rows[going], quiet[going], top[going], side[going]
        best, near, far, distance = best[going], near[going], far[going], goal[going]
        seen = seen.of_pages(going)
    return np.exp(answer)


def _always_changed(seen: Censored, tail: float) -> Floats:
    """Rate at which all of a page's gaps show a change with probability `tail`."""
    quiet = np.zeros(len(seen.page))
    # Between the rates that fit if all gaps were as long as the longest, and as the shortest.
    share = -np.log1p(-(tail ** (1 / seen.hidden)))
    low, high = np.log(share / seen.longest()), np.log(share / seen.shortest())
    guess, done = (low + high) / 2, np.zeros(len(seen.page), np.bool_)
    for _ in range(_MOST_STEPS):
        height, slope = seen.height(np.exp(guess), quiet)
        above = height > np.log(tail)
        low, high = np.where(above, low, guess), np.where(above, guess, high)
        goal = guess + (np.log(tail) - height) / slope
        goal = np.where((goal >= low) & (goal <= high), goal, (low + high) / 2)
        # A page that has converged stays, however long the others of its block take.
        done |= np.abs(goal - guess) < _BAND_STEP * _BAND_STEP
        guess = np.where(done, guess, goal)
        if done.all():
            break
    return np.exp(guess)
