"""Sites: all hosts, and each of them.

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
from recrawl.serve.views.sites import SitesQuery

router = pages_router()


@router.get("/sites")
async def sites(
    request: Request,
    q: Search = "",
    sort: Annotated[str, Query(max_length=20)] = "pages",
    page: PageNumber = 1,
) -> HTMLResponse:
    """All sites, in parts."""
    query = SitesQuery(q, sort, first=ROWS * (page - 1), rows=ROWS)
    table = await questions.sites(request)
    rows, total = table.find(query)
    link = links("/sites", {"q": q, "sort": sort})
    return shown(
        request,
        "sites.html",
        at=table.at,
        query=query,
        rows=rows,
        total=total,
        page=page,
        link=link,
    )


@router.get("/sites/{host}")
async def one_site(
    request: Request, host: Annotated[str, Path(min_length=1, max_length=300)]
) -> HTMLResponse:
    """One site."""
    view = await questions.one_site(request, host)
    return shown(request, "site.html", at=view.at, view=view)
