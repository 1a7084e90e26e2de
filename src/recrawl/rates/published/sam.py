"""The streaming estimator by stochastic approximation with momentum.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction, check_positive
from recrawl.errors import InvalidParameter
from recrawl.rates.published.poisson_visits import estimates_of
from recrawl.rates.ranks import over_ranks, step_size

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class SAM:
    r"""The steps of `sa`, each going on a little in the direction of the one before.

    $$ x_{k+1} = x_k + \eta_k \left( I_k (x_k + p) - x_k \right) + \zeta_k (x_k - x_{k-1}) ,
       \qquad \eta_k = (k + 1)^{-\eta}, \quad \zeta_k = (k + 1)^{-\zeta} . $$

    Momentum that would carry the rate to 0 or below is left out. As `sa`, a baseline that is
    right only for exponential gaps.

    Args:
        exponent: How fast steps shrink, $\eta$: above a half, at most 1.
        momentum: How fast the momentum shrinks, $\zeta$: above 0.
        level: Probability that the rate lies in its band.

    References:
        Avrachenkov, Patil and Thoppe (2020). Online algorithms for estimating change rates of
        web pages. arXiv 2009.08142.

    Examples:
        The first gap has no step before it, so it is as with `sa`:

        >>> from recrawl import Histories
        >>> SAM().estimate(Histories.from_lists([([1.0], [True])])).rate.round(4)
        array([1.5946])
    """

    exponent: float = 0.75
    momentum: float = 0.5
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        if not 1 / 2 < self.exponent <= 1:
            message = f"exponent must be above 0.5 and at most 1 (got {self.exponent})"
            raise InvalidParameter(message)
        check_positive(momentum=self.momentum)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        state = self.start(len(histories))
        value, before, days = (state[:, column].copy() for column in range(3))

        def step(rank: int, pages: Ints, rows: Ints) -> None:
            now = value[pages]
            changed = histories.changed[rows]
            value[pages] = self._step(now, before[pages], changed, rank + 1.0)
            before[pages] = now
            days[pages] += histories.gaps[rows]

        over_ranks(step, histories)
        state[:, 0], state[:, 1], state[:, 2] = value, before, days
        state[:, 3], state[:, 4] = histories.changes, histories.visits
        return self.read(state, flags=histories.flags)

    @staticmethod
    def start(pages: int) -> Floats:
        """State after the first visit: changes a visit, the same before, days, changes, visits."""
        return np.tile([1.0, 1.0, 0.0, 0.0, 1.0], (pages, 1))

    def update(
        self,
        state: Floats,
        gaps: Floats,
        changed: Bools,
        *,
        age: Floats | None = None,  # noqa: ARG002 - the same call for all estimators
        count: Ints | None = None,  # noqa: ARG002
    ) -> Floats:
        """State of each page after one more gap: one row per page, in and out."""
        flags = np.asarray(changed, np.bool_)
        value, before, days, changes, visits = state.T
        moved = self._step(value, before, flags, visits)
        return np.stack([moved, value, days + gaps, changes + flags, visits + 1], axis=1)

    def _step(
        self, value: Floats, before: Floats, changed: Bools, number: Floats | float
    ) -> Floats:
        """Changes a visit after gap `number`, counted from 1."""
        plain = value + step_size(number, self.exponent) * (changed * (value + 1) - value)
        carried = plain + step_size(number, self.momentum) * (value - before)
        return np.where(carried > 0, carried, plain)

    def read(self, state: Floats, flags: FlagBits | None = None) -> Estimates:
        """Return the estimates of states."""
        changes, visits = state[:, 3].astype(np.int64), state[:, 4].astype(np.int64)
        seen = changes, visits, state[:, 2].copy()
        return estimates_of(state[:, 0].copy(), seen, level=self.level, method="sam", flags=flags)
