"""Input of policies: pages that were found, and outcomes of visits to them.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.arrays.types import Bools, Floats, Instants, Ints

# Chance of a false change of a visit that tells nothing; of 1 itself the logarithms would be none.
TELLS_NOTHING = 1 - 2.0**-20


@dataclass(frozen=True, slots=True)
class Pages:
    """Pages as they are found: one row per page.

    Args:
        address: Address or path of each page; its folders say which pages belong together.
        first_seen: When each page was found and first copied.
        weight: How much each page matters.
        cost: What a visit to each page costs.
        first_age: Days from each page's last change to when it was found; nan where unknown.
    """

    address: tuple[str, ...]
    first_seen: Instants
    weight: Floats
    cost: Floats
    first_age: Floats

    @classmethod
    def of(
        cls,
        address: Sequence[str],
        first_seen: Instants,
        *,
        weight: Floats | None = None,
        cost: Floats | None = None,
        first_age: Floats | None = None,
    ) -> Pages:
        """Pages that matter and cost alike, of unknown age, unless told otherwise."""
        ones = np.ones(len(address))
        return cls(
            tuple(address),
            first_seen,
            ones if weight is None else weight,
            ones if cost is None else cost,
            np.full(len(address), np.nan) if first_age is None else first_age,
        )

    @classmethod
    def joined(cls, parts: Sequence[Pages]) -> Pages:
        """Pages of several parts, one after the other."""
        return cls(
            tuple(chain.from_iterable(part.address for part in parts)),
            np.concatenate([part.first_seen for part in parts]),
            np.concatenate([part.weight for part in parts]),
            np.concatenate([part.cost for part in parts]),
            np.concatenate([part.first_age for part in parts]),
        )

    def __len__(self) -> int:
        """Count the pages."""
        return len(self.address)

    def take(self, rows: Ints) -> Pages:
        """Some of the pages."""
        address = tuple(self.address[row] for row in rows.tolist())
        worth = self.weight[rows], self.cost[rows]
        return Pages(address, self.first_seen[rows], *worth, self.first_age[rows])


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What visits showed: one row per visit.

    Args:
        changed: Whether the page had changed since the visit before.
        age: Days from the last change to the visit; nan where that is unknown.
        false_changes: Chance that each visit would report a change of an unchanged page; None for
            never.
    """

    changed: Bools
    age: Floats
    false_changes: Floats | None = None

    @classmethod
    def existence(cls, changed: Bools) -> Outcomes:
        """Outcomes that tell whether a page changed and not when."""
        return cls(changed, np.full(len(changed), np.nan))

    @classmethod
    def uninformative(cls, visits: int) -> Outcomes:
        """Outcomes that tell nothing: a change is reported, and would be of an unchanged page, too.

        >>> Outcomes.uninformative(1).real(np.array([0.2])).round(4)
        array([0.2])
        """
        unknown, certain = np.full(visits, np.nan), np.full(visits, TELLS_NOTHING)
        return cls(np.ones(visits, np.bool_), unknown, certain)

    def take(self, rows: Ints | slice) -> Outcomes:
        """Some of the outcomes."""
        false = self.false_changes
        return Outcomes(self.changed[rows], self.age[rows], None if false is None else false[rows])

    @classmethod
    def joined(cls, parts: Sequence[Outcomes]) -> Outcomes:
        """Outcomes of several parts, one after the other."""
        false = None
        if any(part.false_changes is not None for part in parts):
            none = (np.zeros(len(part.changed)) for part in parts)
            false = np.concatenate(
                [
                    zeros if part.false_changes is None else part.false_changes
                    for part, zeros in zip(parts, none, strict=True)
                ]
            )
        return cls(
            np.concatenate([part.changed for part in parts]),
            np.concatenate([part.age for part in parts]),
            false,
        )

    def real(self, chance: Floats) -> Floats:
        """How likely each visit met a change, from the chances that there was one.

        >>> noisy = Outcomes(np.array([True, False]), np.full(2, np.nan), np.array([0.25, 0.25]))
        >>> noisy.real(np.array([0.2, 0.2]))
        array([0.5, 0. ])
        """
        real = self.changed.astype(np.float64)
        if self.false_changes is None:
            return real
        return np.asarray(real * chance / (chance + self.false_changes * (1 - chance)))

    def reported(self, chance: Floats) -> Floats:
        """Chance that each visit reports a change, from the chances that there was one."""
        if self.false_changes is None:
            return chance
        return np.asarray(chance + self.false_changes * (1 - chance))
