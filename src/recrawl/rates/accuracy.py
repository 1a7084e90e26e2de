r"""Bias and standard deviation of estimators under regular visits, by exact sums.

With $n$ gaps of $I$ days a page that changes at the rate $r$ shows a change in $X$ of them with
the binomial probability $B(X) = \binom{n}{X} (1 - e^{-rI})^X e^{-rI(n - X)}$. An estimator that
reads only how many gaps changed gives one of $n + 1$ answers $\hat r(X)$, so its mean and its
variance are finite sums, with the estimator itself asked for every $X$.

Where changes are dated, the quiet days $T$ vary, too. Given $X = k$ they are $(n - k) I$ and the
sum of $k$ ages, each exponential and cut off at $I$. The mean of $1 / T$ is the integral of the
Laplace transform of $T$,

$$ \mathrm{E} \frac{1}{T} = \int_0^\infty e^{-s (n-k) I} \varphi(s)^k \, ds , \qquad
   \varphi(s) = \frac{r}{r + s} \, \frac{1 - e^{-(r+s) I}}{1 - e^{-r I}} , $$

that of $1 / T^2$ has another factor $s$ under the integral.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from recrawl.checks import check_at_least, check_positive
from recrawl.errors import InvalidParameter
from recrawl.rates.published.last_modified import LastModified, corrected_events
from recrawl.rates.published.last_modified_raw import LastModifiedRaw
from recrawl.rates.published.malcolm_age import MalcolmAge
from recrawl.visits.histories import Histories

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimator

# The integrals are sums over the logarithm of s r, evenly spaced: exact to ten digits.
_STEP = 0.05
_PLACES = np.arange(-30.0, 45.0, _STEP)

_NEGLIGIBLE = 1e-16  # probability of a count that need not be looked at
_FINITE_MEAN = 2  # gaps from which on 1 / T has a mean, since all may change
_FINITE_VARIANCE = 3  # and 1 / T^2


@runtime_checkable
class Counting(Protocol):
    """Estimators that need no more than counts where gaps are equal."""

    def changes_a_gap(self, changes: Ints, gaps: Ints) -> Floats:
        """Expected changes per gap after `changes` of `gaps` equal gaps changed."""


@dataclass(frozen=True, slots=True, eq=False)
class Accuracy:
    """Errors of an estimator, one row per rate.

    Args:
        bias: Mean of estimate / truth, less 1, where there is an estimate.
        sigma: Standard deviation of estimate / truth, where there is one.
        undefined: Probability that there is none: the answer is infinite.
    """

    bias: Floats
    sigma: Floats
    undefined: Floats

    @property
    def error(self) -> Floats:
        """Root of the mean square of estimate / truth - 1."""
        return np.hypot(self.bias, self.sigma)


def accuracy(estimator: Estimator, rate: Floats, *, gap: float, gaps: int) -> Accuracy:
    """Errors of an estimator's rates after `gaps` gaps of `gap` days.

    Args:
        estimator: Whatever reads histories; one that depends on the order of changes is asked
            with all changes first.
        rate: True changes a day of the pages to ask for.
        gap: Days between two visits.
        gaps: How many gaps; the first visit makes none.

    Examples:
        The plain ratio misses 37 % of the changes of a page that changes once a gap:

        >>> from recrawl import Ratio
        >>> accuracy(Ratio(), np.array([1.0]), gap=1.0, gaps=10).bias.round(3)
        array([-0.368])
    """
    rate = _checked(rate, gap, gaps)
    if isinstance(estimator, LastModified | LastModifiedRaw):
        return _of_dated(_events(estimator, gaps), rate * gap, gaps)
    return _of_answers(answers(estimator, gap=gap, gaps=gaps), rate, rate * gap, gaps)


def interval_accuracy(estimator: Estimator, rate: Floats, *, gap: float, gaps: int) -> Accuracy:
    """Errors of the mean intervals, the inverses of the rates, that an estimator gives.

    Examples:
        Three mean intervals of watching leave the interval by `malcolm` 5 % too short:

        >>> from recrawl.rates import Malcolm
        >>> interval_accuracy(Malcolm(), np.array([0.01]), gap=1.0, gaps=300).bias.round(3)
        array([-0.05])
    """
    rate = _checked(rate, gap, gaps)
    with np.errstate(divide="ignore"):  # a rate of 0: no finite interval
        interval = 1 / answers(estimator, gap=gap, gaps=gaps)
    return _of_answers(interval, 1 / rate, rate * gap, gaps)


def answers(estimator: Estimator, *, gap: float, gaps: int) -> Floats:
    """Rates that an estimator gives for 0, 1, ... changed gaps."""
    if isinstance(estimator, LastModified | LastModifiedRaw | MalcolmAge):
        raise InvalidParameter(f"estimator must depend on counts alone (got {estimator!r})")
    if isinstance(estimator, Counting):
        return estimator.changes_a_gap(np.arange(gaps + 1), np.full(gaps + 1, gaps)) / gap
    changed = np.arange(gaps) < np.arange(gaps + 1)[:, np.newaxis]
    offsets = np.arange(gaps + 2) * gaps
    seen = Histories(np.full(changed.size, gap), changed.ravel(), offsets)
    return estimator.estimate(seen).rate


def chances(expected: Floats, gaps: int) -> Floats:
    """Probability of 0, 1, ... changed gaps, a row for each number of changes expected in one.

    >>> chances(np.array([np.log(2)]), 2)
    array([[0.25, 0.5 , 0.25]])
    """
    from scipy.special import gammaln, xlogy  # slow to load

    changed, x = np.arange(gaps + 1), expected[:, np.newaxis]
    ways = gammaln(gaps + 1) - gammaln(changed + 1) - gammaln(gaps - changed + 1)
    logs = ways + xlogy(changed, -np.expm1(-x)) - (gaps - changed) * x
    return np.asarray(np.exp(logs), np.float64)


def _checked(rate: Floats, gap: float, gaps: int) -> Floats:
    rate = np.atleast_1d(np.asarray(rate, np.float64))
    if not ((rate > 0) & (rate < np.inf)).all():
        raise InvalidParameter(f"rate must be a positive, finite number (got {rate})")
    check_positive(gap=gap)
    check_at_least(1, gaps=gaps)
    return rate


def _of_answers(answer: Floats, truth: Floats, expected: Floats, gaps: int) -> Accuracy:
    """Mean and spread of the finite answers."""
    finite, weight = np.isfinite(answer), chances(expected, gaps)
    undefined = (weight * ~finite).sum(axis=1)
    weight *= finite
    defined = weight.sum(axis=1)
    ratio = np.where(finite, answer, 0) / truth[:, np.newaxis]
    with np.errstate(invalid="ignore"):  # never an answer
        mean = (weight * ratio).sum(axis=1) / defined
        square = (weight * np.square(ratio - mean[:, np.newaxis])).sum(axis=1) / defined
    return Accuracy(mean - 1, np.sqrt(square), undefined)


def _events(estimator: LastModified | LastModifiedRaw, gaps: int) -> Floats:
    """Events that a dated estimator divides by the quiet days, for 0, 1, ... changes."""
    changes = np.arange(gaps + 1)
    if isinstance(estimator, LastModifiedRaw):
        return changes.astype(np.float64)
    if gaps == 1:
        raise InvalidParameter("gaps must be at least 2 for last-modified (got 1)")
    return corrected_events(changes, np.full(gaps + 1, gaps))


def _of_dated(events: Floats, expected: Floats, gaps: int) -> Accuracy:
    """Mean and spread of events over quiet days."""
    mean, square = np.empty(len(expected)), np.empty(len(expected))
    for row, (x, weight) in enumerate(zip(expected, chances(expected, gaps), strict=True)):
        some = 1 + np.flatnonzero(weight[1:] > _NEGLIGIBLE)
        inverse, inverse_square = _inverse_moments(x, some, gaps)
        mean[row] = (weight[some] * events[some] * inverse).sum() / x
        square[row] = (weight[some] * events[some] ** 2 * inverse_square).sum() / x**2
    if gaps < _FINITE_MEAN:
        mean[:] = np.inf
    if gaps < _FINITE_VARIANCE:
        return Accuracy(mean - 1, np.full(len(mean), np.inf), np.zeros(len(mean)))
    sigma = np.sqrt(np.maximum(square - mean * mean, 0))
    return Accuracy(mean - 1, sigma, np.zeros(len(expected)))


def _inverse_moments(expected: float, changes: Ints, gaps: int) -> tuple[Floats, Floats]:
    """Means of 1 / T and 1 / T^2, T in gaps, for each number of changes."""
    s = np.exp(_PLACES) * expected
    changed = changes[:, np.newaxis]
    transform = np.log(expected / (expected + s)) + np.log(
        np.expm1(-(expected + s)) / np.expm1(-expected)
    )
    density = np.exp(changed * transform - (gaps - changed) * s) * s * _STEP
    return density.sum(axis=1), (density * s).sum(axis=1)
