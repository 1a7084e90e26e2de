r"""How many changes a page is to be expected to have within some days from its last visit.

A Poisson process whose rate moves has $\mu = \int \lambda$ changes to be expected, and
$\Pr[N = k] = \mu^k e^{-\mu} / k!$. With the Weibull process of a page's last window, at $t$ days
since it began, $\mu = ((t + T)^\beta - t^\beta) / \eta^\beta$; `duane` and `ratio` suppose that
their rate stays. Where the rate itself follows a Gamma distribution, as by `gamma` and `bank`, the
number of changes is negative binomial.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_at_least, check_positive
from recrawl.rates.bank import Bank
from recrawl.rates.gamma import Gamma
from recrawl.trends.next_change import WindowedPages

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.rates.estimates import Estimator
    from recrawl.rates.priors import Priors
    from recrawl.trends.points import Points
    from recrawl.trends.windows import Windows
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True, eq=False)
class ChangeCounts:
    """Changes within some days, one row per page; nan without a forecast.

    Args:
        mean: Changes to be expected.
        chance: Chance of 0, 1, 2, ... changes, a column each.
    """

    mean: Floats
    chance: Floats


def counts_within(
    histories: Histories,
    points: Points,
    windows: Windows,
    *,
    priors: Priors,
    days: float,
    most: int = 3,
) -> dict[str, ChangeCounts]:
    """Changes of every page within so many days from its last visit, by each method.

    Args:
        histories: What the visits showed.
        points: Change points of the same pages.
        windows: How these are cut; the last window of a page counts.
        priors: Priors of the rates.
        days: Days from the last visit on.
        most: Largest number of changes that has a chance of its own.
    """
    check_positive(days=days)
    check_at_least(0, most=most)
    found = {}
    pooled: dict[str, Estimator] = {"bank": Bank(priors), "gamma": Gamma(priors)}
    for name, estimator in pooled.items():
        estimates = estimator.estimate(histories)
        shape, exposure = estimates.shape, estimates.exposure
        mean = shape / exposure * days
        found[name] = ChangeCounts(mean, negative_binomial(shape, mean, most))
    for name, mean in _by_windows(points, windows, days).items():
        found[name] = ChangeCounts(mean, poisson(mean, most))
    return found


def poisson(mean: Floats, most: int) -> Floats:
    """Chance of 0 to `most` events where so many are expected.

    >>> poisson(np.array([2.0]), 2).round(4)
    array([[0.1353, 0.2707, 0.2707]])
    """
    number = np.arange(most + 1)
    with np.errstate(divide="ignore", invalid="ignore"):  # none expected: surely none
        logs = number * np.log(mean)[:, np.newaxis] - _log_factorials(most)
        chance: Floats = np.exp(logs - mean[:, np.newaxis])
    chance[mean == 0] = number == 0
    return chance


def negative_binomial(shape: Floats, mean: Floats, most: int) -> Floats:
    """The same where the rate follows a Gamma distribution of that shape.

    >>> negative_binomial(np.array([1.0]), np.array([1.0]), 2)
    array([[0.5  , 0.25 , 0.125]])
    """
    from scipy.special import gammaln  # slow to load: only where it is needed

    number, shape = np.arange(most + 1), shape[:, np.newaxis]
    share = mean[:, np.newaxis] / (shape + mean[:, np.newaxis])
    ways = gammaln(shape + number) - gammaln(shape) - _log_factorials(most)
    chance: Floats = np.exp(ways + number * np.log(share) + shape * np.log1p(-share))
    return chance


def _log_factorials(most: int) -> Floats:
    return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most + 1)))])


def _by_windows(points: Points, windows: Windows, days: float) -> dict[str, Floats]:
    """Changes to be expected by the last window of each page, where it has points enough."""
    seen = WindowedPages.of(points, windows)
    found = {name: np.full(len(points), np.nan) for name in ("weibull", "duane", "ratio")}
    if len(seen.page):
        now, fit = seen.now, seen.weibull
        with np.errstate(over="ignore"):  # a burst of points: as many as can be
            by_now = np.power(now / fit.eta, fit.beta)
            more = by_now * np.expm1(fit.beta * np.log1p(days / now))
        found["weibull"][seen.page] = more
        found["duane"][seen.page] = seen.duane.rate(now) * days
        found["ratio"][seen.page] = seen.times.count / now * days
    return found
