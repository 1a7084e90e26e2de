"""Listings.

Touches: the network.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from recrawl.report.status.object import status_object
from recrawl.serve import questions
from recrawl.serve.api.answers import NOT_FOUND, with_etag

router = APIRouter(prefix="/listings", tags=["listings"], responses=NOT_FOUND)


@router.get("", summary="Listings")
async def listings(request: Request) -> Response:
    """How each listing stands: objects, expected precision and recall, next sync."""
    found = status_object((await questions.overview(request)).status)
    return with_etag(request, {"listings": found["listings"]})
