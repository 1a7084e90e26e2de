"""Pages with gaps of one length, and how the estimates of all their outcomes are weighed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from tests.strategies import Seen, history_of

if TYPE_CHECKING:
    from recrawl import Histories
    from recrawl.arrays.types import Floats
    from recrawl.rates.estimates import Estimator


def regular_page(changed: int, gaps: int, days: float = 1.0) -> list[Seen]:
    """So many gaps of so many days, the first of them changed."""
    return [Seen(days, row < changed) for row in range(gaps)]


def every_outcome(gaps: int) -> Histories:
    """A page for 0, 1, ..., all of so many daily gaps changed."""
    return history_of(*(regular_page(changed, gaps) for changed in range(gaps + 1)))


def chances(rate: float, gaps: int) -> Floats:
    """Chance of each of these outcomes for a page with that rate."""
    return np.asarray(stats.binom.pmf(np.arange(gaps + 1), gaps, -math.expm1(-rate)))


def coverage(estimator: Estimator, rates: Floats, gaps: int) -> Floats:
    """Chance that the band holds the rate, summed over all outcomes of so many daily gaps."""
    estimates = estimator.estimate(every_outcome(gaps))
    return np.array(
        [
            chances(rate, gaps) @ ((estimates.low <= rate) & (rate <= estimates.high))
            for rate in rates.tolist()
        ]
    )
