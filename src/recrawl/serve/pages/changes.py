"""The change feed as people read it.

Touches: the network.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request
from fastapi.responses import HTMLResponse

from recrawl.errors import InvalidParameter
from recrawl.report.status.status import feed_sentence
from recrawl.serve import questions
from recrawl.serve.pages.rendering import Name, links, pages_router, shown
from recrawl.serve.source import now
from recrawl.serve.views.recent_changes import KINDS, ChangesQuery, read_changes

router = pages_router()


@router.get("/changes")
async def changes(
    request: Request,
    kind: Annotated[str, Query(max_length=20)] = "",
    host: Name = "",
    under: Annotated[str, Query(max_length=2000)] = "",
    share: Annotated[str, Query(max_length=20)] = "",
    before: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> HTMLResponse:
    """The change feed, newest first."""
    query = ChangesQuery(kind, host.lower(), under, _share(share), before)
    found = await questions.of_page(
        request, query, lambda reader: read_changes(reader, query, now(reader))
    )
    status = (await questions.overview(request)).status
    complete = "" if status.feed is None else f"The feed {feed_sentence(status.feed)}."
    asked = {"kind": kind, "host": host, "under": under, "share": share}
    return shown(
        request,
        "changes.html",
        at=found.at,
        query=query,
        found=found,
        kinds=KINDS,
        complete=complete,
        hosts=await questions.host_names(request),
        link=links("/changes", asked),
    )


def _share(text: str) -> float:
    """A share in per cent, as a form sends it."""
    try:
        share = float(text or 0)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:  # noqa: PLR2004 - per cent
        raise InvalidParameter(f"share must be from 0 to 100 (got {text!r})")
    return share
