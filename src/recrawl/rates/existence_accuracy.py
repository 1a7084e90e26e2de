r"""Bias and standard deviation of estimators under regular visits, by exact sums.

With $n$ gaps of $I$ days a page that changes at the rate $r$ shows a change in $X$ of them with
the binomial probability $B(X) = \binom{n}{X} (1 - e^{-rI})^X e^{-rI(n - X)}$. An estimator that
reads only how many gaps changed gives one of $n + 1$ answers $\hat r(X)$, so its mean and its
variance are finite sums, with the estimator itself asked for every $X$.

Estimators that read dates are in `recrawl.rates.dated_accuracy`.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from recrawl.checks import check_at_least, check_positive
from recrawl.errors import InvalidParameter
from recrawl.rates.dated_accuracy import EventsOverDays, MeanAge
from recrawl.rates.published.last_modified import LastModified, corrected_events
from recrawl.rates.published.last_modified_raw import LastModifiedRaw
from recrawl.rates.published.malcolm_age import MalcolmAge
from recrawl.visits.histories import Histories

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimator


DATED = (LastModified, LastModifiedRaw, MalcolmAge)  # estimators that read dates
_TINY = 1e-9
_ROUNDING = 1e-12


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
        estimator: Whatever reads histories; one that depends on the order of changes, as
            `gamma` does a little, is asked with the changes spread evenly.
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
    if isinstance(estimator, DATED):
        moments = [each.rate_moments() for each in _dated(estimator, rate * gap, gaps)]
        return _of_moments([(*each, 0.0) for each in moments])
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
    if isinstance(estimator, DATED):
        return _of_moments(
            [each.interval_moments() for each in _dated(estimator, rate * gap, gaps)]
        )
    with np.errstate(divide="ignore"):  # a rate of 0: no finite interval
        interval = 1 / answers(estimator, gap=gap, gaps=gaps)
    return _of_answers(interval, 1 / rate, rate * gap, gaps)


def chance_within(
    estimator: Estimator, rate: Floats, *, gap: float, gaps: int, within: float
) -> Floats:
    """Probability that an estimated rate is off by at most a share of the true one.

    Args:
        estimator: As for `accuracy`.
        rate: True changes a day of the pages to ask for.
        gap: Days between two visits.
        gaps: How many gaps; the first visit makes none.
        within: The share, such as 0.2 for 20 %.

    Examples:
        Ten visits with one and a half changes in between, by Cho and Garcia-Molina's estimator:

        >>> from recrawl.rates import Cho
        >>> chance_within(Cho(), np.array([1.5]), gap=1.0, gaps=10, within=0.35).round(3)
        array([0.755])
    """
    rate = _checked(rate, gap, gaps)
    check_positive(within=within)
    low, high = max(1 - within, _TINY), 1 + within
    if isinstance(estimator, DATED):
        return np.array(
            [each.chance_within(low, high) for each in _dated(estimator, rate * gap, gaps)]
        )
    ratio = answers(estimator, gap=gap, gaps=gaps) / rate[:, np.newaxis]
    close = (ratio >= low * (1 - _ROUNDING)) & (ratio <= high * (1 + _ROUNDING))
    found: Floats = (chances(rate * gap, gaps) * close).sum(axis=1)
    return found


def answers(estimator: Estimator, *, gap: float, gaps: int) -> Floats:
    """Rates that an estimator gives for 0, 1, ... changed gaps."""
    if isinstance(estimator, DATED):
        raise InvalidParameter(f"estimator must depend on counts alone (got {estimator!r})")
    if isinstance(estimator, Counting):
        return estimator.changes_a_gap(np.arange(gaps + 1), np.full(gaps + 1, gaps)) / gap
    count = np.arange(gaps + 1)[:, np.newaxis]
    changed = np.diff(np.arange(gaps + 1) * count // gaps, axis=1) > 0  # evenly spread
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


def _events(estimator: Estimator, gaps: int) -> Floats:
    """Events that a dated estimator divides by the quiet days, for 0, 1, ... changes."""
    changes = np.arange(gaps + 1)
    if isinstance(estimator, LastModifiedRaw):
        return changes.astype(np.float64)
    if gaps == 1:
        raise InvalidParameter("gaps must be at least 2 for last-modified (got 1)")
    return corrected_events(changes, np.full(gaps + 1, gaps))


def _dated(
    estimator: Estimator, expected: Floats, gaps: int
) -> list[EventsOverDays] | list[MeanAge]:
    """What is known of a dated estimator, for each number of changes expected in a gap."""
    if isinstance(estimator, MalcolmAge):
        return [MeanAge(gaps + 1, x) for x in expected.tolist()]
    events = _events(estimator, gaps)
    pairs = zip(expected.tolist(), chances(expected, gaps), strict=True)
    return [EventsOverDays(events, x, chance) for x, chance in pairs]


def _of_moments(rows: list[tuple[float, float, float]]) -> Accuracy:
    """Errors from the mean, the mean square and the chance of no answer of each row."""
    mean, square, undefined = np.array(rows).T
    spread = np.maximum(square - np.where(np.isfinite(mean), mean, 0) ** 2, 0)
    return Accuracy(mean - 1, np.sqrt(spread), undefined)
