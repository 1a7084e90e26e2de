r"""The exact posterior of a rate under a prior of any shape, which pages of a log make themselves.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates.estimates import Estimates, status_of
from recrawl.rates.priors import Priors
from recrawl.rates.quadrature import cubic, running, total
from recrawl.rates.rate_grid import CHANGES, EVENTS, QUIET, STEP, VISITS, RateGrid

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.visits.histories import Histories

_PAGES = 512  # a block's grids stay in the cache

# A rate is negligible where the density has fallen by so many powers of e.
_DEPTH = 20.0
# A normal density has so many points before that if they are as far apart as its deviation is
# wide. Where it has fewer, points four times as close are laid out around its peak.
_LEAST_POINTS = 12
_FINER = 4
_FINE_POINTS = 64
_MOST_ROUNDS = 8  # the last for pages with billions of changes
_NO_CHANCE = 1e-15
_MOST_HAZARD = -np.log(_NO_CHANCE)
# Expected changes below which their chance is x - x^2 / 2, and above which it is 1, to six digits.
_BETWEEN = (0.02, 15.0)


@dataclass(frozen=True, slots=True)
class NPMLE:
    r"""Posterior of a Poisson change rate under a prior of any shape, on a grid.

    The prior is a density over $u = \ln r$, fitted to the log as masses $m_j$ on the points $u_j$
    of a grid (`fit_npmle`): the nonparametric maximum-likelihood estimate of a mixing distribution,
    held back a little. Pages of two kinds make two humps. With $D$ events at known times, $E$ quiet
    days and hidden changes in gaps $c_i$, the posterior is

    $$ \ln p(u) = \ln m(u) + D u - E e^u + \sum_i \ln(1 - e^{-c_i e^u}) + \text{const} , $$

    $\ln m$ linear between the points. The rate is its geometric mean, the band has the quantiles,
    shape and exposure are those of the Gamma with the same mean and variance. `survival` holds the
    chances to stay unchanged: where there are two humps, one Gamma is far from both.

    The estimator streams: `start`, then `update` for each gap of each page, gives bit for bit what
    `estimate` gives. The order of the gaps does not matter, and `merge` adds. A state is one row
    per page: events, quiet days, changes, visits, and hidden changes by the length of their gap
    (`recrawl.rates.rate_grid`).

    Args:
        priors: Priors of the rates; see `fit_npmle`. Where they have no masses the prior is their
            Gamma distribution.
        level: Probability that the rate lies in its band.
        false_changes: Chance that a change is reported at a visit to an unchanged page, by clocks,
            tokens and advertisements that differ by themselves.

    References:
        Kiefer and Wolfowitz (1956). Consistency of the maximum likelihood estimator in the presence
        of infinitely many incidental parameters. Annals of Mathematical Statistics 27, 887-906.
        Koenker and Mizera (2014). Convex optimization, shape constraints, compound decisions, and
        empirical Bayes rules. Journal of the American Statistical Association 109, 674-685.
        Efron (2014). Two modeling strategies for empirical Bayes estimation.
        Statistical Science 29, 285-301.

    Examples:
        Two changed quarters and six quiet ones say the same in any order:

        >>> from recrawl import Histories
        >>> early = [True, True, False, False, False, False, False, False]
        >>> quarters = Histories.from_lists([([90.0] * 8, early), ([90.0] * 8, early[::-1])])
        >>> NPMLE().estimate(quarters).rate.round(4)
        array([0.0032, 0.0032])
    """

    priors: Priors = field(default_factory=Priors.one)
    level: float = 0.9
    false_changes: float = 0.0

    def __post_init__(self) -> None:
        """Check the probabilities."""
        check_fraction(level=self.level)
        if self.false_changes:
            check_fraction(false_changes=self.false_changes)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        reader = _Reader.of(self, len(histories))

        def work(pages: slice) -> None:
            reader.read(reader.grid.of(histories, pages), pages)

        over_blocks(work, len(histories), _PAGES)
        return reader.estimates(histories.changes, histories.visits, histories.flags)

    def start(self, pages: int) -> Floats:
        """State of each page after its first visit."""
        return np.ascontiguousarray(self._grid().start(pages).T)

    def update(
        self,
        state: Floats,
        gaps: Floats,
        changed: Bools,
        *,
        age: Floats | None = None,
        count: Ints | None = None,
    ) -> Floats:
        """State of each page after one more gap: one row per page, in and out."""
        columns = np.array(state.T, order="C")  # a copy: states are values
        gaps, changed = np.asarray(gaps, np.float64), np.asarray(changed, np.bool_)
        self._grid().learn(columns, gaps, changed, age, count)
        return np.ascontiguousarray(columns.T)

    def merge(self, one: Floats, other: Floats) -> Floats:
        """State of each page from two parts of its history: the same as from the whole."""
        together = one + other
        together[:, VISITS] -= 1  # where the parts meet, one visit is the last and the first
        return together

    def read(self, state: Floats, flags: FlagBits | None = None) -> Estimates:
        """Return the estimates of states."""
        reader = _Reader.of(self, len(state))

        def work(pages: slice) -> None:
            reader.read(np.array(state[pages].T, order="C"), pages)

        over_blocks(work, len(state), _PAGES)
        changes, visits = state[:, CHANGES].astype(np.int64), state[:, VISITS].astype(np.int64)
        flags = np.zeros(len(state), np.uint32) if flags is None else flags
        return reader.estimates(changes, visits, flags)

    def _grid(self) -> RateGrid:
        return RateGrid.around(self.priors, self.false_changes)


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Works out the figures of pages, block by block.

    Args:
        grid: Points of the grid.
        priors: Priors of the rates.
        log_masses: Logarithms of their masses.
        level: Probability that a rate lies in its band.
        waits: Days for which the chance to stay unchanged is worked out.
        figures: Rate, low, high, shape and exposure: one column per page.
        survival: Chances to stay unchanged as in `Estimates`: one row per page.
    """

    grid: RateGrid
    priors: Priors
    log_masses: Floats | None
    level: float
    waits: Floats
    figures: Floats
    survival: Floats

    @classmethod
    def of(cls, method: NPMLE, pages: int) -> _Reader:
        """Prepare for so many pages."""
        grid, priors = RateGrid.around(method.priors, method.false_changes), method.priors
        priors.of_pages(pages)  # raises where they were made for others
        masses = None if priors.masses is None else np.log(priors.masses)
        if masses is not None and masses.shape[1] != len(grid.log_rates):
            raise InvalidParameter(
                f"priors must have {len(grid.log_rates)} masses for each site "
                f"(got {masses.shape[1]})"
            )
        logs = grid.log_rates
        waits = np.exp(-logs[-1] + np.arange(np.ceil(logs[-1] - logs[0]) + 1))
        figures, survival = np.empty((5, pages)), np.empty((pages, len(waits)))
        return cls(grid, priors, masses, method.level, waits, figures, survival)

    def read(self, columns: Floats, pages: slice) -> None:
        """Work out the figures of a block of pages, on finer points where they are narrow."""
        posterior = self._posterior(columns, pages)
        points = np.broadcast_to(self.grid.log_rates[:, np.newaxis], posterior.changes.shape)
        height = posterior.height_on_grid()
        rows, step = np.arange(pages.start, pages.stop), STEP
        for finer in range(_MOST_ROUNDS):
            there = height > height.max(axis=0) - _DEPTH
            first, last = there.argmax(axis=0), len(there) - 1 - there[::-1].argmax(axis=0)
            narrow = (last - first < _LEAST_POINTS) & (finer < _MOST_ROUNDS - 1)
            wide, few = np.flatnonzero(~narrow), np.flatnonzero(narrow)
            if len(wide):
                # Outside of these rows nothing is there.
                some = slice(first[wide].min(), last[wide].max() + 1)
                # Rows of pages chosen by number lie across memory, which is slow.
                near, values = (np.ascontiguousarray(each[some, wide]) for each in (points, height))
                self._put(rows[wide], near, values, step)
            if not len(few):
                return
            rows, posterior = rows[few], posterior.take(few)
            start = points[first[few], few] - 2 * step
            step /= _FINER
            points = start + step * np.arange(_FINE_POINTS)[:, np.newaxis]
            height = posterior.height(points)

    def estimates(self, changes: Ints, visits: Ints, flags: FlagBits) -> Estimates:
        """Estimates with the figures of all pages."""
        rate, low, high, shape, exposure = self.figures
        return Estimates(
            rate=rate,
            low=low,
            high=high,
            shape=shape,
            exposure=exposure,
            changes=changes,
            visits=visits,
            status=status_of(changes, visits, prior=True),
            flags=flags.copy(),
            method="npmle",
            survival=self.survival,
            first_wait=np.full(len(changes), self.waits[0]),
        )

    def _posterior(self, columns: Floats, pages: slice) -> _Posterior:
        """Posterior of a block of pages, up to constants."""
        events, quiet = columns[EVENTS], columns[QUIET]
        site = self.priors.site_of_page
        row = np.zeros(columns.shape[1], np.int64) if site is None else site[pages]
        if self.log_masses is None:
            events, quiet = events + self.priors.shape[row], quiet + self.priors.exposure[row]
            prior = None
        else:
            prior = np.ascontiguousarray(self.log_masses[row].T)
        return _Posterior(self.grid.log_rates, events, quiet, self.grid.of_changes(columns), prior)

    def _put(self, rows: Ints, points: Floats, height: Floats, step: float) -> None:
        """Work out the figures of posteriors that are known on evenly spaced points."""
        height = height - height.max(axis=0)
        density = np.exp(height)
        density *= height > -_DEPTH  # so that no page depends on the rows of another
        density /= total(density)
        times = np.exp(points)
        weighed = density * times
        mean, square = total(weighed), total(weighed * times)
        # Mass at a single point stands for mass as far as halfway to the next.
        variance = np.maximum(square - mean * mean, np.square(step * mean) / 12)
        shape, exposure = mean * mean / variance, mean / variance
        rate = np.exp(total(density * points))
        tail = (1 - self.level) / 2
        low, high = (np.exp(each) for each in _quantiles(density, points, step, (tail, 1 - tail)))
        self.figures[:, rows] = (
            rate,
            np.minimum(low, rate),
            np.maximum(high, rate),
            shape,
            exposure,
        )
        if step < STEP:  # one narrow hump, as good as a Gamma
            hazard = shape * np.log1p(self.waits[:, np.newaxis] / exposure)
        else:
            hazard = -np.log1p(-_changed(density, weighed, times[:, 0], self.waits))
        self.survival[rows] = np.log(np.minimum(hazard, _MOST_HAZARD)).T


