"""The change feed, by cursor, with a wait for what comes.

Touches: the network, the clock.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from recrawl.entries.store import EVENTS_AT_A_TIME
from recrawl.errors import InvalidParameter
from recrawl.publish.content import ContentReader
from recrawl.publish.cursors import cursor_text
from recrawl.publish.events import EventFilter, cloud_event
from recrawl.publish.feeds import events_after, page_feed
from recrawl.serve import questions
from recrawl.serve.api.answers import NOT_FOUND, problem_of, with_etag
from recrawl.serve.api.live import open_stream
from recrawl.serve.api.models import Events
from recrawl.visits.status import FeedKind

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

router = APIRouter(
    tags=["changes"], responses={**NOT_FOUND, 410: problem_of("The cursor expired.")}
)

_MOST = 1000
_MOST_WITH_CONTENT = 50
_LONGEST_WAIT_SECONDS = 55.0
_STEP_SECONDS = 0.5
_KINDS = [each.label for each in FeedKind if each]


@router.get("/changes", summary="What changed", responses={200: {"model": Events}})
async def changes(
    request: Request,
    after: Annotated[str, Query(max_length=100, description="Cursor of the last event read.")] = "",
    limit: Annotated[int, Query(ge=1, le=_MOST)] = 100,
    wait: Annotated[
        float, Query(ge=0, le=_LONGEST_WAIT_SECONDS, description="Seconds to wait for an event.")
    ] = 0.0,
    kind: Annotated[list[str] | None, Query(max_length=10, description="Only these kinds.")] = None,
    host: Annotated[str, Query(max_length=300, description="Only pages of this host.")] = "",
    include: Annotated[
        str, Query(alias="with", max_length=50, description="Adds text, markdown, diff or chunks.")
    ] = "",
) -> Response:
    """Events after a cursor as CloudEvents, oldest first, and the cursor to go on from.

    Keep the cursor with what you made of the events: they come at least once and in order. An
    answer without events and with a cursor is normal: nothing came that fits.
    """
    for each in kind or []:
        if each not in _KINDS:
            raise InvalidParameter(f"kind must be one of {', '.join(_KINDS)} (got {each!r})")
    wanted = EventFilter(frozenset(kind or ()), frozenset({host.lower()} if host else ()))
    parts = [part.strip() for part in include.split(",") if part.strip()]
    most = min(limit, _MOST_WITH_CONTENT) if parts else limit
    if not wait:
        return with_etag(request, await _read(request, after, wanted, parts, most))
    until = time.monotonic() + wait
    with open_stream(request):
        while True:
            found = await _read(request, after, wanted, parts, most)
            if found["events"] or time.monotonic() >= until or await request.is_disconnected():
                return with_etag(request, found)
            after = found["cursor"]
            await asyncio.sleep(_STEP_SECONDS)


async def _read(
    request: Request, after: str, wanted: EventFilter, parts: list[str], most: int
) -> dict[str, Any]:
    return await questions.read(
        request, lambda reader: _events(request, reader, after, wanted, parts, most)
    )


def _events(
    request: Request,
    reader: ReadStore,
    after: str,
    wanted: EventFilter,
    parts: list[str],
    most: int,
) -> dict[str, Any]:
    """Events after a cursor, and where to go on."""
    feed = page_feed(reader)
    start, name = feed.after(after or None), feed.range().feed
    content = ContentReader(reader, request.app.state.source.settings(reader), parts)
    found: list[dict[str, Any]] = []
    last, looked_at = start, 0
    for batch in events_after(feed, start, min(most, EVENTS_AT_A_TIME)):
        for event in batch:
            last = event.number
            if wanted.holds(event):
                found.append(cloud_event(name, event, content.of(event)))
            if len(found) >= most:
                return {"events": found, "cursor": cursor_text(name, last), "more": True}
        looked_at += len(batch)
        if looked_at >= 50 * EVENTS_AT_A_TIME:  # nothing fits for long: go on by the cursor
            return {"events": found, "cursor": cursor_text(name, last), "more": True}
    return {"events": found, "cursor": cursor_text(name, last), "more": False}
