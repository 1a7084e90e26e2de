"""Cho and Garcia-Molina's bias-reduced estimator from dates of change.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction
from recrawl.rates.priors import Priors
from recrawl.rates.published.dated import Dated, with_fallback

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Ints
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories

_LEAST_GAPS = 2  # one change in one gap would give a rate of 0


@dataclass(frozen=True, slots=True)
class LastModified:
    r"""Changes seen, corrected for bias, divided by the days known to be quiet.

    With $X$ changes in $N$ gaps and $T$ quiet days (as in `last-modified-raw`)

    $$ \text{rate} = \frac{X'}{T} , \qquad
       X' = (X - 1) - \frac{X}{N \ln(1 - X / N)} , $$

    with the limits $X' = 0$ for $X = 0$ and $X' = N - 1$ for $X = N$. What bias is left stays
    within 1.5 % for any $N$ and any rate. One gap is too little: a change in it would give a
    rate of 0. Such pages get the figures of `gamma` and a flag.

    Args:
        priors: Where the rates of pages with less than two gaps start.
        level: Probability that the rate lies in its band.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Figure 13.

    Examples:
        Two changes in five gaps, 3.7 days known to be quiet:

        >>> from recrawl import Histories
        >>> seen = Histories(
        ...     gaps=[1.0] * 5,
        ...     changed=[True, True, False, False, False],
        ...     offsets=[0, 5],
        ...     age=[0.5, 0.2] + [float("nan")] * 3,
        ... )
        >>> LastModified().estimate(seen).rate.round(6)
        array([0.481904])
    """

    priors: Priors = field(default_factory=Priors.one)
    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the level."""
        check_fraction(level=self.level)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        seen = Dated.of(histories)
        events = corrected_events(seen.changes, seen.gaps)
        estimates = seen.estimates(events, self.level, "last-modified")
        few = np.flatnonzero(seen.gaps < _LEAST_GAPS)
        return with_fallback(estimates, histories, few, self.priors, self.level)


def corrected_events(changes: Ints, gaps: Ints) -> Floats:
    """Changes to count for those seen, so that the rate is nearly unbiased.

    >>> corrected_events(np.array([0, 2, 5]), np.array([5, 5, 5])).round(6)
    array([0.      , 1.783046, 4.      ])
    """
    inside = (changes > 0) & (changes < gaps)
    share = np.where(inside, changes, 1) / np.where(inside, gaps, 2)
    return np.where(changes > 0, changes - 1 - np.where(inside, share / np.log1p(-share), 0), 0.0)
