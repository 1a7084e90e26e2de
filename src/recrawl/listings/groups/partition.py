r"""Categories of objects put into groups that vanish at like rates.

The rates of the categories are clustered on a line, where the best groups are ranges of the sorted
numbers, so dynamic programming finds them exactly: with $c(i, j)$ the sum of squares of the numbers
from $i$ to before $j$,

$$ C_m(j) = \min_{i < j}\ C_{m-1}(i) + c(i, j) . $$

Of equally good groupings the one with the more balanced numbers of events wins, else the one whose
cut comes first from below.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.checks import check_at_least, check_choice
from recrawl.errors import InvalidParameter
from recrawl.listings.groups.goodness import THRESHOLD, edges, misfit, pearson, threshold_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.lifetimes import Lifetimes

_EQUAL = 1e-9  # sums of squares this close, as a share of all, are a tie


def clusters(
    values: Floats, groups: int, *, weights: Floats | None = None, events: Floats | None = None
) -> Ints:
    """Group of each number, counted from the lowest group.

    Args:
        values: Numbers in any order.
        groups: How many groups to make; at most one per number.
        weights: How much each number counts in the sums of squares; equally if None.
        events: What each number rests on, to settle ties; as much as any other if None.

    References:
        Fisher (1958). On grouping for maximum homogeneity.
        Journal of the American Statistical Association 53, 789-798.

    Examples:
        Table 4 of the quality-aware paper, cars by year from 2000 to 2006:

        >>> years = -np.array([73, 70, 68, 63, 58, 59, 59]) / 1000
        >>> for groups in (2, 3, 4):
        ...     print(clusters(years, groups))
        [0 0 0 1 1 1 1]
        [0 0 0 1 2 2 2]
        [0 1 1 2 3 3 3]
    """
    values = np.asarray(values, np.float64)
    if not 1 <= groups <= max(len(values), 1):
        raise InvalidParameter(f"groups must be between 1 and {len(values)} (got {groups})")
    weight = np.ones(len(values)) if weights is None else np.asarray(weights, np.float64)
    events = np.ones(len(values)) if events is None else np.asarray(events, np.float64)
    order = np.argsort(values, kind="stable")
    cuts = _best_cuts(values[order], weight[order], events[order], groups)
    labels = np.empty(len(values), np.int64)
    labels[order] = np.searchsorted(cuts, np.arange(len(values)), side="right")
    return labels


def _best_cuts(values: Floats, weights: Floats, events: Floats, groups: int) -> Ints:
    """Where each group but the first begins."""
    count = len(values)
    centred = values - np.mean(values) if count else values
    total, first, second, held = (
        np.concatenate([[0.0], np.cumsum(column)])
        for column in (weights, weights * centred, weights * centred**2, events)
    )

    def squares(start: Ints, end: int) -> Floats:
        weight = np.maximum(total[end] - total[start], 1e-300)
        spread = second[end] - second[start] - (first[end] - first[start]) ** 2 / weight
        least: Floats = np.maximum(spread, 0.0)
        return least

    tie = _EQUAL * (second[-1] + 1e-300)
    none = np.zeros(1, np.int64)
    cost = np.array([np.inf, *(float(squares(none, end)[0]) for end in range(1, count + 1))])
    balance = held**2
    begins = np.zeros((groups, count + 1), np.int64)
    for group in range(1, groups):
        new_cost, new_balance = np.full(count + 1, np.inf), np.full(count + 1, np.inf)
        for end in range(group + 1, count + 1):
            starts = np.arange(group, end)
            costs = cost[starts] + squares(starts, end)
            close = starts[costs <= np.min(costs) + tie]
            uneven = balance[close] + (held[end] - held[close]) ** 2
            start = close[np.argmax(uneven <= np.min(uneven) * (1 + _EQUAL))]
            begins[group, end] = start
            new_cost[end] = cost[start] + squares(start[None], end)[0]
            new_balance[end] = balance[start] + (held[end] - held[start]) ** 2
        cost, balance = new_cost, new_balance

    cuts, end = [], count
    for group in range(groups - 1, 0, -1):
        end = int(begins[group, end])
        cuts.append(end)
    return np.array(cuts[::-1], np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """Lifetimes by category.

    Args:
        lifetimes: Ages of objects.
        category: Category of each row.
        removals: Removals in each category.
        exposure: Days listed in each.
    """

    lifetimes: Lifetimes
    category: Ints
    removals: Floats
    exposure: Floats

    @classmethod
    def of(cls, lifetimes: Lifetimes, category: Ints, count: int) -> Categories:
        """Count removals and days of `count` categories."""
        removals = np.bincount(category, lifetimes.count * lifetimes.removed, count)
        days = np.bincount(category, lifetimes.count * (lifetimes.age - lifetimes.entry), count)
        return cls(lifetimes, category, removals.astype(np.float64), days.astype(np.float64))

    def __len__(self) -> int:
        """Return the number of categories."""
        return len(self.removals)

    @property
    def rate(self) -> Floats:
        """Rate of each category; that of all where a category was not watched."""
        whole = np.sum(self.removals) / max(np.sum(self.exposure), 1e-300)
        return np.divide(
            self.removals, self.exposure, out=np.full(len(self), whole), where=self.exposure > 0
        )


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One try of the search.

    Args:
        group: Group of each category.
        gain: By how much it fits better than the step before.
        accepted: Whether that is above the threshold.
    """

    group: Ints
    gain: float
    accepted: bool


