"""The default estimator: the posterior of a change rate as a Gamma distribution.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.blocks import over_blocks
from recrawl.arrays.special import digamma, gamma_quantile
from recrawl.checks import check_fraction
from recrawl.errors import InvalidParameter
from recrawl.rates.estimates import Estimates, status_of
from recrawl.rates.gamma_state import gamma_states, step
from recrawl.rates.priors import Priors

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, FlagBits, Floats, Ints
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class Gamma:
    r"""Posterior of a Poisson change rate, held as a Gamma distribution.

    Visits that show nothing, a change, a dated change or a count all speak through one
    likelihood (`recrawl.rates.gamma_state`). The rate starts from the prior of the page's
    site, so it is defined from the first visit on. After all visits, with shape $a$ and
    exposure $b$,

    $$ \text{rate} = e^{\psi(a)} / b $$

    is the geometric mean, the band holds the rate with the probability `level`, and a page
    stays as it is for $t$ more days with chance $(b / (b + t))^a$.

    The estimator streams: `start`, then `update` for each gap of each page, gives bit for bit
    what `estimate` gives. A state is one row per page: shape, exposure, changes, visits.

    Args:
        priors: Priors of the rates; see `fit_prior`.
        level: Probability that the rate lies in its band.
        use_first_age: Take the age of the page at its first visit for an observed change. Right
            for pages that were found by chance, wrong for pages that were found because they
            were new.
        false_changes: Chance that a change is reported at a visit to an unchanged page, by clocks,
            tokens and advertisements that differ by themselves.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change.
        ACM Transactions on Internet Technology 3(3), 256-290.
        Minka (2001). Expectation propagation for approximate Bayesian inference. UAI.

    Examples:
        One unchanged day adds a day of exposure to a prior of 2 events in 10 days:

        >>> from recrawl import Histories, Priors
        >>> seen = Histories.from_lists([([1.0], [False])])
        >>> estimates = Gamma(Priors.one(shape=2.0, exposure=10.0)).estimate(seen)
        >>> estimates.shape, estimates.exposure
        (array([2.]), array([11.]))
    """

    priors: Priors = field(default_factory=Priors.one)
    level: float = 0.9
    use_first_age: bool = False
    false_changes: float = 0.0

    def __post_init__(self) -> None:
        """Check the probabilities."""
        check_fraction(level=self.level)
        if not 0 <= self.false_changes < 1:
            message = f"false_changes must be between 0 and 1 (got {self.false_changes})"
            raise InvalidParameter(message)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        before = self._start(len(histories), histories.first_age)
        shape, exposure = gamma_states(histories, *before, self.false_changes)
        return self.of_columns(
            shape, exposure, histories.changes, histories.visits, histories.flags
        )

    def start(self, pages: int, first_age: Floats | None = None) -> Floats:
        """State of each page after its first visit."""
        state = np.empty((pages, 4))
        state[:, 0], state[:, 1] = self._start(pages, first_age)
        state[:, 2], state[:, 3] = 0, 1
        return state

    def _start(self, pages: int, first_age: Floats | None) -> tuple[Floats, Floats]:
        """Shape and exposure of each page after its first visit."""
        shape, exposure = self.priors.of_pages(pages)
        if self.use_first_age and first_age is not None:
            known = ~np.isnan(first_age)
            shape[known] += 1
            exposure[known] += first_age[known]
        return shape, exposure

    def update(
        self,
        state: Floats,
        gaps: Floats,
        changed: Bools,
        *,
        age: Floats | None = None,
        count: Ints | None = None,
    ) -> Floats:
        """State of each page after one more gap: one row per page, in and out."""
        shape, exposure = step(
            np.ascontiguousarray(state[:, 0]),
            np.ascontiguousarray(state[:, 1]),
            np.asarray(gaps, np.float64),
            np.asarray(changed, np.bool_),
            age,
            count,
            np.full(len(state), self.false_changes) if self.false_changes else None,
        )
        return np.stack([shape, exposure, state[:, 2] + changed, state[:, 3] + 1], axis=1)

    def merge(self, one: Floats, other: Floats) -> Floats:
        """State of each page from two parts of its history, whose evidence is added.

        Exact for dated and unchanged gaps. Hidden changes were read given one part only, so there
        it is close, not exact.
        """
        together = one + other
        shape, exposure = self.priors.of_pages(len(one))
        together[:, 0] -= shape
        together[:, 1] -= exposure
        together[:, 3] -= 1  # where the parts meet, one visit is the last and the first
        return together

    def read(self, state: Floats, flags: FlagBits | None = None) -> Estimates:
        """Return the estimates of states."""
        shape, exposure = np.ascontiguousarray(state[:, 0]), np.ascontiguousarray(state[:, 1])
        changes, visits = state[:, 2].astype(np.int64), state[:, 3].astype(np.int64)
        return self.of_columns(shape, exposure, changes, visits, flags)

    def of_columns(
        self,
        shape: Floats,
        exposure: Floats,
        changes: Ints,
        visits: Ints,
        flags: FlagBits | None = None,
    ) -> Estimates:
        """Return the estimates of states whose columns lie apart."""
        tail = (1 - self.level) / 2
        rate, low, high = np.empty((3, len(shape)))

        def work(rows: slice) -> None:
            a, b = shape[rows], exposure[rows]
            rate[rows] = np.exp(digamma(a)) / b
            # The geometric mean of a small shape lies below the middle third.
            np.minimum(gamma_quantile(a, tail) / b, rate[rows], out=low[rows])
            np.maximum(gamma_quantile(a, 1 - tail) / b, rate[rows], out=high[rows])

        over_blocks(work, len(shape))
        return Estimates(
            rate=rate,
            low=low,
            high=high,
            shape=shape,
            exposure=exposure,
            changes=changes,
            visits=visits,
            status=status_of(changes, visits, prior=True),
            flags=np.zeros(len(shape), np.uint32) if flags is None else flags.copy(),
            method="gamma",
        )
