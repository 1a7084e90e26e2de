r"""Rates that may move: Gamma states a page that forget at different paces.

Before a gap is learned, memory $k$ keeps the part $\delta_k$ of what it knows beyond the prior
$a_0, b_0$,

$$ a \leftarrow a_0 + \delta_k (a - a_0), \qquad b \leftarrow b_0 + \delta_k (b - b_0) , $$

so a memory of 0.95 rests on about the last twenty visits, whatever the unit of time. Memories
are weighed by how well they have forecast: $L_k \leftarrow 0.98 L_k + \ln p_k$ with the chance
$p_k$ that memory $k$ gave to what the visit showed, and $w_k \propto W_k e^{L_k}$, where $W$ are
the weights that the pages of the site have come to on the mean.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from operator import mul
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.equal_keys import Groups
from recrawl.rates.gamma_state import step

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.policies.pages import Outcomes
    from recrawl.policies.recrawl.announced import Streams

_LEAST = 1e-3  # shape or exposure
_LEAST_CHANCE = 1e-9
_SCORE_KEPT = 0.98
_SITE_STEP = 0.002
_LEAST_SHARE = 0.02  # of a memory on a site, so that it can come back
_FIRST = np.zeros(1, np.int64)


@dataclass(slots=True)
class Memories:
    """Facts about each page's rate: one row per memory, one column per page.

    Attributes:
        kept: What each memory keeps at a visit.
        shape: Changes that each memory knows of beyond the prior's.
        exposure: Days on the clock beyond the prior's.
        score: How well each memory has forecast.
        share: Weight of each memory.
        site_share: Weights that new pages of a site start with: one row per site.
    """

    kept: tuple[float, ...]
    shape: Floats
    exposure: Floats
    score: Floats
    share: Floats
    site_share: Floats

    @classmethod
    def start(cls, kept: tuple[float, ...]) -> Memories:
        """Memories of no pages."""
        none = np.empty((len(kept), 0))
        return cls(kept, none, none, none, none, np.full((1, len(kept)), 1 / len(kept)))

    def grow(self, site: Ints) -> None:
        """Make room for pages on these sites, of which nothing is known."""
        none = np.zeros((len(self.kept), len(site)))
        self.shape = np.append(self.shape, none, axis=1)
        self.exposure = np.append(self.exposure, none, axis=1)
        self.score = np.append(self.score, none, axis=1)
        self.share = np.append(self.share, self.site_share[site].T, axis=1)

    def grow_sites(self, sites: int) -> None:
        """Make room for sites that have learned with all others so far."""
        new = np.repeat(self.site_share[:1], sites - len(self.site_share), axis=0)
        self.site_share = np.append(self.site_share, new, axis=0)

    def states(self, rows: Ints, prior: tuple[float, Floats]) -> tuple[Floats, Floats]:
        """Shape and exposure of pages with a prior of their own: one row per memory."""
        shape = np.maximum(self.shape[:, rows] + prior[0], _LEAST)
        return shape, np.maximum(self.exposure[:, rows] + prior[1], _LEAST)

    def rates(self, rows: Ints, prior: tuple[float, Floats]) -> Floats:
        """Mean rate of pages."""
        shape, exposure = self.states(rows, prior)
        return np.asarray((self.share[:, rows] * shape / exposure).sum(axis=0))

    def rate(self, row: int, prior: tuple[float, float]) -> float:
        """The same of one page, in a tenth of the time."""
        pairs = zip(self.shape[:, row].tolist(), self.exposure[:, row].tolist(), strict=True)
        rates = [
            max(shape + prior[0], _LEAST) / max(exposure + prior[1], _LEAST)
            for shape, exposure in pairs
        ]
        shares = self.share[:, row].tolist()
        return float(sum(map(mul, shares, rates)))

    def chance(
        self, rows: Ints, states: tuple[Floats, Floats], elapsed: Floats
    ) -> tuple[Floats, Floats]:
        """Chance that pages have changed: by each memory, and by all together."""
        return chance_of(states, self.share[:, rows], elapsed)

    def learn(
        self,
        rows: Ints,
        site: Ints,
        prior: tuple[float, Floats],
        streams: Streams,
        outcomes: Outcomes,
    ) -> None:
        """Learn what visits showed; days and ages are on the pages' clocks."""
        states = self.states(rows, prior)
        announced = streams.was_announced
        false = outcomes.false_changes
        if false is not None:  # what was announced and found is a change
            false = np.where(announced, 0.0, false)
        chance, _ = self.chance(rows, states, streams.unannounced)
        kept, memories = np.array(self.kept)[:, None], len(self.kept)
        shape, exposure = step(  # of all memories in one row
            np.maximum(prior[0] + kept * (states[0] - prior[0]), _LEAST).ravel(),
            np.maximum(prior[1] + kept * (states[1] - prior[1]), _LEAST).ravel(),
            np.concatenate([streams.gaps] * memories),
            np.concatenate([outcomes.changed] * memories),
            np.concatenate([outcomes.age] * memories),
            false_changes=None if false is None else np.concatenate([false] * memories),
        )
        self.shape[:, rows] = shape.reshape(states[0].shape) - prior[0]
        self.exposure[:, rows] = exposure.reshape(states[1].shape) - prior[1]
        reported = outcomes.reported(chance)
        seen = np.where(outcomes.changed, reported, 1 - reported)
        self._weigh(rows, site, np.where(announced, 0.0, np.log(_clipped(seen))))

    def stayed(self, rows: Ints, days: Floats) -> None:
        """Learn that pages did not change for some days on their clocks, by others' word."""
        self.exposure[:, rows] += days

    def _weigh(self, rows: Ints, site: Ints, gain: Floats) -> None:
        """Weigh the memories by what they forecast."""
        score = _SCORE_KEPT * self.score[:, rows] + gain
        share = self.site_share[site].T * np.exp(score - score.max(axis=0))
        share /= share.sum(axis=0)
        self.score[:, rows], self.share[:, rows] = score, share
        fold(self.site_share, site, _SITE_STEP * share.T, 1 - _SITE_STEP)
        np.maximum(self.site_share, _LEAST_SHARE, out=self.site_share)
        self.site_share /= self.site_share.sum(axis=1, keepdims=True)


