"""Listings and their objects.

Touches: the network.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from recrawl.errors import UnknownPage
from recrawl.publish.events import maybe_utc, utc
from recrawl.report.status.object import status_object
from recrawl.serve import questions
from recrawl.serve.api.answers import NOT_FOUND, with_etag
from recrawl.serve.api.models import ListedObjects, Listings

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

router = APIRouter(prefix="/listings", tags=["listings"], responses=NOT_FOUND)


@router.get("", summary="Listings", responses={200: {"model": Listings}})
async def listings(request: Request) -> Response:
    """How each listing stands: objects, expected precision and recall, next sync."""
    found = status_object((await questions.overview(request)).status)
    return with_etag(request, {"listings": found["listings"]})


@router.get(
    "/{name}/objects", summary="Objects of a listing", responses={200: {"model": ListedObjects}}
)
async def objects(
    request: Request,
    name: Annotated[str, Path(max_length=100, description="Name of the listing.")],
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Response:
    """Objects of a listing as last seen, in the order in which they were first seen."""

    def work(reader: ReadStore) -> dict[str, Any]:
        if name not in reader.listing_names():
            raise UnknownPage(f"there is no listing {name!r}")
        found = reader.objects(name)
        rows = [
            {
                "key": each.key,
                "attributes": each.attributes,
                "appeared_at": utc(each.appeared_seconds),
                "last_seen_at": utc(each.last_seen_seconds),
                "removed_at": maybe_utc(each.removed_seconds),
                "page": each.page,
                "address": each.address or None,
            }
            for each in found[offset : offset + limit]
        ]
        return {"listing": name, "total": len(found), "objects": rows}

    key = ("objects", name, limit, offset)
    return with_etag(request, await questions.of_page(request, key, work))
