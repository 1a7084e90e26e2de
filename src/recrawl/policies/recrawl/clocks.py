r"""Clocks of sections: time that runs fast while a section is active and slowly while it sleeps.

The last 64 *bins* of time are remembered for every node of the tree of sections: the changes
found in each, $D$, and the changes that were expected there, $E$. A change that a visit finds
is spread backwards over the gap in which it must have happened, so that the clock is revised
where the change was and not where it was noticed. Smoothed by a two-sided exponential kernel
to $\tilde D, \tilde E$, they give the *pace* of node $v$ in bin $b$,

$$ m_{v,b} = \frac{\kappa m_{\text{parent},b} + \tilde D_b}{\kappa + \tilde E_b} , $$

the mean of a Gamma prior around the pace of the node above: with no evidence the parent's, with
evidence the node's own. Above the crawl the pace is 1. There are two such clocks, one that
trusts the node (small $\kappa$) and one that trusts what lies above it (large $\kappa$), and a
clock that is used is a mixture of both, by the trust that the site's own visits have taught.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.equal_keys import Groups, distinct

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.recrawl.sections import Sections

BINS = 64
_SLOWEST, _FASTEST = 0.05, 50.0
# Chosen on made sites of 300 pages, with and without sweeps of whole sections.
_ROOT_OF_FORECASTS = 20.0
_EVEN = np.ones((2, 1, BINS))  # paces above the crawl, by both clocks
_NONE = np.full(1, -1)
_EDGES = np.arange(BINS + 1.0)
_ROWS = 512  # of bins, worked on at a time: they stay in the cache
_AT_ONCE = 1 << 14  # of bins, copied at a time: a few megabytes


@dataclass(frozen=True, slots=True)
class Trusting:
    """How clocks weigh a node's own evidence against what lies above it.

    Args:
        root: How many changes the pace above a crawl or a host counts for.
        near: How many the pace above a node counts for on the near clock, which trusts the node.
        far: The same on the far clock.
    """

    root: float = 10.0
    near: float = 0.25
    far: float = 20.0


@dataclass(slots=True)
class Clocks:
    """Facts about the activity of every node: one row per node, one column per bin.

    Attributes:
        width: Days in a bin.
        scale: Days in which the kernel falls by 1/e.
        trusting: How a node's evidence is weighed.
        newest: Number of the newest bin; bin k runs from k to k + 1 widths after 1970.
        counts: Changes found and changes expected, smoothed: one table of each.
        paces: Pace by the clock that trusts the node, and by the one that trusts the node above.
        trust: Weight that the near clock had when each node was last read.
        sums: Days on the clock from the oldest bin to the beginning of each bin, and to the end.
    """

    width: float
    scale: float
    trusting: Trusting
    newest: int
    counts: Floats
    paces: Floats
    trust: Floats
    sums: Floats

    @classmethod
    def start(cls, width: float, scale: float, trusting: Trusting, now: float) -> Clocks:
        """Clocks of a crawl that begins now, with no sections yet."""
        return cls(
            width=width,
            scale=scale,
            trusting=trusting,
            newest=int(np.floor(now / width)),
            counts=np.zeros((2, 1, BINS)),
            paces=np.ones((2, 1, BINS)),
            trust=np.zeros(1),
            sums=np.arange(BINS + 1.0)[None] * width,
        )

    @property
    def found(self) -> Floats:
        """Changes found in each bin, smoothed."""
        return np.asarray(self.counts[0])

    @property
    def expected(self) -> Floats:
        """Changes that were expected in each bin, smoothed."""
        return np.asarray(self.counts[1])

    @property
    def near(self) -> Floats:
        """Pace in each bin by the clock that trusts the node."""
        return np.asarray(self.paces[0])

    @property
    def far(self) -> Floats:
        """Pace in each bin by the clock that trusts the node above."""
        return np.asarray(self.paces[1])

    @property
    def oldest(self) -> float:
        """When the oldest bin begins, in days after 1970."""
        return (self.newest - BINS + 1) * self.width

    @property
    def kept(self) -> float:
        """What the kernel leaves of a change one bin away."""
        return float(np.exp(-self.width / self.scale))

    def advance(self, now: float) -> bool:
        """Begin the bin that holds `now`; whether it is a new one."""
        bins = int(np.floor(now / self.width)) - self.newest
        if bins <= 0:
            return False
        self.newest += bins
        old = max(BINS - bins, 0)
        fade = self.kept ** np.arange(max(bins - BINS, 0) + 1.0, bins + 1)

        def work(some: slice) -> None:
            smoothed = self.counts[:, some]
            after = smoothed[..., -1:] * fade
            smoothed[..., :old] = smoothed[..., BINS - old :].copy()
            smoothed[..., old:] = after

        over_blocks(work, len(self.trust), _ROWS)
        return True

    def grow(self, nodes: int) -> None:
        """Make room for new nodes, of which nothing is known; they are to be read next."""
        if nodes <= len(self.trust):
            return
        room = max(nodes, 5 * len(self.trust) // 4)
        # One after the other: each is let go before the next is copied.
        self.counts = _longer(self.counts, room, axis=1)
        self.paces = _longer(self.paces, room, axis=1)
        self.trust = _longer(self.trust, room, axis=0)
        self.sums = _longer(self.sums, room, axis=0)

    def part(self, new: int, above: int) -> None:
        """Let a new node know what was known of the one above it, whose pages it had all."""
        self.counts[:, new] = self.counts[:, above]

    def rebin(self, width: float, scale: float) -> None:
        """Give the bins another width; what was known of a time is known of it still."""
        old = (self.newest + np.arange(1.0 - BINS, 2.0)) * self.width
        newest = int(np.floor((self.newest + 0.5) * self.width / width))
        new = (newest + np.arange(1.0 - BINS, 2.0)) * width
        common = np.minimum(new[1:], old[1:, None]) - np.maximum(new[:-1], old[:-1, None])
        # Smoothed sums grow with the kernel's length.
        share = np.maximum(common, 0.0) * (scale / self.scale / width)
        for smoothed in self.counts:
            for start in range(0, len(smoothed), _AT_ONCE):
                smoothed[start : start + _AT_ONCE] = smoothed[start : start + _AT_ONCE] @ share
        self.width, self.scale, self.newest = width, scale, newest

    def pace(self, nodes: Ints) -> Floats:
        """Pace of nodes as it is used, in each bin: one row per node."""
        return self.used(nodes, self.paces_of(nodes))

    def paces_of(self, nodes: Ints) -> Floats:
        """Near and far paces of nodes: one table of each."""
        return self.paces.take(nodes, axis=1)

    def used(self, nodes: Ints, paces: Floats) -> Floats:
        """Paces as they are used, from the near and far ones of nodes."""
        return _mixed(paces, self.trust.take(nodes)[:, None])

    def pace_now(self, nodes: Ints) -> Floats:
        """Pace of nodes in the newest bin."""
        return _mixed(self.paces[:, nodes, -1], self.trust.take(nodes))

    def elapsed(
        self, nodes: Ints, last: Floats, now: float | Floats, sums: Floats | None = None
    ) -> Floats:
        """Days on the nodes' clocks since `last`, or on those in the same rows of other sums."""
        sums = self.sums if sums is None else sums
        if isinstance(now, float) and len(sums) <= len(nodes):  # each node once, not each page
            until = self._readings(sums, now).take(nodes)
            return np.asarray(until - self._reading(nodes, last, sums))
        count = len(nodes)
        ends = np.empty(2 * count)
        ends[:count], ends[count:] = now, last
        readings = self._reading(np.concatenate([nodes, nodes]), ends, sums)
        return np.asarray(readings[:count] - readings[count:])

    def elapsed_at(self, node: int, last: float, now: float) -> float:
        """The same of one node, in a tenth of the time."""
        sums = self.sums[node]
        return self._reading_at(sums, now) - self._reading_at(sums, last)

    def _reading_at(self, sums: Floats, at: float) -> float:
        """What the clock shows whose sums these are; see `_reading`."""
        place = (at - self.oldest) / self.width
        begun = int(min(max(place, 0), BINS - 1))
        inside = max(place - begun, 0.0) * float(sums[begun + 1] - sums[begun])
        return float(sums[begun]) + inside + min(place, 0.0) * self.width

    def _readings(self, sums: Floats, at: float) -> Floats:
        """What all clocks show at one instant; see `_reading`."""
        place = (at - self.oldest) / self.width
        begun = int(min(max(place, 0), BINS - 1))
        inside = max(place - begun, 0.0) * (sums[:, begun + 1] - sums[:, begun])
        return np.asarray(sums[:, begun] + inside + min(place, 0.0) * self.width)

    def _reading(self, nodes: Ints, at: Floats, of_nodes: Floats) -> Floats:
        """What the nodes' clocks show, 0 when the oldest bin begins.

        Before that a day is a day; after the newest bin its pace goes on.
        """
        place = (at - self.oldest) / self.width
        bins = np.floor(np.minimum(np.maximum(place, 0.0), BINS - 1.0))
        first = nodes * (BINS + 1) + bins.astype(np.int64)
        sums = of_nodes.ravel()
        begun = sums.take(first)
        inside = np.maximum(place - bins, 0.0) * (sums.take(first + 1) - begun)
        return np.asarray(begun + inside + np.minimum(place, 0.0) * self.width)

    def overlaps(self, last: Floats, now: Floats) -> Floats:
        """Days that each gap from `last` to `now` shares with each bin: one row per gap."""
        edges = self.oldest + self.width * _EDGES
        inside = np.maximum(edges, last[:, None])
        np.minimum(inside, np.maximum(now, last)[:, None], out=inside)
        return np.asarray(inside[:, 1:] - inside[:, :-1])

    def holds(self, instants: Floats) -> Floats:
        """1 in the bin that holds each instant, 0 in all others: a row an instant."""
        at = np.minimum(np.floor((instants - self.oldest) / self.width), BINS - 1)
        return np.asarray(at[:, None] == np.arange(BINS), np.float64)

    def learn(self, sections: Sections, leaf: Ints, counts: Floats) -> None:
        """Count what visits found and what was expected of them, from their leaves upwards.

        Both are smoothed in place: they are the largest of all that is made to learn from visits.

        Args:
            sections: The tree.
            leaf: Node of each visit.
            counts: Changes found and changes expected of each in each bin: one table of each.
        """
        _smooth(counts, self.kept)
        nodes = leaf
        while len(nodes):
            nodes, counts = _summed(nodes, counts)
            self.counts[:, nodes] = self.counts.take(nodes, axis=1) + counts
            nodes = sections.parent.take(nodes)
            below = nodes >= 0
            if not below.all():  # the crawl has none above it
                nodes, counts = nodes[below], counts[:, below]

    def read(self, sections: Sections, levels: list[Ints], trust: Floats) -> None:
        """Set the clocks of some nodes by what was found, from the crawl downwards.

        Args:
            sections: The tree.
            levels: The nodes by depth, the crawl first.
            trust: Weight of the near clock at each node of the tree.
        """
        for nodes in levels:
            over_blocks(partial(self._read, sections, nodes, trust), len(nodes), _ROWS)

    def _read(self, sections: Sections, level: Ints, trust: Floats, some: slice) -> None:
        nodes = level[some]
        parent = sections.parent.take(nodes)
        # Only the crawl has none above it, and no other node is on its level.
        above = _EVEN if parent[0] < 0 else self.paces.take(parent, axis=1)
        paces = self._paces(sections, nodes, above, self.trusting.root)
        self.paces[:, nodes] = paces
        self.trust[nodes] = trust = trust.take(nodes)
        self.sums[nodes, 1:] = (_mixed(paces, trust[:, None]) * self.width).cumsum(axis=1)

    def _paces(self, sections: Sections, nodes: Ints, above: Floats, root: float) -> Floats:
        """Near and far paces of nodes, from those of the nodes above them."""
        found, expected = self.counts.take(nodes, axis=1)
        (top,) = sections.is_top.take(nodes).nonzero()
        paces, strengths = np.empty((2, *found.shape)), (self.trusting.near, self.trusting.far)
        # Not both clocks at once: numpy takes longest for arrays of different shapes.
        for pace, prior, strength in zip(paces, above, strengths, strict=True):
            weight = expected + strength
            if len(top):
                weight[top] = expected[top] + root
            # The same as the weighted mean, and right where a strength is infinite.
            mean = prior + (found - expected * prior) / weight
            np.minimum(np.maximum(mean, _SLOWEST), _FASTEST, out=pace)
        return paces

    def forecast(
        self, sections: Sections, nodes: Ints, trust: Floats, levels: list[Ints]
    ) -> Floats:
        """Sums of clocks that forecasts go by: sections hardly tell others that they are active.

        To look at a page because another section stirred costs a visit; to believe that it has
        changed would be wrong of most.

        Args:
            sections: The tree.
            nodes: The nodes, rising.
            trust: Weight of the near clock at each node of the tree.
            levels: The nodes from the crawl to these, by depth.

        Returns:
            One row per node that was asked for, as `sums`.
        """
        sums = np.zeros((len(nodes), BINS + 1))
        # Of the level above only what the next one hangs on is kept: most nodes have none below.
        above, paces = _NONE, _EVEN
        for depth, level in enumerate(levels):
            few = len(level) <= _ROWS
            below = levels[depth + 1] if depth + 1 < len(levels) else level[:0]
            inner = level if few else distinct(sections.parent[below])
            kept = np.empty((2, len(inner), BINS))
            for start in range(0, len(level), _ROWS):
                some = level[start : start + _ROWS]
                found = self._forecast_paces(sections, some, above, paces)
                if few:
                    kept = found
                else:
                    place, known = _places(inner, some)
                    kept[:, place[known]] = found[:, known]
                place, known = _places(nodes, some)
                if known.any():
                    pace = _mixed(found[:, known], trust.take(some[known])[:, None])
                    sums[place[known], 1:] = (pace * self.width).cumsum(axis=1)
            above, paces = inner, kept
        return sums

    def _forecast_paces(
        self, sections: Sections, nodes: Ints, above: Ints, paces: Floats
    ) -> Floats:
        """Near and far paces of nodes, from those of the nodes above them, which are all known."""
        place = above.searchsorted(sections.parent.take(nodes))
        root = _ROOT_OF_FORECASTS * self.trusting.root
        return self._paces(sections, nodes, paces.take(place, axis=1), root)


