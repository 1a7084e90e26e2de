"""Charts of the crawl as a whole.

Touches: the network.
"""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request

from recrawl.report.charts.freshness import BudgetPoint, budget_curve, freshness_chart
from recrawl.report.words import minute, tenths, visits_text
from recrawl.serve import questions
from recrawl.serve.charts.drawn import Dark, colours_of, drawn, nothing
from recrawl.serve.patience import PatientRoute
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.inspect.status.values import BudgetOutlook

router = APIRouter(route_class=PatientRoute)


@router.get("/freshness")
async def freshness(request: Request, dark: Dark = False) -> dict[str, Any]:
    """Freshness over time, expected and as it turned out."""
    points = await questions.freshness(request)
    if not any(not isnan(each.expected) or not isnan(each.turned_out) for each in points):
        return nothing("Nothing is known yet. A crawl notes every hour how fresh it expects to be.")
    rows = [
        [
            minute(each.at_seconds / SECONDS_A_DAY),
            tenths(each.expected),
            "-" if isnan(each.low) else f"{tenths(each.low)} to {tenths(each.high)}",
            tenths(each.turned_out),
        ]
        for each in reversed(points)
    ]
    last = next(row for row in rows if row[1] != "-" or row[3] != "-")
    summary = f"Share of fresh copies over the last month; {last[1]} expected at {last[0]} UTC."
    head = ["time (UTC)", "expected", "90 % band", "as later visits showed"]
    return drawn(freshness_chart(points, colours=colours_of(dark)), summary, head, rows)


@router.get("/budget")
async def budget(request: Request, dark: Dark = False) -> dict[str, Any]:
    """Freshness in the long run against the budget, with a mark where the crawl is."""
    looks = await questions.budget_curve(request)
    if not looks:
        return nothing("There are no copies to plan for yet.")
    ours = next(each for each in looks if each.times == 1.0)
    points = [_point(each) for each in looks]
    marks = [("the budget", _point(ours))]
    status = (await questions.overview(request)).status
    made = sum(each.lately.a_day for each in status.spent)
    if made > 0 and not isnan(status.fresh[0]) and abs(made - ours.visits) > ours.visits / 10:
        marks.append(("now", BudgetPoint(made, *status.fresh)))
    chart = budget_curve(points, marks, colours=colours_of(dark))
    rows = [
        [f"{each.times:g}", visits_text(each.visits), tenths(each.fresh[0]), _band(each)]
        for each in looks
    ]
    summary = (
        f"In the long run {visits_text(ours.visits)} visits per day keep {tenths(ours.fresh[0])} "
        "of the copies fresh."
    )
    head = ["times the budget", "visits per day", "fresh in the long run", "90 % band"]
    return drawn(chart, summary, head, rows)


def _point(look: BudgetOutlook) -> BudgetPoint:
    return BudgetPoint(look.visits, *look.fresh)


def _band(look: BudgetOutlook) -> str:
    return f"{tenths(look.fresh[1])} to {tenths(look.fresh[2])}"
