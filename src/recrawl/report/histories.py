"""Visits as a table: the history of a page, or all visits of a crawl as a log.

The columns of a log come first, so that whatever reads a log reads this.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.report.rates import Named, Nullable
from recrawl.report.words import every
from recrawl.visits.outcomes import ANSWER_OF_OUTCOME, CHANGED_BY_OUTCOME
from recrawl.visits.status import VisitOutcome
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recrawl.arrays.types import Changes
    from recrawl.entries.columns import VisitColumns
    from recrawl.report.rates import Column

VISIT_COLUMNS = (
    *("page", "visited_at", "changed", "last_modified", "status"),
    *("outcome", "http", "size_bytes", "seconds", "age_days"),
)
HEADER = ("visited", "outcome", "http", "bytes", "took", "changed before")

_STATUS = {
    AnswerKind.OK: "ok",
    AnswerKind.NOT_MODIFIED: "ok",
    AnswerKind.GONE: "gone",
    AnswerKind.FAILED: "failed",
}

_LEAST_ALIKE = 0.5  # of the letters of an address, for another to be what was meant


def visit_columns(visits: VisitColumns) -> dict[str, Column]:
    """Columns of `VISIT_COLUMNS` but the first."""
    outcome = visits.outcome
    columns: tuple[Column, ...] = (
        visits.at,
        changed_column(CHANGED_BY_OUTCOME[outcome]),
        visits.modified_at,
        Named(ANSWER_OF_OUTCOME[outcome], [_STATUS[kind] for kind in AnswerKind]),
        Named(outcome, [each.label for each in VisitOutcome]),
        Nullable(visits.http, visits.http > 0),
        Nullable(visits.size, visits.size >= 0),
        visits.took_seconds,
        visits.age,
    )
    return dict(zip(VISIT_COLUMNS[1:], columns, strict=True))


def changed_column(changed: Changes) -> Nullable:
    """Whether visits found a change: 1, 0, or -1 where nothing was compared.

    >>> changed_column(np.array([1, 0, -1])).tolist()
    [True, False, None]
    """
    return Nullable(changed > 0, changed >= 0)


def visit_words(visits: VisitColumns, most: int) -> list[list[str]]:
    """The newest visits for people, under `HEADER`, newest first."""
    instants = np.datetime_as_string(visits.at, unit="s", timezone="UTC")
    rows = range(len(instants) - 1, max(len(instants) - 1 - most, -1), -1)
    return [
        [
            str(instants[row]).replace("T", " ").removesuffix("Z"),
            VisitOutcome(int(visits.outcome[row])).label,
            str(visits.http[row]) if visits.http[row] > 0 else "-",
            f"{visits.size[row]:,}" if visits.size[row] >= 0 else "-",
            "-" if np.isnan(visits.took_seconds[row]) else f"{visits.took_seconds[row]:.2f}s",
            every(max(float(visits.age[row]), 0.0)),
        ]
        for row in rows
    ]


def nearest(address: str, known: Iterable[str]) -> str | None:
    """The known address that begins and ends most like one that is not known, if any does.

    >>> nearest("https://a.org/nwes", ["https://b.org/news", "https://a.org/news"])
    'https://a.org/news'
    >>> nearest("https://a.org/", ["mailto:b"]) is None
    True
    """
    best, most = None, _LEAST_ALIKE
    for other in known:
        shorter, longer = sorted((len(address), len(other)))
        if shorter <= most * longer:
            continue
        share = _alike(address, other, shorter) / longer
        if share > most:
            best, most = other, share
    return best


def _alike(one: str, other: str, shorter: int) -> int:
    """Letters that two texts have in common at both ends."""
    head = 0
    while head < shorter and one[head] == other[head]:
        head += 1
    tail = 0
    while tail < shorter - head and one[-1 - tail] == other[-1 - tail]:
        tail += 1
    return head + tail