def _mixed(paces: Floats, trust: Floats) -> Floats:
    near, far = paces
    used = near - far
    used *= trust
    used += far
    return np.asarray(used)


def _places(among: Ints, nodes: Ints) -> tuple[Ints, Bools]:
    """Where nodes stand among others, rising, and whether they do."""
    if not len(among):
        return np.zeros(len(nodes), np.int64), np.zeros(len(nodes), np.bool_)
    place = np.minimum(among.searchsorted(nodes), len(among) - 1)
    return place, among.take(place) == nodes


def _longer(rows: Floats, count: int, axis: int) -> Floats:
    """The rows along an axis, followed by zeros, which take no memory until they are written."""
    shape = list(rows.shape)
    have, shape[axis] = shape[axis], count
    room = np.zeros(shape)
    room[(slice(None),) * axis + (slice(have),)] = rows
    return room


def _smooth(counts: Floats, kept: float) -> None:
    """Make two-sided exponential sums of the bins of each row of both tables."""

    def work(some: slice) -> None:
        bins = counts[:, some].T
        sums = np.empty((BINS, 2, *bins.shape[1:]))  # bins first: what is added lies together
        sums[:, 0], sums[:, 1] = bins, bins[::-1]  # forwards, and backwards
        step = 1
        while step < BINS:  # each round doubles how far the sums reach
            later = sums[step:]
            later += kept**step * sums[:-step]
            step *= 2
        forwards = sums[:, 0]
        forwards += sums[::-1, 1]
        np.subtract(forwards, bins, out=bins)

    over_blocks(work, counts.shape[1], _ROWS // 2)


def _summed(nodes: Ints, counts: Floats) -> tuple[Ints, Floats]:
    """Each node once, with the sums of its rows."""
    if len(nodes) == 1:
        return nodes, counts
    groups = Groups.of(nodes)
    order, starts = groups.order, groups.starts
    sums = np.add.reduceat(counts.take(order, axis=1), starts, axis=1)
    return nodes[order[starts]], sums
