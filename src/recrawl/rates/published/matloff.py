"""Matloff's estimator for regular access: the plain most likely rate.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction
from recrawl.rates.published.regular import Regular

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class Matloff:
    r"""Logarithm of the share of unchanged gaps.

    With $n$ gaps of $I$ days, $X$ of them changed,

    $$ \text{rate} = -\frac{1}{I} \ln \left(1 - \frac{X}{n}\right) , $$

    the most likely rate. It is always above `cho` where anything changed, and infinite where
    every gap changed. The band is Clopper and Pearson's.

    Args:
        level: Probability that the rate lies in its band.

    References:
        Matloff (2005). Estimation of internet file-access/modification rates from indirect
        data. ACM Transactions on Modeling and Computer Simulation 15(3), 233-253.

    Examples:
        Six changes in ten daily visits:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1.0] * 10, [True] * 6 + [False] * 4)])
        >>> Matloff().estimate(daily).rate.round(4)
        array([0.9163])
    """

    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the level."""
        check_fraction(level=self.level)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        seen = Regular.of(histories)
        expected = self.changes_a_gap(seen.changes, seen.gaps)
        return seen.estimates(expected, seen.band(self.level), "matloff")

    @staticmethod
    def changes_a_gap(changes: Ints, gaps: Ints) -> Floats:
        """Expected changes per gap after `changes` of `gaps` equal gaps changed."""
        with np.errstate(divide="ignore"):  # every gap changed: an infinite rate
            expected: Floats = np.log(np.maximum(gaps, 1) / (gaps - changes))
        return expected
