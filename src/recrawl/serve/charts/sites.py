"""Charts of a site.

Touches: the network.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request

from recrawl.report.charts.heat_map import activity_chart
from recrawl.report.words import minute
from recrawl.serve import questions
from recrawl.serve.charts.drawn import Dark, colours_of, drawn, nothing
from recrawl.serve.patience import PatientRoute
from recrawl.units import SECONDS_A_DAY

router = APIRouter(prefix="/sites/{host}", route_class=PatientRoute)


@router.get("/activity")
async def activity(
    request: Request,
    host: Annotated[str, Path(min_length=1, max_length=300)],
    dark: Dark = False,
) -> dict[str, Any]:
    """How active the sections of a site were."""
    found = await questions.activity(request, host)
    if found is None or not found.sections:
        return nothing("There are no copies yet, or a policy decides that knows no activity.")
    chart = activity_chart(found.sections, found.edges_seconds, colours=colours_of(dark))
    begin, end = (minute(found.edges_seconds[at] / SECONDS_A_DAY) for at in (0, -1))
    rows = [
        [each.name, f"{each.pace[-1]:.2g}", f"{min(each.pace):.2g}", f"{max(each.pace):.2g}"]
        for each in found.sections
    ]
    summary = f"Pace of {len(rows)} sections from {begin} to {end} UTC; 1 is as usual."
    return drawn(chart, summary, ["section", "pace now", "slowest", "fastest"], rows)
