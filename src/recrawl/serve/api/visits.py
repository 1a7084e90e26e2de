"""Visits to all pages, and why an address is visited when it is.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from recrawl.errors import UnknownPage
from recrawl.parse.addresses import canonical
from recrawl.report.why.object import why_object
from recrawl.serve import questions
from recrawl.serve.api.answers import NOT_FOUND, with_etag
from recrawl.serve.api.models import Visits
from recrawl.serve.views.visits import visit_rows

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

router = APIRouter(tags=["pages"], responses=NOT_FOUND)


@router.get("/visits", summary="Visits to all pages", responses={200: {"model": Visits}})
async def visits(
    request: Request,
    after: Annotated[int, Query(ge=0, le=2**53, description="Number of the last one read.")] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> Response:
    """Visits after a number, in the order in which they were written."""

    def work(reader: ReadStore) -> dict[str, Any]:
        found = next(iter(reader.visits(after, limit)), None)
        rows = [] if found is None else visit_rows(found)
        last = rows[-1]["visit"] if rows else after
        return {"visits": rows, "after": last, "more": last < reader.last_visit()}

    return with_etag(request, await questions.read(request, work))


@router.get(
    "/why",
    summary="Why an address is visited next",
    responses={200: {"model": dict[str, Any]}},
)
async def why(
    request: Request,
    url: Annotated[str, Query(min_length=1, max_length=4000, description="Address of the page.")],
) -> Response:
    """When the page of an address is visited next, why, and what would change it."""

    def find(reader: ReadStore) -> int:
        (page,) = reader.find_pages([canonical(url) or url])
        if page is None:
            raise UnknownPage(f"there is no page {url}")
        return page

    page = await questions.read(request, find)
    return with_etag(request, why_object(await questions.why(request, page)))
