"""Instants of the visits around each gap.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.units import EARLIEST_MICROSECONDS, LATEST_MICROSECONDS, MICROSECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats, Instants, Ints
    from recrawl.visits.histories import Histories

LONGEST_DAYS = (LATEST_MICROSECONDS - EARLIEST_MICROSECONDS) / MICROSECONDS_A_DAY


def visit_instants(histories: Histories) -> tuple[Instants, Instants]:
    """Instants of the two visits of each gap; NaT where only gaps are known.

    Visits beyond the year 2200 are unknown, too.

    Examples:
        >>> from recrawl import Histories
        >>> first = np.array(["2026-01-01"], "datetime64[us]")
        >>> seen = Histories(np.array([1.0, 0.5]), [True, False], [0, 2], first_visit=first)
        >>> visit_instants(seen)[1].astype("datetime64[h]")
        array(['2026-01-02T00', '2026-01-02T12'], dtype='datetime64[h]')
    """
    counts = histories.gaps_of_page
    days = histories.total(np.minimum(histories.gaps, LONGEST_DAYS))
    first = histories.first_visit.astype(np.int64)
    known = ~np.isnat(histories.first_visit)
    late = first / MICROSECONDS_A_DAY + days > LATEST_MICROSECONDS / MICROSECONDS_A_DAY
    known &= ~late & (first >= EARLIEST_MICROSECONDS)

    # Sums of whole microseconds are exact, and right even if the sum over all pages wraps around.
    lengths = microseconds(np.where(np.repeat(known, counts), histories.gaps, 0.0))
    ends = np.cumsum(lengths)
    before = np.concatenate([[0], ends])[histories.offsets[:-1]]
    ends += np.repeat(first - before, counts)
    nothing = np.repeat(~known, counts)
    last: Instants = ends.astype("datetime64[us]")
    start: Instants = (ends - lengths).astype("datetime64[us]")
    start[nothing] = last[nothing] = np.datetime64("NaT")
    return start, last


def microseconds(days: Floats) -> Ints:
    """Whole microseconds, at most three centuries."""
    return np.rint(np.minimum(days, LONGEST_DAYS) * MICROSECONDS_A_DAY).astype(np.int64)
