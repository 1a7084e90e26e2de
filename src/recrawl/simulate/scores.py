r"""Scores of a run: exact integrals over continuous time, page by page.

Every change of a page is brought home by one visit, or by none until the page is gone or the
world ends. Let $c_j$ be the $j$-th change since the visit before, and $T$ the visit that brings
it. Then the change adds to its page

$$ \text{stale: } T - c_1, \quad \text{age: } \tfrac12 (T - c_1)^2, \quad
   \text{harmonic: } \frac{T - c_j}{j}, \quad \text{missed: } T - c_j , $$

the first two for $j = 1$ only: the integrals of "the copy is stale", of the time since the oldest
unseen change, of $H_N = 1 + 1/2 + \dots + 1/N$ and of $N$, the number of unseen changes.

Where a world knows versions, a page that returns to what its copy is has no unseen changes: $T$ is
then the return, if no visit comes before it.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.ranges import expand_ranges, sums
from recrawl.units import MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from recrawl.arrays.types import Bools, Floats, Instants, Ints
    from recrawl.simulate.world import World


@dataclass(frozen=True, slots=True, eq=False)
class FoundChanges:
    """Visits that brought changes: one row per visit.

    Args:
        at: When each was.
        first: Where in the world's changes the first stands that it brought.
        until: Where the first stands that it did not.
    """

    at: Instants
    first: Ints
    until: Ints

    @classmethod
    def joined(cls, steps: Sequence[tuple[np.datetime64, Ints, Ints]]) -> FoundChanges:
        """All visits of a run, given step by step."""
        none = np.empty(0, np.int64)
        moments = np.array([now for now, *_ in steps], "datetime64[us]")
        return cls(
            np.repeat(moments, [len(first) for _, first, _ in steps]),
            np.concatenate([none, *(first for _, first, _ in steps)]),
            np.concatenate([none, *(until for _, _, until in steps)]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class SimulationRun:
    """What a policy made of a world: tallies a page, and the scores that follow from them.

    Attributes:
        world: What happened.
        stale_days: Days for which each page's copy was stale.
        age_integral: Integral of the time since the oldest unseen change, in square days.
        harmonic_integral: Integral of the harmonic number of unseen changes, in days.
        missed_integral: Integral of the number of unseen changes, in days.
        visits_of_page: Visits to each page.
        found_of_page: Visits to each page that saw a change.
        visited: Which pages were ever visited.
    """

    world: World
    stale_days: Floats
    age_integral: Floats
    harmonic_integral: Floats
    missed_integral: Floats
    visits_of_page: Ints
    found_of_page: Ints
    visited: Bools

    @property
    def freshness(self) -> float:
        """Share of live page-time in which the copy is up to date, by weight."""
        return 1 - self._average(self.stale_days)

    @property
    def staleness(self) -> float:
        """1 - freshness."""
        return 1 - self.freshness

    @property
    def age(self) -> float:
        """Time average of the days since the oldest unseen change; 0 while there is none."""
        return self._average(self.age_integral)

    @property
    def harmonic(self) -> float:
        """Time average of 1 + 1/2 + ... + 1/N, N the unseen changes."""
        return self._average(self.harmonic_integral)

    @property
    def missed(self) -> float:
        """Time average of the number of unseen changes."""
        return self._average(self.missed_integral)

    @property
    def found(self) -> int:
        """Visits that saw a change."""
        return int(self.found_of_page.sum())

    @property
    def changes(self) -> int:
        """Changes of all pages."""
        return int(np.count_nonzero(self.world.changes >= self.world.scored_from))

    @property
    def visits(self) -> int:
        """Visits to all pages."""
        return int(self.visits_of_page.sum())

    @property
    def premature(self) -> int:
        """Visits that saw no change."""
        return self.visits - self.found

    @property
    def precision(self) -> float:
        """Share of the visits that saw a change; nan where there were none."""
        return self.found / self.visits if self.visits else float("nan")

    @property
    def never_visited(self) -> int:
        """Pages that no visit reached."""
        return int(np.count_nonzero(~self.visited))

    def _average(self, integral: Floats) -> float:
        """Time average over all pages, by weight; nan where no page lives."""
        time = float(np.dot(self.world.weight, self.world.scored_days))
        return float(np.dot(self.world.weight, integral)) / time if time > 0 else float("nan")


def scored(world: World, brought: FoundChanges, visits: Ints, visited: Bools) -> SimulationRun:
    """Scores of a run from the visits that brought changes."""
    seen_at, first = _seen(world, with_returns(world, brought))
    tallies = np.empty((4, len(world)))

    def work(pages: slice) -> None:
        tallies[:, pages] = _tallies(world, pages, seen_at, first)

    over_blocks(work, len(world))
    stale, age, harmonic, missed = tallies
    counted = brought.first[brought.at >= world.scored_from]
    return SimulationRun(
        world=world,
        stale_days=stale,
        age_integral=age,
        harmonic_integral=harmonic,
        missed_integral=missed,
        visits_of_page=visits,
        found_of_page=np.bincount(world.row_of_change[counted], minlength=len(world)),
        visited=visited,
    )


def with_returns(world: World, brought: FoundChanges) -> FoundChanges:
    """Visits that brought changes, and returns of pages to what their copies were.

    A return is as a visit that brings all changes since the last one or since the copy was made.
    """
    if world.version is None:
        return brought
    _, base = _seen(world, brought)  # where the copy stands that each change is compared with
    back = np.flatnonzero(world.version == world.versions(world.row_of_change, base))
    # Where the changes begin that are unseen after each: behind the last return, or at the copy.
    behind = np.zeros(len(base) + 1, np.int64)
    behind[back + 1] = back + 1
    begins = np.maximum(np.maximum.accumulate(behind)[:-1], base)
    return FoundChanges(
        np.concatenate([brought.at, world.changes[back]]),
        np.concatenate([begins[brought.until - 1], begins[back]]),
        np.concatenate([brought.until, back + 1]),
    )


def _seen(world: World, brought: FoundChanges) -> tuple[Instants, Ints]:
    """When each change is seen, or counts no more, and where the first stands seen with it."""
    counts = world.change_counts
    seen_at = np.repeat(world.last_moment, counts)
    # Which visit brings a change: they bring stretches that do not overlap. What is left at the
    # end of a page is brought by none.
    first = np.zeros(len(world.changes), np.int64)
    first[brought.first] = brought.first
    some = brought.until < len(first)
    first[brought.until[some]] = brought.until[some]
    begins = world.offsets[:-1][counts > 0]
    first[begins] = begins
    np.maximum.accumulate(first, out=first)
    seen_at[brought.first] = brought.at
    where = expand_ranges(brought.first, brought.until - brought.first)
    seen_at[where] = seen_at[first[where]]
    return seen_at, first


def _tallies(world: World, pages: slice, seen_at: Instants, first: Ints) -> list[Floats]:
    """Stale days, age, harmonic and missed integrals of some pages."""
    offsets = world.offsets[pages.start : pages.stop + 1]
    some = slice(int(offsets[0]), int(offsets[-1]))
    number = np.arange(some.start, some.stop) - first[some] + 1
    changes = world.changes[some]
    counts_from = np.maximum(changes, world.scored_from)
    unseen = _days(np.maximum(seen_at[some], world.scored_from) - counts_from)
    waited = _days(counts_from - changes)  # before scores counted
    leads = number == 1
    stale = np.where(leads, unseen, 0.0)
    offsets = offsets - offsets[0]
    columns = (stale, stale * (stale / 2 + waited), unseen / number, unseen)
    return [sums(column, offsets) for column in columns]


def _days(elapsed: npt.NDArray[np.timedelta64]) -> Floats:
    return elapsed.astype(np.int64) / MICROSECONDS_A_DAY
