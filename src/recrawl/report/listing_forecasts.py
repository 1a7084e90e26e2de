"""Forecasts of listings as tables: what `recrawl listing forecast` writes, a row a day.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast import METRICS, QUALITIES
from recrawl.report.listing_sheets import Sheet, cells, texts

if TYPE_CHECKING:
    from recrawl.listings.forecast import Forecast, Outlook
    from recrawl.report.rates import Column
    from recrawl.visits.arrays import Ints

FORECAST_COLUMNS = (
    "source",
    "after_days",
    "at",
    *(f"{metric}{end}" for metric in METRICS for end in ("", "_low", "_high")),
    "status",
)

_DAY = np.timedelta64(1, "D")


def forecast_sheet(
    name: str, found: Forecast, synchronised: np.datetime64, days: Ints, *, typical: bool = False
) -> Sheet:
    """A row for each of some days after a synchronisation.

    Args:
        name: Name of the source.
        found: Forecast that reaches as far as the days do.
        synchronised: Instant of the synchronisation.
        days: Days after it.
        typical: What an ordinary cycle brings, rather than what is to be expected.
    """
    path: Outlook = found.typical if typical else found.expected
    rows = days - 1
    columns: dict[str, Column] = {"after_days": days, "at": synchronised + days * _DAY}
    for metric in METRICS:
        columns[metric] = getattr(path, metric)[rows]
        columns[f"{metric}_low"] = getattr(found.low, metric)[rows]
        columns[f"{metric}_high"] = getattr(found.high, metric)[rows]
    status = " ".join(found.status) or "ok"
    columns["status"] = texts([status] * len(days))
    header = ("source", "after", "at", *METRICS, "status")
    words = [_words(name, columns, row, status) for row in range(len(days))]
    return Sheet("source", [name] * len(days), columns, header, words, (0, 2, 8))


def _words(name: str, columns: dict[str, Column], row: int, status: str) -> list[str]:
    said = []
    for metric in METRICS:
        figures = [cells(columns, f"{metric}{end}")[row] for end in ("", "_low", "_high")]
        said.append(banded(figures, share=metric in QUALITIES))
    at = np.datetime_as_string(np.asarray(columns["at"])[row], unit="D")
    return [name, f"{cells(columns, 'after_days')[row]}d", str(at), *said, status]


def banded(figures: list[float], *, share: bool) -> str:
    """A figure with its band: a share in per cent, or a count.

    >>> banded([0.912, 0.87, 0.94], share=True), banded([3.2, 1.0, 6.0], share=False)
    ('91 (87-94) %', '3 (1-6)')
    >>> banded([0.912, float("nan"), float("nan")], share=True)
    '91 %'
    """
    figure, low, high = figures
    if np.isnan(figure):
        return "-"
    times, unit = (100, " %") if share else (1, "")
    band = "" if np.isnan(low) else f" ({times * low:,.0f}-{times * high:,.0f})"
    return f"{times * figure:,.0f}{band}{unit}"
