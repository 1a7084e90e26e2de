"""Visits as JSON holds them.

Touches: a store.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.plain_values import plain_figure
from recrawl.serve.views.one_page import address_of
from recrawl.visits.status import VisitOutcome

if TYPE_CHECKING:
    from recrawl.entries.columns import VisitColumns
    from recrawl.entries.store import ReadStore


def instant(at: np.datetime64) -> str | None:
    """An instant as JSON holds it."""
    return None if np.isnat(at) else f"{np.datetime_as_string(at, unit='ms')}Z"


def visit_objects(reader: ReadStore, page: int, most: int) -> list[dict[str, Any]]:
    """The newest visits to a page, oldest first."""
    address_of(reader, page)  # refuses what is none
    rows = visit_rows(reader.history(page, most=most))
    return [{name: value for name, value in row.items() if name != "page"} for row in rows]


def visit_rows(found: VisitColumns) -> list[dict[str, Any]]:
    """Visits to any pages, one object per row."""
    return [
        {
            "visit": int(found.visit[row]),
            "page": int(found.page[row]),
            "at": instant(found.at[row]),
            "outcome": VisitOutcome(int(found.outcome[row])).label,
            "status_code": int(found.http[row]) or None,
            "modified_at": instant(found.modified_at[row]),
            "size_bytes": int(found.size[row]) if found.size[row] >= 0 else None,
            "seconds": plain_figure(float(found.took_seconds[row])),
            "share": plain_figure(float(found.share[row])),
        }
        for row in range(len(found.at))
    ]
