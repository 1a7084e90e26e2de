r"""Changes found over changes expected, by plain facts of a page: what chances are corrected by.

What is believed of a page rests on a model, and the model is off by plain facts: pages at their
first visit, pages that have just changed, pages that are very slow. So three tables keep a running
record of visits: by the number of visits to the page so far, by the visits since a change was last
found there, and by its rate. For bin $b$ of table $j$ with $D$ changes found and $E$ expected,

$$ F_j[b] = \frac{K + D_j[b]}{K + E_j[b]}, \qquad f = F_1 F_2 F_3 , $$

and time on the clock of a page counts for $f$ as much. A visit is expected to find a change with
the chance that the page has without the table's own factor, $f / F_j$: each table learns what the
others leave to it. Each visit to a bin fades what the bin knows, so it rests on about the last two
hundred.

Where the model is right, a table knows nothing but chance. With $V$, the variance that $D$ has by
chance alone, its factors vary by more than that with variance

$$ \tau^2 = \frac{\sum_b (D - E)^2 - V}{\sum_b E^2}, \qquad
   K = \max\left(K_0, \frac{\sum_b V}{\tau^2 \sum_b E}\right) : $$

a table is believed as far as it has differed from chance. Chosen on six public sources, figures in
docs/design/0046-corrected-chances.md.

Sites are off in ways of their own. In a crawl of several sites each has tables, too, whose factors
multiply those of the crawl. What a site has found, $D_s$, is held against what it was expected to
find with the factor of the crawl:

$$ F_s = 1 + \frac{w_s (D_s - F E_s)}{1 + w_s F E_s}, \qquad w_s = \frac{1 - n_s / n}{K_s} $$

with $n_s$ of the $n$ pages. A site that is all of the crawl has taught its tables alone: $w_s = 0$.

A crawl that is divided has tables for each part. Factors are by the sums of all of them. No site is
in two parts.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from recrawl.policies.recrawl.memories import fold

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints

_KEPT = 0.995  # of what a bin knows, at a visit to it
_KEPT_OF_SUMS = _KEPT, _KEPT, _KEPT**2  # a variance fades by the square
# What is assumed of a table: factors that vary as much as to be believed by the least strength, as
# in ten bins of twenty expected changes.
_ASSUMED = 10 * 20.0**2
_BY_CHANCE = 1 / 3  # variance by chance of a change that is expected

# Where bins begin: visits so far; those where no change was found yet; visits since a change.
_VISITS = (0, 1, 2, 3, 4, 6, 9, 16, 32, 64)
_UNCHANGED = (0, 1, 3, 8, 20)
_SINCE_CHANGE = (0, 1, 2, 3, 5, 8, 16, 32)
_LEVELS = 14  # doublings of the rate, from 2^-8 changes per mean gap
_SLOWEST = -8.0
# Rows of the first bin of each table, and of all bins together.
SINCE = len(_VISITS)
RATE = SINCE + len(_UNCHANGED) + len(_SINCE_CHANGE)
BINS = RATE + 1 + _LEVELS
TABLES = 3
SUMS = (BINS, 3)  # found, expected, variance
_STARTS = np.array([0, SINCE, RATE])
_TABLE = np.repeat(np.arange(TABLES), np.diff([*_STARTS, BINS]))  # of each bin
NEVER = -1  # visits since a change: none was found
_RATHER = 0.5  # chance from which on a change counts as found
_LEAST_RATE = 1e-300
# What is known of each page, and between which figures.
FACTS = {
    "visits": (0, np.iinfo(np.int32).max),
    "since_change": (NEVER, np.iinfo(np.int32).max),
    "level": (0, _LEVELS),
}


def _lookup(starts: tuple[int, ...], first: int) -> Ints:
    """Row of the bin of each count up to where the last begins; `first` is that of the first."""
    counts = np.arange(starts[-1] + 1)
    return np.asarray(np.searchsorted(starts, counts, side="right") - 1 + first, np.int64)


_BIN_OF_VISITS = _lookup(_VISITS, 0)
_BIN_OF_UNCHANGED = _lookup(_UNCHANGED, SINCE)
_BIN_OF_SINCE = _lookup(_SINCE_CHANGE, SINCE + len(_UNCHANGED))


@dataclass(slots=True)
class Corrections:
    """What chances are corrected by: the tables, and the facts of each page.

    Attributes:
        strength: Changes that a factor of 1 counts for at least, $K_0$; inf for no corrections.
        site_strength: Changes that the factors of the crawl count for on a site, $K_s$; inf for no
            tables of sites.
        sums: Changes found, changes expected, and the variance of those found by chance alone: one
            row per bin of all tables.
        visits: Visits to each page that its copy was compared at.
        since_change: How many of them came after the last that found a change; -1 for none.
        level: Its rate at the last of them, in doublings; 0 before that.
        elsewhere: Sums of other parts of the crawl, which count as its own.
        pages_elsewhere: Pages that were visited there.
        site: Which of the sites each page is on.
        of_sites: Sums of each site: one row per site, one per bin. Nothing where there is but one.
        weight: How far each site is believed against the crawl, $w_s$.

    Examples:
        Ten pages were visited for the first time. Half a change was expected of each, and every one
        had changed. Two tables have a bin for such pages, with 9.8 found and 4.9 expected in each:

        >>> tables = Corrections.start(10.0)
        >>> tables.grow(11)
        >>> tables.learn(np.arange(10), np.ones(10), lambda factor: 0.5 * factor)
        >>> tables.factor(np.array([10])).round(2)
        array([1.66])
    """

    strength: float
    sums: Floats
    visits: Ints
    since_change: Ints
    level: Ints
    site_strength: float = field(default=inf, kw_only=True)
    elsewhere: Floats = field(default_factory=lambda: np.zeros(SUMS), kw_only=True)
    pages_elsewhere: float = field(default=0.0, kw_only=True)
    site: Ints = field(default_factory=lambda: np.empty(0, np.int64), kw_only=True)
    of_sites: Floats = field(default_factory=lambda: np.zeros((1, *SUMS)), kw_only=True)
    weight: Floats = field(default_factory=lambda: np.zeros(1), kw_only=True)
    # These follow from the others: each page's bin of each table; how many changes a factor of 1
    # counts for in each bin, and the factor.
    _place: Ints = field(init=False)
    _strengths: Floats = field(init=False)
    _factors: Floats = field(init=False)
    _several: bool = field(init=False)  # sites that are believed

    def __post_init__(self) -> None:
        """Find the bins of all pages."""
        self._place = _places(self.visits, self.since_change, self.level)
        self._several = bool(self.weight.any())
        self.read()

    @classmethod
    def start(cls, strength: float, site_strength: float = inf) -> Corrections:
        """Nothing is known of no pages."""
        none = np.empty(0, np.int64)
        facts = none, none.copy(), none.copy()
        return cls(strength, np.zeros(SUMS), *facts, site_strength=site_strength)

    def grow(self, pages: int) -> None:
        """Make room for pages that were never visited."""
        none = np.zeros(pages, np.int64)
        self.visits = np.append(self.visits, none)
        self.since_change = np.append(self.since_change, none + NEVER)
        self.level = np.append(self.level, none)
        place = _places(none[:1], none[:1] + NEVER, none[:1])
        self._place = np.append(self._place, np.repeat(place, pages, axis=1), axis=1)

    def put_on_sites(self, site: Ints, sites: int) -> None:
        """Say which of so many sites each page is on; of new sites nothing is known."""
        self.site = site
        if sites > len(self.of_sites):
            more = np.zeros((sites - len(self.of_sites), *SUMS))
            self.of_sites = np.concatenate([self.of_sites, more])
        pages = np.bincount(site, minlength=sites)
        share = pages / max(len(site) + self.pages_elsewhere, 1.0)
        self.weight = np.where(pages > 0, (1 - share) / self.site_strength, 0.0)
        self._several = bool(self.weight.any())

    def take(self, rows: Ints) -> Corrections:
        """A copy with some of the pages, on the sites that they are on."""
        facts = (getattr(self, name)[rows] for name in FACTS)
        return Corrections(
            self.strength,
            self.sums.copy(),
            *facts,
            site_strength=self.site_strength,
            elsewhere=self.elsewhere.copy(),
            pages_elsewhere=self.pages_elsewhere,
            site=self.site[rows],
            of_sites=self.of_sites.copy(),
            weight=self.weight.copy(),
        )

    def factor(self, rows: Ints) -> Floats:
        """How much time on the clock of each page counts for."""
        first, second, third = self._of_tables(rows, self._place.take(rows, axis=1))
        return np.asarray(first * second * third)

    def factor_of(self, row: int) -> float:
        """The same of one page."""
        if self._several:
            return float(self.factor(np.array([row]))[0])
        # Not `prod`, which takes longer for three numbers than all else that a visit's rate needs.
        first, second, third = self._factors[self._place[:, row]].tolist()
        return float(first * second * third)

    def _of_tables(self, rows: Ints, place: Ints) -> Floats:
        """The factor of each table for each page, in these of its bins: one row per table."""
        factors = self._factors.take(place)
        if self._several:
            site = self.site[rows]
            found, expected, _ = self.of_sites[site, place].transpose(2, 0, 1)
            expected = factors * expected
            weight = self.weight[site]
            factors *= 1 + weight * (found - expected) / (1 + weight * expected)
        return np.asarray(factors)

    @property
    def factor_of_new(self) -> float:
        """The same of a page that was never visited, on a site of which nothing is known."""
        return float(self._factors[0] * self._factors[SINCE])

    def off(self, rows: Ints) -> Floats:
        """Variance of the factor of each page over its square, if changes come by themselves."""
        place = self._place[:, rows]
        found, _, chance = (self.sums + self.elsewhere).T
        off = (chance / (self._strengths + found) ** 2)[place]
        if self._several:
            site = self.site[rows]
            found, expected, chance = self.of_sites[site, place].transpose(2, 0, 1)
            weight = self.weight[site]
            # A site that tells much goes by what it tells, and hardly by the factor of the crawl.
            off /= (1 + weight * self._factors[place] * expected) ** 2
            off += weight**2 * chance / (1 + weight * found) ** 2
        return np.asarray(off.sum(axis=0))

    def read(self) -> None:
        """Work out the factors of all bins."""
        found, expected, chance = (self.sums + self.elsewhere).T
        more = found - expected
        sums = np.array([more**2 - chance, expected**2, chance, expected])
        of_tables = np.add.reduceat(sums, _STARTS, axis=1).T.tolist()
        strengths = np.array([self._strength(*each) for each in of_tables])
        self._strengths = strengths.take(_TABLE)
        self._factors = 1 + more / (self._strengths + expected)

    def _strength(self, excess: float, squares: float, variance: float, expected: float) -> float:
        """How many changes count for a factor of 1 in a table, from sums over its bins."""
        assumed = _BY_CHANCE / self.strength
        varies = max(excess + assumed * _ASSUMED, 0.0) / (squares + _ASSUMED)
        if not varies:  # a table that is all chance is not believed at all
            return inf
        return max((variance + _BY_CHANCE) / (expected + 1) / varies, self.strength)

    def learn(self, rows: Ints, found: Floats, chance: Callable[[Floats], Floats]) -> None:
        """Compare what visits found with what was expected.

        Args:
            rows: The pages.
            found: How likely each visit met a change, from what it found.
            chance: Gives the chances of changes if time on the clocks counts for so much: one row
                per table, one column per page.
        """
        place = self._place.take(rows, axis=1)
        first, second, third = self._of_tables(rows, place)
        others = np.empty(place.shape)
        others[0], others[1], others[2] = second * third, first * third, first * second
        news, expected = np.empty((*place.shape, 3)), chance(others)
        news[..., 0], news[..., 1], news[..., 2] = found, expected, expected * (1 - expected)
        fold(self.sums, place.ravel(), news.reshape(-1, 3), _KEPT_OF_SUMS)
        # A page that was never visited has no rate of its own: nothing is said of its level.
        self.sums[RATE] = 0.0
        if self._several:
            site = self.site[rows]
            bins = self.of_sites.reshape(-1, 3)
            fold(bins, (BINS * site + place).ravel(), news.reshape(-1, 3), _KEPT_OF_SUMS)
            self.of_sites[site, RATE] = 0.0
        self.read()

    def visited(self, rows: Ints, found: Floats, rates: Floats) -> None:
        """Let the facts of pages move on.

        Args:
            rows: The pages.
            found: How likely each visit met a change.
            rates: Changes expected of each page in a mean gap.
        """
        self.visits[rows] += 1
        since = self.since_change[rows]
        since += since != NEVER
        since[found >= _RATHER] = 0
        self.since_change[rows] = since
        doublings = np.log2(np.maximum(rates, _LEAST_RATE)) - _SLOWEST
        level = np.minimum(np.maximum(doublings, 0.0), _LEVELS - 1.0).astype(np.int64)
        self.level[rows] = level + 1
        self._place[:, rows] = _places(self.visits[rows], since, self.level[rows])


def _places(visits: Ints, since: Ints, level: Ints) -> Ints:
    """Rows of the bins of pages: one row per table."""
    place = np.empty((TABLES, len(visits)), np.int64)
    place[0] = _BIN_OF_VISITS[np.minimum(visits, _VISITS[-1])]
    place[1] = _BIN_OF_SINCE[np.minimum(since, _SINCE_CHANGE[-1])]
    place[2] = RATE + level
    never = np.flatnonzero(since == NEVER)
    if len(never):
        place[1, never] = _BIN_OF_UNCHANGED[np.minimum(visits[never], _UNCHANGED[-1])]
    return place
