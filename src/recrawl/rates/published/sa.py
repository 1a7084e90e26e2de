"""The streaming estimator by stochastic approximation, for visits at random times.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates.published.poisson_visits import estimates_of
from recrawl.rates.ranks import over_ranks, step_size

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class SA:
    r"""A rate that takes a step towards what each gap showed.

    With $p$ visits a day at random times, and $I_k = 1$ where gap $k$ changed, else 0,

    $$ x \leftarrow x + \eta_k \left( I_k (x + p) - x \right) , \qquad
       \eta_k = (k + 1)^{-\eta} , $$

    starting from $x = p$. On average the step vanishes where $x$ is the rate. Right only for
    exponential gaps, and slower to settle than a sum; this is a baseline. The state holds
    $x / p$, so that $p$, the visits a day, is taken from the whole time watched.

    Args:
        exponent: How fast steps shrink, $\eta$: above a half, at most 1.
        level: Probability that the rate lies in its band.

    References:
        Avrachenkov, Patil and Thoppe (2020). Change rate estimation and optimal freshness in web
        page crawling. arXiv 2004.02167.

    Examples:
        One changed day: a step of 2^(-0.75) from one change a visit towards two.

        >>> from recrawl import Histories
        >>> SA().estimate(Histories.from_lists([([1.0], [True])])).rate.round(4)
        array([1.5946])
    """

    exponent: float = 0.75
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        if not 1 / 2 < self.exponent <= 1:
            message = f"exponent must be above 0.5 and at most 1 (got {self.exponent})"
            raise InvalidParameter(message)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        state = self.start(len(histories))
        value, days = state[:, 0].copy(), state[:, 1].copy()

        def step(rank: int, pages: Ints, rows: Ints) -> None:
            value[pages] = self._step(value[pages], histories.changed[rows], rank + 1.0)
            days[pages] += histories.gaps[rows]

        over_ranks(step, histories)
        state[:, 0], state[:, 1] = value, days
        state[:, 2], state[:, 3] = histories.changes, histories.visits
        return self.read(state, flags=histories.flags)

    @staticmethod
    def start(pages: int) -> Floats:
        """State after the first visit: changes a visit, days watched, changes, visits."""
        return np.tile([1.0, 0.0, 0.0, 1.0], (pages, 1))

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
        value = self._step(state[:, 0], flags, state[:, 3])
        return np.stack([value, state[:, 1] + gaps, state[:, 2] + flags, state[:, 3] + 1], axis=1)

    def _step(self, value: Floats, changed: Bools, number: Floats | float) -> Floats:
        """Changes a visit after gap `number`, counted from 1."""
        return value + step_size(number, self.exponent) * (changed * (value + 1) - value)

    def read(self, state: Floats, flags: FlagBits | None = None) -> Estimates:
        """Return the estimates of states."""
        changes, visits = state[:, 2].astype(np.int64), state[:, 3].astype(np.int64)
        seen = changes, visits, state[:, 1].copy()
        return estimates_of(state[:, 0].copy(), seen, level=self.level, method="sa", flags=flags)