@dataclass(frozen=True, slots=True)
class Partitioner:
    r"""Search for groups of categories with like rates.

    `"reclustered"` puts the categories' rates anew into m = 2, 3, ... groups (exact k-means on a
    line), as the paper's tables do; `"hierarchical"` splits one group at a time, as its Figure 7
    says. Either stops at the first step that gains no more than the threshold.

    Args:
        search: `"reclustered"` or `"hierarchical"`.
        criterion: `"lr"`, the likelihood ratio, or `"pearson"`, as published.
        threshold: Least gain of one more group. 3.84 accepts 5 % of splits due to chance,
            the paper's 1.5 accepts 22 %.
        weighted: Let a category count as much as it has removals.
        corrected: Share the 5 % among all the steps there may be (Bonferroni).
        most: Most groups to make; as many as the data support if None.

    Examples:
        Three categories, two of them alike:

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> lifetimes = Lifetimes.of([10.0, 10.4, 30.0], [10.0, 10.4, 30.0], count=50)
        >>> steps = Partitioner().search_groups(Categories.of(lifetimes, np.arange(3), 3))
        >>> [(step.group.tolist(), round(step.gain, 2), step.accepted) for step in steps]
        [([1, 1, 0], 41.82, True), ([2, 1, 0], 0.04, False)]
    """

    search: Literal["reclustered", "hierarchical"] = "reclustered"
    criterion: Literal["lr", "pearson"] = "lr"
    threshold: float = THRESHOLD
    weighted: bool = False
    corrected: bool = False
    most: int | None = None

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(("reclustered", "hierarchical"), search=self.search)
        check_choice(("lr", "pearson"), criterion=self.criterion)
        if self.most is not None:
            check_at_least(1, most=self.most)

    def groups(self, categories: Categories) -> Ints:
        """Group of each category, by the last step accepted; the lowest rate is group 0."""
        group = np.zeros(len(categories), np.int64)
        for step in self.search_groups(categories):
            if step.accepted:
                group = step.group
        return group

    def search_groups(self, categories: Categories) -> list[Step]:
        """All steps tried; the last is refused unless there can be no more groups."""
        steps: list[Step] = []
        if len(categories) < 2 or not np.sum(categories.removals):  # noqa: PLR2004 - nothing to part
            return steps
        bins = edges(categories.lifetimes, _fewest(categories))
        least = threshold_for(0.05, len(categories) - 1) if self.corrected else self.threshold
        now = np.zeros(len(categories), np.int64)
        before = self._misfit(categories, now, bins)
        most = len(categories) if self.most is None else min(self.most, len(categories))
        for groups in range(2, most + 1):
            tried = [
                (before - self._misfit(categories, group, bins), group)
                for group in self._candidates(categories, now, groups)
            ]
            gain, group = max(tried, key=lambda pair: pair[0])
            steps.append(Step(group, gain, accepted=gain > least))
            if gain <= least:
                break
            now, before = group, before - gain
        return steps

    def _candidates(self, categories: Categories, now: Ints, groups: int) -> Iterator[Ints]:
        rate, removals = categories.rate, categories.removals
        weight = np.maximum(removals, 0.5) if self.weighted else None
        if self.search == "reclustered":
            yield clusters(rate, groups, weights=weight, events=removals)
            return
        for group in range(groups - 1):
            rows = np.flatnonzero(now == group)
            if len(rows) > 1:
                halves = clusters(
                    rate[rows],
                    2,
                    weights=None if weight is None else weight[rows],
                    events=removals[rows],
                )
                split = now + (now > group)
                split[rows] += halves
                yield split

    def _misfit(self, categories: Categories, group: Ints, bins: Floats) -> float:
        count = int(np.max(group)) + 1
        removals, exposure = (
            np.bincount(group, column, count).astype(np.float64)
            for column in (categories.removals, categories.exposure)
        )
        if self.criterion == "lr":
            return misfit(removals, exposure)
        # The bins stay with the categories, so that all groupings are measured alike.
        rate = np.divide(removals, exposure, out=np.zeros(count), where=exposure > 0)[group]
        return pearson(categories.lifetimes, categories.category, rate, bins)


def _fewest(categories: Categories) -> float:
    """Objects in the smallest category that has any."""
    objects = np.bincount(categories.category, categories.lifetimes.count, len(categories))
    return float(np.min(objects[objects > 0]))
