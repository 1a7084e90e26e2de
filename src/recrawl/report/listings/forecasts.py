"""Forecasts of listings as tables: what `recrawl listing forecast` writes, one row per day.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.forecast import METRICS, QUALITIES
from recrawl.report.listings.sheets import Sheet, cells, texts
from recrawl.units import MICROSECONDS_A_DAY, duration

if TYPE_CHECKING:
    from recrawl.arrays.types import Floats
    from recrawl.listings.forecast.autoregression import Autoregression
    from recrawl.listings.forecast.forecast import Forecast
    from recrawl.report.rates import Column


def forecast_sheet(
    name: str, found: Forecast, synced_at: np.datetime64, days: Floats, *, typical: bool = False
) -> Sheet:
    """One row per day or hour after a sync.

    Args:
        name: Name of the source.
        found: Forecast that reaches as far as the days do.
        synced_at: Instant of the sync.
        days: Days after it.
        typical: What an ordinary cycle brings, rather than what is to be expected.
    """
    ordinary, expected, low, high = found.at(days)
    path = ordinary if typical else expected
    elapsed = np.rint(days * MICROSECONDS_A_DAY).astype("timedelta64[us]")
    whole = bool((days == np.floor(days)).all())
    after = days.astype(np.int64) if whole else days
    columns: dict[str, Column] = {"after_days": after, "at": synced_at + elapsed}
    for metric in METRICS:
        columns[metric] = getattr(path, metric)
        columns[f"{metric}_low"] = getattr(low, metric)
        columns[f"{metric}_high"] = getattr(high, metric)
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
    after, at = cells(columns, "after_days")[row], np.asarray(columns["at"])[row]
    if isinstance(after, int):
        when = [f"{after}d", str(np.datetime_as_string(at, unit="D"))]
    else:
        when = [duration(after), str(np.datetime_as_string(at, unit="m")).replace("T", " ")]
    return [name, *when, *said, status]


def series_words(series: Autoregression) -> str:
    """Order of an autoregressive series and its equation.

    >>> from recrawl.listings.forecast.autoregression import Autoregression
    >>> series_words(Autoregression(-0.02, np.array([0.6, -0.1]), (1, 7)))
    'AR(1) with lag 7, d(t) = -0.02 + 0.6 d(t-1) - 0.1 d(t-7)'
    >>> series_words(Autoregression(-0.05, np.empty(0), ()))
    'AR(0), d(t) = -0.05'
    """
    order = next((k for k, lag in enumerate(series.lags) if lag != k + 1), len(series.lags))
    week = "".join(f" with lag {lag}" for lag in series.lags[order:])
    terms = "".join(
        f" {'-' if slope < 0 else '+'} {abs(slope):.3g} d(t-{lag})"
        for slope, lag in zip(series.slopes.tolist(), series.lags, strict=True)
    )
    return f"AR({order}){week}, d(t) = {series.constant:.3g}{terms}"


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
