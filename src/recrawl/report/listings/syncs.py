"""Syncs of the listings of a crawl as a table: what `recrawl listing syncs` writes.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from recrawl.listings.forecast.forecast import QUALITIES
from recrawl.report.listings.forecasts import banded
from recrawl.report.listings.sheets import Sheet, texts
from recrawl.report.words import minute
from recrawl.units import instants_after_epoch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.rates import Column

SYNC_COLUMNS = (
    "source",
    "at",
    "outcome",
    "pages",
    "items",
    "listed",
    *(f"{name}{end}" for name in QUALITIES for end in ("", "_expected", "_low", "_high")),
    "next_at",
    "reason",
    "detail",
)
# What comes of a sync.
SYNC_OUTCOMES = {
    "first": "the first that was accepted: all objects are new",
    "done": "accepted: the copy is now what was found",
    "doubted": "found as it can hardly be: nothing is taken over before a second sync confirms it",
    "failed": "could not be read, or only in part: nothing is taken over",
}
_NOTHING = (nan, nan, nan)


@dataclass(frozen=True, slots=True)
class SyncRow:
    """One sync of a listing.

    Args:
        at: When, in days after 1970.
        outcome: What came of it, one of `SYNC_OUTCOMES`.
        pages: Pages that were read.
        items: Objects that were found.
        listed: Objects of the copy afterwards.
        next_at: When the next was due, in days after 1970.
        reason: Why then.
        detail: Why it was not accepted, or failed.
        precision: Of the copy just before; nan where it is not known.
        recall: Of the copy just before; nan where it is not known.
        precision_forecast: What the first was forecast to be: expected, low and high.
        recall_forecast: What the second was forecast to be: expected, low and high.
    """

    at: float
    outcome: str
    pages: int
    items: int
    listed: int
    next_at: float
    reason: str
    detail: str
    precision: float = nan
    recall: float = nan
    precision_forecast: tuple[float, float, float] = _NOTHING
    recall_forecast: tuple[float, float, float] = _NOTHING


def syncs_sheet(name: str, syncs: Sequence[SyncRow]) -> Sheet:
    """One row per sync of a listing, in order."""
    columns: dict[str, Column] = {
        "at": instants_after_epoch(np.array([sync.at for sync in syncs], np.float64)),
        "outcome": texts([sync.outcome for sync in syncs]),
        **{
            each: np.array([getattr(sync, each) for sync in syncs], np.int64)
            for each in ("pages", "items", "listed")
        },
    }
    for metric in QUALITIES:
        bands = np.array([getattr(sync, f"{metric}_forecast") for sync in syncs], np.float64)
        bands = bands.reshape(-1, 3)
        columns[metric] = np.array([getattr(sync, metric) for sync in syncs], np.float64)
        for place, end in enumerate(("_expected", "_low", "_high")):
            columns[metric + end] = bands[:, place]
    columns["next_at"] = instants_after_epoch(np.array([sync.next_at for sync in syncs], float))
    columns["reason"] = texts([sync.reason for sync in syncs])
    columns["detail"] = texts([sync.detail for sync in syncs])
    header = (
        *("source", "at", "outcome", "items", "precision", "forecast", "recall", "forecast"),
        *("next", "detail"),
    )
    words = [[name, *_words(sync)] for sync in syncs]
    return Sheet("source", [name] * len(syncs), columns, header, words, (0, 1, 2, 8, 9))


def held(syncs: Sequence[SyncRow], metric: str) -> tuple[int, int]:
    """How many bands of a quality held what was found, and how many there were.

    >>> sync = SyncRow(1.0, "done", 1, 9, 9, 2.0, "recall", "", 0.9, 0.7, (0.9, 0.8, 1.0))
    >>> held([sync], "precision"), held([sync], "recall")
    ((1, 1), (0, 0))
    """
    known = [
        (getattr(sync, metric), getattr(sync, f"{metric}_forecast"))
        for sync in syncs
        if not np.isnan(getattr(sync, f"{metric}_forecast")[0])
    ]
    inside = sum(low - 1e-9 <= found <= high + 1e-9 for found, (_, low, high) in known)
    return inside, len(known)


def _words(sync: SyncRow) -> list[str]:
    figures = [
        said
        for metric in QUALITIES
        for said in (
            banded([getattr(sync, metric), nan, nan], share=True),
            banded(list(getattr(sync, f"{metric}_forecast")), share=True),
        )
    ]
    soon = f"{minute(sync.next_at)} ({sync.reason})"
    return [minute(sync.at), sync.outcome, f"{sync.items:,}", *figures, soon, sync.detail]
