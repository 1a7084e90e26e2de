"""Copies of pages.

Touches: the network.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from recrawl.errors import UnknownPage
from recrawl.inspect.pages import chance_fresh
from recrawl.publish.reading import CopyReader
from recrawl.serve import questions
from recrawl.serve.api.answers import NOT_FOUND, with_etag

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

router = APIRouter(tags=["copies"], responses=NOT_FOUND)


@router.get("/copies", summary="A copy of a page")
async def copies(
    request: Request,
    url: Annotated[str, Query(min_length=1, max_length=4000, description="Address of the page.")],
    form: Annotated[Literal["text", "markdown"], Query(alias="as")] = "markdown",
    at: Annotated[datetime | None, Query(description="When; the newest copy by default.")] = None,
) -> Response:
    """The copy of a page, and the chance that the page is still so."""
    seen = await questions.snapshot(request)
    moment = None if at is None else (at if at.tzinfo else at.replace(tzinfo=UTC))

    def work(reader: ReadStore) -> dict[str, Any]:
        copies = CopyReader(reader, request.app.state.source.settings(reader))
        copy = copies.copy(url, moment)
        if copy.page >= len(seen.rule):
            raise UnknownPage(f"{reader.name}: no page {url}")
        chance = chance_fresh(seen, copy.page) if moment is None else float("nan")
        return {
            "page": copy.page,
            "address": copy.address,
            "version": copy.version,
            "seen_at": copy.seen_at.isoformat(),
            "fresh": None if isnan(chance) else round(chance, 6),
            form: getattr(copy, form),
        }

    return with_etag(request, await questions.read(request, work))
