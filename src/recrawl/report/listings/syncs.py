"""Looks at the listings of a crawl as a table: what `recrawl listing looks` writes, a row each.

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

LOOK_COLUMNS = (
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
# What comes of a look.
LOOK_OUTCOMES = {
    "first": "the first that was believed: all objects are new",
    "done": "believed: the copy is now what was found",
    "doubted": "found as it can hardly be: nothing is taken over before a second look confirms it",
    "failed": "could not be read, or only in part: nothing is taken over",
}
_NOTHING = (nan, nan, nan)


@dataclass(frozen=True, slots=True)
class Look:
    """One look at a listing.

    Args:
        at: When, in days after 1970.
        outcome: What came of it, one of `LOOK_OUTCOMES`.
        pages: Pages that were read.
        items: Objects that were found.
        listed: Objects that were believed to be listed afterwards.
        next_at: When the next was due, in days after 1970.
        reason: Why then.
        detail: Why it was not believed, or failed.
        precision: Of the copy just before; nan where it is not known.
        recall: Of the copy just before; nan where it is not known.
        precision_foretold: What the first was forecast to be: expected, low and high.
        recall_foretold: What the second was forecast to be: expected, low and high.
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
    precision_foretold: tuple[float, float, float] = _NOTHING
    recall_foretold: tuple[float, float, float] = _NOTHING


def looks_sheet(name: str, looks: Sequence[Look]) -> Sheet:
    """A row a look at a listing, in order."""
    columns: dict[str, Column] = {
        "at": instants_after_epoch(np.array([look.at for look in looks], np.float64)),
        "outcome": texts([look.outcome for look in looks]),
        **{
            each: np.array([getattr(look, each) for look in looks], np.int64)
            for each in ("pages", "items", "listed")
        },
    }
    for metric in QUALITIES:
        bands = np.array([getattr(look, f"{metric}_foretold") for look in looks], np.float64)
        bands = bands.reshape(-1, 3)
        columns[metric] = np.array([getattr(look, metric) for look in looks], np.float64)
        for place, end in enumerate(("_expected", "_low", "_high")):
            columns[metric + end] = bands[:, place]
    columns["next_at"] = instants_after_epoch(np.array([look.next_at for look in looks], float))
    columns["reason"] = texts([look.reason for look in looks])
    columns["detail"] = texts([look.detail for look in looks])
    header = (
        *("source", "at", "outcome", "items", "precision", "forecast", "recall", "forecast"),
        *("next", "detail"),
    )
    words = [[name, *_words(look)] for look in looks]
    return Sheet("source", [name] * len(looks), columns, header, words, (0, 1, 2, 8, 9))


def held(looks: Sequence[Look], metric: str) -> tuple[int, int]:
    """How many bands of a quality held what was found, and how many there were.

    >>> look = Look(1.0, "done", 1, 9, 9, 2.0, "recall", "", 0.9, 0.7, (0.9, 0.8, 1.0))
    >>> held([look], "precision"), held([look], "recall")
    ((1, 1), (0, 0))
    """
    known = [
        (getattr(look, metric), getattr(look, f"{metric}_foretold"))
        for look in looks
        if not np.isnan(getattr(look, f"{metric}_foretold")[0])
    ]
    inside = sum(low - 1e-9 <= found <= high + 1e-9 for found, (_, low, high) in known)
    return inside, len(known)


def _words(look: Look) -> list[str]:
    figures = [
        said
        for metric in QUALITIES
        for said in (
            banded([getattr(look, metric), nan, nan], share=True),
            banded(list(getattr(look, f"{metric}_foretold")), share=True),
        )
    ]
    soon = f"{minute(look.next_at)} ({look.reason})"
    return [minute(look.at), look.outcome, f"{look.items:,}", *figures, soon, look.detail]
