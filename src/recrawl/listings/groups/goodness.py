r"""How much better objects fit their groups' own rates than one rate for all.

*Likelihood ratio*, the default: with $D_g$ removals in $E_g$ days,

$$ LR = 2 \Bigl[\sum_g D_g \ln \frac{D_g}{E_g} - D \ln \frac{D}{E}\Bigr] \sim \chi^2_{g-1} . $$

It is never negative, and knows objects still listed for what they are.

*Pearson's statistic*, as published: lifetimes are put into bins, and

$$ T = \sum_g \sum_i \frac{(E_{gi} - O_{gi})^2}{E_{gi}}, \qquad
   \Delta T = T_{\text{coarse}} - T_{\text{fine}} \sim \chi^2_1 . $$

Equation (8) of the paper has no group in it: its bins hold all objects, and what is expected
there hardly changes when the groups get rates of their own. Then $\Delta T$ is near 0 whatever
the truth. With bins for each group it works, though a finer partition is not
always better, as the paper has it: by chance $\Delta T < 0$ in one of five cases.

Where many statistics are looked at, some are large by chance: `bonferroni` and
`benjamini_hochberg` say what the best of them are worth.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recrawl.arrays.types import Floats, Ints
    from recrawl.listings.data.lifetimes import Lifetimes
    from recrawl.listings.groups.partition import Categories

# Where a chi-square of one degree of freedom is exceeded by chance in 5 % and in 22 % of cases.
THRESHOLD = 3.84
PUBLISHED_THRESHOLD = 1.5

_LEAST_EXPECTED = 5
_MOST_BINS = 10


def misfit(removals: Floats, exposure: Floats) -> float:
    r"""Minus twice the log-likelihood of groups with a rate each, $-2 \sum D_g \ln (D_g/E_g)$.

    Up to a constant that all groupings share.

    >>> round(misfit(np.array([10.0]), np.array([100.0])), 4)  # 20 ln 10
    46.0517
    """
    some = removals > 0
    return -2 * float(np.sum(removals[some] * np.log(removals[some] / exposure[some])))


def likelihood_ratio(removals: Floats, exposure: Floats) -> float:
    """Twice the log-likelihood gained by giving each group its own rate.

    >>> round(likelihood_ratio(np.array([10.0, 20.0]), np.array([100.0, 100.0])), 4)
    3.398
    """
    whole = misfit(np.array([np.sum(removals)]), np.array([np.sum(exposure)]))
    return max(whole - misfit(removals, exposure), 0.0)


def edges(lifetimes: Lifetimes, least_objects: float) -> Floats:
    """Lower ends of bins that hold equal shares of lifetimes with one rate, the last of them open.

    There are at most ten, and so few that the smallest group can expect five objects in each.

    >>> from recrawl.listings.data.lifetimes import Lifetimes
    >>> edges(Lifetimes.of(10.0, 10.0, count=100), least_objects=10).round(4)  # 0, 10 ln 2
    array([0.    , 6.9315])
    """
    bins = int(np.clip(least_objects // _LEAST_EXPECTED, 2, _MOST_BINS))
    rate = lifetimes.removals / lifetimes.exposure
    return np.log(bins / np.arange(bins, 0, -1.0)) / rate


def pearson(lifetimes: Lifetimes, group: Ints, rate_of_group: Floats, bins: Floats) -> float:
    """Pearson's statistic with bins for each group.

    Args:
        lifetimes: Ages.
        group: Group of each row, for the bins.
        rate_of_group: Rate at which each group is expected to vanish.
        bins: Lower ends of the bins.
    """
    expected, observed = binned_by_group(lifetimes, group, rate_of_group, bins)
    return float(np.sum((expected - observed) ** 2 / np.maximum(expected, 1e-12)))


def binned_by_group(
    lifetimes: Lifetimes, group: Ints, rate_of_group: Floats, bins: Floats
) -> tuple[Floats, Floats]:
    """Objects expected and observed, one row per group and one column per bin.

    An object still listed is spread over the bins of the ages it may yet reach, as its group's
    rate has it. That is fair, and blunts the test where most are still listed.
    """
    groups = len(rate_of_group)
    rate = rate_of_group[group]
    count = np.bincount(group, lifetimes.count, groups).astype(np.float64)
    tails = np.exp(-rate_of_group[:, None] * bins)
    expected = count[:, None] * -np.diff(tails, axis=1, append=0.0)

    observed = np.zeros((groups, len(bins)))
    removed = lifetimes.removed
    column = np.searchsorted(bins, lifetimes.age[removed], side="right") - 1
    np.add.at(observed, (group[removed], column), lifetimes.count[removed])
    later = np.exp(-rate[~removed, None] * np.maximum(bins - lifetimes.age[~removed, None], 0))
    spread = -np.diff(later, axis=1, append=0.0)
    np.add.at(observed, group[~removed], spread * lifetimes.count[~removed, None])
    return expected, observed


def chance_above(statistic: float, freedom: float) -> float:
    """Chance that a chi-square is above a statistic.

    The paper's threshold of 1.5 accepts 22 % of splits that are due to chance:

    >>> round(chance_above(1.5, 1), 4)
    0.2207
    """
    from scipy.special import chdtrc  # slow to load: only where it is needed

    return float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0


def threshold_for(level: float, tests: int = 1) -> float:
    """Gain that one more group must exceed, at a level shared among several tests (Bonferroni).

    >>> round(threshold_for(0.05), 2), round(threshold_for(0.05, tests=10), 2)
    (3.84, 7.88)
    """
    from scipy.special import chdtri  # slow to load: only where it is needed

    return float(chdtri(1, level / tests))


def bonferroni(chances: Floats) -> Floats:
    """Chances times how many there are, at most 1.

    >>> bonferroni(np.array([0.01, 0.4, 0.03]))
    array([0.03, 1.  , 0.09])
    """
    chances = np.asarray(chances, np.float64)
    return np.minimum(chances * len(chances), 1.0)


def benjamini_hochberg(chances: Floats) -> Floats:
    """Share of false finds to expect among all finds at least as good.

    References:
        Benjamini and Hochberg (1995). Controlling the false discovery rate.
        Journal of the Royal Statistical Society B 57, 289-300.

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.4, 0.03]))
        array([0.03 , 0.4  , 0.045])
    """
    chances = np.asarray(chances, np.float64)
    order = np.argsort(chances, kind="stable")[::-1]
    ranks = np.arange(len(chances), 0, -1)
    adjusted = np.empty(len(chances))
    adjusted[order] = np.minimum.accumulate(chances[order] * len(chances) / ranks)
    return np.minimum(adjusted, 1.0)


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
