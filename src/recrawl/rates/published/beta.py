"""A Bayesian estimator for regular access: a Beta prior on the chance of change.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction, check_positive
from recrawl.rates.binomial import beta_quantile, for_each_pair
from recrawl.rates.published.regular import Regular

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class Beta:
    r"""Mean chance that a gap shows a change, turned into a rate.

    The chance $\theta = 1 - e^{-rI}$ starts from Beta($\alpha$, $\beta$) and is
    Beta($X + \alpha$, $n - X + \beta$) after $X$ changes in $n$ gaps of $I$ days:

    $$ \text{rate} = -\frac{1}{I} \ln \left(1 - \frac{X + \alpha}{n + \alpha + \beta}\right) . $$

    The band holds the rate with probability `level` under that posterior. Unlike with `cho`, a
    page that never changed has a rate above 0. The prior speaks of a gap, not of a day: the same
    page visited twice as often starts from another belief about its rate.

    Args:
        alpha: Changed gaps the prior counts as seen; 1 and 1 hold every chance equally likely.
        beta: Unchanged gaps the prior counts as seen.
        level: Probability that the rate lies in its band.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Appendix B.

    Examples:
        Six changes in ten daily visits:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1.0] * 10, [True] * 6 + [False] * 4)])
        >>> Beta().estimate(daily).rate.round(4)
        array([0.8755])
    """

    alpha: float = 1.0
    beta: float = 1.0
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        check_positive(alpha=self.alpha, beta=self.beta)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        seen = Regular.of(histories)
        expected = self.changes_a_gap(seen.changes, seen.gaps)
        tail = (1 - self.level) / 2
        band = self._quantile(seen, tail), self._quantile(seen, 1 - tail)
        return seen.estimates(expected, band, "beta")

    def changes_a_gap(self, changes: Ints, gaps: Ints) -> Floats:
        """Expected changes per gap after `changes` of `gaps` equal gaps changed."""
        return np.log((gaps + self.alpha + self.beta) / (gaps - changes + self.beta))

    def _quantile(self, seen: Regular, probability: float) -> Floats:
        """Changes to expect in a gap, at most, with that probability."""

        def quantile(x: Ints, n: Ints) -> Floats:
            chance = beta_quantile(x + self.alpha, n - x + self.beta, probability)
            with np.errstate(divide="ignore"):  # as good as certain: no upper bound
                return -np.log1p(-chance)

        return for_each_pair(seen.changes, seen.gaps, quantile)
