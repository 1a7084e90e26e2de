"""How a survival tree is grown and how far it is cut back.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.data.attributes import Labels
from recrawl.listings.groups.tree import AtMost, Node, OneOf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.listings.data.attributes import Attribute
    from recrawl.listings.data.lifetimes import Lifetimes
    from recrawl.listings.groups.tree import Question

_LEAST_GAIN = 3.84
_GOLDEN = 0.6180339887498949
_MOST_CUTS = 256  # of a number with more values, the quantiles are tried


@dataclass(frozen=True, slots=True)
class TreeGrower:
    """Grow a survival tree and prune it by cross-validation.

    Args:
        least_removals: Removals that must remain on either side of a split.
        deepest: Questions one after the other, at most.
        folds: Parts for cross-validation.

    References:
        LeBlanc and Crowley (1992). Relative risk trees for censored survival data.
        Biometrics 48, 411-425.
        Breiman, Friedman, Olshen and Stone (1984). Classification and regression trees.

    Examples:
        Old cars vanish three times as fast as new ones; the colour tells nothing:

        >>> from recrawl.listings.data.attributes import Numbers
        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> year = np.repeat(np.arange(2000.0, 2008.0), 50)
        >>> age = np.where(year <= 2003, 10.0, 30.0)
        >>> columns = {"year": Numbers(year), "colour": Labels.of(["red", "blue"] * 200)}
        >>> tree = TreeGrower().grow(Lifetimes.of(age, age), columns)
        >>> for rule, node in tree.rules():
        ...     print(" and ".join(rule), round(node.rate, 3))
        year <= 2003 0.1
        year > 2003 or ? 0.033
    """

    least_removals: int = 10
    deepest: int = 5
    folds: int = 5

    def grow(self, lifetimes: Lifetimes, attributes: Mapping[str, Attribute]) -> Node:
        """Tree of the price under which objects left out are most likely."""
        rows = _Rows.of(lifetimes, attributes)
        every = np.arange(len(lifetimes))
        whole = self._full(rows, every)
        prices = [0.0, *whole.prices()]
        if len(prices) == 1:
            return whole
        # Between two prices the tree stays the same; their geometric mean stands for them.
        tried = [*(np.sqrt(np.maximum(prices[:-1], 1e-9) * prices[1:])), prices[-1] * 2]
        heights = np.zeros(len(tried))
        # Not every fifth row: rows may come in a rhythm. Steps of the golden section have none.
        part = np.floor(every * _GOLDEN % 1 * self.folds)
        for fold in range(self.folds):
            tree = self._full(rows, every[part != fold])
            leaf = rows.leaf_of(tree, every[part == fold])
            heights += [_height(tree, tree.pruned(price), leaf) for price in tried]
        best = len(heights) - 1 - int(np.argmax(heights[::-1]))  # of equals, the smallest tree
        return whole.pruned(float(tried[best]))

    def _full(self, rows: _Rows, here: Ints, depth: int = 0) -> Node:
        """Tree grown as far as it goes from the rows named."""
        removals, exposure = float(np.sum(rows.removals[here])), float(np.sum(rows.exposure[here]))
        leaf = Node(removals, exposure, float(np.sum(rows.count[here])))
        if depth == self.deepest or removals < 2 * self.least_removals:
            return leaf
        splits = [_best_split(rows, column, here, self.least_removals) for column in rows.columns]
        best = max(splits, key=lambda split: split.gain, default=_NO_SPLIT)
        if best.question is None or best.gain <= _LEAST_GAIN:
            return leaf
        yes = rows.answers(best.question, here)
        low = self._full(rows, here[yes], depth + 1)
        high = self._full(rows, here[~yes], depth + 1)
        return Node(removals, exposure, leaf.objects, best.question, best.gain, low, high)


@dataclass(frozen=True, slots=True)
class _Split:
    gain: float
    question: Question | None


_NO_SPLIT = _Split(0.0, None)


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """An attribute as codes: words, or numbers in their order and the missing after them.

    Args:
        name: Name of the attribute.
        codes: Code of each row.
        words: Words by code; none for numbers.
        numbers: Largest number of each code, nan for the missing; None for words.
    """

    name: str
    codes: Ints
    words: Sequence[str]
    numbers: Floats | None

    @classmethod
    def of(cls, name: str, column: Attribute) -> _Column:
        if isinstance(column, Labels):
            codes, words = column.values()
            return cls(name, codes, words, None)
        some = column.numbers[~column.missing]
        known = np.unique(some)
        if len(known) > _MOST_CUTS:
            shares = np.arange(1, _MOST_CUTS + 1) / _MOST_CUTS
            known = np.unique(np.quantile(some, shares, method="higher"))
        # A missing number is nan, which is sorted behind all others.
        codes = np.searchsorted(known, column.numbers).astype(np.int64)
        return cls(name, codes, [], np.append(known, np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """What a tree is grown from."""

    removals: Floats
    exposure: Floats
    count: Floats
    columns: list[_Column]

    @classmethod
    def of(cls, lifetimes: Lifetimes, attributes: Mapping[str, Attribute]) -> _Rows:
        return cls(
            lifetimes.count * lifetimes.removed,
            lifetimes.count * (lifetimes.age - lifetimes.entry),
            lifetimes.count,
            [_Column.of(name, column) for name, column in attributes.items()],
        )

    def answers(self, question: Question, here: Ints) -> Bools:
        """Whether the rows named go to the low side."""
        column = next(each for each in self.columns if each.name == question.attribute)
        if isinstance(question, OneOf):
            low = np.array([word in question.words for word in column.words], np.bool_)
        else:
            numbers = np.asarray(column.numbers)
            low = np.where(np.isnan(numbers), question.missing, numbers <= question.number)
        return low[column.codes[here]]

    def leaf_of(self, node: Node, here: Ints) -> Floats:
        """Removals and days of the rows named, one row per leaf."""
        if node.question is None or node.low is None or node.high is None:
            return np.array([[np.sum(self.removals[here]), np.sum(self.exposure[here])]])
        yes = self.answers(node.question, here)
        return np.concatenate(
            [self.leaf_of(node.low, here[yes]), self.leaf_of(node.high, here[~yes])]
        )


def _best_split(rows: _Rows, column: _Column, here: Ints, least: int) -> _Split:
    """Cut through a column's values with the greatest likelihood ratio.

    Words are cut in the order of their rates: no other two groups of them fit better. Objects
    without a number are tried above all others and below them.
    """
    codes = column.codes[here]
    size = len(column.words) if column.numbers is None else len(column.numbers)
    removals, days = (
        np.bincount(codes, weight[here], size).astype(np.float64)
        for weight in (rows.removals, rows.exposure)
    )
    if column.numbers is None:
        some = np.flatnonzero(days > 0)
        order = some[np.argsort(removals[some] / days[some], kind="stable")]
        gain, cut = _best_cut(removals[order], days[order], least)
        words = tuple(column.words[code] for code in order[: cut + 1])
        return _Split(gain, OneOf(column.name, words)) if gain > 0 else _NO_SPLIT
    gain, cut = _best_cut(removals, days, least)
    below, other = _best_cut(np.roll(removals, 1), np.roll(days, 1), least)
    missing = below > gain and other > 0
    number = float(column.numbers[other - 1 if missing else cut])
    question = AtMost(column.name, number, missing=missing)
    return _Split(below if missing else gain, question) if max(gain, below) > 0 else _NO_SPLIT


def _best_cut(removals: Floats, days: Floats, least: int) -> tuple[float, int]:
    """Greatest gain of a cut after one of the values in order, and after which."""
    low_removals, low_days = np.cumsum(removals)[:-1], np.cumsum(days)[:-1]
    all_removals, all_days = float(np.sum(removals)), float(np.sum(days))
    high_removals, high_days = all_removals - low_removals, all_days - low_days
    allowed = (low_removals >= least) & (high_removals >= least) & (low_days > 0) & (high_days > 0)
    if not allowed.any():
        return 0.0, 0
    with np.errstate(divide="ignore", invalid="ignore"):  # cuts that are not allowed
        gain = 2 * (
            low_removals * np.log(low_removals / low_days)
            + high_removals * np.log(high_removals / high_days)
            - all_removals * np.log(all_removals / all_days)
        )
    gain = np.where(allowed, gain, 0.0)
    best = int(np.argmax(gain))
    return float(gain[best]), best


def _height(full: Node, pruned: Node, by_leaf: Floats) -> float:
    """Log-likelihood of objects that the tree has not seen, given by leaf of the full tree."""
    removals, days = _put_together(full, pruned, by_leaf).T
    rate = pruned.leaf_rates()
    return float(np.sum(removals * np.log(rate) - rate * days))


def _put_together(full: Node, pruned: Node, by_leaf: Floats) -> Floats:
    """Sums over the leaves of the full tree that are one leaf of the pruned one."""
    if pruned.low is None or pruned.high is None or full.low is None or full.high is None:
        return np.asarray(np.sum(by_leaf, axis=0, keepdims=True), np.float64)
    cut = full.low.leaves
    return np.concatenate(
        [
            _put_together(full.low, pruned.low, by_leaf[:cut]),
            _put_together(full.high, pruned.high, by_leaf[cut:]),
        ]
    )
