"""The policy as its description has it: numbers and loops, a page and a bin at a time.

Changes found and expected are kept as they are, by bin, and smoothed by a double sum whenever
they are read. They are never cleared: a bin that leaves the ring takes no more evidence, but
what it holds still shines into the bins beside it. One site, visits one at a time.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import exp, expm1, floor, log, log1p, log2, prod, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.policies.recrawl.trees import Rows, Tree

KEPT = (1.0, 0.95, 0.8)


def clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


def chance(a: float, b: float, days: float) -> float:
    return -expm1(-a * log1p(days / b))


def fresh(a: float, b: float, days: float) -> float:
    """G - days rho^a, with G = b ln(1 + days / b) where a is 1."""
    rho = b / (b + days)
    return gone(a, b, days) - days * float(rho**a)


def harmonic(a: float, b: float, days: float) -> float:
    return days - gone(a, b, days)


def gone(a: float, b: float, days: float) -> float:
    ratio = log1p(days / b)
    return b * ratio if abs(a - 1) < 1e-12 else b / (a - 1) * -expm1(-(a - 1) * ratio)


def updated(a: float, b: float, days: float, changed: bool) -> tuple[float, float]:
    """Gamma with the moments of what is known after a gap."""
    if not changed:
        return a, b + days
    m1 = a / b * chance(a + 1, b, days) / chance(a, b, days)
    m2 = a * (a + 1) / b**2 * chance(a + 2, b, days) / chance(a, b, days)
    return m1**2 / (m2 - m1**2), m1 / (m2 - m1**2)


@dataclass
class Page:
    last: float
    weights: list[float]
    more: list[tuple[float, float]] = field(default_factory=lambda: [(0.0, 0.0)] * 3)
    scores: list[float] = field(default_factory=lambda: [0.0] * 3)

    def states(self, a0: float, b0: float) -> list[tuple[float, float]]:
        return [(max(a0 + a, 1e-3), max(b0 + b, 1e-3)) for a, b in self.more]

    def chance(self, a0: float, b0: float, days: float) -> float:
        """Chance of a change, by all memories together."""
        each = (chance(a, b, days) for a, b in self.states(a0, b0))
        return clip(sum(w * p for w, p in zip(self.weights, each, strict=True)), 1e-9, 1 - 1e-9)

    def value(self, of: Callable[..., float], a0: float, b0: float, days: float) -> float:
        each = (of(a, b, days) for a, b in self.states(a0, b0))
        return sum(w * v for w, v in zip(self.weights, each, strict=True))

    def rate(self, a0: float, b0: float) -> float:
        return sum(w * a / b for w, (a, b) in zip(self.weights, self.states(a0, b0), strict=True))

    def learn(self, site: list[float], prior: tuple[float, float], days: float, hit: bool) -> None:
        """Section 5, the bank; `site` are the site's weights, and change."""
        a0, b0 = prior
        for k, (a, b) in enumerate(self.states(a0, b0)):
            foretold = chance(a, b, days) if hit else 1 - chance(a, b, days)
            self.scores[k] = 0.98 * self.scores[k] + log(clip(foretold, 1e-9, 1 - 1e-9))
            a1 = max(a0 + KEPT[k] * (a - a0), 1e-3)
            b1 = max(b0 + KEPT[k] * (b - b0), 1e-3)
            a2, b2 = updated(a1, b1, days, hit)
            self.more[k] = (a2 - a0, b2 - b0)
        best = max(self.scores)
        self.weights = [w * exp(s - best) for w, s in zip(site, self.scores, strict=True)]
        self.weights = [w / sum(self.weights) for w in self.weights]
        site[:] = [
            max(old + 0.002 * (w - old), 0.02) for old, w in zip(site, self.weights, strict=True)
        ]
        site[:] = [w / sum(site) for w in site]


