"""Frequency classes: the posterior probability of each of a few given rates.

Pure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates.censored import Censored
from recrawl.rates.estimates import Estimates, status_of
from recrawl.units import days

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.visits.histories import Histories

# Twice a day, daily, weekly, monthly, every four months, yearly.
_RATES = (2.0, 1.0, 1 / 7, 1 / 30, 1 / 120, 1 / 365)

_MOST_SHAPE = 1e9  # a class that is certain has no spread at all


@dataclass(frozen=True, slots=True)
class Classes:
    r"""Probability of each class of rates, and the most probable one.

    A page belongs to one of the classes $k$, each with a rate $r_k$ and a probability $p_k$
    before anything is seen. Every gap multiplies the probabilities by what the class gives for
    its outcome, and they are brought back to a sum of 1:

    | gap $g$ | factor |
    |---|---|
    | unchanged | $e^{-r_k g}$ |
    | changed, no telling when | $1 - e^{-r_k g}$ |
    | changed, the last time $t$ days before its end | $r_k e^{-r_k t}$ |

    The rate of a page is that of its most probable class, the slowest where several are, and
    `probability` says how probable. The band goes from the slowest to the fastest class that is
    needed to hold the probability `level`, leaving out as much at both ends.

    Args:
        rates: Changes a day of each class, all different.
        weights: Probability of each class before anything is seen, up to a factor; equal where
            not given.
        level: Probability that the rate lies in its band.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Section 2.

    Examples:
        A month without a change speaks against a weekly page:

        >>> from recrawl import Histories
        >>> month = Histories.from_lists([([30.0], [False])])
        >>> Classes(rates=(1 / 7, 1 / 30)).probabilities(month).round(3)
        array([[0.036, 0.964]])
    """

    rates: tuple[float, ...] = _RATES
    weights: tuple[float, ...] | None = None
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        if not self.rates or not all(0 < rate < np.inf for rate in self.rates):
            raise InvalidParameter(f"rates must be positive, finite numbers (got {self.rates})")
        if len(set(self.rates)) < len(self.rates):
            raise InvalidParameter(f"rates must all be different (got {self.rates})")
        if self.weights is None:
            return
        if len(self.weights) != len(self.rates):
            raise InvalidParameter(
                f"expected {len(self.rates)} weights, one per rate (got {self.weights})"
            )
        if not all(0 < weight < np.inf for weight in self.weights):
            raise InvalidParameter(f"weights must be positive, finite numbers (got {self.weights})")

    def probabilities(self, histories: Histories) -> Floats:
        """Probability of each class: one row per page, one column per class."""
        logs = np.empty((len(histories), len(self.rates)))
        weights = np.ones(len(self.rates)) if self.weights is None else np.array(self.weights)

        def work(pages: slice) -> None:
            seen = Censored.of(histories, pages)
            for number, rate in enumerate(self.rates):
                height, _ = seen.height(np.full(len(seen.page), rate), seen.quiet)
                logs[pages.start + seen.page, number] = height

        over_blocks(work, len(histories))
        logs += np.log(weights)
        logs -= logs.max(axis=1, keepdims=True)
        chances: Floats = np.exp(logs)
        chances /= chances.sum(axis=1, keepdims=True)
        return chances

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        chances, rates = self.probabilities(histories), np.array(self.rates)
        slowest_first = np.argsort(rates)
        best = slowest_first[chances[:, slowest_first].argmax(axis=1)]
        low, high = self._band(chances, best)
        mean = (chances * rates).sum(axis=1)
        variance = (chances * np.square(rates - mean[:, np.newaxis])).sum(axis=1)
        shape = mean * mean / np.maximum(variance, mean * mean / _MOST_SHAPE)
        changes, visits = histories.changes, histories.visits
        status = status_of(changes, visits, prior=True)
        return Estimates(
            rate=rates[best],
            low=low,
            high=high,
            shape=shape,
            exposure=shape / mean,
            changes=changes,
            visits=visits,
            status=status,
            flags=histories.flags.copy(),
            method="classes",
            probability=chances[np.arange(len(best)), best],
        )

    def _band(self, chances: Floats, best: Ints) -> tuple[Floats, Floats]:
        """Slowest and fastest class needed, the best one among them."""
        order = np.argsort(self.rates)
        rates, tail = np.array(self.rates)[order], (1 - self.level) / 2
        below = np.cumsum(chances[:, order], axis=1)
        low = rates[(below < tail).sum(axis=1)]
        high = rates[np.minimum((below < 1 - tail).sum(axis=1), len(rates) - 1)]
        chosen = np.array(self.rates)[best]
        return np.minimum(low, chosen), np.maximum(high, chosen)


def class_rates(text: str) -> tuple[tuple[float, ...], tuple[float, ...] | None]:
    """Rates and weights of classes, from mean intervals such as `1d,7d,30d` or `1d=3,7d=1`.

    >>> class_rates("1d,10d"), class_rates("1d=3,10d=1")
    (((1.0, 0.1), None), ((1.0, 0.1), (3.0, 1.0)))
    """
    rates, weights = [], []
    for part in text.split(","):
        interval, weighted, weight = part.partition("=")
        rates.append(1 / days(interval.strip()))
        weights.append(_number(weight) if weighted else math.nan)
    if all(map(math.isnan, weights)):
        return tuple(rates), None
    if any(map(math.isnan, weights)):
        message = f"either all classes have a weight or none, e.g. 1d=3,7d=1 (got {text!r})"
        raise InvalidParameter(message)
    return tuple(rates), tuple(weights)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidParameter(f"weight of a class must be a number (got {text!r})") from None
