"""The forgetting bank: Gamma states with different memories, weighted by how well they forecast.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import isinf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates.gamma import Gamma
from recrawl.rates.gamma_state import add_known, after_hidden_change, rows_at
from recrawl.rates.priors import Priors
from recrawl.rates.ranks import most_first

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories

# Rows of the columns behind those of the members: what the members forget towards, and counts.
_PRIOR_SHAPE, _PRIOR_EXPOSURE, _DAYS, _CHANGES, _VISITS = -5, -4, -3, -2, -1
_COMMON = 5

# Pages at a time: states and gaps stay in the cache. Half and twice as many differ by less than
# the noise of a shared machine.
_BLOCK = 16384


@dataclass(frozen=True, slots=True)
class Bank:
    r"""Posterior of a change rate that may move, as a mixture of Gamma states that forget.

    Each member is the state of `Gamma` with a memory of its own, $\tau$ days. Before a gap $g$
    is read, the member forgets part of what it has learned beyond the prior $a_0, b_0$,

    $$ a \leftarrow a_0 + (a - a_0) e^{-g / \tau}, \qquad
       b \leftarrow b_0 + (b - b_0) e^{-g / \tau} , $$

    is scored by the logarithm of the chance that it gave to what the gap then showed,
    $s \leftarrow d s + \ln p$ with the discount $d$, and learns the gap as `Gamma` does.
    Members have the weights $w \propto e^s$, so the memory that suits the page dominates:
    a long one while the rate stands still, a short one after it has moved.

    Memories are in units of the page's typical interval: the geometric mean of its mean gap
    between visits and its mean interval between changes seen, $(b_0 + \text{days watched}) /
    (a_0 + \text{changes})$. If the logarithm of a rate wanders at random, the best memory grows
    with the square root of the interval between changes; the square root of the gap makes a time
    of it. Both are known before the gap is read. Chosen with benchmarks/prediction.py (figures in
    docs/concepts/bank.md); re-run it before changing.

    Shape and exposure of the estimates are those of the Gamma distribution that has the
    mixture's mean and variance, and rate and band are read from it as in `Gamma`. Hence
    `Estimates.unchanged` is close to the mixture's chance; `unchanged` of the bank is the
    mixture's own.

    The estimator streams: `start`, then `update` for each gap of each page, gives bit for bit
    what `estimate` gives. What was forgotten cannot be added up, so there is no `merge`. A state
    is one row per page: the members' shapes, their exposures, their scores (less the best one's),
    then the prior's shape and exposure, days watched, changes, visits.

    Args:
        priors: Where the rates start and what is left when all is forgotten; see `fit_prior`.
        level: Probability that the rate lies in its band.
        memories: Memory of each member in typical intervals; infinity forgets nothing.
        discount: How much of a score is left after one more gap.

    References:
        Raftery, Karny and Ettler (2010). Online prediction under model uncertainty via dynamic
        model averaging. Technometrics 52(1), 52-66.

    Examples:
        A hundred quiet days, then thirty that all changed. A constant rate averages over all of
        them; the bank has noticed that the page woke up:

        >>> from recrawl import Gamma, Histories
        >>> woken = Histories.from_lists([([1.0] * 130, [False] * 100 + [True] * 30)])
        >>> Gamma().estimate(woken).rate.round(2)
        array([0.23])
        >>> Bank().estimate(woken).rate.round(2)
        array([0.36])
    """

    priors: Priors = field(default_factory=Priors.one)
    level: float = 0.9
    memories: tuple[float, ...] = (np.inf, 100.0, 30.0, 10.0)
    discount: float = 0.98

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        if not self.memories or not all(memory > 0 for memory in self.memories):
            raise InvalidParameter(
                f"memories must be one or more positive numbers (got {self.memories})"
            )
        if not 0 < self.discount <= 1:
            raise InvalidParameter(f"discount must be above 0 and at most 1 (got {self.discount})")

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        before = self.priors.of_pages(len(histories))
        after = np.empty((2, len(histories)))

        def work(pages: slice) -> None:
            order, ranks = most_first(np.diff(histories.offsets[pages.start : pages.stop + 1]))
            columns = self._columns(*(column[pages][order] for column in before))
            starts = histories.offsets[:-1][pages][order]
            for rank, pages_left in enumerate(ranks):
                shown = _Shown.at(histories, starts[:pages_left], rank)
                self._learn(columns[:, :pages_left], shown)
            after[:, pages.start + order] = self._mixture(columns)

        over_blocks(work, len(histories), _BLOCK)
        return self._estimates(after, histories.changes, histories.visits, histories.flags)

    def start(self, pages: int) -> Floats:
        """State of each page after its first visit."""
        return np.ascontiguousarray(self._columns(*self.priors.of_pages(pages)).T)

    def update(
        self,
        state: Floats,
        gaps: Floats,
        changed: Bools,
        *,
        age: Floats | None = None,
        count: Ints | None = None,
    ) -> Floats:
        """State of each page after one more gap: one row per page, in and out."""
        columns = np.array(state.T, order="C")  # a copy: states are values
        gaps, changed = np.asarray(gaps, np.float64), np.asarray(changed, np.bool_)
        self._learn(columns, _Shown(gaps, changed, age, count))
        return np.ascontiguousarray(columns.T)

    def read(self, state: Floats, flags: FlagBits | None = None) -> Estimates:
        """Return the estimates of states."""
        columns = np.ascontiguousarray(state.T)
        after = np.empty((2, len(state)))

        def work(pages: slice) -> None:
            after[:, pages] = self._mixture(np.ascontiguousarray(columns[:, pages]))

        over_blocks(work, len(state), _BLOCK)
        changes, visits = columns[_CHANGES].astype(np.int64), columns[_VISITS].astype(np.int64)
        return self._estimates(after, changes, visits, flags)

    def weights(self, state: Floats) -> Floats:
        """Weight of each member: one row per page, one column per memory."""
        return np.ascontiguousarray(self._weights(np.ascontiguousarray(state.T)).T)

    def unchanged(self, state: Floats, days: Floats | float) -> Floats:
        """Chance that a page stays unchanged for `days` days, by the mixture itself.

        Nothing is forgotten meanwhile, so the chance can only fall as the days go by. Forgetting
        ahead of each visit made forecasts slightly worse (docs/concepts/bank.md).
        """
        columns = np.ascontiguousarray(state.T)
        days = np.maximum(days, 0)
        chance = np.zeros(len(state))
        shapes, exposures, _ = self._members(columns)
        for weight, shape, exposure in zip(self._weights(columns), shapes, exposures, strict=True):
            chance += weight * np.exp(-shape * np.log1p(days / exposure))
        return np.minimum(chance, 1)

    def _columns(self, prior_shape: Floats, prior_exposure: Floats) -> Floats:
        """State of each page after its first visit, one column per page.

        So a member's numbers lie side by side, and numpy rounds them alike for one and for many.
        """
        members = len(self.memories)
        columns = np.zeros((3 * members + _COMMON, len(prior_shape)))
        columns[:members], columns[members : 2 * members] = prior_shape, prior_exposure
        columns[_PRIOR_SHAPE], columns[_PRIOR_EXPOSURE] = prior_shape, prior_exposure
        columns[_VISITS] = 1
        return columns

    def _members(self, columns: Floats) -> Floats:
        """Shapes, exposures and scores of the members, to be written into."""
        members = len(self.memories)
        return columns[: 3 * members].reshape(3, members, columns.shape[1])

    def _learn(self, columns: Floats, shown: _Shown) -> None:
        """Forget, score and learn one more gap of each page, in place."""
        prior, days = columns[_PRIOR_SHAPE : _PRIOR_EXPOSURE + 1], columns[_DAYS]
        # The gap in typical intervals: visits and events over days of both kinds.
        elapsed = columns[_VISITS] * (prior[0] + columns[_CHANGES])
        elapsed /= (days + shown.gaps) * (prior[1] + days)
        np.sqrt(elapsed, out=elapsed)
        elapsed *= shown.gaps

        states = self._members(columns)
        shape, exposure, score = states
        # Those ahead of the first that forgets are as they were.
        first = sum(1 for _ in takewhile(isinf, self.memories))
        kept = np.exp(elapsed * (-1 / np.array(self.memories[first:])[:, np.newaxis]))
        # Not prior + (state - prior) * kept, nor state - (state - prior) * lost: these round where
        # nothing, or all, is forgotten.
        states[:2, first:] *= kept
        states[:2, first:] += (1 - kept) * prior[:, np.newaxis]
        score *= self.discount
        score += shown.learn(shape, exposure)
        # Only differences matter, and small numbers keep more digits of them.
        score -= score.max(axis=0)
        columns[_DAYS] += shown.gaps
        columns[_CHANGES] += shown.changed
        columns[_VISITS] += 1

    def _weights(self, columns: Floats) -> Floats:
        """Weight of each member, a row each; the best has a score of 0."""
        odds: Floats = np.exp(self._members(columns)[2])
        # Not np.sum: the order of its additions depends on the shape of the array.
        odds /= sum(odds[1:], start=odds[0])
        return odds

    def _mixture(self, columns: Floats) -> tuple[Floats, Floats]:
        """Shape and exposure of the Gamma distribution with the mixture's mean and variance."""
        weights, (shape, exposure, _) = self._weights(columns), self._members(columns)
        means = shape / exposure
        share = weights * means
        mean = sum(share[1:], start=share[0])
        share = weights * (means / exposure + (means - mean) ** 2)
        found = mean / sum(share[1:], start=share[0])
        return mean * found, found

    def _estimates(
        self, after: Floats, changes: Ints, visits: Ints, flags: FlagBits | None
    ) -> Estimates:
        """Estimates from shapes and exposures."""
        shape, exposure = after
        found = Gamma(level=self.level).of_columns(shape, exposure, changes, visits, flags)
        return replace(found, method="bank")


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What one gap of each page showed, in the columns of `Histories`."""

    gaps: Floats
    changed: Bools
    age: Floats | None
    count: Ints | None

    @classmethod
    def at(cls, histories: Histories, starts: Ints, rank: int) -> _Shown:
        """The gaps of some rank of pages whose gaps begin at `starts`."""
        return cls(
            rows_at(histories.gaps, starts, rank),
            rows_at(histories.changed, starts, rank),
            histories.age[starts + rank] if histories.knows_age else None,
            histories.count[starts + rank] if histories.knows_count else None,
        )

    @property
    def hidden(self) -> Ints:
        """Pages with a change that is neither dated nor counted."""
        hidden = self.changed
        if self.age is not None:
            hidden = hidden & np.isnan(self.age)
        if self.count is not None:
            hidden = hidden & (self.count < 0)
        return np.flatnonzero(hidden)

    def learn(self, shape: Floats, exposure: Floats) -> Floats:
        """Change Gamma states, in place, as `step` does; return the chance they gave to the gap.

        One row per member, one column per page. The chance comes as a logarithm, up to what all
        members of a bank have in common: the unit of a density, and of a count k the term
        k ln g - ln k!.
        """
        ratio = self.gaps / exposure
        chance = np.log1p(ratio)
        chance *= shape
        np.negative(chance, out=chance)  # that nothing changes
        hidden = self.hidden
        seen = chance.take(hidden, axis=1)
        np.expm1(seen, out=seen)
        np.negative(seen, out=seen)
        _put(chance, hidden, np.log(seen))
        self._add_told(chance, shape, exposure)

        a, b = shape.take(hidden, axis=1), exposure.take(hidden, axis=1)
        after = after_hidden_change(a, b, ratio.take(hidden, axis=1), seen)
        add_known(shape, exposure, self.gaps, self.age, self.count)
        _put(shape, hidden, after[0])
        _put(exposure, hidden, after[1])
        return chance

    def _add_told(self, chance: Floats, shape: Floats, exposure: Floats) -> None:
        """Put in, in place, the chances of dates and counts."""
        counted = np.zeros(len(self.gaps), np.bool_) if self.count is None else self.count >= 0
        if self.age is not None:
            told = np.flatnonzero(~np.isnan(self.age) & ~counted)
            a, b = shape.take(told, axis=1), exposure.take(told, axis=1)
            chance[:, told] = np.log(a / b) - (a + 1) * np.log1p(self.age[told] / b)
        if self.count is not None and counted.any():
            from scipy.special import gammaln  # slow to load: only where it is needed

            told = np.flatnonzero(counted)
            a, b = shape.take(told, axis=1), exposure.take(told, axis=1)
            k = self.count[told]
            chance[:, told] += gammaln(a + k) - gammaln(a) - k * np.log(b + self.gaps[told])


def _put(rows: Floats, columns: Ints, figures: Floats) -> None:
    """`rows[:, columns] = figures` in a third of the time."""
    for row, new in zip(rows, figures, strict=True):
        row[columns] = new
