"""The plain ratio: changes seen per day watched.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.special import gamma_quantile
from recrawl.checks import check_fraction
from recrawl.rates.estimates import Estimates, status_of
from recrawl.rates.ranks import total_in_order

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class Ratio:
    r"""Changes seen, divided by the days watched.

    $$ \text{rate} = X / T $$

    A gap shows at most one change however many there were, so the rate never exceeds one a
    gap: with visits every $I$ days its mean is $(1 - e^{-rI}) / I$, and more visits do not
    help. Good only while a page changes much less often than it is visited (below a fifth of a
    change a gap the bias stays under 10 %).

    The band takes the changes seen for all there were (Garwood's exact Poisson band); like the
    rate it ignores what went unseen.

    Args:
        level: Probability that the rate lies in its band.

    References:
        Cho and Garcia-Molina (2003), section 4.1.
        Garwood (1936). Fiducial limits for the Poisson distribution. Biometrika 28, 437-442.

    Examples:
        Six changes in ten daily visits:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1.0] * 10, [True] * 6 + [False] * 4)])
        >>> Ratio().estimate(daily).rate
        array([0.6])
    """

    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the level."""
        check_fraction(level=self.level)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        state = np.empty((len(histories), 4))
        state[:, 0] = histories.total(_seen(histories.changed, histories.count))
        state[:, 1] = total_in_order(histories, histories.gaps)
        state[:, 2], state[:, 3] = histories.changes, histories.visits
        return self.read(state, flags=histories.flags)

    @staticmethod
    def changes_a_gap(changes: Ints, gaps: Ints) -> Floats:
        """Expected changes per gap after `changes` of `gaps` equal gaps changed."""
        return changes / gaps

    @staticmethod
    def start(pages: int) -> Floats:
        """State of each page after its first visit: events, days watched, changes, visits."""
        return np.tile([0.0, 0.0, 0.0, 1.0], (pages, 1))

    @staticmethod
    def update(
        state: Floats,
        gaps: Floats,
        changed: Bools,
        *,
        age: Floats | None = None,  # noqa: ARG004 - the same call for all estimators
        count: Ints | None = None,
    ) -> Floats:
        """State of each page after one more gap: one row per page, in and out."""
        flags = np.asarray(changed, np.bool_)
        seen = flags if count is None else _seen(flags, np.asarray(count))
        told: Floats = np.stack([seen, gaps, flags, np.ones(len(state))], axis=1)
        return state + told

    @staticmethod
    def merge(one: Floats, other: Floats) -> Floats:
        """State of each page from two parts of its history."""
        both: Floats = one + other
        both[:, 3] -= 1  # where the parts meet, one visit is the last and the first
        return both

    def read(self, state: Floats, flags: FlagBits | None = None) -> Estimates:
        """Return the estimates of states."""
        seen, exposure = state[:, 0].copy(), state[:, 1].copy()
        changes, visits = state[:, 2].astype(np.int64), state[:, 3].astype(np.int64)
        watched = exposure > 0
        tail = (1 - self.level) / 2

        def rate(events: Floats) -> Floats:
            return np.where(watched, events, np.nan) / np.where(watched, exposure, 1)

        low = np.where(seen > 0, gamma_quantile(np.maximum(seen, 1), tail), 0)
        some = watched & (seen > 0)
        return Estimates(
            rate=rate(seen),
            low=rate(low),
            high=rate(gamma_quantile(seen + 1, 1 - tail)),
            shape=np.where(some, seen, np.nan),
            exposure=np.where(some, exposure, np.nan),
            changes=changes,
            visits=visits,
            status=status_of(changes, visits),
            flags=np.zeros(len(state), np.uint32) if flags is None else flags.copy(),
            method="ratio",
        )


def _seen(changed: Bools, count: Ints) -> Ints:
    """Changes a gap showed: the count where the source tells, else one or none."""
    return np.where(count >= 0, count, changed)
