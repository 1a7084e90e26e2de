"""Policies that do next to nothing and write down what they are told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.units import epoch_days, instants_after_epoch

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.policies.pages import Outcomes, Pages

WAIT = 5.0


@dataclass
class Diary:
    """All that a policy was told."""

    last: Floats
    weight: Floats
    gaps: list[float]
    visits: list[tuple[int, float, bool]] = field(default_factory=list)
    scored: dict[int, float] = field(default_factory=dict)  # values when last asked


@dataclass(frozen=True)
class _Writes:
    def start(self, pages: Pages, now: np.datetime64, gap: float) -> Diary:
        return Diary(epoch_days(pages.first_seen), pages.weight.copy(), [gap])

    def found(self, state: Diary, pages: Pages) -> Diary:
        state.last = np.append(state.last, epoch_days(pages.first_seen))
        state.weight = np.append(state.weight, pages.weight)
        return state

    def with_mean_gap(self, state: Diary, gap: float) -> Diary:
        state.gaps.append(gap)
        return state

    def seen(self, state: Diary, rows: Ints, now: Instants, outcomes: Outcomes) -> Diary:
        assert len(np.unique(rows)) == len(rows)  # as policies may expect
        at = epoch_days(now)
        told: Any = zip(rows.tolist(), at.tolist(), outcomes.changed.tolist(), strict=True)
        state.visits.extend(told)
        state.last[rows] = at
        return state

    def due(self, state: Diary, rows: Ints, price: float) -> Instants:
        """A few days after the last visit; never where a page has no weight."""
        due = state.last[rows] + WAIT / np.maximum(state.weight[rows], 1e-9)
        return instants_after_epoch(np.where(state.weight[rows] > 0, due, np.inf))


@dataclass(frozen=True)
class Fixed(_Writes):
    """A page is due a few days after its last visit."""


@dataclass(frozen=True)
class Worth(_Writes):
    """A visit is worth weight times days since the last."""

    def value(self, state: Diary, rows: Ints, now: np.datetime64) -> Floats:
        waited = np.maximum(float(epoch_days(now)) - state.last[rows], 0)
        value = state.weight[rows] * waited
        state.scored = dict(zip(rows.tolist(), value.tolist(), strict=True))
        return np.asarray(value)
