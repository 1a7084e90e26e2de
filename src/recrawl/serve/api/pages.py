"""Pages: which there are, how often they change, when they are visited and why.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from recrawl.errors import Busy
from recrawl.inspect.pages import STATUS_LABELS
from recrawl.parse.addresses import canonical
from recrawl.report.why.object import why_object
from recrawl.serve import questions
from recrawl.serve.api.answers import NOT_FOUND, with_etag
from recrawl.serve.api.models import PageRow, PageVisits, SomePages, VersionRows
from recrawl.serve.views.page_table import MOST_ROWS, ORDERS, TableQuery
from recrawl.serve.views.visits import visit_objects

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

router = APIRouter(prefix="/pages", tags=["pages"], responses=NOT_FOUND)

Number = Annotated[int, Path(ge=0, le=2**53, description="Number of the page.")]
_MOST_VISITS = 10_000
_SORT = Query(description=f"One of {', '.join(ORDERS)}; with - before it the other way round.")


@router.get("", summary="Pages", responses={200: {"model": SomePages}})
async def pages(
    request: Request,
    q: Annotated[str, Query(max_length=200, description="Words in their addresses.")] = "",
    host: Annotated[str, Query(max_length=300)] = "",
    status: Annotated[str, Query(description=f"One of {', '.join(STATUS_LABELS)}.")] = "",
    sort: Annotated[str, _SORT] = "rate",
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
    url: Annotated[str, Query(max_length=4000, description="Only the page of this address.")] = "",
) -> Response:
    """Pages with their change rates, the chance that their copies are fresh, and next visits."""
    if url:
        found = await questions.of_page(
            request, ("find", url), lambda reader: reader.find_pages([canonical(url) or url])
        )
        numbers = [each for each in found if each is not None]
        rows = await questions.some_pages(request, numbers)
        return with_etag(request, {"total": len(rows), "pages": rows})
    query = TableQuery(q, host, status, sort, offset, limit)
    listed = await questions.page_list(request, query)
    return with_etag(request, {"total": listed.total, "pages": listed.rows})


@router.get("/{page}", summary="One page", responses={200: {"model": PageRow}})
async def one_page(request: Request, page: Number) -> Response:
    """What is known of a page."""
    await questions.page_view(request, page)  # refuses what is none
    rows = await questions.some_pages(request, [page])
    if not rows:
        raise Busy(f"page {page} was found a moment ago; ask again in a minute")
    return with_etag(request, rows[0])


@router.get("/{page}/visits", summary="Its visits", responses={200: {"model": PageVisits}})
async def visits(
    request: Request, page: Number, limit: Annotated[int, Query(ge=1, le=_MOST_VISITS)] = 100
) -> Response:
    """The newest visits to a page, oldest first."""

    def work(reader: ReadStore) -> list[dict[str, Any]]:
        return visit_objects(reader, page, limit)

    found = await questions.of_page(request, ("visits", page, limit), work)
    return with_etag(request, {"page": page, "visits": found})


@router.get("/{page}/versions", summary="Its versions", responses={200: {"model": VersionRows}})
async def versions(request: Request, page: Number) -> Response:
    """Versions of a page that are kept, newest first."""
    view = await questions.page_view(request, page)
    kept = [
        {"version": each.digest, "seen_at": each.at, "size_bytes": each.size}
        for each in view.versions
    ]
    return with_etag(request, {"page": page, "versions": kept})


@router.get(
    "/{page}/why",
    summary="Why it is visited next",
    responses={200: {"model": dict[str, Any]}},
)
async def why(request: Request, page: Number) -> Response:
    """When a page is visited next, why, and what would change it."""
    return with_etag(request, why_object(await questions.why(request, page)))
