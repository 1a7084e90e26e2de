r"""A survival tree: objects split in two, recursively, by the attribute with the largest gain.

Each split is the one with the greatest likelihood ratio

$$ LR = 2 \Bigl[\sum_g D_g \ln \frac{D_g}{E_g} - D \ln \frac{D}{E}\Bigr] $$

that leaves at least ten removals on both sides. A tree grown so far fits noise, too; it is cut back
to the part that is worth its splits, and what a split must be worth is found by cross-validation:
the price with the greatest log-likelihood on objects that did not help to grow the tree.

The tree explains; for forecasts of sparse categories shrinkage is better.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from recrawl.listings.data.attributes import MISSING, Labels

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.attributes import Attribute

_DOUBT = 0.5  # removals at the rate of all that a leaf's rate is drawn by


@dataclass(frozen=True, slots=True)
class OneOf:
    """Whether an attribute is one of some words."""

    attribute: str
    words: tuple[str, ...]

    def holds(self, attributes: Mapping[str, Attribute]) -> Bools:
        """Whether each object goes to the low side."""
        codes, words = attributes[self.attribute].values()
        low = np.array([word in self.words for word in words], np.bool_)
        return low[codes]

    def __str__(self) -> str:
        """Write the question as `--where` takes it."""
        return f"{self.attribute} in ({', '.join(self.words)})"

    def opposite(self) -> str:
        """What holds where it does not."""
        return f"{self.attribute} not in ({', '.join(self.words)})"


@dataclass(frozen=True, slots=True)
class AtMost:
    """Whether an attribute is at most some number; `missing` says where those without one go."""

    attribute: str
    number: float
    missing: bool = False

    def holds(self, attributes: Mapping[str, Attribute]) -> Bools:
        """Whether each object goes to the low side."""
        column = attributes[self.attribute]
        if isinstance(column, Labels):  # a column that was numbers when the tree was grown
            return np.full(len(column), self.missing)
        numbers = column.numbers
        return np.where(np.isnan(numbers), self.missing, numbers <= self.number)

    def __str__(self) -> str:
        """Write the question as `--where` takes it."""
        return f"{self.attribute} <= {self.number:g}{' or ' + MISSING if self.missing else ''}"

    def opposite(self) -> str:
        """What holds where it does not."""
        return f"{self.attribute} > {self.number:g}{'' if self.missing else ' or ' + MISSING}"


Question: TypeAlias = OneOf | AtMost


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the tree: a group of objects, or a question that splits it.

    Args:
        removals: Removals in the group.
        exposure: Days listed in it.
        objects: Objects in it.
        question: Question that splits it; None for a leaf.
        gain: Likelihood ratio of the split.
        low: Those for whom the answer is yes.
        high: The others.

    Examples:
        >>> leaf = Node(10.0, 100.0, 12.0)
        >>> tree = Node(40.0, 200.0, 50.0, AtMost("year", 2002.0), 20.0, leaf, leaf)
        >>> tree.leaves, leaf.rate
        (2, 0.1)
        >>> for rule, node in tree.rules():
        ...     print(" and ".join(rule), node.rate)
        year <= 2002 0.1
        year > 2002 or ? 0.1
    """

    removals: float
    exposure: float
    objects: float
    question: Question | None = None
    gain: float = 0.0
    low: Node | None = None
    high: Node | None = None

    @property
    def rate(self) -> float:
        """Removals a day listed."""
        return self.removals / self.exposure if self.exposure else float("nan")

    @property
    def leaves(self) -> int:
        """How many groups there are."""
        return sum(1 for _ in self.rules())

    def rules(self, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Node]]:
        """Each leaf, with what holds for its objects, lowest side first."""
        if self.question is None or self.low is None or self.high is None:
            yield above, self
            return
        yield from self.low.rules((*above, str(self.question)))
        yield from self.high.rules((*above, self.question.opposite()))

    def leaf_of(self, attributes: Mapping[str, Attribute], objects: int) -> Ints:
        """Number of each object's leaf, in the order of `rules`."""
        found = np.zeros(objects, np.int64)
        _place(self, attributes, np.ones(objects, np.bool_), 0, found)
        return found

    def pruned(self, price: float) -> Node:
        """The part of the tree whose splits gain more than a price each, taken together."""
        return _pruned(self, price)[0]

    def prices(self) -> list[float]:
        """Prices at which the pruned tree changes, rising."""
        if self.question is None or self.low is None or self.high is None:
            return []
        found, tree = [], self
        while tree.question is not None:
            weakest = min(_worth(node) for node in _splits(tree))
            found.append(weakest)
            tree = tree.pruned(weakest * (1 + 1e-12))
        return found

    def leaf_rates(self) -> Floats:
        """Rate of each leaf, drawn a little towards that of all: none is 0."""
        pull = _DOUBT / self.rate if self.rate else 1.0
        return np.array(
            [(leaf.removals + _DOUBT) / (leaf.exposure + pull) for _, leaf in self.rules()]
        )


def _place(
    node: Node, attributes: Mapping[str, Attribute], here: Bools, first: int, found: Ints
) -> None:
    """Write the numbers of the leaves below a node, counted from `first`, to its rows."""
    if node.question is None or node.low is None or node.high is None:
        found[here] = first
        return
    yes = node.question.holds(attributes)
    _place(node.low, attributes, here & yes, first, found)
    _place(node.high, attributes, here & ~yes, first + node.low.leaves, found)


def _pruned(node: Node, price: float) -> tuple[Node, float]:
    """The best part of a tree and what its splits gain beyond their price."""
    if node.question is None or node.low is None or node.high is None:
        return node, 0.0
    low, low_worth = _pruned(node.low, price)
    high, high_worth = _pruned(node.high, price)
    worth = node.gain - price + low_worth + high_worth
    if worth <= 0:
        return replace(node, question=None, gain=0.0, low=None, high=None), 0.0
    return replace(node, low=low, high=high), worth


def _splits(node: Node) -> Iterator[Node]:
    """All nodes that are no leaves."""
    if node.low is not None and node.high is not None:
        yield node
        yield from _splits(node.low)
        yield from _splits(node.high)


def _worth(node: Node) -> float:
    """Mean gain of the splits at and below a node."""
    gains = [split.gain for split in _splits(node)]
    return sum(gains) / len(gains)