class _Posterior(NamedTuple):
    """Parts of the log-posterior of pages.

    Args:
        log_rates: Points of the grid.
        events: Factor of ln r, one per page.
        quiet: Minus the factor of r, one per page.
        changes: Log-likelihood of hidden changes on the grid, one column per page.
        prior: Logarithms of the masses on the grid, one column per page.
    """

    log_rates: Floats
    events: Floats
    quiet: Floats
    changes: Floats
    prior: Floats | None

    def take(self, pages: Ints) -> _Posterior:
        """Only the pages named."""
        return _Posterior(
            self.log_rates,
            self.events[pages],
            self.quiet[pages],
            self.changes[:, pages],
            None if self.prior is None else self.prior[:, pages],
        )

    def height_on_grid(self) -> Floats:
        """Log-density on the points of the grid."""
        height = self.changes + self.log_rates[:, np.newaxis] * self.events
        height -= np.exp(self.log_rates)[:, np.newaxis] * self.quiet
        if self.prior is not None:
            height += self.prior
        return height

    def height(self, points: Floats) -> Floats:
        """Log-density at points of each page's own; outside of the grid there is none."""
        height = points * self.events
        height -= np.exp(points) * self.quiet
        page = np.arange(points.shape[1])
        first, weights = cubic(points, self.log_rates)
        for offset, weight in enumerate(weights):
            height += weight * self.changes[first + offset, page]
        place = (points - self.log_rates[0]) / STEP
        if self.prior is not None:
            cell = np.clip(place.astype(np.int64), 0, len(self.log_rates) - 2)
            share = place - cell
            height += (1 - share) * self.prior[cell, page] + share * self.prior[cell + 1, page]
        height[(place < 0) | (place > len(self.log_rates) - 1)] = -np.inf
        return height


