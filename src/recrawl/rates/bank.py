"""The forgetting bank: Gamma states with different memories, weighted by how well they forecast.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
        columns = self._columns(len(histories))
        over_blocks(
            lambda pages: self._take_through(histories, pages, columns), len(histories), _BLOCK
        )
        columns[_CHANGES], columns[_VISITS] = histories.changes, histories.visits
        return self._read(columns, histories.flags)

    def start(self, pages: int) -> Floats:
        """State of each page after its first visit."""
        return np.ascontiguousarray(self._columns(pages).T)

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
        return self._read(np.ascontiguousarray(state.T), flags)

    def weights(self, state: Floats) -> Floats:
        """Weight of each member: one row per page, one column per memory."""
        return np.stack(self._weights(np.ascontiguousarray(state.T)), axis=1)

    def unchanged(self, state: Floats, days: Floats | float) -> Floats:
        """Chance that a page stays unchanged for `days` days, by the mixture itself.

        Nothing is forgotten meanwhile, so the chance can only fall as the days go by. Forgetting
        ahead of each visit made forecasts slightly worse (docs/concepts/bank.md).
        """
        columns = np.ascontiguousarray(state.T)
        days = np.maximum(days, 0)
        chance = np.zeros(len(state))
        for weight, (shape, exposure) in zip(
            self._weights(columns), self._members(columns), strict=True
        ):
            chance += weight * np.exp(-shape * np.log1p(days / exposure))
        return np.minimum(chance, 1)

    def _columns(self, pages: int) -> Floats:
        """State of each page after its first visit, one column per page.

        So a member's numbers lie side by side, and numpy rounds them alike for one and for many.
        """
        members = len(self.memories)
        columns = np.zeros((3 * members + _COMMON, pages))
        shape, exposure = self.priors.of_pages(pages)
        columns[:members], columns[members : 2 * members] = shape, exposure
        columns[_PRIOR_SHAPE], columns[_PRIOR_EXPOSURE] = shape, exposure
        columns[_VISITS] = 1
        return columns

    def _take_through(self, histories: Histories, pages: slice, columns: Floats) -> None:
        """Take the pages of one block through their gaps: all first gaps, all second gaps, ..."""
        order, ranks = most_first(np.diff(histories.offsets[pages.start : pages.stop + 1]))
        starts = histories.offsets[:-1][pages][order]
        block = np.ascontiguousarray(columns[:, pages.start + order])
        for rank, pages_left in enumerate(ranks):
            rows = starts[:pages_left]
            shown = _Shown(
                rows_at(histories.gaps, rows, rank),
                rows_at(histories.changed, rows, rank),
                histories.age[rows + rank] if histories.knows_age else None,
                histories.count[rows + rank] if histories.knows_count else None,
            )
            self._learn(block[:, :pages_left], shown)
        columns[:, pages.start + order] = block

    def _learn(self, columns: Floats, shown: _Shown) -> None:
        """Forget, score and learn one more gap of each page, in place."""
        members = len(self.memories)
        prior_shape, prior_exposure = columns[_PRIOR_SHAPE], columns[_PRIOR_EXPOSURE]
        mean_gap = (columns[_DAYS] + shown.gaps) / columns[_VISITS]
        interval = (prior_exposure + columns[_DAYS]) / (prior_shape + columns[_CHANGES])
        elapsed = shown.gaps / (np.sqrt(mean_gap) * np.sqrt(interval))  # in typical intervals

        hidden = shown.hidden
        best = np.full(columns.shape[1], -np.inf)
        for member, memory in enumerate(self.memories):
            shape, exposure, score = columns[member : 3 * members : members]
            if memory < np.inf:
                # Not prior + (shape - prior) * kept: that rounds where nothing is forgotten.
                kept = np.exp(elapsed * (-1 / memory))
                lost = 1 - kept
                shape *= kept
                shape += lost * prior_shape
                exposure *= kept
                exposure += np.multiply(lost, prior_exposure, out=lost)
            score *= self.discount
            score += shown.learn(shape, exposure, hidden)
            np.maximum(best, score, out=best)
        # Only differences matter, and small numbers keep more digits of them.
        columns[2 * members : 3 * members] -= best
        columns[_DAYS] += shown.gaps
        columns[_CHANGES] += shown.changed
        columns[_VISITS] += 1

    def _members(self, columns: Floats) -> list[tuple[Floats, Floats]]:
        """Shape and exposure of each member."""
        members = len(self.memories)
        return [(columns[member], columns[members + member]) for member in range(members)]

    def _weights(self, columns: Floats) -> list[Floats]:
        """Weight of each member; the best has a score of 0."""
        members = len(self.memories)
        odds = [np.exp(score) for score in columns[2 * members : 3 * members]]
        # Not np.sum: the order of its additions depends on the shape of the array.
        total = sum(odds[1:], start=odds[0])
        return [odd / total for odd in odds]

    def _read(self, columns: Floats, flags: FlagBits | None) -> Estimates:
        """Estimates from the Gamma distribution with the mixture's mean and variance."""
        shape, exposure = np.empty((2, columns.shape[1]))

        def work(pages: slice) -> None:
            mean, variance = self._moments(columns[:, pages])
            exposure[pages] = mean / variance
            shape[pages] = mean * exposure[pages]

        over_blocks(work, columns.shape[1], _BLOCK)
        changes, visits = columns[_CHANGES].astype(np.int64), columns[_VISITS].astype(np.int64)
        found = Gamma(level=self.level).of_columns(shape, exposure, changes, visits, flags)
        return replace(found, method="bank")

    def _moments(self, columns: Floats) -> tuple[Floats, Floats]:
        """Mean and variance of the mixture."""
        weights, members = self._weights(columns), self._members(columns)
        mean, variance = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
        for weight, (shape, exposure) in zip(weights, members, strict=True):
            mean += weight * (shape / exposure)
        for weight, (shape, exposure) in zip(weights, members, strict=True):
            variance += weight * (shape / exposure**2 + (shape / exposure - mean) ** 2)
        return mean, variance


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What one gap of each page showed, in the columns of `Histories`."""

    gaps: Floats
    changed: Bools
    age: Floats | None
    count: Ints | None

    @property
    def hidden(self) -> Ints:
        """Pages with a change that is neither dated nor counted."""
        hidden = self.changed
        if self.age is not None:
            hidden = hidden & np.isnan(self.age)
        if self.count is not None:
            hidden = hidden & (self.count < 0)
        return np.flatnonzero(hidden)

    def learn(self, shape: Floats, exposure: Floats, hidden: Ints) -> Floats:
        """Change Gamma states, in place, as `step` does; return the chance they gave to the gap.

        As a logarithm, up to what all members of a bank have in common: the unit of a density, and
        of a count k the term k ln g - ln k!.
        """
        ratio = self.gaps / exposure
        chance = np.log1p(ratio)
        chance *= shape
        np.negative(chance, out=chance)  # that nothing changes
        seen = np.expm1(chance[hidden])
        np.negative(seen, out=seen)
        chance[hidden] = np.log(seen)
        self._add_told(chance, shape, exposure)

        after = after_hidden_change(shape[hidden], exposure[hidden], ratio[hidden], seen)
        add_known(shape, exposure, self.gaps, self.age, self.count)
        shape[hidden], exposure[hidden] = after
        return chance

    def _add_told(self, chance: Floats, shape: Floats, exposure: Floats) -> None:
        """Put in, in place, the chances of dates and counts."""
        counted = np.zeros(len(shape), np.bool_) if self.count is None else self.count >= 0
        if self.age is not None:
            told = np.flatnonzero(~np.isnan(self.age) & ~counted)
            a, b = shape[told], exposure[told]
            chance[told] = np.log(a / b) - (a + 1) * np.log1p(self.age[told] / b)
        if self.count is not None and counted.any():
            from scipy.special import gammaln  # slow to load: only where it is needed

            told = np.flatnonzero(counted)
            a, b, k = shape[told], exposure[told], self.count[told]
            chance[told] += gammaln(a + k) - gammaln(a) - k * np.log(b + self.gaps[told])
