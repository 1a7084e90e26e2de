"""Listings: all of them, and each.

Touches: the network.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request
from fastapi.responses import HTMLResponse

from recrawl.serve import questions
from recrawl.serve.pages.rendering import (
    ROWS,
    PageNumber,
    Search,
    links,
    pages_router,
    shown,
)
from recrawl.serve.views.listings import ObjectsQuery, find_objects

router = pages_router()


@router.get("/listings")
async def listings(request: Request) -> HTMLResponse:
    """All listings."""
    status = (await questions.overview(request)).status
    return shown(request, "listings.html", at=status.at, listings=status.listings, now=status.at)


@router.get("/listings/{name}")
async def one_listing(
    request: Request,
    name: Annotated[str, Path(min_length=1, max_length=300)],
    q: Search = "",
    listed: Annotated[str, Query(max_length=3)] = "",
    page: PageNumber = 1,
) -> HTMLResponse:
    """One listing."""
    view = await questions.one_listing(request, name)
    query = ObjectsQuery(q, only_listed=bool(listed), first=ROWS * (page - 1), rows=ROWS)
    rows, total = find_objects(view, query)
    return shown(
        request,
        "listing.html",
        at=view.at,
        view=view,
        query=query,
        rows=rows,
        total=total,
        page=page,
        link=links(f"/listings/{name}", {"q": q, "listed": listed}),
    )
