"""Freshness over time: as it was expected, and as later visits showed it to be.

Touches: a store.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.entries.freshness import FreshnessNoted
from recrawl.inspect.status.hindsight import past_freshness
from recrawl.report.charts.freshness import FreshnessPoint
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

_DAYS = 30.0
_POINTS = 240  # of a line


def read_freshness(reader: ReadStore, now: float) -> list[FreshnessPoint]:
    """Freshness in the last month, oldest first."""
    noted = reader.freshness_noted((now - _DAYS) * SECONDS_A_DAY)
    if not noted:
        noted = _unknown(reader, now)
    if len(noted) > _POINTS:
        rows = np.linspace(0, len(noted) - 1, _POINTS).round().astype(int)
        noted = [noted[row] for row in rows.tolist()]
    turned_out = past_freshness(reader, [each.at_seconds / SECONDS_A_DAY for each in noted])
    return [
        FreshnessPoint(each.at_seconds, each.fresh, each.low, each.high, share)
        for each, share in zip(noted, turned_out, strict=True)
    ]


def _unknown(reader: ReadStore, now: float) -> list[FreshnessNoted]:
    """Instants of a crawl that an older recrawl made, which noted nothing."""
    for visits in reader.outcomes(rows=1):
        first = float(visits.at[0].astype("datetime64[ms]").astype(np.int64)) / 1000
        began = max(first, (now - _DAYS) * SECONDS_A_DAY)
        instants = np.linspace(began, now * SECONDS_A_DAY, _POINTS // 2).tolist()
        return [FreshnessNoted(at, 0, nan, nan, nan) for at in instants]
    return []
