r"""Priors that relatives share: how fast sections and kin are, relative to the whole crawl.

The prior of a page is $\text{Gamma}(a_0, b_0 / \rho)$, where $\rho = r q$ says how much faster
than the crawl its section and its kin are. A node $v$ with $N_v$ visited pages below it, whose
rates relative to the crawl's mean $\mu_0 = a_0 / b_0$ and to their kin add up to $S_v$, has

$$ r_v = \frac{K r_{\text{parent}} + S_v / c}{K + N_v}, \qquad r_{\text{crawl}} = 1, \qquad
   c = \frac{K + S_{\text{crawl}}}{K + N_{\text{crawl}}} , $$

and a kin group likewise around 1. Each page counts once, with the rate it had at its last visit.
The crawl's own prior is fitted to the means and mean logarithms of all visited pages' states.

Ratios are relative to each other and to that prior, so their common scale is free: pages that were
fast once would make all ratios large, the prior slow, and pages relative to it fast again. The
divisor $c$, the mean over all pages, holds the scale where it is. Until the prior is fitted it
stands still, and $c = 1$: ratios then say how fast the crawl itself is.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import digamma_of, trigamma_of
from recrawl.policies.recrawl.prior_sums import AssumedRates, PriorSums

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.recrawl.memories import Memories
    from recrawl.policies.recrawl.sections import Sections

_SLOWEST, _FASTEST = 0.02, 50.0
_MOST = 1000.0  # times the crawl's mean rate that one page may count for
_LEAST_SHAPE, _MOST_SHAPE = 0.05, 5.0
_NEWTON_STEPS = 5


@dataclass(frozen=True, slots=True, eq=False)
class RateTotals:
    """What pages say of sections and kin, added up.

    Args:
        node_rates: Rates of the pages below each node.
        node_pages: How many of them were visited.
        kin_rates: Rates of the pages of each kin group, then those of pages without kin.
        kin_pages: How many of them were visited.
    """

    node_rates: Floats
    node_pages: Floats
    kin_rates: Floats
    kin_pages: Floats

    def __add__(self, other: RateTotals) -> RateTotals:
        """Of the pages of both."""
        return RateTotals(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def take(self, nodes: Ints, kin: Ints) -> RateTotals:
        """Those of some nodes and kin groups; pages of other groups count as without kin."""
        return RateTotals(
            self.node_rates[nodes],
            self.node_pages[nodes],
            _with_others(self.kin_rates, kin),
            _with_others(self.kin_pages, kin),
        )


@dataclass(slots=True)
class Relatives:
    """How fast relatives are: one row per page, a node, a kin group.

    Attributes:
        strength: How many pages a prior counts for, $K$.
        shape: Shape of the crawl's prior.
        exposure: Its exposure, in days on the clock.
        visited: Whether a page has been visited since it was found.
        for_node: What each page says of its section's rate.
        for_kin: What it says of its kin's.
        fitted: Whether the crawl's prior has been fitted to its pages.
        node_ratio: Rate of each node over the crawl's.
        kin_ratio: The same of each kin group; the last is for pages without kin.
        rest: What pages say that are left out here; None where all are here.
        others: What the pages of other parts of the crawl say of its prior.
        assumed: Rates of pages before any is visited.
    """

    strength: float
    shape: float
    exposure: float
    visited: Bools
    for_node: Floats
    for_kin: Floats
    node_ratio: Floats
    kin_ratio: Floats
    fitted: bool = False
    rest: RateTotals | None = None
    others: PriorSums = field(default_factory=PriorSums)
    assumed: AssumedRates = field(default_factory=AssumedRates)

    @classmethod
    def start(cls, strength: float, gap: float, assumed: AssumedRates) -> Relatives:
        """Priors before any visit."""
        none, one = np.empty(0), np.ones(1)
        visited = np.empty(0, np.bool_)
        return cls(*(strength, *assumed.gamma(gap), visited, none, none, one, one), assumed=assumed)

    def set_gap(self, gap: float) -> None:
        """Follow the gap while nothing better is known."""
        if not self.fitted:
            self.shape, self.exposure = self.assumed.gamma(gap)

    def grow(self, pages: int) -> None:
        """Make room for more pages."""
        self.visited = np.append(self.visited, np.zeros(pages, np.bool_))
        self.for_node = np.append(self.for_node, np.zeros(pages))
        self.for_kin = np.append(self.for_kin, np.zeros(pages))

    def prior(self, sections: Sections, rows: Ints) -> tuple[float, Floats]:
        """Shape and exposure of the priors of pages."""
        return self.shape, self.exposure / self._ratio(sections, rows)

    def prior_of(self, sections: Sections, row: int) -> tuple[float, float]:
        """The same of one page."""
        ratio = self.node_ratio[sections.leaf[row]] * self.kin_ratio[sections.kin[row]]
        return self.shape, self.exposure / float(ratio)

    def _ratio(self, sections: Sections, rows: Ints) -> Floats:
        of_nodes, of_kin = self.node_ratio, self.kin_ratio
        return of_nodes.take(sections.leaf.take(rows)) * of_kin.take(sections.kin.take(rows))

    def learn(self, sections: Sections, rows: Ints, rates: Floats) -> None:
        """Let visited pages tell how fast they are."""
        relative = rates * (self.exposure / self.shape)
        of_node = self.node_ratio.take(sections.leaf.take(rows))
        of_kin = self.kin_ratio.take(sections.kin.take(rows))
        self.for_node[rows] = np.minimum(relative / of_kin, _MOST)
        self.for_kin[rows] = np.minimum(relative / of_node, _MOST)
        self.visited[rows] = True
        self.read(sections)

    def read(self, sections: Sections) -> None:
        """Work out the ratios of all nodes and kin groups."""
        totals = self.totals(sections)
        if self.rest is not None:
            totals += self.rest
        node_rates = totals.node_rates / self._scale(totals.node_rates[0], totals.node_pages[0])
        node_pages, kin_pages = totals.node_pages, totals.kin_pages
        ratio = self.node_ratio = np.ones(len(sections))
        for nodes in sections.levels[1:]:
            above = ratio.take(sections.parent.take(nodes))
            ratio[nodes] = self._mean(above, node_rates.take(nodes), node_pages.take(nodes))
        kin_sums = np.add.reduce(totals.kin_rates), np.add.reduce(kin_pages)
        self.kin_ratio = self._mean(1.0, totals.kin_rates / self._scale(*kin_sums), kin_pages)
        self.kin_ratio[sections.groups] = 1.0

    def totals(self, sections: Sections, among: Bools | None = None) -> RateTotals:
        """What all pages say of sections and kin, or those of some pages."""
        visited, for_node, for_kin = self.visited, self.for_node, self.for_kin
        if among is not None:
            visited = visited & among
            for_node, for_kin = (np.where(among, each, 0.0) for each in (for_node, for_kin))
        leaf, count, groups = sections.leaf, len(sections), sections.groups
        rates, pages = _totals(leaf, for_node, count), _totals(leaf, visited, count)
        for nodes in sections.levels[:0:-1]:
            parent = sections.parent.take(nodes)
            rates += _totals(parent, rates.take(nodes), count)
            pages += _totals(parent, pages.take(nodes), count)
        kin = sections.kin % (groups + 1)  # pages without kin come last
        return RateTotals(
            rates,
            pages,
            _totals(kin, for_kin, groups + 1),
            _totals(kin, visited, groups + 1),
        )

    def _scale(self, rates: float, pages: float) -> float:
        """What rates are divided by: their mean over all pages, once the prior is fitted to them.

        Before that the prior stands still, and ratios say how fast the crawl itself is.
        """
        if not self.fitted:
            return 1.0
        mean = 1 + (rates - pages) / (self.strength + pages)
        return float(min(max(mean, _SLOWEST), _FASTEST))

    def _mean(self, prior: Floats | float, sums: Floats, pages: Floats) -> Floats:
        # The same as the weighted mean, and right where the strength is infinite.
        mean = prior + (sums - pages * prior) / (self.strength + pages)
        return np.minimum(np.maximum(mean, _SLOWEST), _FASTEST)

    def refit(self, sections: Sections, memories: Memories) -> None:
        """Fit the crawl's prior to the longest memory of all visited pages, here and elsewhere."""
        found = self._mean_and_spread(sections, memories)
        if found is None:
            return
        if not self.fitted:
            self.fitted = True
            self.read(sections)
            found = self._mean_and_spread(sections, memories) or found
        mean, spread = found
        self.shape = min(max(_shape_of(spread), _LEAST_SHAPE), _MOST_SHAPE)
        self.exposure = self.shape / mean

    def _mean_and_spread(
        self, sections: Sections, memories: Memories
    ) -> tuple[float, float] | None:
        """Mean rate and spread that the prior is to have; None where too few pages tell."""
        sums, others = self.sums(sections, memories), self.others
        if others.pages:  # outnumber what is assumed, too
            return sums.mean_and_spread(others + self.assumed.sums, self.strength)
        return (sums + self.assumed.sums).mean_and_spread(others, self.strength)

    def sums(self, sections: Sections, memories: Memories) -> PriorSums:
        """What the pages here say of the crawl's prior."""
        rows = np.flatnonzero(self.visited & (memories.exposure[0] > 0))
        ratio = self._ratio(sections, rows)
        shapes, exposures = memories.states(rows, (self.shape, self.exposure / ratio))
        return PriorSums.of(shapes[0], exposures[0] * ratio)


def _with_others(totals: Floats, kin: Ints) -> Floats:
    """Totals of some kin groups, the last of them with those of all others."""
    some = totals[kin]
    some[-1] += totals.sum() - some.sum()
    return some


def _totals(group: Ints, values: Floats | Bools, groups: int) -> Floats:
    """Sum of the values of each group."""
    return np.asarray(np.bincount(group, values, groups), np.float64)


def _shape_of(spread: float) -> float:
    """Shape of the Gamma distribution whose log mean exceeds its mean log by `spread`."""
    shape = (3 - spread + float(np.sqrt((spread - 3) ** 2 + 24 * spread))) / (12 * spread)
    for _ in range(_NEWTON_STEPS):
        miss = float(np.log(shape)) - digamma_of(shape) - spread
        before, shape = shape, max(shape - miss / (1 / shape - trigamma_of(shape)), shape / 10)
        if shape == before:
            break
    return shape
