"""The crawl as a whole: how it stands, and what other settings would bring.

Touches: the network.
"""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse

from recrawl.plan.objectives import OBJECTIVES
from recrawl.serve import questions
from recrawl.serve.pages.rendering import pages_router, shown
from recrawl.serve.views.sites import SitesQuery

router = pages_router()


@router.get("/")
async def overview(request: Request) -> HTMLResponse:
    """How the crawl stands."""
    view = await questions.overview(request)
    return shown(request, "overview.html", at=view.status.at, view=view)


@router.get("/overdue")
async def overdue(request: Request) -> HTMLResponse:
    """Hosts with overdue pages, as a part of the overview."""
    rows, _ = (await questions.sites(request)).find(SitesQuery(sort="overdue", rows=10))
    return shown(request, "overdue.html", rows=[row for row in rows if row.overdue])


@router.get("/what-if")
async def what_if(request: Request) -> HTMLResponse:
    """What other settings would bring; nothing is changed."""
    asked = dict(request.query_params.items())
    view = await questions.what_if(request, asked)
    return shown(request, "what_if.html", at=view.at, view=view, objectives=list(OBJECTIVES))
