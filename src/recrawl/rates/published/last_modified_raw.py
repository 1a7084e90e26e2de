"""Cho and Garcia-Molina's estimator from dates of change, before its correction.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recrawl.checks import check_fraction
from recrawl.rates.published.dated import Dated

if TYPE_CHECKING:
    from recrawl.rates.estimates import Estimates
    from recrawl.visits.histories import Histories


@dataclass(frozen=True, slots=True)
class LastModifiedRaw:
    r"""Changes seen, divided by the days known to be quiet.

    A gap that ended $t$ days after the page's last change tells of one change and of $t$ quiet
    days; a gap without a change tells of quiet days alone. With $X$ changes and $T$ quiet days

    $$ \text{rate} = X / T , $$

    the most likely rate of exponential waits that are cut off by the visits. With $N$ gaps its
    mean is too high by a factor from $N \ln(N / (N - 1))$ for slow pages to $N / (N - 1)$ for
    fast ones; `last-modified` takes that out.

    Args:
        level: Probability that the rate lies in its band.

    References:
        Cho and Garcia-Molina (2003). Estimating frequency of change. ACM Transactions on
        Internet Technology 3(3), 256-290. Figure 10.

    Examples:
        Two changes, a day and half a day before the visits that saw them, and two quiet days:

        >>> from recrawl import Histories
        >>> seen = Histories(
        ...     gaps=[2.0, 2.0, 2.0],
        ...     changed=[True, True, False],
        ...     offsets=[0, 3],
        ...     age=[1.0, 0.5, float("nan")],
        ... )
        >>> LastModifiedRaw().estimate(seen).rate.round(4)  # 2 / 3.5
        array([0.5714])
    """

    level: float = 0.9

    def __post_init__(self) -> None:
        """Check the level."""
        check_fraction(level=self.level)

    def estimate(self, histories: Histories) -> Estimates:
        """Return one rate per page, in changes per day."""
        seen = Dated.of(histories)
        return seen.estimates(seen.changes.astype(np.float64), self.level, "last-modified-raw")
