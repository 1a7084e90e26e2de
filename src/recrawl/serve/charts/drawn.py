"""What a chart comes with.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Query

from recrawl.report.charts.vega import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.charts.vega import Chart, Colours

Dark = Annotated[bool, Query()]


def colours_of(dark: bool) -> Colours:
    """Colours of a page."""
    return DARK if dark else LIGHT


def drawn(
    chart: Chart, summary: str, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> dict[str, Any]:
    """A chart with what stands behind it.

    Args:
        chart: The chart.
        summary: What it shows.
        head: Heads of its table.
        rows: Rows of its table.
    """
    table = {"head": list(head), "rows": [list(row) for row in rows]}
    return {"chart": chart, "summary": summary, "table": table}


def nothing(summary: str) -> dict[str, Any]:
    """Why there is nothing to draw."""
    return {"chart": None, "summary": summary, "table": None}
