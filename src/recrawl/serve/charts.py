"""Charts as calls: Vega-Lite values, a sentence for those who cannot see them, and a table.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request

from recrawl.report.charts.simulation import BudgetLine, budget_chart
from recrawl.report.charts.vega import DARK, LIGHT, themed
from recrawl.report.words import tenths, visits_text
from recrawl.serve import questions
from recrawl.serve.views import one_page

if TYPE_CHECKING:
    from recrawl.report.charts.vega import Chart, Colours

router = APIRouter(prefix="/charts", include_in_schema=False)
Dark = Annotated[bool, Query()]
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def drawn(
    chart: Chart | None, summary: str, head: list[str], rows: list[list[str]]
) -> dict[str, Any]:
    """A chart with what stands behind it.

    Args:
        chart: The chart; None where there is nothing to draw.
        summary: What it shows.
        head: Heads of its table.
        rows: Rows of its table.
    """
    if chart is None:
        return {"chart": None, "summary": summary, "table": None}
    return {"chart": chart, "summary": summary, "table": {"head": head, "rows": rows}}


def _colours(dark: bool) -> Colours:  # noqa: FBT001 - what the browser says
    return DARK if dark else LIGHT


@router.get("/budget")
async def budget(request: Request, dark: Dark = False) -> dict[str, Any]:
    """Freshness in the long run against the budget."""
    status = (await questions.overview(request)).status
    looks = status.outlooks
    if not looks:
        return drawn(None, "There are no copies to plan for yet.", [], [])
    line = BudgetLine("recrawl", [each.visits for each in looks], [each.fresh[0] for each in looks])
    chart = budget_chart([line], unit="visits per day", title="", colours=_colours(dark))
    chart.pop("title")
    for layer in chart["layer"]:
        layer.setdefault("encoding", {})
    chart["encoding"]["color"]["legend"] = None
    rows = [[f"{each.times:g}", visits_text(each.visits), tenths(each.fresh[0])] for each in looks]
    head = ["times the budget", "visits per day", "fresh in the long run"]
    return drawn(chart, "Freshness in the long run against visits per day.", head, rows)


@router.get("/pages/{page}/timeline")
async def timeline(request: Request, page: int, dark: Dark = False) -> dict[str, Any]:
    """Visits, changes and rate of a page."""
    chart = await questions.of_page(
        request,
        ("timeline", page, dark),
        lambda reader: one_page.timeline_of(reader, page, _colours(dark)),
    )
    if chart is None:
        return drawn(None, "The page was compared with its copy too seldom for a timeline.", [], [])
    chart["title"] = {**chart["title"], "text": ""}
    return {"chart": chart, "summary": chart["title"]["subtitle"], "table": None}


@router.get("/pages/{page}/duane")
async def duane(request: Request, page: int, dark: Dark = False) -> dict[str, Any]:
    """Duane plot of a page."""
    chart = await questions.of_page(
        request,
        ("duane", page, dark),
        lambda reader: one_page.duane_of(reader, page, _colours(dark)),
    )
    if chart is None:
        return drawn(None, "Too few changes for a Duane plot.", [], [])
    return {"chart": chart, "summary": "Mean time between changes over time.", "table": None}


@router.get("/pages/{page}/week")
async def week(request: Request, page: int, dark: Dark = False) -> dict[str, Any]:
    """Changes found by weekday and hour."""
    slots = await questions.of_page(
        request, ("week", page), lambda reader: one_page.week_of(reader, page)
    )
    if not any(each["changes"] for each in slots):
        return drawn(None, "No changes were found yet.", [], [])
    colours = _colours(dark)
    values = [{**each, "weekday": _DAYS[each["day"]]} for each in slots]
    chart = themed(
        {
            "width": 480,
            "height": 150,
            "data": {"values": values},
            "mark": {"type": "rect", "stroke": colours.paper, "strokeWidth": 1},
            "encoding": {
                "x": {
                    "field": "hour",
                    "type": "ordinal",
                    "axis": {"title": "hour (UTC)", "labelAngle": 0},
                },
                "y": {
                    "field": "weekday",
                    "type": "ordinal",
                    "sort": list(_DAYS),
                    "axis": {"title": None},
                },
                "color": {
                    "field": "changes",
                    "type": "quantitative",
                    "scale": {"range": [colours.line, colours.blue]},
                    "legend": {"title": "changes found"},
                },
            },
        },
        colours,
    )
    rows = [
        [_DAYS[each["day"]], str(each["hour"]), str(each["visits"]), str(each["changes"])]
        for each in slots
        if each["visits"]
    ]
    return drawn(
        chart, "Changes found by weekday and hour.", ["day", "hour", "visits", "changes"], rows
    )