@dataclass
class Facts:
    """What the corrections of a page go by."""

    visits: int = 0
    since_change: int | None = None
    level: int = 0

    @property
    def bins(self) -> tuple[tuple[str, object], ...]:
        """The bin of each table, by name."""
        if self.since_change is None:
            by_change = ("never", bin_of(self.visits, (0, 1, 3, 8, 20)))
        else:
            by_change = ("since", bin_of(self.since_change, (0, 1, 2, 3, 5, 8, 16, 32)))
        visits = bin_of(self.visits, (0, 1, 2, 3, 4, 6, 9, 16, 32, 64))
        return ("visits", visits), by_change, ("level", self.level)


def strength_of(bins: Sequence[tuple[float, float, float]]) -> float:
    """Changes that a factor of 1 counts for in a table: by how far it has differed from chance."""
    excess = sum((d - e) ** 2 - v for d, e, v in bins) + 4000 / 30
    varies = max(excess, 0.0) / (sum(e**2 for _, e, _ in bins) + 4000)
    by_chance = (sum(v for *_, v in bins) + 1 / 3) / (sum(e for _, e, _ in bins) + 1)
    return max(10.0, by_chance / varies) if varies else 1e300


def bin_of(count: int, starts: Sequence[int]) -> int:
    return max(start for start in starts if start <= count)


