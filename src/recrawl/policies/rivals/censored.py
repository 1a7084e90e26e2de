r"""Most likely rates, learned visit by visit in a fixed room a page.

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
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.rivals.interval import VisitRows

_BINS = 64
_RATIO = 1.35  # from one bin to the next: a minute to 400 years
_SHORTEST = 60 / SECONDS_A_DAY
_MOST_STEPS = 100
_SETTLED = 1e-10


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
        for _ in range(_MOST_STEPS):
            expected = rate[:, np.newaxis] * length
            with np.errstate(over="ignore"):
                each = expected / np.expm1(expected)
            # The slope of x / (e^x - 1) is (y - y^2 - x y) / x with y that fraction itself.
            off = events + (count * each).sum(axis=1) - rate * quiet
            slope = (count * each * (each + expected - 1)).sum(axis=1) / rate + quiet
            step = off / slope
            rate = rate + step
            if not (np.abs(step) > _SETTLED * rate).any():
                break
        return rate
