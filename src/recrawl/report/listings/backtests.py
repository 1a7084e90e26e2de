"""Backtests of listings as tables: what `recrawl listing backtest` writes.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.report.listings.sheets import Sheet, cells, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.rates import Column

CYCLE_COLUMNS = (
    "metric",
    "cycle_days",
    "cycles_kind",
    "method",
    "cycles",
    "squared_error",
    "relative_error",
    "covered",
)
KEEP_COLUMNS = (
    "metric",
    "target",
    "method",
    "syncs",
    "quality",
    "promise_error",
    "share_below",
    "relative_syncs",
    "quality_per_sync",
    "relative_quality_per_sync",
)

_SHARES = ("covered", "quality", "share_below")
_FORMATS = {
    "target": "{:g}",
    "squared_error": "{:.6f}",
    "promise_error": "{:+.3f}",
    "quality_per_sync": "{:.5f}",
}
_RELATIVE = ("relative_error", "relative_syncs", "relative_quality_per_sync")


def backtest_sheet(rows: Sequence[tuple[str, Any]], header: Sequence[str]) -> Sheet:
    """Rows of one or several sources; the source's name comes first where there are several.

    Args:
        rows: Name of the source and a row, whose fields are called as the columns are.
        header: `CYCLE_COLUMNS` or `KEEP_COLUMNS`.
    """
    several = len({name for name, _ in rows}) > 1
    columns: dict[str, Column] = {}
    for column in header:
        held = [getattr(row, column) for _, row in rows]
        columns[column] = texts(held) if isinstance(held[0], str) else np.array(held)
    words = [[_word(column, getattr(row, column)) for column in header] for _, row in rows]
    shown = [column.replace("_", " ") for column in header]
    text = tuple(place for place, column in enumerate(header) if _is_text(columns[column]))
    if several:
        names = [name for name, _ in rows]
        full = [[name, *row] for name, row in zip(names, words, strict=True)]
        left = (0, *(place + 1 for place in text))
        return Sheet("source", names, columns, ("source", *shown), full, left)
    first = cells(columns, header[0])
    del columns[header[0]]
    return Sheet(header[0], first, columns, shown, words, text)


def _is_text(column: Column) -> bool:
    return not isinstance(column, np.ndarray)


def _word(column: str, cell: Any) -> str:  # noqa: ANN401 - a text or a number
    """A cell as people read it."""
    if isinstance(cell, str):
        return cell
    if np.isnan(cell):
        return "-"
    if column in _RELATIVE:
        return f"{100 * (cell - 1):+.0f} %"
    if column in _SHARES:
        return f"{100 * cell:.1f} %"
    if column in _FORMATS:
        return _FORMATS[column].format(cell)
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:,.1f}"
