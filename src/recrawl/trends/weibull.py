r"""The Weibull process: a rate that rises or falls as a power of time.

In a window that begins at 0 the rate of change is

$$ \lambda(t) = \frac{\beta}{\eta} \left( \frac{t}{\eta} \right)^{\beta - 1} , $$

falling for $\beta < 1$, constant for $\beta = 1$, rising for $\beta > 1$: the power law of
reliability growth (Crow, AMSAA).

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.arrays.special import gamma_quantile
from recrawl.checks import check_choice, check_fraction
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.trends.windows import WindowTimes

Variant = Literal["likely", "corrected", "check", "bar", "unbiased", "least"]
VARIANTS: tuple[Variant, ...] = ("likely", "corrected", "check", "bar", "unbiased", "least")

_LEAST_POINTS = {"likely": 2, "corrected": 3, "check": 4, "bar": 4, "unbiased": 3, "least": 4}
_ROUNDS = 400  # of the continued fraction, at most
_SETTLED = 1e-14
_MOST = 1e300  # changes expected so far, far beyond any that there were


@dataclass(frozen=True, slots=True, eq=False)
class Weibull:
    r"""Weibull processes fitted to windows, one row per window.

    With the times $s_1 < \dots < s_n$ of a window and $S = \sum_i \ln(s_n / s_i)$

    $$ \hat\beta = n / S , \qquad \tilde\beta = (n - 2) / S , \qquad \eta = s_n / n^{1/\beta} , $$

    the most likely and the unbiased $\beta$. The rate $n \beta t^{\beta-1} / s_n^\beta$ comes in
    the variants that have been published:

    | variant | rate at $t$ | its mean over the truth at $s_n$ |
    |---|---|---|
    | `likely` | with $\hat\beta$ | $n^2 / ((n-1)(n-2))$ |
    | `corrected` | with $\tilde\beta$ | $n / (n-1)$ |
    | `check` | $(n-3)/(n-2)$ times `corrected` | $n (n-3) / ((n-1)(n-2))$ |
    | `bar` | $(n-3)/n$ times `likely` | as `check` |
    | `unbiased` | $(n-1)(n-2)/n^2$ times `likely` | 1 |
    | `least` | $(n-2)(n-3)/n^2$ times `likely` | $(n-3)/(n-1)$, with the least square error |

    The papers call `check` unbiased, which it is not, and print $(n-3)/2$ for the factor of
    `bar`. Where a page was watched on after its last change, to $T$, sums run to $T$ instead of
    $s_n$ and the unbiased $\beta$ is $(n-1)/S$ (*time-truncated*).

    Args:
        count: Points of each window, n.
        span: Days to the last point, or to the last look.
        logs: S.
        timed: Whether each window ends with the last look instead of with a change.

    References:
        Singh (2007). Estimating the rate of web page updates. IJCAI.
        Crow (1974). Reliability analysis for complex, repairable systems. SIAM.

    Examples:
        >>> from recrawl.trends.points import Points
        >>> from recrawl.trends.windows import WindowTimes
        >>> from recrawl.trends.windows import Windows
        >>> points = Points(np.array([1.0, 3, 6, 10, 15]), np.array([0, 5]), np.array([15.0]))
        >>> one = Windows(np.array([0, 5]), np.array([0]), np.array([2]))
        >>> fit = Weibull.of(WindowTimes.of(points, one))
        >>> fit.beta.round(6), fit.rate(np.array([15.0]), "corrected").round(6)
        (array([0.531986]), array([0.177329]))
    """

    count: Ints
    span: Floats
    logs: Floats
    timed: Bools

    @classmethod
    def of(cls, times: WindowTimes, end: Floats | None = None) -> Weibull:
        """Fit every window, to its last point or to `end`, days since the window's beginning.

        A window whose last point is its end stopped with a change, whatever `end` says.
        """
        last = times.span if end is None else end
        if end is not None and not (end >= times.span).all():
            raise InvalidParameter("end must be at or after the last point of each window")
        logs = times.count * np.log(last) - times.total(times.logs)
        return cls(times.count, last, np.maximum(logs, 0.0), timed=last > times.span)

    @property
    def beta_likely(self) -> Floats:
        """The most likely beta; nan where a single point says nothing."""
        return self._over_logs(self.count)

    @property
    def beta(self) -> Floats:
        """The unbiased beta; nan where points are too few."""
        return self._over_logs(self.count - np.where(self.timed, 1, 2))

    def _over_logs(self, events: Ints) -> Floats:
        some = (self.logs > 0) & (events > 0)
        return np.where(some, events, np.nan) / np.where(some, self.logs, 1.0)

    @property
    def eta(self) -> Floats:
        """Days in which one change is expected, with the unbiased beta."""
        return self.span * np.exp(-np.log(self.count) / self.beta)

    def band(self, level: float) -> tuple[Floats, Floats]:
        r"""Band of beta: $2 n \beta / \hat\beta$ follows a chi-square distribution.

        With $2 (n - 1)$ degrees of freedom, $2 n$ where time-truncated.
        """
        check_fraction(level=level)
        tail = (1 - level) / 2
        events = self._events
        some = (self.logs > 0) & (events > 0)
        logs, events = np.where(some, self.logs, np.nan), np.maximum(events, 1.0)
        return gamma_quantile(events, tail) / logs, gamma_quantile(events, 1 - tail) / logs

    @property
    def _events(self) -> Floats:
        """Shape of the Gamma distribution of beta S."""
        return self.count.astype(np.float64) - np.where(self.timed, 0.0, 1.0)

    def rate(self, since: Floats, variant: Variant = "corrected") -> Floats:
        """Changes a day so long after each window's beginning; nan where points are too few."""
        factor, beta = self.factor_and_beta(variant)
        with np.errstate(over="ignore"):
            power = np.exp((beta - 1) * np.log(since / self.span))
        return factor * self.count * beta / self.span * power

    def factor_and_beta(self, variant: Variant) -> tuple[Floats, Floats]:
        """What a variant multiplies the rate by, nan where points are too few, and its beta."""
        beta = self.beta if variant in ("corrected", "check") else self.beta_likely
        return self._factor(variant), beta

    def _factor(self, variant: Variant) -> Floats:
        check_choice(VARIANTS, variant=variant)
        n = self.count.astype(np.float64)
        factor = {
            "likely": np.ones(len(n)),
            "corrected": np.ones(len(n)),
            "check": (n - 3) / np.maximum(n - 2, 1),
            "bar": (n - 3) / n,
            "unbiased": (n - 1) * (n - 2) / (n * n),
            "least": (n - 2) * (n - 3) / (n * n),
        }[variant]
        enough: Bools = n >= _LEAST_POINTS[variant]
        return np.where(enough, factor, np.nan)

    def mean_wait(self, since: Floats) -> Floats:
        r"""Mean days from then to the next change, exactly.

        $\frac{\eta}{\beta} e^x \Gamma(1/\beta, x)$ with $x = (t / \eta)^\beta$: above
        $1/\lambda(t)$ for falling rates, below it for rising ones.
        """
        return mean_wait(since, self.beta, self.eta)

    def next_wait(self, probability: float) -> Floats:
        r"""Days from the end within which the next change falls, neither parameter being known.

        Under any $\beta$ and $\eta$, $\ln(s_{n+1} / s_n)$ is exponential with the mean
        $1 / (n \beta)$, and $\beta S$ follows a Gamma distribution with shape $n - 1$. So

        $$ \Pr\left[ \ln \frac{s_{n+1}}{s_n} > w S \right] = (1 + n w)^{-(n-1)} , $$

        exactly. Where time-truncated, $T$ stands for $s_n$ and the power is $-n$; that holds as
        nearly as the changes to expect by $T$ follow a Gamma distribution with shape $n$.

        >>> logs = np.log(15 / np.array([1.0, 3, 6, 10])).sum(keepdims=True)
        >>> fit = Weibull(np.array([5]), np.array([15.0]), logs, np.array([False]))
        >>> fit.next_wait(0.5).round(2)
        array([3.57])
        """
        events = self._events
        some = (self.logs > 0) & (events > 0)
        events = np.where(some, events, np.nan)
        with np.errstate(over="ignore"):  # few points of a falling rate: as good as never
            share = np.expm1(-np.log1p(-probability) / events) / self.count
            wait: Floats = self.span * np.expm1(self.logs * share)
        return wait

    def median_wait(self, since: Floats) -> Floats:
        """Days from then to the next change that are exceeded half of the time."""
        return wait_quantile(since, self.beta, self.eta, 0.5)


