"""The table of all pages.

Touches: the network.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from recrawl.inspect.pages import STATUS_LABELS
from recrawl.serve import questions
from recrawl.serve.pages.rendering import (
    ROWS,
    Name,
    PageNumber,
    Search,
    links,
    pages_router,
    shown,
)
from recrawl.serve.views.page_table import TableQuery

router = pages_router()


@router.get("/pages")
async def pages(
    request: Request,
    q: Search = "",
    host: Name = "",
    status: Annotated[str, Query(max_length=20)] = "",
    sort: Annotated[str, Query(max_length=20)] = "rate",
    page: PageNumber = 1,
) -> HTMLResponse:
    """All pages, in parts."""
    query = TableQuery(q, host, status, sort, first=ROWS * (page - 1), rows=ROWS)
    # Nothing is waited for between the two, so both are of the same table.
    table = await questions.page_table(request)
    found = await questions.page_list(request, query)
    asked = {"q": q, "host": host, "status": status, "sort": sort}
    return shown(
        request,
        "pages.html",
        at=table.now,
        query=query,
        found=found,
        page=page,
        link=links("/pages", asked),
        statuses=STATUS_LABELS,
    )
