"""The streaming estimator by the law of large numbers, for visits at random times.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction
from recrawl.rates.published.poisson_visits import estimates_of
from recrawl.rates.ranks import total_in_order

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories

_ONE_MORE = 1.0  # keeps the rate finite where every gap changed


@dataclass(frozen=True, slots=True)
class LLN:
    r"""Changes seen over gaps without one, times the visits a day.

    With $X$ changes in $k$ gaps and $p$ visits a day at random times

    $$ \text{rate} = p \frac{X}{k + 1 - X} . $$

    Three sums a page, but right only for exponential gaps. `gamma` costs as little, takes any
    gaps, and is more accurate; this is a baseline.

    Args:
        level: Probability that the rate lies in its band.

    References:
        Avrachenkov, Patil and Thoppe (2020). Change rate estimation and optimal freshness in web
        page crawling. arXiv 2004.02167.

    Examples:
        Six changes in ten daily visits:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1.0] * 10, [True] * 6 + [False] * 4)])
        >>> LLN().estimate(daily).rate
        array([1.2])
    """

    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the level."""
        check_fraction(level=self.level)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        state = np.empty((len(histories), 3))
        state[:, 0], state[:, 2] = histories.changes, histories.visits
        state[:, 1] = total_in_order(histories, histories.gaps)
        return self.read(state, flags=histories.flags)

    @staticmethod
    def start(pages: int) -> Floats:
        """State of each page after its first visit: changes, days watched, visits."""
        return np.tile([0.0, 0.0, 1.0], (pages, 1))

    @staticmethod
    def update(
        state: Floats,
        gaps: Floats,
        changed: Bools,
        *,
        age: Floats | None = None,  # noqa: ARG004 - the same call for all estimators
        count: Ints | None = None,  # noqa: ARG004
    ) -> Floats:
        """State of each page after one more gap: one row per page, in and out."""
        told: Floats = np.stack([changed, gaps, np.ones(len(state))], axis=1)
        return state + told

    @staticmethod
    def merge(one: Floats, other: Floats) -> Floats:
        """State of each page from two parts of its history."""
        both: Floats = one + other
        both[:, 2] -= 1  # where the parts meet, one visit is the last and the first
        return both

    @staticmethod
    def changes_a_gap(changes: Ints, gaps: Ints) -> Floats:
        """Expected changes per gap after `changes` of `gaps` gaps changed."""
        return changes / (gaps - changes + _ONE_MORE)

    def read(self, state: Floats, flags: FlagBits | None = None) -> Estimates:
        """Return the estimates of states."""
        changes, visits = state[:, 0].astype(np.int64), state[:, 2].astype(np.int64)
        gaps = np.maximum(visits - 1, 0)
        return estimates_of(
            self.changes_a_gap(changes, gaps),
            (changes, visits, state[:, 1].copy()),
            level=self.level,
            method="lln",
            flags=flags,
        )
