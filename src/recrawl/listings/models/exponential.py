r"""Survival without memory: one rate at which objects vanish, whatever their age.

$$ S(t) = e^{-\alpha t} $$

Four ways to find $\alpha$. Two are honest about objects still listed: removals over days listed
(`exponential_at_middle`), and the likelihood that knows removals only between two crawls
(`exponential`). Two are what the paper says, "the inverse of the sample mean", over all objects
or over those that are gone. Both are too high while some objects are still listed: of lifetimes
with rate 0.0500 watched for 90 days they make 0.0641 and 0.0685. They stand here to be compared.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.data.lifetimes import Lifetimes

_MOST_STEPS = 100
_SETTLED = 1e-10  # the next step would be its square
_LONGEST_STEP = 2.0  # in the logarithm of the rate


@dataclass(frozen=True, slots=True)
class ExponentialSurvival:
    r"""Rate of a survival without memory, and what it rests on.

    Args:
        rate: Share of the objects that vanishes a day, $\alpha$; 0 where none did, nan where
            nothing was watched.
        removals: Objects that vanished, D.
        exposure: Days listed under watch, E.

    Examples:
        Four removals in 100 days: the rate is 0.04, and its deviation half of that.

        >>> found = ExponentialSurvival(rate=0.04, removals=4.0, exposure=100.0)
        >>> found.deviation
        0.02
        >>> found.survival(np.array([0.0, 25.0])).round(4)
        array([1.    , 0.3679])
    """

    rate: float
    removals: float
    exposure: float

    @property
    def deviation(self) -> float:
        r"""Standard error of the rate, $\alpha / \sqrt D$; 0 where nothing was removed."""
        return self.rate / float(np.sqrt(self.removals)) if self.removals else 0.0

    def survival(self, age: Floats) -> Floats:
        """Chance to reach an age."""
        return np.exp(-self.rate * np.asarray(age, np.float64))

    def cumulative_hazard(self, age: Floats) -> Floats:
        """Minus the logarithm of the survival."""
        return self.rate * np.asarray(age, np.float64)

    def equilibrium_survival(self, days: Floats) -> Floats:
        """Chance that an object met at a random moment stays so many days: the same."""
        return self.survival(days)


def exponential_at_middle(lifetimes: Lifetimes) -> ExponentialSurvival:
    r"""Removals over days listed, $\hat\alpha = D / E$; removals lie in the middle of intervals.

    Within 1 % of the likelihood while $\alpha$ times the days between crawls is below 0.3.
    Objects of unknown age count from the first crawl on: a survival without memory does not mind.

    >>> from recrawl.listings.data.lifetimes import Lifetimes
    >>> exponential_at_middle(Lifetimes.of([3.5, 8.5], [4.5, np.inf])).rate  # 1 / 12.5
    0.08
    """
    removals, exposure = lifetimes.removals, lifetimes.exposure
    return ExponentialSurvival(
        removals / exposure if exposure else float("nan"), removals, exposure
    )


def exponential(lifetimes: Lifetimes) -> ExponentialSurvival:
    r"""Most likely rate where removals are known only between two ages.

    A removal between the ages $l$ and $u$ has the chance $e^{-\alpha l} - e^{-\alpha u}$, so the
    rate solves

    $$ \sum_{\text{removed}} \frac{u - l}{e^{\alpha (u - l)} - 1} = \sum (l - \text{entry}) , $$

    with $1 / \alpha$ in the sum for a removal at a known age. The left side falls, so there is one
    root; it is infinite if nothing was ever seen twice.

    References:
        Peto (1973). Experimental survival curves for interval-censored data.
        Applied Statistics 22, 86-91.

    Examples:
        One of four objects vanishes within a day: the rate is $-\ln(3/4)$.

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> lifetimes = Lifetimes.of([0.0, 1.0], [1.0, np.inf], count=[1, 3])
        >>> round(exponential(lifetimes).rate, 6)
        0.287682
    """
    rate, _ = most_likely(lifetimes.low, lifetimes.high, lifetimes.entry, lifetimes.count)
    return ExponentialSurvival(rate, lifetimes.removals, lifetimes.exposure)


def published_rate_of_all(lifetimes: Lifetimes) -> float:
    """The inverse of the mean age, counting objects still listed as if they had just removed.

    >>> from recrawl.listings.data.lifetimes import Lifetimes
    >>> published_rate_of_all(Lifetimes.of([3.5, 8.5], [4.5, np.inf]))  # 2 / 12.5
    0.16
    """
    return lifetimes.objects / lifetimes.exposure


def published_rate_of_complete(lifetimes: Lifetimes) -> float:
    """The inverse of the mean age at removal, forgetting objects still listed.

    >>> from recrawl.listings.data.lifetimes import Lifetimes
    >>> published_rate_of_complete(Lifetimes.of([3.5, 8.5], [4.5, np.inf]))  # 1 / 4
    0.25
    """
    return lifetimes.removals / lifetimes.take(lifetimes.removed).exposure


def most_likely(low: Floats, high: Floats, entry: Floats, count: Floats) -> tuple[float, float]:
    """Most likely rate and its log-likelihood, by Newton's method in the rate's logarithm.

    >>> one = np.array([1.0])
    >>> most_likely(2 * one, 2 * one, 0 * one, one)  # a removal at age 2: rate 1/2
    (0.5, -1.6931471805599454)
    """
    removed = np.isfinite(high)
    quiet = float(np.sum(count * (low - entry)))
    widths = np.where(removed, high, low) - low
    exact = float(np.sum(count[removed & (widths == 0)]))
    hidden, copies = widths[widths > 0], count[widths > 0]
    removals = exact + float(np.sum(copies))
    if removals == 0:
        return (0.0, 0.0) if quiet else (float("nan"), 0.0)
    if quiet == 0:
        return float("inf"), 0.0

    guess = float(np.log(removals / (quiet + float(np.sum(copies * hidden)) / 2)))
    for _ in range(_MOST_STEPS):
        expected = np.exp(guess) * hidden
        with np.errstate(over="ignore"):  # infinite odds rightly pull with 0
            pull = expected / np.expm1(expected)
        slope = exact + float(np.sum(copies * pull)) - quiet * np.exp(guess)
        curve = float(np.sum(copies * pull * (expected + pull - 1))) + quiet * np.exp(guess)
        step = float(np.clip(slope / curve, -_LONGEST_STEP, _LONGEST_STEP))
        guess += step
        if abs(step) < _SETTLED:
            break
    rate = float(np.exp(guess))
    height = (
        exact * guess - quiet * rate + float(np.sum(copies * np.log(-np.expm1(-rate * hidden))))
    )
    return rate, height
