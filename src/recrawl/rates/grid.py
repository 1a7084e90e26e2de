r"""The exact posterior of a constant rate, on a grid of its logarithm.

What `gamma` holds in two numbers, here is worked out in full: for the audit of `gamma`, and
where pages are few.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_at_least, check_fraction
from recrawl.rates.censored import Censored, most_likely
from recrawl.rates.estimates import Estimates, status_of
from recrawl.rates.priors import Priors

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.visits.histories import Histories

_PAGES = 2048  # a block's grids stay in the cache
_LEAST_POINTS = 16
_TOLERANCE = 1e-6  # of the mode: the grid need only be centred there

# The grid goes on until the density has fallen by so many powers of e.
_DEPTH = 25.0
_FIRST_REACH = 6.0  # in Laplace deviations
_MOST_STEPS = 40

# Points lie evenly in arcsinh(_BEND u) / _BEND, u in Laplace deviations: densely around the peak,
# where a broad posterior has its one steep side, and ever farther apart on its long slope.
_BEND = 0.5


@dataclass(frozen=True, slots=True)
class Grid:
    r"""Posterior of a Poisson change rate from a Gamma prior, by quadrature.

    With $D$ events at known times, $E$ quiet days, hidden changes in gaps $c_i$ and the prior
    Gamma($a_0$, $b_0$), the density of $u = \ln r$ is

    $$ \ln p(u) = (a_0 + D) u - (b_0 + E) e^u + \sum_i \ln(1 - e^{-c_i e^u}) + \text{const} . $$

    It is laid out on points around its peak, to where it is negligible. The rate is the
    geometric mean $e^{\mathrm{E} u}$, the band has the quantiles, shape and exposure are those of
    the Gamma with the same mean and variance.

    Args:
        priors: Priors of the rates; see `fit_prior`.
        level: Probability that the rate lies in its band.
        points: Points of the grid.

    Examples:
        Unchanged days and dated changes keep a Gamma prior a Gamma:

        >>> from recrawl import Histories, Priors
        >>> seen = Histories.from_lists([([1.0], [False])])
        >>> estimates = Grid(Priors.one(shape=2.0, exposure=10.0)).estimate(seen)
        >>> estimates.shape.round(6), estimates.exposure.round(6)
        (array([2.]), array([11.]))
    """

    priors: Priors = field(default_factory=Priors.one)
    level: float = 0.9
    points: int = 128

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        check_at_least(_LEAST_POINTS, points=self.points)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        shape, exposure = self.priors.of_pages(len(histories))
        columns = np.empty((5, len(histories)))

        def work(pages: slice) -> None:
            seen = Censored.of(histories, pages)
            posterior = replace(
                seen,
                events=seen.events + shape[pages][seen.page],
                quiet=seen.quiet + exposure[pages][seen.page],
            )
            columns[:, pages.start + seen.page] = self._figures(posterior)

        over_blocks(work, len(histories), _PAGES)
        changes, visits = histories.changes, histories.visits
        status, flags = status_of(changes, visits, prior=True), histories.flags.copy()
        rate, low, high, shape, exposure = columns
        return Estimates(rate, low, high, shape, exposure, changes, visits, status, flags, "grid")

    def _figures(self, posterior: Censored) -> Floats:
        """Rate, low, high, shape and exposure of a block of pages."""
        rate, information = most_likely(posterior, posterior.quiet, _TOLERANCE)
        peak, deviation = np.log(rate), 1 / np.sqrt(information)
        first = _place(_reach(posterior, peak, -deviation) / deviation)
        last = _place(_reach(posterior, peak, deviation) / deviation)
        step = (last - first) / (self.points - 1)
        place = first + step * np.arange(self.points)[:, np.newaxis]
        away = deviation * np.sinh(_BEND * place) / _BEND  # from the peak
        density, slope = _density(posterior, peak, away)
        # From here on over the places: a step's width goes into the density.
        width = deviation * np.cosh(_BEND * place)
        slope = slope * width * width + density * deviation * _BEND * np.sinh(_BEND * place)
        density = density * width

        mass = _total(density)
        middle = _total(density * away) / mass
        times = np.exp(away)
        mean = _total(density * times) / mass
        variance = _total(density * np.square(times - mean)) / mass
        tail = (1 - self.level) / 2
        below = _below(density, slope, step)
        ends = (_quantile(density, below, first, step, p) for p in (tail, 1 - tail))
        low, high = (deviation * np.sinh(_BEND * end) / _BEND for end in ends)
        centre = rate * np.exp(middle)
        return np.stack(
            [
                centre,
                np.minimum(rate * np.exp(low), centre),
                np.maximum(rate * np.exp(high), centre),
                mean * mean / variance,
                mean / (variance * rate),
            ]
        )


def _place(away: Floats) -> Floats:
    """Place of a point so many deviations from the peak."""
    return np.arcsinh(_BEND * away) / _BEND


def _reach(posterior: Censored, peak: Floats, deviation: Floats) -> Floats:
    """How far from the peak the density is negligible, in the direction of the deviation."""
    top, _ = posterior.height(np.exp(peak), posterior.quiet)
    reach, open_ = _FIRST_REACH * deviation, np.ones(len(peak), np.bool_)
    for _ in range(_MOST_STEPS):
        height, _ = posterior.height(np.exp(peak + reach), posterior.quiet)
        open_ &= height > top - _DEPTH
        if not open_.any():
            break
        reach = np.where(open_, 1.25 * reach, reach)
    return reach


def _density(posterior: Censored, peak: Floats, away: Floats) -> tuple[Floats, Floats]:
    """Density at each point, over that at the peak, and its slope."""
    top, _ = posterior.height(np.exp(peak), posterior.quiet)
    density, slope = np.empty(away.shape), np.empty(away.shape)
    for point, distance in enumerate(away):
        height, slope[point] = posterior.height(np.exp(peak + distance), posterior.quiet)
        density[point] = np.exp(height - top)
    slope *= density
    return density, slope


def _total(values: Floats) -> Floats:
    """Sum over the points, in their order: numpy's own depends on how many pages there are."""
    total = np.zeros(values.shape[1])
    for row in values:
        total += row
    return total


def _below(density: Floats, slope: Floats, step: Floats) -> Floats:
    """Probability below each point, by the trapezoidal rule with its end correction."""
    inner = np.cumsum((density[1:] + density[:-1]) / 2, axis=0)
    below = np.concatenate([np.zeros((1, density.shape[1])), inner])
    below -= step / 12 * (slope - slope[0])
    below /= below[-1].copy()
    return below


def _quantile(
    density: Floats, below: Floats, first: Floats, step: Floats, probability: float
) -> Floats:
    """Where the probability below is that wanted, by a parabola between two points."""
    cell = np.clip((below < probability).sum(axis=0) - 1, 0, len(below) - 2)
    page = np.arange(below.shape[1])
    left, right = density[cell, page], density[cell + 1, page]
    share = (probability - below[cell, page]) / (below[cell + 1, page] - below[cell, page])
    # Density runs from `left` to `right`: what share of the step has that share of the area?
    goal = share * (left + right)
    root = np.sqrt(left * left + (right - left) * goal)
    place: Floats = first + step * (cell + goal / (left + root))
    return place
