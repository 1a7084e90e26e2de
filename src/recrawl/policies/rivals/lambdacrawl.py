"""LambdaCrawl and Azar's division: the best visits at random times, with most likely rates.

The likelihood of a rate needs the lengths of all gaps that hide a change. Here they lie in bins,
each a third wider than the one before, and a bin knows how many gaps it holds and how long they are
together: as good as all lengths, to a fraction of a percent.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_positive
from recrawl.errors import InvalidParameter
from recrawl.policies.rivals.allocating import AllocatingPolicy
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

_BINS = 64
_RATIO = 1.35  # from one bin to the next: a minute to 400 years
_SHORTEST = 60 / SECONDS_A_DAY
_RATE_STEPS, _RATE_SETTLED = 100, 1e-10
_PRICE_STEPS, _PRICE_SETTLED = 60, 1e-12


@dataclass(slots=True)
class Likely:
    """What the likelihood of each page's rate needs.

    Args:
        count: Gaps that hide a change, one column per bin.
        days: Days of these together.
        events: Changes at known times.
        quiet: Days known to be without a change.
        rate: Most likely rate when it was last worked out.
        stale: Whether visits came since.
    """

    count: Floats
    days: Floats
    events: Floats
    quiet: Floats
    rate: Floats
    stale: Bools


@dataclass(frozen=True, slots=True)
class CensoredLearner:
    r"""The most likely rate of each page, with two imaginary gaps, one changed and one not.

    The rate solves

    $$ \frac{D}{r} + \sum_{\text{hidden}} \frac{g}{e^{r g} - 1} = E $$

    with $D$ dated changes, $E$ quiet days and the gaps $g$ that hide a change. Two imaginary gaps
    of $\ln 2 / \text{guess}$ days, one changed and one quiet, make the rate `guess` before the
    first visit, and keep it above 0 and finite ever after.

    Args:
        guess: Changes a day before anything is seen.

    Examples:
        A quiet gap as long as the imaginary ones makes one change in three, $-\ln(2/3) / \ln 2$:

        >>> from recrawl.policies.rivals.interval import VisitRows
        >>> learner, row, gap = CensoredLearner(), np.array([0]), np.log([2.0])
        >>> memory = learner.begin(1)
        >>> learner.learn(memory, row, VisitRows(gap, gap, gap, np.array([False]), gap, gap=1.0))
        >>> learner.rates(memory).round(4)
        array([0.585])
    """

    guess: float = 1.0

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_positive(guess=self.guess)

    def begin(self, pages: int) -> Likely:
        """Pages before their second visit."""
        none = np.zeros((pages, _BINS))
        return Likely(
            none,
            none.copy(),
            np.zeros(pages),
            np.zeros(pages),
            np.full(pages, self.guess),
            np.zeros(pages, np.bool_),
        )

    def learn(self, memory: Likely, rows: Ints, visits: VisitRows) -> None:
        """Sort the gaps into quiet days, dated events and hidden changes."""
        later = visits.gaps > 0
        dated = visits.changed & later & ~np.isnan(visits.age)
        quiet = np.where(visits.changed & later, 0.0, visits.gaps)
        memory.quiet[rows] += np.where(dated, visits.age, quiet)
        memory.events[rows] += dated
        memory.stale[rows] = True
        hidden = np.flatnonzero(visits.changed & later & ~dated)
        some, gaps = rows[hidden], visits.gaps[hidden]
        place = np.log(np.maximum(gaps, _SHORTEST) / _SHORTEST) / np.log(_RATIO)
        bins = np.minimum(place.astype(np.int64), _BINS - 1)
        memory.count[some, bins] += 1
        memory.days[some, bins] += gaps

    def rates(self, memory: Likely) -> Floats:
        """Changes a day of every page."""
        rows = np.flatnonzero(memory.stale)
        if len(rows):
            memory.rate[rows] = self._most_likely(memory, rows)
            memory.stale[rows] = False
        return memory.rate

    def _most_likely(self, memory: Likely, rows: Ints) -> Floats:
        """Newton's method from the left, where every step stays on its side of the root."""
        imaginary = np.log(2) / self.guess
        used = np.flatnonzero(memory.count[rows].any(axis=0))
        count = np.column_stack([np.ones(len(rows)), memory.count[np.ix_(rows, used)]])
        days = np.column_stack([np.full(len(rows), imaginary), memory.days[np.ix_(rows, used)]])
        length = np.where(count > 0, days, 1.0) / np.maximum(count, 1.0)
        events, quiet = memory.events[rows], memory.quiet[rows] + imaginary

        rate: Floats = (events + count.sum(axis=1)) / (quiet + days.sum(axis=1) / 2)
        for _ in range(_RATE_STEPS):
            expected = rate[:, np.newaxis] * length
            with np.errstate(over="ignore"):
                each = expected / np.expm1(expected)
            # The slope of x / (e^x - 1) is (y - y^2 - x y) / x with y that fraction itself.
            off = events + (count * each).sum(axis=1) - rate * quiet
            slope = (count * each * (each + expected - 1)).sum(axis=1) / rate + quiet
            step = off / slope
            rate = rate + step
            if not (np.abs(step) > _RATE_SETTLED * rate).any():
                break
        return rate


