"""Cho and Garcia-Molina's bias-reduced estimator for regular access.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from recrawl.checks import check_choice, check_fraction
from recrawl.rates.published.regular import Regular

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class Cho:
    r"""Logarithm of the share of unchanged gaps, corrected by half a gap.

    With $n$ gaps of $I$ days, $X$ of them changed,

    $$ \text{rate} = -\frac{1}{I} \ln \frac{n - X + a}{n + a} , \qquad a = \tfrac12 . $$

    The half keeps the rate finite where every gap changed and takes out the bias to first
    order. The value that does so exactly for each $n$ is $a(n) = 1 / (e^{1/n} - 1) - (n - 1)$,
    which falls from 0.58 at one gap to a half.

    No rate is above $\ln(2n + 1)$ changes a gap, whatever the truth: a page that changed in
    every gap is `saturated`. The band is Clopper and Pearson's for the chance that a gap shows a
    change.

    Args:
        correction: `"half"`, or `"exact"` for $a(n)$.
        level: Probability that the rate lies in its band.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Section 4.2 and appendix B, where the coefficient
        must read n ln((n + a) / (n - 1 + a)).

    Examples:
        Six changes in ten daily visits:

        >>> from recrawl import Histories
        >>> daily = Histories.from_lists([([1.0] * 10, [True] * 6 + [False] * 4)])
        >>> Cho().estimate(daily).rate.round(4)
        array([0.8473])
    """

    correction: Literal["half", "exact"] = "half"
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the parameters."""
        check_fraction(level=self.level)
        check_choice(("half", "exact"), correction=self.correction)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        seen = Regular.of(histories)
        expected = self.changes_a_gap(seen.changes, seen.gaps)
        name = "cho" if self.correction == "half" else "cho-exact"
        return seen.estimates(expected, seen.band(self.level), name)

    def changes_a_gap(self, changes: Ints, gaps: Ints) -> Floats:
        """Expected changes per gap after `changes` of `gaps` equal gaps changed."""
        extra = 0.5 if self.correction == "half" else exact_correction(gaps)
        return np.log((gaps + extra) / (gaps - changes + extra))


def exact_correction(gaps: Ints) -> Floats:
    """The share of a gap that leaves no first-order bias for so many gaps; a half for none.

    >>> exact_correction(np.array([1, 2, 10])).round(6)
    array([0.581977, 0.541494, 0.508332])
    """
    some = np.maximum(gaps, 1)
    return np.where(gaps > 0, 1 / np.expm1(1 / some) - (some - 1), 0.5)
