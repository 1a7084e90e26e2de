r"""The likelihood of every rate on a fixed grid, from sums over a page's gaps.

Three of the four kinds of gaps need two sums: $D$ events at known times and $E$ days known to be
quiet make $D u - E e^u$ of the log-likelihood at $u = \ln r$. A hidden change in a gap $c$ adds

$$ f(u + \ln c), \qquad f(y) = \ln \left( 1 - e^{-e^y} \right) , $$

one function $f$ for all, shifted by the logarithm of the gap. So it is enough to count hidden
changes by the length of their gap: $f(u + \ln c)$ is interpolated between lengths on a lattice, and
a change adds the four weights of a cubic (Lagrange) to the four lengths next to its own. The
log-likelihood is then a sum over the lattice, linear in the counts. It depends neither on the order
of the gaps nor on whether they came at once or one after the other, and two parts of a history are
put together by adding.

With false changes, reported with chance $\epsilon$ at a visit to an unchanged page, $f(y)$ is
$\ln(1 - (1 - \epsilon) e^{-e^y})$. A dated change $t$ days before the end of a gap $g$ then has the
density $r e^{-rt} + e^{-rg} \epsilon / g$, which is taken for $e^{-rt} (r + \epsilon / g)$, at most
a share $\epsilon$ too much: $t$ quiet days and $\ln(1 + e^{u + \ln g} / \epsilon)$, again one
function of $u + \ln g$, on a lattice of its own.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates.quadrature import cubic

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.rates.priors import Priors
    from recrawl.visits.histories import Histories

# Between two rates, and between two lengths of gaps, in logarithms.
STEP = 0.25
GAP_STEP = 1 / 3

# Rates from 1/60,000 to 400 times the mean of the prior, gaps from 1/1100 to 1100 times its
# inverse. Changes in longer or shorter gaps are taken for changes in the longest or the shortest.
_BELOW, _ABOVE = 11.0, 6.0
_GAPS = 7.0

EVENTS, QUIET, CHANGES, VISITS, LATTICE = range(5)  # rows of a page's column
_SPAN = 4  # points of a cubic


@dataclass(frozen=True, slots=True, eq=False)
class RateGrid:
    """Rates, lengths of gaps, and what a hidden change in each of the gaps says about each rate.

    What is known of pages is held in columns, one per page: events, quiet days, changes, visits,
    and the hidden changes by the length of their gap; with false changes, dated ones too.

    Args:
        log_rates: Logarithms of the rates, evenly spaced.
        log_gaps: Logarithms of the lengths of gaps, evenly spaced.
        tables: Log-likelihood of each rate given a change in each gap: of hidden changes and,
            where changes may be false, of dated ones.
    """

    log_rates: Floats
    log_gaps: Floats
    tables: tuple[Floats, ...]

    @classmethod
    def around(cls, priors: Priors, false_changes: float = 0.0) -> RateGrid:
        """Grid around the mean rates of priors."""
        means = np.log(priors.shape) - np.log(priors.exposure)
        log_rates = _lattice(means, _BELOW, _ABOVE, STEP)
        log_gaps = _lattice(-means, _GAPS, _GAPS, GAP_STEP)
        expected = np.exp(log_gaps[:, np.newaxis] + log_rates)
        if not false_changes:
            return cls(log_rates, log_gaps, (np.log(-np.expm1(-expected)),))
        hidden = np.log1p((false_changes - 1) * np.exp(-expected))
        return cls(log_rates, log_gaps, (hidden, np.log1p(expected / false_changes)))

    def start(self, pages: int) -> Floats:
        """Columns of pages after their first visit."""
        columns = np.zeros((LATTICE + len(self.tables) * len(self.log_gaps), pages))
        columns[VISITS] = 1
        return columns

    def learn(
        self,
        columns: Floats,
        gaps: Floats,
        changed: Bools,
        age: Floats | None = None,
        count: Ints | None = None,
    ) -> None:
        """Add one more gap of each page, in place."""
        shown = self._shown(gaps, changed, age, count)
        columns[EVENTS] += shown.events
        columns[QUIET] += shown.quiet
        columns[CHANGES] += changed
        columns[VISITS] += 1
        for row, weights in zip(shown.lattice.T, shown.weights.T, strict=True):
            columns[row, shown.gap] += weights

    def of(self, histories: Histories, pages: slice) -> Floats:
        """Columns of some pages after all their gaps: bit for bit what `learn` gives."""
        rows, starts = histories.block(pages)
        shown = self._shown(
            histories.gaps[rows],
            histories.changed[rows],
            histories.age[rows] if histories.knows_age else None,
            histories.count[rows] if histories.knows_count else None,
        )
        number = len(starts) - 1
        page = np.repeat(np.arange(number), np.diff(starts))
        # np.bincount adds one after the other, as visits come.
        columns = self.start(number)
        place = shown.lattice * number + page[shown.gap, np.newaxis]
        sums = np.bincount(place.ravel(), shown.weights.ravel(), columns.size)
        columns += sums.reshape(columns.shape)
        columns[EVENTS] = np.bincount(page, shown.events, number)
        columns[QUIET] = np.bincount(page, shown.quiet, number)
        columns[CHANGES] = np.bincount(page, histories.changed[rows], number)
        columns[VISITS] += np.diff(starts)
        return columns

    def of_changes(self, columns: Floats) -> Floats:
        """Log-likelihood of the changes on the lattice: one row per rate, one column per page."""
        heights, row = np.zeros((len(self.log_rates), columns.shape[1])), LATTICE
        for table in self.tables:
            for each in table:
                if columns[row].any():
                    heights += each[:, np.newaxis] * columns[row]
                row += 1
        return heights

    def log_likelihood(self, columns: Floats) -> Floats:
        """Log-likelihood of each rate: one row per rate, one column per page."""
        heights = self.of_changes(columns)
        heights += self.log_rates[:, np.newaxis] * columns[EVENTS]
        heights -= np.exp(self.log_rates)[:, np.newaxis] * columns[QUIET]
        return heights

    def _shown(
        self, gaps: Floats, changed: Bools, age: Floats | None, count: Ints | None
    ) -> _Shown:
        """Sort gaps into events, quiet days and changes for the lattice."""
        events, quiet, hidden = np.zeros(len(gaps)), np.where(changed, 0.0, gaps), changed
        dated = np.zeros(len(gaps), np.bool_) if age is None else ~np.isnan(age)
        if count is not None:
            counted = count >= 0
            dated, hidden = dated & ~counted, hidden & ~counted
            events, quiet = np.where(counted, count, events), np.where(counted, gaps, quiet)
        if age is not None:
            hidden, quiet = hidden & ~dated, np.where(dated, age, quiet)
        if len(self.tables) == 1:
            events = events + dated
            gap = np.flatnonzero(hidden)
        else:
            gap = np.flatnonzero(hidden | dated)
        first, weights = cubic(np.log(gaps[gap]), self.log_gaps)
        first = first + LATTICE + np.where(dated[gap], len(self.log_gaps), 0)
        return _Shown(events, quiet, gap, first[:, np.newaxis] + np.arange(_SPAN), weights.T)


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What gaps showed.

    Args:
        events: Events at known times of each gap.
        quiet: Quiet days of each gap.
        gap: Gaps with a change for the lattice.
        lattice: Rows that each of them adds to.
        weights: What it adds.
    """

    events: Floats
    quiet: Floats
    gap: Ints
    lattice: Ints
    weights: Floats


def _lattice(middles: Floats, below: float, above: float, step: float) -> Floats:
    """Points around all middles, of which the least is one itself: their order does not matter."""
    least = middles.min()
    last = np.ceil((middles.max() - least + above) / step)
    points: Floats = least + step * np.arange(-np.ceil(below / step), last + 1)
    return points
