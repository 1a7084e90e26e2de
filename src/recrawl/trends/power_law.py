r"""A rate that rises or falls as a power of time, fitted to visits that hide the changes.

The page changes at the rate $\lambda(t) = (\beta / \eta) (t / \eta)^{\beta - 1}$ at the age $t$
(Weibull intensity, Crow-AMSAA): below $\beta = 1$ it calms down, above it gets busier. Between the
ages $u$ and $v$ this makes $\Lambda = (v^\beta - u^\beta) / \eta^\beta$ changes to expect, and the
one likelihood of all visits does the rest:

    unchanged                        -\Lambda                over the gap
    changed, no telling when         ln(1 - e^{-\Lambda})    over the gap
    changed k times                  k ln \Lambda - \Lambda  over the gap
    changed, last a days before t    ln \lambda(t - a) - \Lambda over the quiet days after it

Ages are divided by the page's age at its last visit. Then $\ln \Lambda$ of the whole and
$\ln \beta$ are nearly independent, and no power overflows.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import expand_ranges, sums
from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates.likelihood import Likelihood
from recrawl.trends.points import ends_of_gaps
from recrawl.trends.trend_test import TrendStatus, trend_status
from recrawl.units import MICROSECONDS_A_DAY
from recrawl.visits.histories import NO_COUNT

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints, Statuses
    from recrawl.visits.histories import Histories

_MICROSECOND = 1 / MICROSECONDS_A_DAY
_LEAST_GAPS = 8
_LEAST_CHANGES = 3

# A beta outside is no fit but a flight: only the first or only the last gaps changed.
_STEEPEST = np.log(30.0)

_PAGES = 512  # a block: a page's every gap is at hand in some twenty columns
_MOST_STEPS = 200
_LONGEST_STEP = 2.0  # in both logarithms
_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class PowerLaw:
    r"""Power laws of many pages, one row per page; nan where the status says why.

    Args:
        beta: Exponent: below 1 the rate falls, above 1 it rises.
        beta_low: Lower end of its band.
        beta_high: Upper end of its band.
        eta: Age in days at which one change is to be expected.
        rate: Changes a day at the last visit.
        gain: Log-likelihood above that of a constant rate. Twice the gain is close to a
            chi-square with one degree of freedom if the rate is constant.
        status: Numbers of `TrendStatus`.
    """

    beta: Floats
    beta_low: Floats
    beta_high: Floats
    eta: Floats
    rate: Floats
    gain: Floats
    status: Statuses

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.beta)

    @property
    def status_names(self) -> list[str]:
        """Status of each page in words."""
        return [TrendStatus(code).name.lower() for code in self.status]


def power_law(
    histories: Histories, *, origin_age: Floats | float = 0.0, level: float = 0.9
) -> PowerLaw:
    r"""Fit a power law to each page with at least 8 gaps and 3 changes.

    Newton's method in the logarithms of $\beta$ and of all changes to expect, from the closed form
    for exact times, $\beta = n / \sum \ln(T / t_i)$, with every hidden change in the middle of its
    gap. The band comes from the information about $\ln \beta$ at the maximum. Where the likelihood
    has no maximum (ever steeper laws fit ever better), the status is `no_maximum`.

    Args:
        histories: What the visits showed.
        origin_age: Age of each page, in days, at its first visit; 0 takes that visit for its birth.
        level: Probability that beta lies in its band.

    References:
        Crow (1974). Reliability analysis for complex, repairable systems. SIAM, 379-410.

    Examples:
        A page that changes daily soon after its first visit, then ever more rarely:

        >>> from recrawl import Histories
        >>> days = [day in (2, 3, 4, 6, 9, 14, 22, 35) for day in range(1, 41)]
        >>> law = power_law(Histories.from_lists([([1.0] * 40, days)]))
        >>> law.beta.round(2), law.rate.round(2), law.gain.round(1)
        (array([0.55]), array([0.13]), array([1.8]))
    """
    check_fraction(level=level)
    born = np.broadcast_to(np.asarray(origin_age, np.float64), (len(histories),))
    if not ((born >= 0) & (born < np.inf)).all():
        wrong = born[~((born >= 0) & (born < np.inf))][0]
        message = f"origin_age must be a finite number of days, at least 0 (got {wrong})"
        raise InvalidParameter(message)

    constant = Likelihood(singularity="none").estimate(histories).rate
    status = trend_status(histories, _LEAST_GAPS, _LEAST_CHANGES)
    status[np.isinf(constant)] = TrendStatus.ALL_CHANGED
    rows = np.flatnonzero(status == TrendStatus.OK)
    quantile = NormalDist().inv_cdf((1 + level) / 2)
    figures = np.full((6, len(histories)), np.nan)

    def work(some: slice) -> None:
        pages = rows[some]
        pieces = _Pieces.of(histories.take(pages), born[pages])
        found = _fitted(pieces, constant[pages], quantile)
        figures[:, pages] = found
        status[pages[np.isnan(found[0])]] = TrendStatus.NO_MAXIMUM

    over_blocks(work, len(rows), _PAGES)
    beta, low, high, eta, rate, gain = figures
    return PowerLaw(beta, low, high, eta, rate, gain, status)


def _fitted(pieces: _Pieces, constant: Floats, quantile: float) -> Floats:
    """Beta, its band, eta, the rate now and the gain of each page; nan without a maximum."""
    flat = np.stack([np.log(constant * pieces.age), np.zeros(len(constant))])
    best, height, deviation = _climb(pieces, _start(pieces, flat))
    # Nothing may be lost on rounding where the constant rate is as good.
    gain = np.maximum(height - pieces.height(flat), 0)
    reach = quantile * deviation
    with np.errstate(over="ignore", under="ignore"):  # what has fled is left out below
        total, beta = np.exp(best)
        eta, now = pieces.age * np.exp(-best[0] / beta), total * beta / pieces.age
        figures = np.stack([beta, beta * np.exp(-reach), beta * np.exp(reach), eta, now, gain])
    figures[:, (np.abs(best[1]) > _STEEPEST) | ~np.isfinite(figures).all(axis=0)] = np.nan
    return figures


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """The part of each gap that has a likelihood, as shares of the page's age.

    Args:
        offsets: Where each page begins.
        age: Days from each page's origin to its last visit.
        end: ln of the age at which the piece ends.
        length: ln of its beginning, less that; minus infinity from the origin on.
        hidden: Whether it hides a change.
        events: Changes it is known to have; -1 for one that happened where it begins.
    """

    offsets: Ints
    age: Floats
    end: Floats
    length: Floats
    hidden: Bools
    events: Ints

    @classmethod
    def of(cls, histories: Histories, born: Floats) -> _Pieces:
        page, gaps = histories.page_of_gap, histories.gaps
        end = born[page] + ends_of_gaps(histories)
        age = np.zeros(len(histories))
        age[:] = end[histories.offsets[1:] - 1]
        counted = histories.count != NO_COUNT
        dated = ~np.isnan(histories.age) & ~counted
        days = np.where(dated, np.maximum(histories.age, _MICROSECOND), gaps)
        with np.errstate(divide="ignore"):
            length = np.log1p(-np.minimum(days / end, 1))
        # A dated change is later than the origin, whatever the rounding.
        length[dated] = np.maximum(length[dated], np.log(_MICROSECOND / 2) - np.log(end[dated]))
        return cls(
            offsets=histories.offsets,
            age=age,
            end=np.log(end / age[page]),
            length=np.minimum(length, 0),
            hidden=histories.changed & ~dated & ~counted,
            events=np.where(counted, histories.count, np.where(dated, -1, 0)),
        )

    def take(self, pages: Bools) -> _Pieces:
        """Only the wanted pages."""
        counts = np.diff(self.offsets)[pages]
        rows = expand_ranges(self.offsets[:-1][pages], counts)
        return _Pieces(
            np.concatenate([[0], np.cumsum(counts)]),
            self.age[pages],
            self.end[rows],
            self.length[rows],
            self.hidden[rows],
            self.events[rows],
        )

    def height(self, at: Floats) -> Floats:
        """Log-likelihood of each page, less what no parameter changes."""
        (log_total, log_beta), beta = self._each(at), np.exp(self._each(at[1]))
        expected = np.exp(log_total + beta * self.end) * -np.expm1(beta * self.length)
        start = self.end + self.length
        with np.errstate(invalid="ignore", divide="ignore"):  # chosen away
            dated = log_total + log_beta + (beta - 1) * start - expected
            counted = self.events * np.log(expected) - expected
            hidden = np.log(-np.expm1(-expected))
        known = np.where(self.events > 0, counted, np.where(self.events < 0, dated, -expected))
        return self._sum(np.where(self.hidden, hidden, known))

    def slopes(self, at: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """First derivatives of the height in both parameters, then minus the second ones."""
        log_total, log_beta = self._each(at)
        beta, at_end = np.exp(log_beta), np.exp(log_total + np.exp(log_beta) * self.end)
        expected = at_end * -np.expm1(beta * self.length)
        begun = at_end - expected
        # Derivatives of `expected` in ln beta, without differences of nearly equal numbers.
        length = np.where(np.isinf(self.length), 0, self.length)
        start = self.end + length
        first = beta * (self.end * expected - begun * length)
        curved = self.end**2 * expected - begun * length * (self.end + start)
        second = first + beta**2 * curved

        dated = self.events < 0
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            odds = 1 / np.expm1(expected)
            known = np.maximum(self.events, 0) / expected
            pull = np.where(self.hidden, odds, known - 1)
            bend = np.where(self.hidden, odds * (1 + odds), known / expected)
        return (
            self._sum(pull * expected + dated),
            self._sum(pull * first + dated * (1 + beta * start)),
            self._sum(bend * expected**2 - pull * expected),
            self._sum(bend * expected * first - pull * first),
            self._sum(bend * first**2 - pull * second - dated * beta * start),
        )

    def _each(self, pages: Floats) -> Floats:
        return np.repeat(pages, np.diff(self.offsets), axis=-1)

    def _sum(self, values: Floats) -> Floats:
        total: Floats = sums(values, self.offsets)
        return total


def _start(pieces: _Pieces, flat: Floats) -> Floats:
    """The closed form with hidden changes in the middle, or the constant rate if that is better."""
    share = np.exp(pieces.length)
    place = np.where(pieces.events < 0, share, (1 + share) / 2)
    changes = np.abs(pieces.events) + pieces.hidden
    count = sums(changes, pieces.offsets)
    depth = sums(changes * -(pieces.end + np.log(place)), pieces.offsets)
    steep = _STEEPEST - 1
    with np.errstate(divide="ignore"):  # all changes at the very end
        closed = np.stack([np.log(count), np.clip(np.log(count / depth), -steep, steep)])
    closed = np.where(np.isfinite(closed), closed, flat)
    with np.errstate(invalid="ignore"):
        return np.where(pieces.height(closed) > pieces.height(flat), closed, flat)


def _climb(pieces: _Pieces, start: Floats) -> tuple[Floats, Floats, Floats]:
    """Top of each page's likelihood, its height, and the standard deviation of ln beta there.

    Steps of Newton's method, bent towards the steepest way (Levenberg, Marquardt) where the
    likelihood is not a hilltop or a step led down.
    """
    best, height = start.copy(), pieces.height(start)
    deviation = np.full(best.shape[1], np.nan)
    rows, at, top = np.arange(best.shape[1]), start, height
    damping = np.zeros(len(rows))
    for _ in range(_MOST_STEPS):
        if not len(rows):
            break
        g0, g1, h00, h01, h11 = pieces.slopes(at)
        with np.errstate(all="ignore"):
            raised0, raised1 = h00 + damping * (1 + np.abs(h00)), h11 + damping * (1 + np.abs(h11))
            area = raised0 * raised1 - h01**2
            move = np.stack([raised1 * g0 - h01 * g1, raised0 * g1 - h01 * g0]) / area
            sound = (raised0 > 0) & (area > 0) & np.isfinite(move).all(axis=0)
            move *= np.minimum(1, _LONGEST_STEP / np.abs(move).max(axis=0))
            goal = np.where(sound, at + move, at)
            new = pieces.height(goal)
            # A hair of rounding is no descent.
            better = sound & (new >= top - 1e-12 * np.abs(top))
            deviation[rows] = np.sqrt(h00 / (h00 * h11 - h01**2))
        at, top = np.where(better, goal, at), np.where(better, new, top)
        best[:, rows], height[rows] = at, top
        size = np.abs(move).max(axis=0)
        there = better & (size < _TOLERANCE) & (damping < _TOLERANCE)
        lost = (np.abs(at[1]) > _STEEPEST) | (damping > 1 / _TOLERANCE)
        damping = np.where(better, damping / 10, np.maximum(damping * 10, 1e-3))
        damping[damping < _TOLERANCE] = 0
        going = ~(there | lost)
        rows, at, top, damping = rows[going], at[:, going], top[going], damping[going]
        pieces = pieces.take(going)
    return best, height, deviation
