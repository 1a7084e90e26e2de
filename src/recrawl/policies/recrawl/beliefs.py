r"""What our policy believes of pages now: how often they change, whether their copies are fresh.

The rate of a page is a mixture of Gamma distributions, one a memory, with weights $w_k$, shapes
$a_k$ and exposures $b_k$. After $e$ days on the clock of its section its copy is fresh with chance

$$ p = \sum_k w_k \left(\frac{b_k}{b_k + e}\right)^{a_k} . $$

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.equal_keys import distinct
from recrawl.arrays.special import gamma_quantile
from recrawl.policies.recrawl.announcement_learning import effective_elapsed
from recrawl.policies.recrawl.clocks import BINS
from recrawl.policies.recrawl.state import (
    clocks_of_pages,
    forecast_clocks,
    forecast_days,
    forecast_factor,
    read_clocks,
    trust_of_nodes,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.recrawl.state import RecrawlState

_NO_TIME = 1e-12  # days: neither a rate nor an age is told from less
_NEAR_ONE = 1e-6  # a shape this close to 1 is taken for a little more


@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What is believed of pages: one row per memory, one column per page.

    Args:
        share: Weight of each memory.
        shape: Changes that it knows of.
        exposure: Days on the clock in which they happened.
        elapsed: Days on the clock since the last visit, as far as they leave doubt: one a page.
        waited: Days since the last visit: one a page.
        speed: Days on the clock in a day, of late: one a page.
        unsure: Variance of that over its square: one a page.

    Examples:
        A page of one memory, one change in ten days, was visited ten days ago. Its copy is fresh
        with chance 10 / (10 + 10):

        >>> one = np.ones((1, 1))
        >>> page = Beliefs(one, one, 10 * one, np.array([10.0]), np.array([10.0]))
        >>> page.fresh
        array([0.5])
        >>> page.age.round(3), [end.round(3) for end in page.rate_band()]
        (array([3.069]), [array([0.005]), array([0.3])])
    """

    share: Floats
    shape: Floats
    exposure: Floats
    elapsed: Floats
    waited: Floats
    speed: Floats | float = 1.0
    unsure: Floats | float = 0.0

    @classmethod
    def of(cls, state: RecrawlState, rows: Ints, now: float, clocks: Floats | None = None) -> Self:
        """Beliefs on pages at an instant, in days after 1970, no sooner than the last visit.

        Args:
            state: Facts about the pages.
            rows: The pages.
            now: The instant.
            clocks: What `forecast_clocks` gives for all nodes, where it is known already.
        """
        leaf = place = state.sections.leaf[rows]
        if clocks is None:
            clocks, place = clocks_of_pages(state, rows)
        prior = state.relatives.prior(state.sections, rows)
        shape, exposure = state.memories.states(rows, prior)
        return cls(
            share=state.memories.share[:, rows],
            shape=shape,
            exposure=exposure,
            elapsed=effective_elapsed(
                state, rows, (shape, exposure), forecast_days(state, clocks, rows, now, place), now
            ),
            waited=np.maximum(now - state.last[rows], 0.0),
            speed=_speed(state, clocks[place, -1], rows),
            unsure=_unsure(state, leaf) + state.corrections.off(rows),
        )

    @property
    def rate(self) -> Floats:
        """Expected changes a day, while the section is as active as it was lately."""
        return np.asarray((self.share * self.shape / self.exposure).sum(axis=0) * self.speed)

    def rate_band(self, level: float = 0.9) -> tuple[Floats, Floats]:
        """Ends of the band that holds the rate with a probability.

        That of the one Gamma distribution with the same mean and variance, of which what is unsure
        of the clock is a part.
        """
        shape, exposure = self._gamma(self.unsure)
        tail = (1 - level) / 2
        low, high = (gamma_quantile(shape, each) / exposure for each in (tail, 1 - tail))
        return np.minimum(low, self.rate), np.maximum(high, self.rate)

    @property
    def as_one(self) -> tuple[Floats, Floats]:
        """Shape and exposure of the Gamma distribution with the mixture's mean and variance."""
        return self._gamma(0.0)

    def _gamma(self, unsure: Floats | float) -> tuple[Floats, Floats]:
        mean = self.rate
        squares = (self.share * self.shape * (self.shape + 1) / self.exposure**2).sum(axis=0)
        squares *= self.speed**2 * (1 + unsure)
        variance = np.maximum(squares - mean**2, _NO_TIME * mean**2)
        return mean**2 / variance, mean / variance

    @property
    def fresh(self) -> Floats:
        """Chance that each copy is still what its page is."""
        return np.asarray((self.share * self._unchanged).sum(axis=0))

    @property
    def pull(self) -> Floats:
        """What a clock that runs faster by a little share takes from each chance, over the share.

        The derivative of `fresh` by the logarithm of the elapsed time, without its sign.
        """
        steps = self.shape * self.elapsed / (self.exposure + self.elapsed)
        return np.asarray((self.share * steps * self._unchanged).sum(axis=0))

    @property
    def age(self) -> Floats:
        r"""Expected days since each copy went stale, 0 for one that is fresh.

        With days of the clock spread evenly over the days since the last visit, $\tau$,

        $$ \frac{\tau}{e} \sum_k w_k \int_0^e 1 - \left(\frac{b_k}{b_k + u}\right)^{a_k} du . $$
        """
        less = 1 - self.shape
        less = np.where(np.abs(less) < _NEAR_ONE, -_NEAR_ONE, less)
        elapsed = np.maximum(self.elapsed, _NO_TIME)
        kept = self.exposure * np.expm1(less * np.log1p(elapsed / self.exposure)) / less
        share_stale = (self.share * (1 - kept / elapsed)).sum(axis=0)
        return np.asarray(self.waited * np.clip(share_stale, 0.0, 1.0))

    @property
    def _unchanged(self) -> Floats:
        return np.exp(-self.shape * np.log1p(self.elapsed / self.exposure))


