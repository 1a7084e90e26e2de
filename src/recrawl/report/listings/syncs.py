"""Syncs of the listings of a crawl as a table: what `recrawl listing syncs` writes.

Pure.
"""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.forecast import QUALITIES
from recrawl.report.listings.forecasts import banded
from recrawl.report.listings.sheets import Sheet, texts
from recrawl.report.words import minute
from recrawl.units import SECONDS_A_DAY, instants_after_epoch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.entries.listings import ForecastInterval, Sync
    from recrawl.report.rates import Column

# What comes of a sync.
SYNC_OUTCOMES = {
    "first": "first accepted sync: all objects are new",
    "done": "accepted: the copy is up to date",
    "doubted": "implausible: nothing is changed until a second sync confirms it",
    "failed": "could not be read, or only in part: nothing is changed",
}


def syncs_sheet(name: str, syncs: Sequence[Sync]) -> Sheet:
    """One row per sync of a listing, in order."""
    columns: dict[str, Column] = {
        "at": instants_after_epoch(np.array([sync.at_seconds for sync in syncs]) / SECONDS_A_DAY),
        "outcome": texts([sync.outcome.label for sync in syncs]),
        **{
            each: np.array([getattr(sync, each) for sync in syncs], np.int64)
            for each in ("pages", "items", "listed")
        },
    }
    for metric in QUALITIES:
        figures = np.array([_figures(sync, metric) for sync in syncs], np.float64).reshape(-1, 4)
        for place, end in enumerate(("", "_expected", "_low", "_high")):
            columns[metric + end] = figures[:, place]
    due = np.array([sync.next_at_seconds for sync in syncs])
    columns["next_at"] = instants_after_epoch(due / SECONDS_A_DAY)
    columns["reason"] = texts([sync.reason for sync in syncs])
    columns["detail"] = texts([sync.detail for sync in syncs])
    header = (
        *("source", "at", "outcome", "items", "precision", "forecast", "recall", "forecast"),
        *("next", "detail"),
    )
    words = [[name, *_words(sync)] for sync in syncs]
    return Sheet("source", [name] * len(syncs), columns, header, words, (0, 1, 2, 8, 9))


def held(syncs: Sequence[Sync], metric: str) -> tuple[int, int]:
    """How many bands of a quality held what was found, and how many there were.

    >>> from recrawl.entries.listings import ForecastInterval, Quality, Sync, SyncOutcome
    >>> quality = Quality(0.9, 0.7, ForecastInterval(0.8, 0.9, 1.0))
    >>> sync = Sync(1, 0.0, SyncOutcome.DONE, "", 1.0, 1, 9, 9, 86_400.0, "recall", quality)
    >>> held([sync], "precision"), held([sync], "recall")
    ((1, 1), (0, 0))
    """
    known = [
        interval.holds(getattr(sync.quality, metric))
        for sync in syncs
        if (interval := _interval(sync, metric)) is not None
    ]
    return sum(known), len(known)


def _interval(sync: Sync, metric: str) -> ForecastInterval | None:
    found: ForecastInterval | None = getattr(sync.quality, f"{metric}_forecast", None)
    return found


def _figures(sync: Sync, metric: str) -> tuple[float, float, float, float]:
    """A quality that was found, and its forecast: expected, low and high; nan for unknown."""
    found = nan if sync.quality is None else getattr(sync.quality, metric)
    interval = _interval(sync, metric)
    if interval is None:
        return found, nan, nan, nan
    return found, interval.expected, interval.low, interval.high


def _words(sync: Sync) -> list[str]:
    figures = [
        said
        for found, *band in (_figures(sync, metric) for metric in QUALITIES)
        for said in (banded([found, nan, nan], share=True), banded(band, share=True))
    ]
    at, due = (seconds / SECONDS_A_DAY for seconds in (sync.at_seconds, sync.next_at_seconds))
    soon = f"{minute(due)} ({sync.reason})"
    return [minute(at), sync.outcome.label, f"{sync.items:,}", *figures, soon, sync.detail]