def _quantiles(
    density: Floats, points: Floats, step: float, shares: tuple[float, ...]
) -> list[Floats]:
    """Where the probability below is that wanted.

    It is known at the points by the trapezoidal rule with its end correction, from differences.
    Between them its logit is nearly straight.
    """
    below = running(density)[1:]
    below -= density / 2
    below[1:-1] -= (density[2:] - density[:-2]) / 24
    np.clip(below, _NO_CHANCE, 1 - _NO_CHANCE, out=below)
    page, found = np.arange(density.shape[1]), []
    for share in shares:
        cell = np.clip((below < share).sum(axis=0) - 1, 0, len(below) - 2)
        left, right = _logit(below[cell, page]), _logit(below[cell + 1, page])
        part = (_logit(share) - left) / np.maximum(right - left, _NO_CHANCE)
        found.append(points[cell, page] + step * np.clip(part, 0, 1))
    return found


def _logit(chance: Floats | float) -> Floats:
    odds: Floats = np.log(chance / (1 - chance))
    return odds


def _changed(density: Floats, weighed: Floats, rates: Floats, waits: Floats) -> Floats:
    """Chance of a change within each wait: one row per wait, one column per page.

    Between rates that hardly ever and rates that surely change the page within the wait the
    chances are added up; beyond, they are the wait times the rate, and 1.
    """
    slow, slower = running(weighed), running(weighed * rates[:, np.newaxis])
    fast = running(density[::-1])
    chances = np.empty((len(waits), density.shape[1]))
    for row, wait in enumerate(waits):
        expected = rates * wait
        first, last = np.searchsorted(expected, _BETWEEN)
        each = -np.expm1(-expected[first:last])
        chances[row] = wait * (slow[first] - wait / 2 * slower[first])
        chances[row] += fast[len(density) - last]
        chances[row] += total(density[first:last] * each[:, np.newaxis])
    return np.minimum(chances, 1 - _NO_CHANCE)