@dataclass(frozen=True, slots=True)
class ExpectedFreshness:
    """How fresh many copies are expected to be, and how sure that is.

    Args:
        copies: How many there are.
        fresh: Expected number of fresh ones.
        variance: Of that number.
        age: Sum of the expected days since each went stale.
    """

    copies: int = 0
    fresh: float = 0.0
    variance: float = 0.0
    age: float = 0.0

    def __add__(self, other: ExpectedFreshness) -> ExpectedFreshness:
        """Of both together, which are independent."""
        return ExpectedFreshness(
            self.copies + other.copies,
            self.fresh + other.fresh,
            self.variance + other.variance,
            self.age + other.age,
        )

    def band(self, deviations: float = 1.645) -> tuple[float, float]:
        """Ends of the band of the share of fresh copies, so many standard deviations wide.

        >>> ExpectedFreshness(copies=100, fresh=90.0, variance=9.0).band(2.0)
        (0.84, 0.96)
        """
        half = deviations * max(self.variance, 0.0) ** 0.5  # rounding leaves less than nothing
        low, high = max(self.fresh - half, 0.0), min(self.fresh + half, float(self.copies))
        return low / self.copies, high / self.copies


def _speed(state: RecrawlState, days: Floats, rows: Ints) -> Floats:
    """Days on the clock of forecasts in a day, from those in all the time that clocks know of."""
    speed: Floats = days / (BINS * state.clocks.width) * forecast_factor(state, rows)
    return speed


def _unsure(state: RecrawlState, leaf: Ints) -> Floats:
    """Variance of the speed of clocks over its square.

    A clock that rests on D changes, found lately or assumed, is off by a share of 1 / sqrt(D),
    and so is the factor of its forecasts.
    """
    nodes = distinct(leaf)
    smoothed = (1 + state.clocks.kept) / (1 - state.clocks.kept)
    found = state.clocks.found[nodes].sum(axis=1) / smoothed
    off = _off(state, nodes, found)[nodes.searchsorted(leaf)]
    return np.asarray(off + state.forecast_bias.unsure(leaf))


