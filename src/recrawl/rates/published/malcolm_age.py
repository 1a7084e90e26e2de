"""Malcolm and Armitage's estimator for pages that say when they last changed.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import sums
from recrawl.arrays.special import gamma_quantile
from recrawl.checks import check_fraction
from recrawl.rates.estimates import Estimates, status_of
from recrawl.rates.priors import Priors
from recrawl.rates.published.dated import quiet_days, with_fallback
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.visit import Flag

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.visits.histories import Histories

_RESOLUTION = 1 / SECONDS_A_DAY  # a date of HTTP is no finer than a second
_PAGES = 8192  # a block's gaps stay in the cache
_TINY = 1e-6  # ages over so short a share of the mean interval are as good as one age


@dataclass(frozen=True, slots=True)
class MalcolmAge:
    r"""Mean age of a page over all its visits, the first one included.

    In a Poisson process the time since the last change has the same mean as the time between
    changes, so

    $$ \text{mean interval} = \frac{\text{sum of ages}}{\text{visits}} $$

    and the rate is its inverse. Right on average for a page that is visited at times unrelated
    to its changes. Ages at neighbouring visits are alike, however, and more visits in the same
    time add little: with visits every $I$ days and $\rho = e^{-I / m}$ the variance of the mean
    of $n$ ages, over $m^2$, is

    $$ \frac{1}{n} \left( \frac{1 + \rho}{1 - \rho}
       - \frac{2 \rho (1 - \rho^n)}{n (1 - \rho)^2} \right) , $$

    which for frequent visits is $\frac{2}{x} (1 - \frac{1 - e^{-x}}{x})$ over a time of $x$ mean
    intervals: 39 % for 12 of them, where counted changes and quiet days can have 29 %. The band
    is that of a Gamma distribution with this variance.

    Ages before the first change seen are known only if the first visit's is. A page without any
    known age gets the figures of `gamma` and a flag.

    Args:
        priors: Where the rates of pages without a known age start.
        level: Probability that the rate lies in its band.

    References:
        Malcolm and Armitage. Bandwidth efficient web object change interval estimation.
        Equation 2.

    Examples:
        Ages of 2, 4, 1 and 3 days:

        >>> from recrawl import Histories
        >>> seen = Histories(
        ...     gaps=[2.0, 2.0, 2.0],
        ...     changed=[False, True, False],
        ...     offsets=[0, 3],
        ...     age=[float("nan"), 1.0, float("nan")],
        ...     first_age=[2.0],
        ... )
        >>> MalcolmAge().estimate(seen).mean_interval
        array([2.5])
    """

    priors: Priors = field(default_factory=Priors.one)
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the level."""
        check_fraction(level=self.level)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        seen = _Ages.of(histories)
        some = seen.known > 0
        total = np.where(some & (seen.total == 0), seen.known * _RESOLUTION, seen.total)
        rate = np.where(some, seen.known, np.nan) / np.where(some, total, 1.0)
        mean_gap = seen.days / np.maximum(histories.gaps_of_page, 1)
        shape = 1 / variance_of_mean_age(np.where(some, rate, 1.0) * mean_gap, seen.known)
        tail = (1 - self.level) / 2
        flags = histories.flags.copy()
        flags[seen.undated] |= np.uint32(Flag.UNDATED)
        estimates = Estimates(
            rate=rate,
            low=np.minimum(gamma_quantile(shape, tail) / shape, 1) * rate,
            high=np.maximum(gamma_quantile(shape, 1 - tail) / shape, 1) * rate,
            shape=shape,
            exposure=shape / rate,
            changes=seen.changes,
            visits=seen.visits,
            status=status_of(seen.changes, seen.visits),
            flags=flags,
            method="malcolm-age",
        )
        return with_fallback(estimates, histories, np.flatnonzero(~some), self.priors, self.level)


@dataclass(frozen=True, slots=True, eq=False)
class _Ages:
    """Sum of each page's known ages, how many there are, and what else a pass over gaps tells."""

    total: Floats
    known: Ints
    days: Floats
    changes: Ints
    undated: Bools
    visits: Ints

    @classmethod
    def of(cls, histories: Histories) -> _Ages:
        count = len(histories)
        total, days = np.empty(count), np.empty(count)
        ages, changes = np.empty(count, np.int64), np.empty(count, np.int64)
        undated, visits = np.empty(count, np.bool_), histories.visits

        def work(pages: slice) -> None:
            rows, edges = histories.block(pages)
            changed = histories.changed[rows]
            quiet, hidden = quiet_days(histories, rows)
            first_age = histories.first_age[pages]
            known = ~np.isnan(first_age) & (visits[pages] > 0)
            # The days of a gap count for its own visit and for all until the next change.
            times, before = _visits_until_change(changed, edges, known)
            times *= quiet
            total[pages] = sums(times, edges) + np.where(known, first_age * (before + 1), 0)
            ages[pages] = np.diff(edges) - before + np.where(known, before + 1, 0)
            days[pages] = sums(histories.gaps[rows], edges)
            changes[pages] = sums(changed.view(np.uint8), edges, np.int64)
            undated[pages] = sums(hidden.view(np.uint8), edges, np.int64) > 0

        over_blocks(work, count, _PAGES)
        return cls(total, ages, days, changes, undated, visits)


def _visits_until_change(changed: Bools, edges: Ints, known: Bools) -> tuple[Floats, Ints]:
    """Of each gap: visits from its end until the next change. Of each page: gaps before its first.

    The gaps before a page's first change count for nothing where its first age is not known.
    """
    some = edges[1:] > edges[:-1]
    firsts = edges[:-1][some]
    begins = changed.copy()
    begins[firsts] = True
    starts = np.flatnonzero(begins)
    ends = np.append(starts, len(changed))[1:]
    lengths = ends - starts
    first_run = np.searchsorted(starts, firsts)
    before = np.zeros(len(edges) - 1, np.int64)
    before[some] = lengths[first_run] * ~changed[firsts]
    ends[first_run[~changed[firsts] & ~known[some]]] = 0
    times = np.repeat(ends.astype(np.float64), lengths)
    times -= np.arange(float(len(changed)))
    return np.maximum(times, 0, out=times), before


def variance_of_mean_age(expected: Floats, ages: Ints) -> Floats:
    """Variance of the mean of so many ages, over the squared mean interval; 1 for a single age.

    Args:
        expected: Changes from one visit to the next.
        ages: Visits whose age is known.

    Examples:
        Twelve mean intervals, looked at all the time, leave 39 %:

        >>> np.sqrt(variance_of_mean_age(np.array([0.001]), np.array([12_000]))).round(4)
        array([0.3909])
    """
    some = expected * ages > _TINY
    apart, n = np.where(some, expected, 1.0), np.maximum(ages, 1)
    new = -np.expm1(-apart)  # 1 - rho
    variance = ((2 - new) / new + 2 * (1 - new) * np.expm1(-n * apart) / (n * new * new)) / n
    return np.clip(np.where(some, variance, 1.0), 1 / n, 1.0)
