r"""Estimates shared by the streaming estimators that assume visits at random times.

Where the gaps are exponential with $p$ visits a day, a page that changes at the rate $r$ shows a
change in a gap with probability $r / (r + p)$, so a chance $\theta$ of change means
$\theta / (1 - \theta)$ changes for each visit. At regular visits the chance is larger, and all
these estimators overestimate.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.rates.binomial import clopper_pearson
from recrawl.rates.estimates import Estimates, Status, status_of

if TYPE_CHECKING:
    from recrawl.arrays.types import FlagBits, Floats, Ints


def estimates_of(
    changes_a_visit: Floats,
    seen: tuple[Ints, Ints, Floats],
    *,
    level: float,
    method: str,
    flags: FlagBits | None,
) -> Estimates:
    """Estimates from the changes there are for each visit.

    Args:
        changes_a_visit: Rate over visits a day.
        seen: Changes seen, visits, and days from the first visit to the last.
        level: Probability that the rate lies in its band, which is Clopper and Pearson's.
        method: Name of the estimator.
        flags: Bits of `Flag`, where there are any.
    """
    changes, visits, days = seen
    gaps = np.maximum(visits - 1, 0)
    known = gaps > 0
    with np.errstate(divide="ignore"):  # every gap changed: no upper bound
        low, high = (odds / (1 - odds) for odds in clopper_pearson(changes, gaps, level))
    frequency = np.where(known, gaps, np.nan) / np.where(known, days, 1.0)
    rate = changes_a_visit * frequency
    inside = known & (changes_a_visit > 0)
    # Information of so many gaps about the logarithm of the rate: chance times its complement.
    shape = np.where(inside, gaps * changes_a_visit / np.square(1 + changes_a_visit), np.nan)
    status = status_of(changes, visits)
    status[status == Status.ALL_CHANGED] = Status.SATURATED
    return Estimates(
        rate=rate,
        low=np.minimum(low, changes_a_visit) * frequency,
        high=np.maximum(high, changes_a_visit) * frequency,
        shape=shape,
        exposure=shape / np.where(inside, rate, 1.0),
        changes=changes,
        visits=visits,
        status=status,
        flags=np.zeros(len(rate), np.uint32) if flags is None else flags.copy(),
        method=method,
    )
