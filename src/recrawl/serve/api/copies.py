"""Copies of pages, also with a guarantee that they are fresh.

Touches: the network, the clock.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response

from recrawl.errors import Conflict
from recrawl.inspect.pages import chance_fresh, knows_hints
from recrawl.publish.reading import CopyReader
from recrawl.serve import questions
from recrawl.serve.api.answers import NOT_FOUND, problem_of, with_etag
from recrawl.serve.api.models import CopyOfPage
from recrawl.serve.source import now
from recrawl.state.snapshot import load_snapshot

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.serve.lending import Lending

router = APIRouter(
    tags=["copies"],
    responses={
        **NOT_FOUND,
        409: problem_of("The copy is less sure to be fresh than wanted; `fresh` says how sure."),
    },
)
_LONGEST_WAIT_SECONDS = 20.0


class NotFresh(Conflict):
    """A copy that is less sure to be fresh than wanted.

    Args:
        sentence: Why.
        chance: How sure it is; nan where that is unknown.
    """

    def __init__(self, sentence: str, chance: float) -> None:
        super().__init__(sentence)
        self.more = (("fresh", None if isnan(chance) else round(chance, 6)),)


@router.get("/copies", summary="A copy of a page", responses={200: {"model": CopyOfPage}})
async def copies(
    request: Request,
    url: Annotated[str, Query(min_length=1, max_length=4000, description="Address of the page.")],
    form: Annotated[Literal["text", "markdown"], Query(alias="as")] = "markdown",
    at: Annotated[datetime | None, Query(description="When; the newest copy by default.")] = None,
    fresh: Annotated[
        float | None, Query(ge=0, le=1, description="Least chance that the page is still so.")
    ] = None,
) -> Response:
    """The copy of a page, and the chance that the page is still so.

    With `fresh` you get a copy that is as sure as you want, or 409. A crawl that serves this
    (`recrawl crawl --serve`) visits the page first where it must, within its budget and as politely
    as ever, for callers that have the token; nothing else fetches.
    """
    moment = None if at is None else (at if at.tzinfo else at.replace(tzinfo=UTC))
    found, chance = await _read(request, url, form, moment)
    visited, why_not = False, ""
    if fresh is not None and moment is None and not chance >= fresh:
        visited, why_not = await _visit(request, found["page"])
        if visited:
            found, chance = await _read(request, url, form, moment, anew=True)
            why_not = "the page was visited, and changes too often or could not be fetched"
        if not chance >= fresh:
            sure = "unknown" if isnan(chance) else f"{chance:.3g}"
            raise NotFresh(f"the chance that the copy is fresh is {sure}: {why_not}", chance)
    return with_etag(request, {**found, "visited": visited})


async def _visit(request: Request, page: int) -> tuple[bool, str]:
    """Visit a page out of its turn; whether that was done, and why not."""
    lending: Lending | None = request.app.state.lending
    if lending is None:
        return False, "nothing here may fetch; `recrawl crawl --serve PORT` would visit the page"
    if not lending.owner.fetches:
        return False, "nothing here may fetch: other crawlers make the visits"
    if not request.scope.get("state", {}).get("has_token"):
        return False, "the token is needed to have the page visited"
    visited = await lending.owner.visit(page, _LONGEST_WAIT_SECONDS)
    return visited, "" if visited else "its host or the budget allows no visit now"


async def _read(
    request: Request,
    url: str,
    form: str,
    moment: datetime | None,
    *,
    anew: bool = False,
) -> tuple[dict[str, Any], float]:
    """The copy of a page, and the chance that it is fresh."""
    kept = None if anew else await questions.snapshot(request)

    def work(reader: ReadStore) -> tuple[dict[str, Any], float]:
        settings = request.app.state.source.settings(reader)
        seen = kept or load_snapshot(settings, reader, now(reader))
        copy = CopyReader(reader, settings).copy(url, moment)
        # Since the snapshot was read, the page was found, or somebody said that it has changed.
        if copy.page >= len(seen.rule) or not (moment or knows_hints(seen, reader, copy.page)):
            seen = load_snapshot(settings, reader, now(reader))
        chance = chance_fresh(seen, copy.page, now(reader)) if moment is None else float("nan")
        return {
            "page": copy.page,
            "address": copy.address,
            "version": copy.version,
            "seen_at": copy.seen_at.isoformat(),
            "fresh": None if isnan(chance) else round(chance, 6),
            form: getattr(copy, form),
        }, chance

    return await questions.read(request, work)
