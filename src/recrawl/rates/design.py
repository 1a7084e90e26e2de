r"""Design of a study: how often and how long to visit pages to estimate their rates well.

All of it for regular visits. A page that changes at the rate $r$ and is visited every $I$ days
changes $x = rI$ times per gap. A gap then has the information

$$ \frac{x^2}{e^x - 1} \quad \text{or, if changes are dated,} \quad 1 - e^{-x} $$

about the logarithm of the rate. The first has its maximum at $x = 1.5936$: visits a little rarer
than changes are the most informative. The second grows with the gap, so dates pay where visits are
rare.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction, check_positive
from recrawl.errors import InvalidParameter
from recrawl.rates.binomial import clopper_pearson
from recrawl.rates.existence_accuracy import Counting, accuracy, chances
from recrawl.rates.published.last_modified import LastModified
from recrawl.rates.published.last_modified_raw import LastModifiedRaw

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.rates.estimates import Estimator

# Root of (2 - x) e^x = 2: where x^2 / (e^x - 1) is largest.
MOST_TELLING = 1.5936242600400401

_MOST_EXPECTED = 12.0  # changes a gap, beyond which no estimator here is of use
_SCAN = np.geomspace(1e-3, _MOST_EXPECTED, 400)
_FACTOR = 3.0  # by which a guess may well be off
_MOST_GAPS = 1 << 18
_MOST_GAPS_ASKED = 1 << 10  # of an estimator that must be shown every history
_MOST_MORE = 1 << 30
_REACH = 20.0  # in the logarithm: a guess is off by less than a factor of half a billion
_HALVINGS = 60


def best_gap(mean_interval: float) -> float:
    """Days between visits with the least error for a page believed to change that often.

    >>> round(best_gap(7.0), 2)
    11.16
    """
    check_positive(mean_interval=mean_interval)
    return MOST_TELLING * mean_interval


def gain_of_dates(changes_a_gap: Floats | float) -> Floats:
    """How many undated gaps tell as much as one whose change is dated.

    >>> gain_of_dates(np.array([0.5, 1.0, 2.0, 5.0])).round(2)
    array([1.02, 1.09, 1.38, 5.86])
    """
    x = np.asarray(changes_a_gap, np.float64)
    if not (x >= 0).all():
        raise InvalidParameter(f"changes_a_gap must be numbers, at least 0 (got {changes_a_gap})")
    some = np.where(x > 0, x, 1.0)
    with np.errstate(over="ignore"):  # dates are worth any number of visits there
        gain = -np.expm1(-some) * np.expm1(some) / (some * some)
    return np.where(x > 0, gain, 1.0)


def unbiased_up_to(
    estimator: Estimator, gaps: int, *, gap: float = 1.0, bound: float = 0.1
) -> float:
    """Most changes a gap for which the bias stays below a bound, from the slowest pages on.

    Infinite where no page is too fast, 0 where even the slowest come out wrong. The gap matters
    to estimators with a prior alone.

    >>> from recrawl.rates import Cho
    >>> round(unbiased_up_to(Cho(), 20), 3)
    3.475
    """

    def off(expected: Floats) -> Floats:
        return np.abs(accuracy(estimator, expected / gap, gap=gap, gaps=gaps).bias) - bound

    check_positive(bound=bound, gap=gap)
    if not off(_SCAN[:1])[0] < 0:
        return 0.0
    wrong = ~(off(_SCAN) < 0)
    if not wrong.any():
        return np.inf
    first = int(np.argmax(wrong))
    low, high = _SCAN[first - 1], _SCAN[first]
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if off(np.array([middle]))[0] < 0:
            low = middle
        else:
            high = middle
    return float(low)


def least_spread(estimator: Estimator, gaps: int, *, bound: float = 0.1) -> tuple[float, float]:
    """Changes a gap at which sigma is least while the bias stays below a bound, and that sigma.

    The first least value, from the slowest pages on: far beyond it sigma falls again, but only
    because the estimator cannot rise with the rate. nan where sigma falls all the way.

    >>> from recrawl.rates import Cho
    >>> place, sigma = least_spread(Cho(), 20)
    >>> round(place, 2), round(sigma, 3)
    (1.35, 0.295)
    """
    end = min(unbiased_up_to(estimator, gaps, bound=bound), _MOST_EXPECTED)

    def sigma(places: Floats) -> Floats:
        return accuracy(estimator, places, gap=1.0, gaps=gaps).sigma

    places = _SCAN[end >= _SCAN]
    rising = np.flatnonzero(np.diff(sigma(places)) > 0) if len(places) else places
    if not len(rising):
        return np.nan, np.nan
    low, high = places[max(rising[0] - 1, 0)], places[rising[0] + 1]
    for _ in range(_HALVINGS):
        third = (high - low) / 3
        left, right = sigma(np.array([low + third, high - third]))
        low, high = (low, high - third) if left < right else (low + third, high)
    middle = np.array([(low + high) / 2])
    return float(middle[0]), float(sigma(middle)[0])


def gaps_needed(estimator: Estimator, rate: float, *, gap: float, precision: float) -> float:
    """Fewest gaps after which the error of the rate stays below a precision; infinite if never.

    The error is the root of the mean square of estimate / truth - 1, where there is an estimate.
    Numbers up to a quarter of a million are tried.

    >>> from recrawl.rates import Cho
    >>> gaps_needed(Cho(), 1 / 7, gap=10.0, precision=0.25)
    27.0
    """
    check_positive(precision=precision)
    dated = isinstance(estimator, LastModified | LastModifiedRaw)  # not ages: they take longer
    most = _MOST_GAPS if dated or isinstance(estimator, Counting) else _MOST_GAPS_ASKED

    def enough(gaps: int) -> bool:
        if gaps == 0 or (gaps == 1 and isinstance(estimator, LastModified)):
            return False
        found = accuracy(estimator, np.array([rate]), gap=gap, gaps=gaps)
        return bool(found.error[0] <= precision)

    # From above: with a few gaps an error may be small only because answers are bounded.
    high = most
    if not enough(high):
        return np.inf
    while enough(high // 2):
        high //= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def period_for(bias: float) -> float:
    r"""Mean intervals to watch a page so that its interval by `malcolm` is right up to a bias.

    No estimate is longer than the time watched. With frequent visits, $k$ changes in $S$ days
    give $S / (k + 1)$, whose mean falls short of the true interval by $e^{-S / m}$: three
    intervals are 5 % short, and a bias of 1 % takes 4.6.

    >>> round(period_for(0.05), 3)
    2.996
    """
    check_fraction(bias=bias)
    return float(-np.log(bias))


@dataclass(frozen=True, slots=True)
class Surprise:
    """How well the first gaps agree with the guess that the visits were planned with.

    Args:
        chance: Probability of a count at least as far off as the one seen, if the guess is right.
        low: Lower end of the band of changes a day, from what was seen alone.
        high: Upper end of that band.
        far_off: Whether the guess lies outside the band.
        gap: Days to the most informative next visit, given guess and evidence.
        more: Further gaps, all of them changed, that would put the guess outside the band; 0
            where it already is.
    """

    chance: float
    low: float
    high: float
    far_off: bool
    gap: float
    more: int


def surprise(
    mean_interval: float, *, gap: float, changes: int, gaps: int, level: float = 0.9
) -> Surprise:
    """Compare a guess with the evidence so far, and say how long to wait for the next visit.

    The guess may be off by a factor of three (one standard deviation of its logarithm). The next
    gap has the largest expected information given the evidence so far, so the plan moves as fast
    as the evidence allows, and never waits for a verdict.

    Args:
        mean_interval: Days between changes by the guess.
        gap: Days between the visits so far.
        changes: Gaps that showed a change.
        gaps: Gaps so far.
        level: Probability that the rate lies in its band.

    Examples:
        Four changes in the first four visits, ten days apart, to a page believed to change once
        a week: no surprise yet, but shorter gaps are more informative.

        >>> seen = surprise(7.0, gap=10.0, changes=4, gaps=4)
        >>> round(seen.chance, 2), seen.far_off, seen.more
        (0.33, False, 7)
    """
    check_positive(mean_interval=mean_interval, gap=gap)
    check_fraction(level=level)
    if not 0 <= changes <= gaps or gaps < 1:
        message = f"changes must be between 0 and gaps, at least 1 (got {changes} of {gaps})"
        raise InvalidParameter(message)
    expected = gap / mean_interval
    chance = chances(np.array([expected]), gaps)[0]
    low, high = _band(changes, gaps, gap, level)
    far_off = not low <= 1 / mean_interval <= high
    return Surprise(
        chance=float(min(chance[changes:].sum(), chance[: changes + 1].sum())),
        low=low,
        high=high,
        far_off=far_off,
        gap=_most_informative_gap(mean_interval, gap, changes, gaps),
        more=0 if far_off else _more(1 / mean_interval, gap, changes, gaps, level),
    )


def _band(changes: int, gaps: int, gap: float, level: float) -> tuple[float, float]:
    low, high = clopper_pearson(np.array([changes]), np.array([gaps]), level)
    with np.errstate(divide="ignore"):
        return float(-np.log1p(-low[0]) / gap), float(-np.log1p(-high[0]) / gap)


def _more(rate: float, gap: float, changes: int, gaps: int, level: float) -> int:
    """Changed gaps in a row until the band leaves the rate behind."""

    def behind(more: int) -> bool:
        return _band(changes + more, gaps + more, gap, level)[0] > rate

    low, high = 0, 1
    while not behind(high) and high < _MOST_MORE:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if behind(middle) else (middle, high)
    return high


def _most_informative_gap(mean_interval: float, gap: float, changes: int, gaps: int) -> float:
    """Gap with the largest expected information, over the posterior of the rate on a grid."""
    logs = np.linspace(-_REACH, _REACH, 4001)
    x = np.exp(logs)  # rate times the guessed interval
    share = gap / mean_interval
    belief = -np.square(logs / np.log(_FACTOR)) / 2
    belief += changes * np.log(-np.expm1(-share * x)) - (gaps - changes) * share * x
    weight = np.exp(belief - belief.max())

    def best(tries: Floats) -> int:
        at = np.minimum(x * np.exp(tries)[:, np.newaxis], 500.0)
        return int(np.argmax((at * at / np.expm1(at) * weight).sum(axis=1)))

    coarse = np.linspace(-_REACH, _REACH, 201)
    place = coarse[best(coarse)]
    fine = place + np.linspace(-1, 1, 201) * (coarse[1] - coarse[0])
    return float(np.exp(fine[best(fine)]) * mean_interval)
