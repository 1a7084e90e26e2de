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
from functools import cache
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
_MANY = 1 << 14  # visits, for which powers are worked out anew each time: they take much room


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

    def forget(self, rows: Ints) -> None:
        """Let pages start anew."""
        self.shape[:, rows] = self.exposure[:, rows] = 0.0

    def states(self, rows: Ints, prior: tuple[float, Floats]) -> tuple[Floats, Floats]:
        """Shape and exposure of pages with a prior of their own: one row per memory."""
        return (
            _at_least(self.shape.take(rows, axis=1) + prior[0]),
            _at_least(self.exposure.take(rows, axis=1) + prior[1]),
        )

    def rates(self, rows: Ints, prior: tuple[float, Floats]) -> Floats:
        """Mean rate of pages."""
        shape, exposure = self.states(rows, prior)
        return np.asarray(np.add.reduce(self.share.take(rows, axis=1) * shape / exposure))

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
        return chance_of(states, self.share.take(rows, axis=1), elapsed)

    def learn(
        self,
        rows: Ints,
        site: Ints,
        prior: tuple[float, Floats],
        streams: Streams,
        outcomes: Outcomes,
    ) -> None:
        """Learn what visits showed; days and ages are on the pages' clocks."""
        shape, exposure = self.states(rows, prior)
        announced = streams.was_announced
        false = outcomes.false_changes
        if false is not None:  # what was announced and found is a change
            false = np.where(announced, 0.0, false)
        reported = outcomes.reported(_chances(shape, exposure, streams.unannounced))
        kept, memories = np.array(self.kept)[:, None], len(self.kept)
        dated = np.count_nonzero(np.isnan(outcomes.age)) < len(rows)
        after = step(  # of all memories in one row
            _at_least(prior[0] + kept * (shape - prior[0])).ravel(),
            _at_least(prior[1] + kept * (exposure - prior[1])).ravel(),
            np.concatenate([streams.gaps] * memories),
            np.concatenate([outcomes.changed] * memories),
            np.concatenate([outcomes.age] * memories) if dated else None,
            false_changes=None if false is None else np.concatenate([false] * memories),
        )
        self.shape[:, rows] = after[0].reshape(shape.shape) - prior[0]
        self.exposure[:, rows] = after[1].reshape(shape.shape) - prior[1]
        seen = 1 - reported
        np.copyto(seen, reported, where=outcomes.changed)
        self._weigh(rows, site, np.where(announced, 0.0, np.log(_clipped(seen))))

    def stayed(self, rows: Ints, days: Floats) -> None:
        """Learn that pages did not change for some days on their clocks, by others' word."""
        self.exposure[:, rows] += days

    def _weigh(self, rows: Ints, site: Ints, gain: Floats) -> None:
        """Weigh the memories by what they forecast."""
        score = _SCORE_KEPT * self.score.take(rows, axis=1) + gain
        share = self.site_share.take(site, axis=0).T * np.exp(score - np.maximum.reduce(score))
        share /= np.add.reduce(share)
        self.score[:, rows], self.share[:, rows] = score, share
        fold(self.site_share, site, _SITE_STEP * share.T, (1 - _SITE_STEP,))
        np.maximum(self.site_share, _LEAST_SHARE, out=self.site_share)
        self.site_share /= np.add.reduce(self.site_share, axis=1, keepdims=True)


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
    each = _chances(shape, exposure, elapsed)
    return each, _clipped(np.add.reduce(share.reshape(shape.shape) * each))


def _chances(shape: Floats, exposure: Floats, elapsed: Floats) -> Floats:
    """Chance of a change by each memory."""
    return np.asarray(-np.expm1(-shape * np.log1p(elapsed / exposure)))


def fold(totals: Floats, site: Ints, rows: Floats, kept: tuple[float, ...]) -> None:
    """Add rows to the total of their site one after the other, which keeps a part each time.

    Args:
        totals: One row per site.
        site: Site of each row.
        rows: What is added.
        kept: The part: one for all columns, or one per column.
    """
    count = len(site)
    left = powers(kept, count)
    if count == 1:  # as in a crawl of few pages at every tick: the same, at once
        totals[site] = totals[site] * left[1] + rows
        return
    if count and len(totals) == 1:  # nothing to sort: the same again
        sums = np.add.reduceat(rows * left[:count][::-1], _FIRST, axis=0)
        totals *= left[count]
        totals += sums
        return
    groups = Groups.of(site)
    order, starts, counts = groups.order, groups.starts, groups.counts
    sites = site[order[starts]]
    after = (starts + counts).repeat(counts) - np.arange(1, count + 1)
    faded = rows.take(order, axis=0) * left.take(after, axis=0)
    sums = np.add.reduceat(faded, starts, axis=0)
    totals[sites] = totals[sites] * left.take(counts, axis=0) + sums


def powers(of: tuple[float, ...], most: int) -> Floats:
    """Powers of some numbers, at least so many: one row per exponent, from 0 on.

    >>> powers((0.5, 0.1), 2)[2].round(2)
    array([0.25, 0.01])
    """
    return _kept_powers(of, 1 << most.bit_length()) if most < _MANY else _powers(of, most + 1)


@cache
def _kept_powers(of: tuple[float, ...], count: int) -> Floats:
    # They take longer than all else that few visits are folded with.
    powers = _powers(of, count)
    powers.setflags(write=False)
    return powers


def _powers(of: tuple[float, ...], count: int) -> Floats:
    return np.asarray(np.array(of) ** np.arange(count)[:, None])


def _at_least(states: Floats) -> Floats:
    return np.maximum(states, _LEAST)


def _clipped(chance: Floats) -> Floats:
    return np.minimum(np.maximum(chance, _LEAST_CHANCE), 1 - _LEAST_CHANCE)
