"""How fresh the copies of a crawl of the demonstration's world truly were.

A copy is fresh at an instant if its page has not changed since the request that fetched or
confirmed it. What a crawl believed of its copies is looked at now and then, and stands beside that.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.demo.world import ExampleWorld

_PARTS = 10


@dataclass(frozen=True, slots=True, eq=False)
class CopyVisits:
    """Visits that fetched or confirmed a copy, in the order of time.

    Args:
        page: Row of the page in the world.
        asked: When the request began.
        at: When the crawl learnt of the answer.
    """

    page: Ints
    asked: Floats
    at: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What a crawl believes of its copies at an instant.

    Args:
        at: The instant.
        page: Rows of the pages that it has a copy of.
        chance: Chance that each is fresh.
    """

    at: float
    page: Ints
    chance: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Tenths:
    """Freshness in each tenth of a crawl; nan where nothing was looked at.

    Args:
        expected: Mean share of copies that were believed to be fresh.
        true: Mean share of copies that were.
    """

    expected: Floats
    true: Floats


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationByTenth:
    """Beliefs in ten groups of equal size, from the copies given the least chance to the most.

    Args:
        expected: Mean chance in each group.
        true: Share of its copies that were fresh.
        size: How many beliefs there are.
    """

    expected: Floats
    true: Floats
    size: int


def truly_fresh(world: ExampleWorld, visits: CopyVisits, beliefs: Sequence[Belief]) -> list[Bools]:
    """Which copies were fresh whenever beliefs were looked at, in their rows.

    Examples:
        A page changes on the second day; a copy of the first day is fresh until then:

        >>> from recrawl.demo.world import ExampleWorld
        >>> world = ExampleWorld.of([("/a", 0, 1.0)], [[2.0]], start=0.0, end=9.0)
        >>> visits = CopyVisits(np.array([0]), np.array([1.0]), np.array([1.1]))
        >>> looked = [Belief(at, np.array([0]), np.array([0.5])) for at in (1.5, 2.5)]
        >>> truly_fresh(world, visits, looked)
        [array([ True]), array([False])]
    """
    asked = np.full(len(world), np.nan)
    found, done = [], 0
    for belief in beliefs:
        until = int(np.searchsorted(visits.at, belief.at, side="right"))
        # The later of two visits to a page is assigned last.
        asked[visits.page[done:until]] = visits.asked[done:until]
        done = until
        found.append(world.unchanged(belief.page, asked[belief.page], belief.at))
    return found


def tenths(
    beliefs: Sequence[Belief], fresh: Sequence[Bools], *, start: float, end: float
) -> Tenths:
    """Means over each tenth of the time from `start` to `end`."""
    at = np.array([belief.at for belief in beliefs])
    part = np.clip(((at - start) / (end - start) * _PARTS).astype(np.int64), 0, _PARTS - 1)
    expected = np.array([belief.chance.mean() for belief in beliefs])
    true = np.array([each.mean() for each in fresh])
    return Tenths(_means(part, expected), _means(part, true))


def _means(part: Ints, figures: Floats) -> Floats:
    counts = np.bincount(part, minlength=_PARTS)
    sums = np.bincount(part, figures, minlength=_PARTS)
    return np.asarray(np.divide(sums, counts, out=np.full(_PARTS, np.nan), where=counts > 0))


def calibration(beliefs: Sequence[Belief], fresh: Sequence[Bools]) -> CalibrationByTenth:
    """What was believed against what was true, by tenths of the beliefs.

    Examples:
        Of ten copies with rising chances the upper five are fresh:

        >>> belief = Belief(0.0, np.arange(10), np.arange(10) / 10)
        >>> calibration([belief], [np.arange(10) >= 5]).true
        array([0., 0., 0., 0., 0., 1., 1., 1., 1., 1.])
    """
    chance = np.concatenate([belief.chance for belief in beliefs])
    order = np.argsort(chance, kind="stable")
    true = np.concatenate(fresh)
    groups = [group for group in np.array_split(order, _PARTS) if len(group)]
    return CalibrationByTenth(
        expected=np.array([chance[group].mean() for group in groups]),
        true=np.array([true[group].mean() for group in groups]),
        size=len(chance),
    )
