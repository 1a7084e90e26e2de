r"""Objectives: what an outdated copy costs, and what a visit is worth.

A page that was last visited $\tau$ days ago costs $c(\tau)$ a day by being out of date. Visits
are spent best where each page is visited when the *value*

$$ V(\tau) = \tau c(\tau) - \int_0^\tau c $$

reaches one price for all pages. It is what one more visit a day would save. A rate that is known
only as a Gamma distribution is integrated over, not replaced by its mean.

With $x = rate \cdot \tau$ all five values have one form, $V = rate^{-p} g(x)$: the *power* $p$ and
the *gain* $g$ are all that a planner needs to know.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from recrawl.plan.terms import (
    FOR_EVER,
    NOT_ZERO,
    SMALL_LOG,
    age_gain,
    fresh_gain,
    fresh_series,
    harmonic_gain,
    harmonic_series,
    still_fresh,
    terms,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.arrays.types import Floats
    from recrawl.plan.terms import ValueTerms

_TINY = np.finfo(np.float64).tiny
_FEW_EVENTS = 2.0  # shape below which one form of freshness keeps its digits, above it the other

_HARMONIC_NODES = 32  # of a quadrature that is good to 11 digits for shapes up to 1e6
_DEEP = 40.0  # e^-40 counts for nothing
_SMALL = 1e-2

_AGE_NODES = 8
_FEW_LEFT = 1e-5  # of all digits, where terms cancel: 11 of 16
_CERTAIN_LOG = 1e-4  # of 1 + u, below which a rate is as good as known


class Objective(Protocol):
    """A loss to minimise, for a page of weight 1; all arrays have one row per page."""

    @property
    def power(self) -> int:
        """Power p of V = rate^-p g(rate * elapsed)."""
        ...

    @property
    def gain(self) -> str:
        """Name of g: "fresh", "harmonic", "age" or "missed"."""
        ...

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Value of a visit to pages of known rate."""
        ...

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Value of a visit to pages whose rate follows Gamma(shape, exposure)."""
        ...

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Time average of the cost of pages visited every `interval` days."""
        ...

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """The same for pages whose rate follows Gamma(shape, exposure)."""
        ...

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """The same at random instants, `interval` days apart on average (a Poisson process)."""
        ...

    def value_and_wear(self, shape: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
        """Expected value for an exposure of 1; elapsed times the expected slope of the cost."""
        ...


@dataclass(frozen=True, slots=True)
class Freshness:
    r"""Share of time in which the copy is up to date.

    A copy costs 1 while it is out of date, so the expected cost is $1 - e^{-rt}$ and

    $$ V(\tau) = \frac{1 - (1 + r \tau) e^{-r \tau}}{r}, \qquad
       E V(\tau) = b \frac{1 - \rho^a (1 + a u)}{a - 1} . $$

    A page can be worth no more than $1 / r$: those that change faster than the price allows are
    left alone altogether.

    References:
        Cho and Garcia-Molina (2003). Effective page refresh policies for web crawlers.
        ACM Transactions on Database Systems 28(4), 390-426.

    Examples:
        >>> Freshness().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0468, 0.2642, 0.1   ])
        >>> Freshness().expected_value(np.array([1.7]), np.array([2.0]), np.array([1.0])).round(4)
        array([0.2041])
    """

    power: ClassVar[int] = 1
    gain: ClassVar[str] = "fresh"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """(1 - (1 + x) e^-x) / rate with x = rate * elapsed."""
        x = rate * elapsed
        return elapsed * (fresh_gain(x) / np.maximum(x, _TINY))

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """G - elapsed rho^a, in the one of three forms that keeps its digits."""
        value = self._value(shape, terms(shape, exposure, elapsed))
        value *= exposure
        return value

    def _value(self, shape: Floats, found: ValueTerms) -> Floats:
        u, _, lasting, changed, unchanged, _ = found
        few = shape * lasting - changed
        many = (changed - shape * u * unchanged) / (shape - 1 + NOT_ZERO)
        return _with_small(found, np.where(shape < _FEW_EVENTS, few, many), fresh_series)

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Share of time out of date, 1 - (1 - e^-x) / x; 1 for pages never visited."""
        x = rate * np.minimum(interval, FOR_EVER)
        return harmonic_gain(x) / np.maximum(x, _TINY)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """1 - G / interval."""
        # For ever in the units of each page as well, where `terms` ends.
        interval = np.minimum(interval, FOR_EVER * np.minimum(exposure, 1.0))
        return Harmonic().expected_value(shape, exposure, interval) / interval

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate / (visits + rate)."""
        x = rate * np.minimum(interval, FOR_EVER)
        return x / (1 + x)

    def value_and_wear(self, shape: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
        """The slope is a / (1 + elapsed) rho^a."""
        found = terms(shape, 1.0, elapsed)
        return self._value(shape, found), shape * found.u / (1 + found.u) * found.unchanged


@dataclass(frozen=True, slots=True)
class Harmonic:
    r"""Sum of 1/k over the changes missed: each further one hurts less.

    A copy that misses $N$ changes costs $H_N = 1 + 1/2 + \dots + 1/N$. On average that is
    $\int_0^{rt} (1 - e^{-s}) / s \, ds$, and

    $$ V(\tau) = \tau - \frac{1 - e^{-r \tau}}{r}, \qquad E V(\tau) = \tau - G, \qquad
       G = \frac{b}{a - 1} (1 - \rho^{a-1}) . $$

    The value grows for ever, so no page is left alone: hence the default.

    References:
        Kolobov, Peres, Lu and Horvitz (2019). Staying up to date with online content changes using
        reinforcement learning for scheduling. NeurIPS 32.

    Examples:
        >>> Harmonic().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0484, 0.3679, 0.9   ])
        >>> Harmonic().expected_value(np.array([1.7]), np.array([2.0]), np.array([1.0])).round(4)
        array([0.294])
    """

    power: ClassVar[int] = 1
    gain: ClassVar[str] = "harmonic"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Elapsed - (1 - e^-x) / rate with x = rate * elapsed."""
        x = rate * elapsed
        return elapsed * (harmonic_gain(x) / np.maximum(x, _TINY))

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Elapsed - G."""
        found = terms(shape, exposure, elapsed)
        return exposure * _with_small(found, found.u - found.lasting, harmonic_series)

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Cost at x, less 1, plus (1 - e^-x) / x; infinite for pages never visited."""
        x = rate * interval
        return _exponential_integral(x) - 1 + still_fresh(x)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """Expected cost at the end, less EV / interval."""
        loss = _expected_integral(shape, interval / exposure)
        finite = np.minimum(interval, np.finfo(np.float64).max)
        return loss - self.expected_value(shape, exposure, finite) / finite

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """ln(1 + rate / visits)."""
        return np.log1p(rate * interval)

    def value_and_wear(self, shape: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
        """The slope times elapsed is 1 - rho^a."""
        found = terms(shape, 1.0, elapsed)
        return _with_small(found, found.u - found.lasting, harmonic_series), found.changed


@dataclass(frozen=True, slots=True)
class Age:
    r"""Days since the copy went out of date.

    A copy costs as much as the days since the first change it missed, and 0 while it is fresh:

    $$ c(t) = t - \frac{1 - e^{-rt}}{r}, \qquad V(\tau) = \frac{1}{r^2} \left( \frac{x^2}{2} - 1 +
       (1 + x) e^{-x} \right), \quad x = r \tau . $$

    With an uncertain rate $E V = \int_0^\tau t (1 - \rho^a) dt$. No page is left alone.

    References:
        Cho and Garcia-Molina (2003). Effective page refresh policies for web crawlers.
        ACM Transactions on Database Systems 28(4), 390-426.

    Examples:
        >>> Age().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0321, 0.2358, 0.49  ])
    """

    power: ClassVar[int] = 2
    gain: ClassVar[str] = "age"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """(x^2 / 2 - 1 + (1 + x) e^-x) / rate^2 with x = rate * elapsed."""
        x = rate * elapsed
        return elapsed * elapsed * (age_gain(x) / np.maximum(x * x, _TINY))

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """Integral of t (1 - rho^a), in the one of three forms that keeps its digits."""
        return exposure * exposure * self._value(shape, terms(shape, exposure, elapsed))

    def _value(self, shape: Floats, found: ValueTerms) -> Floats:
        u, log, lasting, _, _, expected = found
        power = (shape - 2) * log + 1e-300
        plain: Floats = u * u / 2 + log * np.expm1(-power) / power + lasting
        cancels = np.minimum(log, 1) * np.minimum(expected, 1) < _FEW_LEFT
        certain = (log < _CERTAIN_LOG) & (expected > 1 / 2)
        # Few pages as a rule, and quadrature costs more than all the rest.
        for rows, least, figure in (
            (certain, _certain, expected),
            (cancels & ~certain, _by_nodes, log),
        ):
            if rows.any():
                plain[rows] = least(np.broadcast_to(shape, rows.shape)[rows], figure[rows])
        return plain

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Mean age; infinite for pages that change and are never visited."""
        at = np.minimum(interval, FOR_EVER)
        x = np.maximum(rate * at, _TINY)
        age = at * (harmonic_gain(x) / x - age_gain(x) / x / x)
        return np.where((at < FOR_EVER) | (rate == 0), age, np.inf)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """EV of harmonic staleness, which is the cost at the end, less EV / interval."""
        finite = np.minimum(interval, FOR_EVER)
        now = Harmonic().expected_value(shape, exposure, finite)
        return now - self.expected_value(shape, exposure, finite) / finite

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate / (visits (visits + rate))."""
        x = rate * interval
        with np.errstate(invalid="ignore"):
            age = interval * (x / (1 + x))
        return np.where(rate > 0, np.where(np.isinf(x), interval, age), 0.0)

    def value_and_wear(self, shape: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
        """The slope is 1 - rho^a."""
        found = terms(shape, 1.0, elapsed)
        return self._value(shape, found), elapsed * found.changed


@dataclass(frozen=True, slots=True)
class Missed:
    r"""Changes that the copy is behind.

    The cost is $c(t) = rt$, so $V(\tau) = r \tau^2 / 2$, and visits go with $\sqrt{w r}$. Only the
    mean of an uncertain rate matters, $a / b$.

    Examples:
        >>> Missed().value(np.array([0.1, 1.0, 10.0]), np.array([1.0]))
        array([0.05, 0.5 , 5.  ])
    """

    power: ClassVar[int] = 1
    gain: ClassVar[str] = "missed"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """Rate elapsed^2 / 2."""
        return rate * elapsed * elapsed / 2

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """The same with the mean rate, shape / exposure."""
        return self.value(shape / exposure, elapsed)

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Mean number of changes missed, rate interval / 2."""
        with np.errstate(invalid="ignore"):  # a page that never changes and is never visited
            return np.where(rate > 0, rate * interval / 2, 0.0)

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """The same with the mean rate."""
        return self.loss(shape / exposure, interval)

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate / visits: twice as many as at equal intervals."""
        return 2 * self.loss(rate, interval)

    def value_and_wear(self, shape: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
        """The slope is the mean rate."""
        return self.value(shape, elapsed), shape * elapsed


@dataclass(frozen=True, slots=True)
class Detected:
    r"""Visits that find a change.

    A visit finds one with chance $1 - e^{-r \tau}$. What counts as lost are changes a day that no
    visit tells apart, $r - (1 - e^{-r \tau}) / \tau$, and

    $$ V(\tau) = 1 - (1 + r \tau) e^{-r \tau}, \qquad
       E V(\tau) = 1 - \rho^a \left( 1 + a \frac{u}{1 + u} \right) . $$

    Pages of equal weight and cost are visited in proportion to their rates.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change.
        ACM Transactions on Internet Technology 3(3), 256-290, table I.

    Examples:
        >>> Detected().value(np.array([0.1, 1.0, 10.0]), np.array([1.0])).round(4)
        array([0.0047, 0.2642, 0.9995])
    """

    power: ClassVar[int] = 0
    gain: ClassVar[str] = "fresh"

    def value(self, rate: Floats, elapsed: Floats) -> Floats:
        """1 - (1 + x) e^-x with x = rate * elapsed."""
        return fresh_gain(rate * elapsed)

    def expected_value(self, shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
        """1 - rho^a (1 + a u / (1 + u))."""
        return self._value(shape, terms(shape, exposure, elapsed))

    def _value(self, shape: Floats, found: ValueTerms) -> Floats:
        u, log, _, changed, unchanged, expected = found
        plain = changed - unchanged * shape * (u / (1 + u))
        small = (shape + 1) * log * expected * fresh_series(-log, expected)
        value: Floats = np.where(np.maximum(log, expected) < SMALL_LOG, small, plain)
        return value

    def loss(self, rate: Floats, interval: Floats) -> Floats:
        """Changes a day that no visit tells apart, rate - (1 - e^-x) / interval."""
        x = rate * np.minimum(interval, FOR_EVER)
        return rate * (harmonic_gain(x) / np.maximum(x, _TINY))

    def expected_loss(self, shape: Floats, exposure: Floats, interval: Floats) -> Floats:
        """Shape / exposure - (1 - rho^a) / interval."""
        return shape / exposure - terms(shape, exposure, interval).changed / interval

    def random_loss(self, rate: Floats, interval: Floats) -> Floats:
        """Rate^2 / (visits + rate)."""
        x = rate * np.minimum(interval, FOR_EVER)
        return rate * (x / (1 + x))

    def value_and_wear(self, shape: Floats, elapsed: Floats) -> tuple[Floats, Floats]:
        """The slope is a (a + 1) / (1 + elapsed)^2 rho^a."""
        found = terms(shape, 1.0, elapsed)
        wear = shape * (shape + 1) * found.u / (1 + found.u) ** 2 * found.unchanged
        return self._value(shape, found), wear


def _with_small(
    found: ValueTerms, value: Floats, series: Callable[[Floats, Floats], Floats]
) -> Floats:
    """A value, with the series in place where its terms cancel."""
    log, expected = found.log, found.expected
    small = np.maximum(log, expected) < SMALL_LOG
    if small.any():
        return np.where(small, log * expected * series(log, expected), value)
    return value


def _exponential_integral(x: Floats) -> Floats:
    """Integral of (1 - e^-t) / t from 0 to x."""
    from scipy.special import exp1  # slow to load: only where it is needed

    small = x * (1 - x / 4 * (1 - x * 2 / 9 * (1 - x * 3 / 16 * (1 - x * 4 / 25))))
    at = np.maximum(x, _SMALL)
    return np.where(x < _SMALL, small, np.euler_gamma + np.log(at) + exp1(at))


def _expected_integral(shape: Floats, u: Floats) -> Floats:
    r"""Expected cost after a while, the integral of (1 - e^-as) / (1 - e^-s) from 0 to L.

    The factor that varies fast, e^-as, is integrated by itself where the other one is smooth:
    1 / (1 - e^-s) = 1 + 1/s + k(s) with k between -1/2 and 0.
    """
    log = np.log1p(u)
    whole = np.minimum(log, 700.0)
    smooth = np.log(still_fresh(whole))  # integral of k
    nodes, weights = np.polynomial.legendre.leggauss(_HARMONIC_NODES)
    end = np.minimum(whole, _DEEP / shape)
    total = np.zeros_like(log)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        s = end * node + 1e-12
        total += weight * np.exp(-shape * s) * (1 / np.expm1(s) - 1 / s)
    total *= -end
    total += log - log * still_fresh(shape * whole)
    total += _exponential_integral(shape * log) + smooth
    return total


def _by_nodes(shape: Floats, log: Floats) -> Floats:
    """Integral of (e^s - 1)(1 - e^-as) e^s from 0 to L, by quadrature where all is small."""
    nodes, weights = np.polynomial.legendre.leggauss(_AGE_NODES)
    end = np.minimum(log, 1.0)
    total = np.zeros_like(end)
    for node, weight in zip((nodes + 1) / 2, weights / 2, strict=True):
        s = end * node
        rise = np.expm1(s)
        total -= weight * rise * np.expm1(-shape * s) * (1 + rise)
    return end * total


def _certain(shape: Floats, z: Floats) -> Floats:
    """The same for small L and any z = aL, in powers of 1 / a."""
    decay = np.exp(-z)
    second = fresh_gain(z)
    third = second - z * z / 2 * decay
    fourth = third - z * z * z / 6 * decay
    most = np.minimum(z, 1e60)
    first = most * most / 2 - second
    more = most**3 / 2 - 3 * third
    last = 7 / 6 * (most**4 / 4 - 6 * fourth)
    return (first + (more + last / shape) / shape) / shape / shape


OBJECTIVES: Mapping[str, Objective] = {
    "freshness": Freshness(),
    "harmonic": Harmonic(),
    "age": Age(),
    "missed": Missed(),
    "detected": Detected(),
}