def wait_quantile(since: Floats, beta: Floats, eta: Floats, probability: float) -> Floats:
    """Days from then on within which the next change falls with a probability.

    >>> wait_quantile(np.array([15.0]), np.array([0.531986]), np.array([0.728121]), 0.5).round(4)
    array([4.1459])
    """
    more = -np.log1p(-probability)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # one of the two is good
        x = np.power(since / eta, beta)
        early = eta * np.power(x + more, 1 / beta) - since
        # t ((1 + m / x)^(1 / beta) - 1), without the difference of two large numbers.
        late = since * np.expm1(np.log1p(more / x) / beta)
    wait: Floats = np.where(x < more, early, late)
    return wait


def mean_wait(since: Floats, beta: Floats, eta: Floats) -> Floats:
    """Mean days from then to the next change of a Weibull process.

    >>> mean_wait(np.array([15.0]), np.array([0.531986]), np.array([0.728121])).round(4)
    array([6.6115])
    """
    from scipy.special import gammaincc, gammaln  # slow to load: only where it is needed

    with np.errstate(over="ignore"):
        a, x = 1 / beta, np.minimum(np.power(since / eta, beta), _MOST)
    far = x > a + 1
    # t / beta times Legendre's continued fraction of e^x x^-a Gamma(a, x).
    by_fraction = since * a * _fraction(a, np.where(far, x, a + 2))
    with np.errstate(over="ignore", invalid="ignore"):
        directly = eta * a * gammaincc(a, x) * np.exp(gammaln(a) + np.minimum(x, a + 1))
    return np.where(far, by_fraction, directly)


def _fraction(a: Floats, x: Floats) -> Floats:
    """Legendre's continued fraction for x above a + 1, from its far end by Lentz's method."""
    b = x + 1 - a
    c, d = np.full_like(b, 1e300), 1 / b
    h = d.copy()
    for k in range(1, _ROUNDS):
        step = k * (a - k)
        b = b + 2
        d = 1 / (step * d + b)
        c = b + step / c
        change = c * d
        h = h * change
        if not (np.abs(change - 1) > _SETTLED).any():
            break
    return h