@dataclass(frozen=True, slots=True)
class BinaryDivision:
    r"""Visits a day for the most freshness, with a floor for every page.

    A page of rate $D$ and weight $\mu$ that is visited $\rho$ times a day at random is stale for
    a share $D / (\rho + D)$ of the time. The least total has

    $$ \rho = \max\left(\sqrt{\mu D / L} - D , \; \text{floor} \cdot \frac{R}{N}\right) . $$

    Sorted by $\mu D / (D + \text{floor})^2$, the pages that keep to the floor come first.

    Args:
        floor: Share of the mean frequency that every page gets. With 0, pages that change too
            fast are given up.

    References:
        Azar, Horvitz, Lubetzky, Peres and Shahaf (2018). Tractable near-optimal policies for
        crawling. PNAS 115(32), 8099-8103. With a floor: Kolobov and others (2019), binary
        LambdaCrawl.

    Examples:
        Five pages that change once to five times a day, five visits a day:

        >>> rates = np.arange(1.0, 6.0)
        >>> BinaryDivision().frequencies(rates, np.ones(5), 5.0).round(3)
        array([1.386, 1.374, 1.133, 0.772, 0.335])
    """

    floor: float = 0.0

    def __post_init__(self) -> None:
        """Check the floor."""
        if not 0 <= self.floor < 1:
            raise InvalidParameter(f"floor must lie between 0 and 1 (got {self.floor})")

    def frequencies(self, rates: Floats, weight: Floats, budget: float) -> Floats:
        """Visits a day of each page."""
        floor = self.floor * budget / len(rates)
        gain = weight * rates / (rates + floor) ** 2
        order = np.argsort(gain)
        roots = np.sqrt(weight * rates)
        # Of each page and all that gain more: roots, rates, and what is left for them.
        root_sum = np.cumsum(roots[order][::-1])[::-1]
        rate_sum = np.cumsum(rates[order][::-1])[::-1]
        left = budget - floor * np.arange(len(rates))
        above = gain[order] > (root_sum / (left + rate_sum)) ** 2
        # Equal pages lie on the edge, where rounding decides: the last always gets visits.
        first = int(np.argmax(above)) if above.any() else len(rates) - 1
        frequencies = np.full(len(rates), floor)
        best = order[first:]
        scale = (left[first] + rate_sum[first]) / root_sum[first]
        frequencies[best] = np.maximum(roots[best] * scale - rates[best], floor)
        return frequencies


def azar(
    floor: float = 0.0, *, randomised: bool = False, guess: float = 1.0
) -> AllocatingPolicy[Likely]:
    """Azar's division with learnt rates, its visits at equal intervals unless randomised."""
    learner = CensoredLearner(guess)
    return AllocatingPolicy(learner, BinaryDivision(floor), randomised=randomised, least_days=1.0)


@dataclass(frozen=True, slots=True)
class HarmonicDivision:
    r"""Visits a day at which one more is worth the same everywhere, for visits at random times.

    A page of rate $D$ and weight $\mu$ that is visited $\rho$ times a day at random costs
    $\mu \ln(1 + D / \rho)$. The least total cost of a budget has

    $$ \rho = \frac{-D + \sqrt{D^2 + 4 \mu D / L}}{2} $$

    with the one price $L$ at which all visits add up to the budget. It is found by Newton's
    method on the logarithms, between which the slope is $-1$ to $-\frac12$.

    References:
        Kolobov, Peres, Lu and Horvitz (2019). Staying up to date with online content changes
        using reinforcement learning for scheduling. NeurIPS.

    Examples:
        Pages that change equally often are visited equally often; none is given up:

        >>> HarmonicDivision().frequencies(np.array([1.0, 1.0]), np.ones(2), 4.0)
        array([2., 2.])
        >>> HarmonicDivision().frequencies(np.array([1.0, 99.0]), np.ones(2), 2.0).round(3)
        array([0.737, 1.263])
    """

    def frequencies(self, rates: Floats, weight: Floats, budget: float) -> Floats:
        """Visits a day of each page."""
        worth = weight * rates
        mean = budget / len(rates)
        price = worth.mean() / (mean * (mean + rates.mean()))  # right where pages are alike
        for _ in range(_PRICE_STEPS):
            root = np.sqrt(rates * rates + 4 * worth / price)
            # (root - D) / 2 without the difference of two close numbers.
            visits = 2 * worth / price / (root + rates)
            total = visits.sum()
            slope = -(worth / price / root).sum() / total
            step = np.log(budget / total) / slope
            price *= np.exp(step)
            if abs(step) < _PRICE_SETTLED:
                break
        frequencies: Floats = visits * (budget / total)
        return frequencies


def lambdacrawl(
    *, randomised: bool = False, guess: float = 1.0, seed: int = 0
) -> AllocatingPolicy[Likely]:
    """LambdaCrawl with learnt rates, its visits at equal intervals unless randomised.

    Published with visits at random times (`randomised`); at equal intervals of the same mean it is
    fresher. Rates are estimated again once a day at most.
    """
    learner, division = CensoredLearner(guess), HarmonicDivision()
    return AllocatingPolicy(learner, division, randomised=randomised, seed=seed, least_days=1.0)
