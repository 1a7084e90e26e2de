"""Categories of objects put into groups that vanish at like rates.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.checks import check_choice
from recrawl.listings.groups.goodness import THRESHOLD, edges, misfit, pearson, threshold_for
from recrawl.listings.groups.kmeans import clusters

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.lifetimes import Lifetimes


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
        threshold: Least gain of one more group. 3.84 accepts 5 % of splits that mean nothing,
            the paper's 1.5 accepts 22 %.
        weighted: Let a category count as much as it has removals.
        corrected: Share the 5 % among all the steps there may be (Bonferroni).

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

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_choice(("reclustered", "hierarchical"), search=self.search)
        check_choice(("lr", "pearson"), criterion=self.criterion)

    def groups(self, categories: Categories) -> Ints:
        """Group of each category, by the last step accepted; the lowest rate is group 0."""
        group = np.zeros(len(categories), np.int64)
        for step in self.search_groups(categories):
            if step.accepted:
                group = step.group
        return group

    def search_groups(self, categories: Categories) -> list[Step]:
        """All steps tried, the last of them refused unless every category has its own group."""
        steps: list[Step] = []
        if len(categories) < 2 or not np.sum(categories.removals):  # noqa: PLR2004 - nothing to part
            return steps
        bins = edges(categories.lifetimes, _fewest(categories))
        least = threshold_for(0.05, len(categories) - 1) if self.corrected else self.threshold
        now = np.zeros(len(categories), np.int64)
        before = self._misfit(categories, now, bins)
        for groups in range(2, len(categories) + 1):
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
