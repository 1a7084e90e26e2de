"""What a visit shows of what happened: whether a page changed, perhaps when, perhaps wrongly.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.errors import InvalidParameter
from recrawl.policies.pages import Outcomes
from recrawl.simulate.sections import sections
from recrawl.units import days_between

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints
    from recrawl.policies.pages import Pages
    from recrawl.simulate.world import World


@dataclass(frozen=True, slots=True)
class Observation:
    """How visits see the world.

    Args:
        dated: Whether a visit also tells when the page last changed (Last-Modified).
        lying: Share of sections whose dates lie: they name the time of the visit.
        missed: Probability that a visit does not notice a change. The copy stays as it is, and
            a later visit may still find it.
        false: Probability that a visit takes an unchanged page for a changed one.
    """

    dated: bool = False
    lying: float = 0.0
    missed: float = 0.0
    false: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no probability."""
        for field in fields(self)[1:]:
            share = getattr(self, field.name)
            if not 0 <= share <= 1:
                message = f"{field.name} must be a probability from 0 to 1 (got {share})"
                raise InvalidParameter(message)


class Observer:
    """Observation of one world."""

    def __init__(self, world: World, observation: Observation, random: np.random.Generator) -> None:
        self._world = world
        self._observation = observation
        self._random = random
        self._liar = np.zeros(len(world), np.bool_)
        if observation.dated and observation.lying:
            section, count = sections(world.address)
            self._liar = (random.random(count) < observation.lying)[section]

    def notice(self, changed: Bools) -> Bools:
        """Which of the changed pages are noticed to have changed."""
        missed = self._observation.missed
        return changed & (self._random.random(len(changed)) >= missed) if missed else changed

    def outcomes(self, rows: Ints, now: np.datetime64, noticed: Bools, known: Ints) -> Outcomes:
        """What visits show.

        Args:
            rows: Pages visited.
            now: When.
            noticed: Which of them are noticed to have changed.
            known: For each, where the first change stands that is not in the copy.
        """
        changed = noticed
        if self._observation.false:
            changed = noticed | (self._random.random(len(rows)) < self._observation.false)
        if not self._observation.dated:
            return Outcomes.existence(changed)
        return Outcomes(changed, self._ages(rows, now, known))

    @property
    def pages(self) -> Pages:
        """The pages as a policy is told of them: with their ages, if visits tell dates."""
        if not self._observation.dated:
            return self._world.pages
        age = np.where(self._liar, 0.0, self._world.first_age)
        return replace(self._world.pages, first_age=age)

    def _ages(self, rows: Ints, now: np.datetime64, known: Ints) -> Floats:
        """Days since the last change that the copy has; nan where the page never had one."""
        world = self._world
        age = days_between(world.first_seen[rows], now) + world.first_age[rows]
        some = np.flatnonzero(known > world.offsets[rows])
        age[some] = days_between(world.changes[known[some] - 1], now)
        age[self._liar[rows]] = 0.0
        return age