class Scalar:
    """Sections 4 to 7 for one site, at most 49 pages (no refit)."""

    def __init__(self, tree: Tree, first_seen: Sequence[float], now: float, gap: float) -> None:
        self.gap, self.width, self.fall = gap, gap / 16, exp(-1 / 2)
        self.a0, self.b0 = 0.5, gap
        self.above = dict(tree.nodes)
        self.down = sorted(self.above, key=len, reverse=True)  # a node before those below it
        self.leaf, self.kin = tree.leaf, tree.kin
        self.found: dict[Rows, dict[int, float]] = {v: defaultdict(float) for v in self.above}
        self.expected: dict[Rows, dict[int, float]] = {v: defaultdict(float) for v in self.above}
        self.near: dict[Rows, dict[int, float]] = {}
        self.far: dict[Rows, dict[int, float]] = {}
        self.pace: dict[Rows, dict[int, float]] = {}
        self.trust = 0.0
        self.site = [1 / 3] * 3
        self.pages = [Page(last, list(self.site)) for last in first_seen]
        self.for_node: dict[int, float] = {}
        self.for_kin: dict[int, float] = {}
        self.facts = [Facts() for _ in first_seen]
        # Changes found and expected and their variance by chance, by table and bin.
        self.tables: list[dict[object, tuple[float, float, float]]] = [{}, {}, {}]
        self.newest = floor(now / self.width)
        self.read(self.down)

    def factors(self, i: int) -> list[float]:
        """What time on the clock of a page counts for, by each table."""
        found = []
        for table, each in zip(self.tables, self.facts[i].bins, strict=True):
            d, e, _ = table.get(each, (0.0, 0.0, 0.0))
            k = strength_of(list(table.values()))
            found.append((k + d) / (k + e))
        return found

    @property
    def ring(self) -> range:
        return range(self.newest - 63, self.newest + 1)

    @property
    def omega(self) -> float:
        return 1 / (1 + exp(-clip(self.trust, -30, 30)))

    def advance(self, now: float) -> None:
        if floor(now / self.width) > self.newest:
            self.newest = floor(now / self.width)
            self.read(self.down)

    def read(self, nodes: Sequence[Rows]) -> None:
        """Section 4, root first. A node off the way keeps the mixture it was last read with."""
        for v in nodes:
            up = self.above[v]
            for paces, kappa in ((self.near, 0.25), (self.far, 20.0)):
                k = kappa if up else 10.0
                paces[v] = {
                    b: clip(
                        (k * (paces[up][b] if up else 1.0) + self.smooth(self.found[v], b))
                        / (k + self.smooth(self.expected[v], b)),
                        0.05,
                        50.0,
                    )
                    for b in self.ring
                }
            w = self.omega
            self.pace[v] = {b: w * self.near[v][b] + (1 - w) * self.far[v][b] for b in self.ring}

    def smooth(self, counts: dict[int, float], b: int) -> float:
        return sum(self.fall ** abs(b - other) * n for other, n in counts.items())

    def overlap(self, b: int, last: float, now: float) -> float:
        return max(min(now, (b + 1) * self.width) - max(last, b * self.width), 0.0)

    def elapsed(self, paces: dict[int, float], last: float, now: float) -> float:
        inside = sum(paces[b] * self.overlap(b, last, now) for b in self.ring)
        return inside + max(min(now, self.ring[0] * self.width) - last, 0.0)

    def section_rate(self, v: Rows) -> float:
        if not self.above[v]:
            return 1.0
        terms = [self.for_node[i] for i in v if i in self.for_node]
        return clip(
            (3 * self.section_rate(self.above[v]) + sum(terms)) / (3 + len(terms)), 0.02, 50
        )

    def kin_rate(self, group: Rows) -> float:
        terms = [self.for_kin[i] for i in group if i in self.for_kin]
        return clip((3 + sum(terms)) / (3 + len(terms)), 0.02, 50)

    def prior(self, i: int) -> tuple[float, float]:
        ratio = self.section_rate(self.leaf[i]) * self.kin_rate(self.kin[i])
        return self.a0, self.b0 / ratio

    def value(self, i: int, now: float, of: Callable[..., float]) -> float:
        """Section 6, weight and cost 1."""
        self.advance(now)
        page, v = self.pages[i], self.leaf[i]
        waited = now - page.last
        if waited <= 0:
            return 0.0
        z = waited / (self.gap / 4)
        future = 1 + (self.pace[v][self.newest] - 1) * -expm1(-z) / z
        days, factor = self.elapsed(self.pace[v], page.last, now), prod(self.factors(i))
        return page.value(of, *self.prior(i), factor * days) / future / sqrt(factor)

    def seen(self, i: int, now: float, changed: bool) -> None:
        """Section 7."""
        page, v = self.pages[i], self.leaf[i]
        if now <= page.last:
            return
        self.advance(now)
        a0, b0 = self.prior(i)
        days = self.elapsed(self.pace[v], page.last, now)
        p = page.chance(a0, b0, prod(self.factors(i)) * days)
        near, far = (
            page.chance(a0, b0, self.elapsed(paces[v], page.last, now))
            for paces in (self.near, self.far)
        )
        self.trust = 0.999 * self.trust + (
            log(near / far) if changed else log((1 - near) / (1 - far))
        )
        factors, facts = self.factors(i), self.facts[i]
        for table, each, own in zip(self.tables, facts.bins, factors, strict=True):
            if each != ("level", 0):
                d, e, var = table.get(each, (0.0, 0.0, 0.0))
                q = page.chance(a0, b0, prod(factors) / own * days)
                table[each] = 0.995 * d + changed, 0.995 * e + q, 0.995**2 * var + q * (1 - q)
        way = [u for u in self.down if v <= u]
        for b in self.ring:
            share = self.overlap(b, page.last, now) / days
            for u in way:
                self.expected[u][b] += p * share
                self.found[u][b] += self.pace[v][b] * share if changed else 0.0
        page.learn(self.site, (a0, b0), days, changed)
        facts.visits += 1
        if changed:
            facts.since_change = 0
        elif facts.since_change is not None:
            facts.since_change += 1
        facts.level = 1 + floor(clip(log2(page.rate(a0, b0) * self.gap) + 8, 0, 13))
        relative = page.rate(a0, b0) * self.b0 / self.a0
        kin, section = self.kin_rate(self.kin[i]), self.section_rate(v)
        self.for_node[i] = min(relative / kin, 1000)
        self.for_kin[i] = min(relative / section, 1000)
        page.last = now
        self.read(way)
