r"""Regular, bursty, periodic or Poisson-like: is a constant rate the whole story of a page?

Three kinds of pages are no Poisson process. A *regular* page rests after a change (a build every
few days), a *bursty* one follows a change with another, and a *periodic* one keeps to a timetable.
Two tests, both exact in their assumptions under a constant rate, tell them apart.

**Age.** Under a constant rate the chance of a change does not depend on the age of the page, the
days since its last change. In a renewal process with Gamma intervals of shape $\kappa$ it does;
$\kappa > 1$ is regular, $\kappa < 1$ bursty, $\kappa = 1$ Poisson. For a gap from age $t_0$ to
$t_1$ with $y = r t$, the score of $\kappa$ at 1 is $z s$, with

$$ z = -\frac{D(y_1) - D(y_0)}{y_1 - y_0}, \qquad D(y) = \ln y + e^y E_1(y) + \gamma, $$

$$ s = -x \text{ (unchanged)}, \quad \frac{x}{e^x - 1} \text{ (changed)}, \qquad x = y_1 - y_0 , $$

$$ U = \frac{\sum (z - \bar z) s}{\sqrt{\sum I (z - \bar z)^2}}, \qquad I = \frac{x^2}{e^x - 1},
   \qquad \bar z = \frac{\sum I z}{\sum I} . $$

An undated change is given the age to expect in its gap, $1/r - g / (e^{rg} - 1)$. The test stays
valid, for what happens in a gap does not depend on anything before it; it only loses power.

**Phase.** The changes of a page without a timetable are spread evenly over the day and over the
week, but for one thing: a visit shows only the *last* change, and where a page changes often that
lies just before the visit. So from each gap's $(\cos \phi, \sin \phi)$ of its last change, 0 where
it is unchanged, its mean under a constant rate is taken,

$$ e^{i \omega v} \frac{r}{r + i \omega} (1 - e^{-(r + i \omega) g})
   \qquad \text{(visit at } v, \ \omega = 2 \pi / \text{period)}, $$

and the sum of what is left is compared with its covariance (chi-square, 2 degrees of freedom). A
change without a date has the phase to be expected in its gap. For dated changes and visits that are
rare or at random hours this is Rayleigh's test.

What cannot be told: without dates, a page visited at gaps no shorter than its own intervals shows
a change at nearly every visit, whatever kind it is; and of strictly regular visits without dates
only the order of the outcomes speaks. Where a clearly regular page (shape 4) would probably not be
noticed either, the kind is `unknown`, not `poisson`.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.arrays.ranges import sums
from recrawl.checks import check_fraction
from recrawl.rates.likelihood import Likelihood
from recrawl.trends.visit_instants import visit_instants
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Floats, Ints
    from recrawl.visits.histories import Histories

KINDS = ("unknown", "poisson", "regular", "bursty", "periodic")
# Where a constant rate would mislead, and how.
WARNINGS = {
    "regular": "changes come at regular intervals: visits rarer than the changes overestimate the "
    "rate",
    "bursty": "changes come in bursts: the rate is underestimated, and the next change is near "
    "right after one",
    "periodic": "changes follow a timetable: visit just after them",
}
_UNKNOWN, _POISSON, _REGULAR, _BURSTY, _PERIODIC = range(len(KINDS))

PERIODS = (1.0, 7.0)  # days
# With this many the tests keep their size: on made Poisson pages of 30 to 300 visits at most 1.6 %
# were called anything else at 1 %.
_FEWEST_CHANGES = 8
# "poisson" is said where a page of this shape would have been noticed so often.
_CLEARLY = 4.0
_POWER = 0.8
_SHAPES = (0.05, 20.0)
_NEARLY = 0.8
_TOGETHER = 0.6  # length of the mean direction of all phases, from 0 to 1
_TINY, _LARGE = 1e-12, 100.0


@dataclass(frozen=True, slots=True, eq=False)
class Regularity:
    """Kind of each page, one row per page.

    Args:
        kind: Numbers into `KINDS`.
        statistic: What decided: U of the age (positive where regular, negative where bursty), or
            the chi-square of the phase; nan where there was nothing to test.
        p: Its p-value, for both tests and all periods together; nan where nothing was tested.
        period: Days of the timetable of a periodic page; nan for all others.
        shape: Gamma shape of the times between changes, in one step from 1; nan where unknown.
        power: Chance that a page of shape 4 would have been noticed, about.
    """

    kind: Ints
    statistic: Floats
    p: Floats
    period: Floats
    shape: Floats
    power: Floats

    def __len__(self) -> int:
        """Return the number of pages."""
        return len(self.kind)

    @property
    def kind_names(self) -> list[str]:
        """Kind of each page in words."""
        return [KINDS[code] for code in self.kind]

    @property
    def warnings(self) -> list[str]:
        """A sentence for each page that a constant rate would mislead about; else empty."""
        return [WARNINGS.get(KINDS[code], "") for code in self.kind.tolist()]


def regularity(histories: Histories, *, significance: float = 0.01) -> Regularity:
    """Tell regular, bursty, periodic and Poisson-like pages apart.

    Args:
        histories: The pages.
        significance: How often a Poisson page may be called anything else.

    Examples:
        A page that changes at noon, looked at every six hours or so:

        >>> from recrawl import Histories
        >>> changed = np.tile([False, False, True, False], 30)
        >>> age = np.where(changed, 0.25, np.nan)
        >>> first = np.array(["2026-01-01T00:15"], "datetime64[us]")
        >>> age[changed] = 6.25 / 24 - 0.02
        >>> seen = Histories(np.full(120, 0.25), changed, [0, 120], age - 0.01, first_visit=first)
        >>> found = regularity(seen)
        >>> found.kind_names, found.period
        (['periodic'], array([1.]))
    """
    check_fraction(significance=significance)
    # Not the rate pulled by a prior: tests would take the pull for a finding.
    rate = Likelihood().estimate(histories).rate
    rate = np.where(rate > 0, rate, 1.0)  # without a change nothing is tested
    age = _age_test(histories, rate)
    phase, period = _best_phase([_phase_test(histories, rate, period) for period in PERIODS])

    # All tests share one significance (Bonferroni): the age on one side, the periods on the other.
    from scipy.special import ndtr, ndtri  # slow to load: only where it is needed

    age_p = np.where(np.isnan(age.statistic), np.nan, 2 * ndtr(-np.abs(age.statistic)))
    phase_p = np.minimum(len(PERIODS) * np.exp(-phase.statistic / 2), 1.0)
    needed = -ndtri(significance / 4)
    power = np.where(
        np.isnan(age.statistic), 0.0, ndtr(np.log(_CLEARLY) * np.sqrt(age.information) - needed)
    )
    kind = np.full(len(histories), _UNKNOWN)
    kind[power >= _POWER] = _POISSON
    moved = 2 * age_p < significance
    kind[moved & (age.statistic > 0)] = _REGULAR
    kind[moved & (age.statistic < 0)] = _BURSTY
    # A page with a timetable is regular, too; a regular one drifts through the hours.
    kept = ~(age_p < phase_p) | (phase.length > _TOGETHER)
    kind[(2 * phase_p < significance) & kept] = _PERIODIC
    periodic = kind == _PERIODIC
    p = np.where(periodic, phase_p, np.fmin(age_p, phase_p))
    return Regularity(
        kind=kind,
        statistic=np.where(periodic | np.isnan(age_p), phase.statistic, age.statistic),
        p=np.minimum(2 * p, 1.0),
        period=np.where(periodic, period, np.nan),
        shape=age.shape,
        power=power,
    )


def constant_rate_error(shape: Any, changes_a_gap: Any) -> Floats:  # noqa: ANN401 - array-likes
    r"""Relative error of a constant rate fitted to regular visits of a regular or bursty page.

    The times between the page's changes have a Gamma distribution of shape $\kappa$ and mean 1,
    visits come every $x$. A gap stays unchanged with the chance
    $\int_x^\infty S = Q(\kappa + 1, \kappa x) - x Q(\kappa, \kappa x)$, where $Q$ is the upper
    incomplete Gamma function, and a constant rate takes that for $e^{-\hat r x}$.

    Examples:
        >>> constant_rate_error([2.0, 5.0, 0.5], 1.0).round(2)
        array([ 0.31,  0.74, -0.27])
    """
    from scipy.special import gammaincc  # slow to load: only where it is needed

    kappa, x = np.asarray(shape, np.float64), np.asarray(changes_a_gap, np.float64)
    unchanged = gammaincc(kappa + 1, kappa * x) - x * gammaincc(kappa, kappa * x)
    return -np.log(unchanged) / x - 1


@dataclass(frozen=True, slots=True, eq=False)
class _Age:
    """The test of the age, one row per page: U, information about the shape, the shape."""

    statistic: Floats
    information: Floats
    shape: Floats


def _age_test(histories: Histories, rate: Floats) -> _Age:
    """Whether the chance of a change depends on the days since the last."""
    page = histories.page_of_gap
    x = rate[page] * histories.gaps
    before = rate[page] * _ages(histories, rate)
    known = ~np.isnan(before)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        after = before + x
        z = (_survival_score(before) - _survival_score(after)) / x
        pull = x / np.expm1(x)
    z, pull = np.where(known, z, 0.0), np.where(known, pull, 0.0)
    score = np.where(histories.changed, pull, np.where(known, -x, 0.0))
    weight = np.where(known, x * pull, 0.0)

    total = histories.total(weight)
    changes = histories.total(histories.changed & known)
    quiet = histories.total(~histories.changed & known)
    tested = (changes >= _FEWEST_CHANGES) & (quiet >= _FEWEST_CHANGES)
    safe = np.where(total > 0, total, 1.0)
    mean = histories.total(weight * z) / safe
    away = z - mean[page]
    # The rate that these gaps have may differ from the page's: one step towards it.
    information = histories.total(weight * away**2)
    raw = histories.total(away * score)
    tested &= information > 1e-9  # noqa: PLR2004 - all ages alike
    root = np.sqrt(np.where(tested, information, 1.0))
    statistic = np.where(tested, raw / root, np.nan)
    # Ages that hardly differ say so little that one step would lead to no number at all.
    shape = np.where(tested, np.exp(np.clip(raw / root**2, *np.log(_SHAPES))), np.nan)
    return _Age(statistic, np.where(tested, information, 0.0), shape)


def _survival_score(y: Floats) -> Floats:
    """Slope of the logarithm of a Gamma survival function in its shape, at shape 1."""
    from scipy.special import exp1  # slow to load: only where it is needed

    small = np.clip(y, _TINY, _LARGE)
    series = 1 / np.maximum(y, _LARGE)
    series *= 1 - series * (1 - series * (2 - 6 * series))
    tail = np.where(y < _LARGE, np.exp(small) * exp1(small), series)
    return np.log(np.maximum(y, _TINY)) + tail + np.euler_gamma


def _ages(histories: Histories, rate: Floats) -> Floats:
    """Days from the last change to the start of each gap; nan before the first change."""
    gaps, changed = histories.gaps, histories.changed
    if not len(gaps):
        return np.empty(0)
    page = histories.page_of_gap
    x = np.minimum(rate[page] * gaps, 700)
    # Where a change hides: what is to be expected under a constant rate.
    small = x < 1e-4  # noqa: PLR2004 - half the gap, for the difference would have no digits
    hidden = np.where(small, gaps / 2, (1 - x / np.expm1(x)) * gaps / np.where(x > 0, x, 1))
    at_end = np.where(np.isnan(histories.age), hidden, histories.age)

    ends = np.cumsum(gaps)
    row = np.arange(len(gaps))
    last = np.maximum.accumulate(np.where(changed, row, -1))
    last = np.concatenate([[-1], last[:-1]])
    start = ends - gaps
    since = start - ends[last] + at_end[last]
    first = histories.offsets[:-1][page]
    older = histories.first_age[page] + (start - start[first])
    return np.where(last >= first, np.maximum(since, 0), older)


@dataclass(frozen=True, slots=True, eq=False)
class _Phase:
    """The test of the phase, one row per page: chi-square, and the length of the mean direction."""

    statistic: Floats
    length: Floats


def _phase_test(histories: Histories, rate: Floats, period: float) -> _Phase:
    """Whether changes keep to a timetable; nan where there are too few of them."""
    _, end = visit_instants(histories)
    rows = np.flatnonzero(~np.isnat(end))
    page = histories.page_of_gap[rows]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(page, minlength=len(histories)))])
    gaps, changed = histories.gaps[rows], histories.changed[rows]
    dated = changed & ~np.isnan(histories.age[rows])
    counts = sums(changed, offsets, np.int64)
    share = (sums(dated, offsets, np.int64) / np.maximum(counts, 1))[page]

    turn = int(period * MICROSECONDS_A_DAY)
    visit = np.exp(2j * np.pi * ((end[rows].astype(np.int64) % turn) / turn))
    omega = 2 * np.pi / period
    mean = visit * _turned(rate[page], gaps, omega)
    double = visit**2 * _turned(rate[page], gaps, 2 * omega)
    chance = -np.expm1(-rate[page] * gaps)
    seen = visit * np.exp(-1j * omega * np.where(dated, histories.age[rows], 0.0))
    phase = np.where(changed, np.where(dated, seen, mean), 0.0)
    left = phase - chance * mean

    def spread(known: Floats, one: Floats, two: Floats) -> Floats:
        # Of a dated change the whole product is news, of a hidden one only that of the means.
        news = share * known + (1 - share) * one * two
        found: Floats = sums(chance * news - chance**2 * one * two, offsets)
        return found

    cosine = spread((1 + double.real) / 2, mean.real, mean.real)
    sine = spread((1 - double.real) / 2, mean.imag, mean.imag)
    both = spread(double.imag / 2, mean.real, mean.imag)
    one, two = sums(left.real, offsets), sums(left.imag, offsets)
    area = cosine * sine - both**2
    # All changes so close to their visits that their phases are no news.
    told = (counts >= _FEWEST_CHANGES) & (area > 1e-6 * counts**2)
    area = np.where(told, area, 1.0)
    square = (sine * one**2 - 2 * both * one * two + cosine * two**2) / area
    length = np.hypot(sums(phase.real, offsets), sums(phase.imag, offsets))
    return _Phase(np.where(told, square, np.nan), length / np.maximum(counts, 1))


def _best_phase(phases: Sequence[_Phase]) -> tuple[_Phase, Floats]:
    """The test of the period that each page keeps to best, and that period."""
    statistics = np.nan_to_num(np.stack([phase.statistic for phase in phases]), nan=-1.0)
    # What keeps to a weekday and an hour keeps to the hour, too: the longest period that fits.
    fits = statistics >= _NEARLY * statistics.max(axis=0)
    best = len(PERIODS) - 1 - np.argmax(fits[::-1], axis=0)
    pages = np.arange(len(best))
    statistic = statistics[best, pages]
    length = np.stack([phase.length for phase in phases])[best, pages]
    return _Phase(np.where(statistic < 0, np.nan, statistic), length), np.array(PERIODS)[best]


def _turned(rate: Floats, gaps: Floats, omega: float) -> Any:  # noqa: ANN401 - complex numbers
    """Mean of exp(-i omega age) for the age of the last change in a gap with at least one."""
    wheel = rate + 1j * omega
    return rate / wheel * np.expm1(-wheel * gaps) / np.expm1(-rate * gaps)
