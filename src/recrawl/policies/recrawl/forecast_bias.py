r"""How far forecasts are off, section by section, and what sets them right.

A page's rate is learned on a clock that knows what was found in between, while a forecast is made
before anything is known of the latest bins, where a clock goes on as the one above it. In a section
that is quieter than the crawl the two differ for good. So it is counted what visits found and hosts
announced, $D$, and what had been forecast of both on a clock that goes as it does, $E$. Time on the
clock of a section counts for

$$ c = \frac{K c_{\text{crawl}} + D}{K + E}, \qquad
   c_{\text{crawl}} = \frac{K' c_0 + D_{\text{crawl}}}{K' + E_{\text{crawl}}} $$

as much in a forecast. What visits are worth is not touched.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.equal_keys import distinct
from recrawl.policies.recrawl.memories import fold

if TYPE_CHECKING:
    from collections.abc import Callable

    from recrawl.arrays.types import Floats, Ints

# What is kept at a visit: about the last hundred of a section, the last five hundred of the crawl.
# What moves faster, corrections have followed already (docs/design/0046-corrected-chances.md).
_KEPT, _KEPT_BY_ALL = (0.99,), (0.998,)
_STRENGTH = 20.0  # changes that the factor of the crawl counts for in a section
_STRENGTH_OF_ALL = 30.0  # changes that the first guess counts for
_MOST_AT_ONCE = 10.0  # changes that all announcements of one asking count for
_FIRST = 0.7  # that guess: most pages change less often than once a gap


@dataclass(slots=True)
class ForecastBias:
    """Changes found and forecast: one row per node of the tree of sections, and all together.

    Attributes:
        nodes: Changes found, and those forecast by the clock as it goes.
        all: The same of the whole crawl, in one row.
    """

    nodes: Floats
    all: Floats

    @classmethod
    def start(cls) -> ForecastBias:
        """Nothing is known."""
        return cls(np.zeros((1, 2)), np.zeros((1, 2)))

    def grow(self, nodes: int) -> None:
        """Make room for new nodes."""
        if nodes > len(self.nodes):
            more = np.zeros((nodes - len(self.nodes), 2))
            self.nodes = np.concatenate([self.nodes, more])

    def factor(self, leaf: Ints) -> Floats:
        """How much time on each node's clock counts for in a forecast.

        >>> ForecastBias(np.array([[0.0, 10.0]]), np.zeros((1, 2))).factor(np.array([0]))
        array([0.46666667])
        """
        found, forecast = self.nodes.take(leaf, axis=0).T
        return np.asarray((_STRENGTH * self._of_all + found) / (_STRENGTH + forecast))

    def _factors(self, leaf: Ints) -> Floats:
        """Factors of the sections of pages, and of the crawl."""
        factors = np.empty((2, len(leaf)))
        factors[0], factors[1] = self.factor(leaf), self._of_all
        return factors

    def unsure(self, leaf: Ints) -> Floats:
        """Variance of that factor over its square, if changes come by themselves.

        >>> ForecastBias(np.array([[25.0, 15.0]]), np.zeros((1, 2))).unsure(np.array([0])).round(3)
        array([0.016])
        """
        found, forecast = self.nodes[leaf].T
        return np.asarray(found / (_STRENGTH + forecast) ** 2 / self.factor(leaf) ** 2)

    @property
    def _of_all(self) -> float:
        found, forecast = self.all[0]
        return float((_STRENGTH_OF_ALL * _FIRST + found) / (_STRENGTH_OF_ALL + forecast))

    def learn(self, leaf: Ints, found: Floats, chance: Callable[[Floats], Floats]) -> Floats:
        """Compare what visits found with what was forecast.

        Args:
            leaf: Node of each page.
            found: How likely each met a change, from what it found.
            chance: Gives the chances of changes if time on the clocks counts for so much: one row
                per kind of factor, one column per page.

        Returns:
            The chance of a change that had been forecast of each.
        """
        factors = self._factors(leaf)
        forecast = chance(factors)
        news = np.empty((2, len(leaf), 2))
        news[..., 0], news[..., 1] = found, forecast / factors
        fold(self.nodes, leaf, news[0], _KEPT)
        fold(self.all, np.zeros(len(leaf), np.int64), news[1], _KEPT_BY_ALL)
        own: Floats = forecast[0]
        return own

    def learn_announced(
        self, leaf: Ints, found: Floats, chance: Callable[[Floats], Floats]
    ) -> None:
        """Compare what a host announced with what was forecast of that; it is one piece of news.

        Args:
            leaf: Node of each page.
            found: How likely a change of each was announced.
            chance: As of visits.
        """
        factors = self._factors(leaf)
        own, common = chance(factors) / factors
        nodes = distinct(leaf)
        which = nodes.searchsorted(leaf)
        every = _together(np.array([[found.sum(), common.sum()]]))
        parts = (np.bincount(which, part) for part in (found, own))
        each = np.stack(list(parts), axis=1).astype(np.float64)
        fold(self.all, np.zeros(1, np.int64), every, _KEPT_BY_ALL)
        fold(self.nodes, nodes, _together(each), _KEPT)


def _together(rows: Floats) -> Floats:
    """Changes found and forecast at one asking, as far as they count."""
    return np.asarray(rows * np.minimum(_MOST_AT_ONCE / np.maximum(rows[:, 1:], _MOST_AT_ONCE), 1))