def _off(state: RecrawlState, nodes: Ints, found: Floats) -> Floats:
    """Variance of the pace of nodes over its square, by the changes found there."""
    trust, trusting = trust_of_nodes(state)[nodes], state.clocks.trusting
    near, far = (1 / (each + found) for each in (trusting.near, trusting.far))
    return np.minimum(far + trust * (near - far), 1.0)


def for_each_block(state: RecrawlState, now: float, work: Callable[[slice, Beliefs], None]) -> None:
    """Call `work` with what is believed of all pages at an instant, block by block."""
    clocks, rows = forecast_clocks(state), np.arange(len(state.last))
    over_blocks(lambda some: work(some, Beliefs.of(state, rows[some], now, clocks)), len(rows))


def let_clocks_run(state: RecrawlState, now: float) -> None:
    """Let a burst fade until an instant; nothing else is worked out anew, as the policy would."""
    if state.clocks.advance(now):
        read_clocks(state, state.sections.levels)


def freshness(
    state: RecrawlState,
    now: float,
    *,
    rows: Ints | None = None,
    of: int | None = None,
    clocks: Floats | None = None,
) -> ExpectedFreshness:
    r"""How fresh copies are at an instant, in days after 1970.

    A copy is fresh or not, with chance $p$ and variance $p (1 - p)$; what is unsure of its own rate
    is in $p$ already. What is unsure of a clock, all pages that go by it share. A clock that rests
    on $D$ changes, found lately or assumed, is off by a share of $1 / \sqrt{D}$. With the pulls
    $g$ of clocks on the chances of pages the variance is

    $$ \sum_{\text{pages}} p (1 - p)
       + \sum_{\text{sections}} \frac{(\sum g)^2}{D_{\text{section}}}
       + \frac{(\sum_{\text{all}} g)^2}{D_{\text{crawl}}} . $$

    Args:
        state: Facts about the pages.
        now: The instant.
        rows: The pages; None for all of them.
        of: How many pages there are, where these were drawn from them at random: the sampling error
            is then part of the variance.
        clocks: What `forecast_clocks` gives for all nodes, where it is known already.
    """
    which = np.arange(len(state.last)) if rows is None else rows
    count = len(which)
    if not count:
        return ExpectedFreshness()
    chance, pull, age = np.empty(count), np.empty(count), np.empty(count)
    known = forecast_clocks(state) if clocks is None else clocks

    def work(some: slice) -> None:
        beliefs = Beliefs.of(state, which[some], now, known)
        chance[some], pull[some], age[some] = beliefs.fresh, beliefs.pull, beliefs.age

    over_blocks(work, count)
    whole = count if of is None else of
    times = whole / count
    alone = float(np.sum(chance * (1 - chance)))
    drawn = whole * (times - 1) * float(np.var(chance))
    return ExpectedFreshness(
        copies=whole,
        fresh=times * float(chance.sum()),
        variance=times * alone
        + drawn
        + in_common(state, state.sections.leaf[which], pull, 1 / times),
        age=times * float(age.sum()),
    )


def in_common(state: RecrawlState, leaf: Ints, pull: Floats, share: float) -> float:
    """Variance that pages have in common by their clocks, from a share of the pages.

    Args:
        state: Facts about the pages.
        leaf: Node of each page.
        pull: As `Beliefs.pull`: one a page.
        share: Share of the pages that these are.
    """
    clocks, nodes = state.clocks, len(state.sections)
    found = clocks.found[:nodes, -1]
    off = _off(state, np.arange(nodes), found)
    sums = np.bincount(leaf, pull, nodes)
    # A sum over few of many pages is squared with their luck, which is taken out again.
    luck = (1 - share) * np.bincount(leaf, pull**2, nodes)
    squares = np.maximum(sums**2 - luck, 0.0) / share**2
    crawl = (float(sums.sum()) / share) ** 2 / (clocks.trusting.root + float(found[0]))
    return float(np.sum(squares * off)) + crawl
