r"""Objects that will have arrived, and are still there, after some days.

$$ N(d) = \nu \sum_{j=1}^{d} w'_{k(j)} \, e^{-\theta W H(d-j)} = \nu\, e(d) . $$

Newcomers die by the hazards of the newly born, which are 3 to 10 times those of a stock of job
postings. How much arrivals scatter is told by `negative_binomial`.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.drifting_level import Bank

# Chosen on four listings, one set for all of them.
ARRIVALS_WEIGHT = 5.0
# A source at which nothing ever arrived: half an arrival in all the time there was.
_HALF = 0.5


def lasting(curve: Floats, level: Floats, weekday: Floats) -> Floats:
    """Expected newcomers after 1, 2, ... days if one came a day.

    Args:
        curve: Hazard by age.
        level: What multiplies it, weekdays included, by number of days ahead.
        weekday: Factor of arrivals on each day ahead.

    Examples:
        >>> curve = np.array([0.10, 0.05, 0.05, 0.02])
        >>> newcomers = lasting(curve, np.full(3, 1.2), np.array([0.5, 1.2, 1.3]))
        >>> newcomers.round(6), (12 * newcomers[-1]).round(6)
        (array([0.5    , 1.64346, 2.78194]), np.float64(33.383276))
    """
    days = len(weekday)
    known = curve[: min(days, len(curve))]
    hazard = np.concatenate([known, np.full(days - len(known), known[-1])])
    cumulative = np.concatenate([[0.0], np.cumsum(hazard)])[:days]
    oldest_first = cumulative[::-1]
    return np.array(
        [
            weekday[:ahead] @ np.exp(oldest_first[days - ahead :] * -level[ahead - 1])
            for ahead in range(1, days + 1)
        ]
    )


def arrivals(bank: Bank) -> Floats:
    """Arrivals a day by each memory, drawn to the mean of the longest."""
    return bank.levels(ARRIVALS_WEIGHT, _guess(bank))


def mean_arrivals(bank: Bank) -> float:
    """Arrivals a day."""
    return bank.level(ARRIVALS_WEIGHT, _guess(bank))


def _guess(bank: Bank) -> float:
    """Mean over all that was seen."""
    events, days = float(bank.events[-1]), float(bank.weight[-1])
    return max(events, _HALF) / max(days, 1.0)