def chance_of(
    states: tuple[Floats, Floats], share: Floats, elapsed: Floats
) -> tuple[Floats, Floats]:
    """Chance of a change in some days on the clock: by each memory, and by all together.

    Args:
        states: Shape and exposure of pages, one row per memory; other rows between, if any.
        share: Weight of each memory.
        elapsed: The days.
    """
    shape, exposure = states
    each = -np.expm1(-shape * np.log1p(elapsed / exposure))
    return each, _clipped((share.reshape(shape.shape) * each).sum(axis=0))


def fold(totals: Floats, site: Ints, rows: Floats, kept: float | Floats) -> None:
    """Add rows to the total of their site one after the other, which keeps a part each time.

    Args:
        totals: One row per site.
        site: Site of each row.
        rows: What is added.
        kept: The part: one for all columns, or one per column.
    """
    count = len(site)
    if count == 1:  # as in a crawl of few pages at every tick: the same, at once
        totals[site] = totals[site] * kept + rows
        return
    if count and len(totals) == 1:  # nothing to sort: the same again
        after = np.arange(count - 1, -1, -1)[:, None]
        sums = np.add.reduceat(rows * kept**after, _FIRST, axis=0)
        totals *= kept ** np.array([[count]])
        totals += sums
        return
    groups = Groups.of(site)
    order, starts, counts = groups.order, groups.starts, groups.counts
    sites = site[order[starts]]
    after = (starts + counts).repeat(counts) - 1 - np.arange(len(order))
    sums = np.add.reduceat(rows[order] * kept ** after[:, None], starts, axis=0)
    totals[sites] = totals[sites] * kept ** counts[:, None] + sums


def _clipped(chance: Floats) -> Floats:
    return np.minimum(np.maximum(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
