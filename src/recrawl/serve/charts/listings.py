"""Charts of a listing.

Touches: the network.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Request

from recrawl.report.charts.vega import themed
from recrawl.report.listings.charts import arrivals_panel, survival_lines, survival_panel
from recrawl.report.listings.forecast_chart import forecast_chart
from recrawl.report.listings.sizes import size_chart
from recrawl.report.words import minute, tenths
from recrawl.serve import questions
from recrawl.serve.charts.drawn import Dark, colours_of, drawn, nothing
from recrawl.serve.patience import PatientRoute
from recrawl.units import SECONDS_A_DAY

router = APIRouter(prefix="/listings/{name}", route_class=PatientRoute)
Name = Annotated[str, Path(min_length=1, max_length=300)]
_TOO_EARLY = "There are too few syncs yet."
_LEAST = 2  # syncs
_LEAST_DAYS = 3  # whose arrivals are known, of a chart of them
_SHOWN_DAYS = 14.0  # of a forecast, or three times the time to the next sync


@router.get("/size")
async def size(request: Request, name: Name, dark: Dark = False) -> dict[str, Any]:
    """Size over time, arrivals and removals."""
    view = await questions.one_listing(request, name)
    if len(view.sizes) < _LEAST:
        return nothing(_TOO_EARLY)
    rows = [
        [
            minute(each.at_seconds / SECONDS_A_DAY),
            *(f"{count:,}" for count in (each.listed, each.arrived, each.vanished)),
        ]
        for each in reversed(view.sizes)
    ]
    head = ["sync (UTC)", "listed", "new", "removed"]
    summary = f"Objects listed at each of {len(rows)} syncs; {rows[0][1]} at the last."
    return drawn(size_chart(view.sizes, colours=colours_of(dark)), summary, head, rows)


@router.get("/arrivals")
async def arrivals(request: Request, name: Name, dark: Dark = False) -> dict[str, Any]:
    """New objects per day."""
    view = await questions.one_listing(request, name)
    grid = view.grid
    if len(grid) < _LEAST:
        return nothing(_TOO_EARLY)
    colours = colours_of(dark)
    days = np.datetime_as_string(grid.instants, unit="D").tolist()
    rows = [
        [day, f"{int(new):,}", f"{int(gone):,}"]
        for day, new, gone in zip(days, grid.inserted, grid.deleted, strict=True)
    ][:0:-1]
    panel = arrivals_panel(grid, colours)
    if len(panel["data"]["values"]) < _LEAST_DAYS:
        return nothing("Most syncs are over a day apart, so arrivals per day are hardly known.")
    panel.pop("title")
    chart = themed({"vconcat": [panel]}, colours)
    return drawn(chart, "New objects per day.", ["day", "new", "removed"], rows)


@router.get("/survival")
async def survival(request: Request, name: Name, dark: Dark = False) -> dict[str, Any]:
    """Share of objects still listed by their age."""
    view = await questions.one_listing(request, name)
    lines, subtitle = survival_lines(view.listing, ()) if len(view.sizes) >= _LEAST else ([], "")
    if not lines:
        return nothing(_TOO_EARLY)
    colours = colours_of(dark)
    panel = survival_panel(lines, subtitle, colours)
    panel.pop("title")
    panel["encoding"]["color"]["legend"] |= {"orient": "bottom", "columns": 4, "labelLimit": 120}
    chart = themed({"vconcat": [panel]}, colours)
    rows = [[line.name, _age_at(line.curve, 0.5), _age_at(line.curve, 0.1)] for line in lines]
    head = ["group", "days until half are gone", "days until nine in ten are gone"]
    return drawn(chart, f"Share of objects still listed by age, {subtitle}.", head, rows)


def _age_at(curve: Any, share: float) -> str:  # noqa: ANN401 - a survival curve
    """Age by which a share of objects is left."""
    below = np.flatnonzero(curve.survival <= share)
    return f"{float(curve.age[below[0]]):.3g}" if len(below) else "not seen"


@router.get("/decay")
async def decay(request: Request, name: Name, dark: Dark = False) -> dict[str, Any]:
    """Precision and recall of the copy after the last sync, with bands."""
    view = await questions.one_listing(request, name)
    forecast = view.forecast
    if forecast is None or forecast.ahead is None:
        return nothing(_TOO_EARLY)
    found = forecast.ahead
    due = None if view.standing is None else view.standing.due - forecast.at
    marked = due if due is not None and 0 < due < len(found) else None
    days = max(_SHOWN_DAYS, 3 * (marked or 0.0))
    chart = forecast_chart("", found, next_sync=marked, days=days, colours=colours_of(dark))
    chart.pop("title")
    parts = (found.expected, found.low, found.high)
    rows = [
        [str(day + 1)]
        + [
            f"{tenths(each[0])} ({tenths(each[1])} to {tenths(each[2])})"
            for each in (
                [float(getattr(part, metric)[day]) for part in parts]
                for metric in ("precision", "recall")
            )
        ]
        for day in range(len(found))
    ]
    summary = "Expected precision and recall of the copy by days since the last sync."
    return drawn(chart, summary, ["days since the sync", "precision", "recall"], rows)
