"""Charts of one page.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Request

from recrawl.report.charts.heat_map import DAYS, week_chart
from recrawl.serve import questions
from recrawl.serve.charts.drawn import Dark, colours_of, drawn, nothing
from recrawl.serve.patience import PatientRoute
from recrawl.serve.views import one_page

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.serve.views.one_page import PageChart

router = APIRouter(prefix="/pages/{page}", route_class=PatientRoute)
Number = Annotated[int, Path(ge=0, le=2**53)]


@router.get("/timeline")
async def timeline(request: Request, page: Number, dark: Dark = False) -> dict[str, Any]:
    """Visits, changes and rate of a page."""

    def work(reader: ReadStore) -> PageChart | None:
        return one_page.timeline_of(reader, page, colours_of(dark))

    found = await questions.of_page(request, ("timeline", page, dark), work)
    if found is None:
        return nothing("The page was compared with its copy too rarely for a timeline.")
    return drawn(found.chart, found.summary, found.head, found.rows)


@router.get("/duane")
async def duane(request: Request, page: Number, dark: Dark = False) -> dict[str, Any]:
    """Duane plot of a page."""

    def work(reader: ReadStore) -> PageChart | None:
        return one_page.duane_of(reader, page, colours_of(dark))

    found = await questions.of_page(request, ("duane", page, dark), work)
    if found is None:
        return nothing("There are too few changes for a Duane plot.")
    return drawn(found.chart, found.summary, found.head, found.rows)


@router.get("/week")
async def week(request: Request, page: Number, dark: Dark = False) -> dict[str, Any]:
    """Changes found by weekday and hour."""
    visits, changes = await questions.of_page(
        request, ("week", page), lambda reader: one_page.week_of(reader, page)
    )
    if not any(map(any, changes)):
        return nothing("No changes were found yet.")
    rows = [
        [name, f"{hour}:00", str(visits[day][hour]), str(changes[day][hour])]
        for day, name in enumerate(DAYS)
        for hour in range(24)
        if visits[day][hour]
    ]
    chart = week_chart(changes, colours=colours_of(dark))
    summary = "Changes found by weekday and hour of the visit, in UTC."
    return drawn(chart, summary, ["day", "hour", "visits", "changes"], rows)
