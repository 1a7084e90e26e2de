"""Which of several attributes tell how fast objects vanish, when many are looked at.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.groups.goodness import (
    benjamini_hochberg,
    bonferroni,
    chance_above,
    likelihood_ratio,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.listings.groups.partition import Categories


@dataclass(frozen=True, slots=True)
class AttributeTest:
    """Whether the categories of an attribute differ.

    Args:
        attribute: Its name.
        statistic: Likelihood ratio of one rate per category against one for all.
        freedom: Categories that were watched, less one.
        chance: Chance of so much where all are alike.
        bonferroni: The same, times the number of attributes.
        false_finds: Share of false finds among all attributes at least as telling.
    """

    attribute: str
    statistic: float
    freedom: int
    chance: float
    bonferroni: float
    false_finds: float


def compare_attributes(attributes: Mapping[str, Categories]) -> list[AttributeTest]:
    """Test each attribute, in the order given.

    Examples:
        Ten removals in 100 days against twenty; and ten against ten:

        >>> from recrawl.listings.data.lifetimes import Lifetimes
        >>> from recrawl.listings.groups.partition import Categories
        >>> apart = Lifetimes.of([10.0, 5.0], [10.0, 5.0], count=[10, 20])
        >>> alike = Lifetimes.of([10.0, 10.0], [10.0, 10.0], count=[10, 10])
        >>> both = {
        ...     "make": Categories.of(apart, np.arange(2), 2),
        ...     "colour": Categories.of(alike, np.arange(2), 2),
        ... }
        >>> for found in compare_attributes(both):
        ...     print(found.attribute, round(found.statistic, 2), round(found.bonferroni, 3))
        make 3.4 0.131
        colour 0.0 1.0
    """
    statistics, freedoms = [], []
    for categories in attributes.values():
        watched = categories.exposure > 0
        statistics.append(
            likelihood_ratio(categories.removals[watched], categories.exposure[watched])
        )
        freedoms.append(max(int(np.count_nonzero(watched)) - 1, 0))
    chances = np.array(
        [chance_above(gain, free) for gain, free in zip(statistics, freedoms, strict=True)]
    )
    columns = (statistics, freedoms, chances, bonferroni(chances), benjamini_hochberg(chances))
    return [
        AttributeTest(name, gain, free, float(chance), float(safe), float(share))
        for name, gain, free, chance, safe, share in zip(attributes, *columns, strict=True)
    ]
