"""Figures that move, as server-sent events.

Touches: the network, the clock.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from recrawl.errors import Busy
from recrawl.serve import questions
from recrawl.serve.api.answers import PROBLEMS
from recrawl.serve.source import today
from recrawl.serve.views.as_of import AsOf

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from recrawl.serve.views.overview import Overview

router = APIRouter(tags=["crawl"], responses=PROBLEMS)

MOST_STREAMS = 100
_STEP_SECONDS = 5.0
_LONGEST_SECONDS = 600.0  # then a browser asks again by itself


@router.get(
    "/live",
    summary="Figures as they move",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}},
)
async def live(request: Request) -> StreamingResponse:
    """Events `figures` with what the overview shows first, whenever it has been worked out anew."""
    refuse_more_streams(request)
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_figures(request), media_type="text/event-stream", headers=headers)


def refuse_more_streams(request: Request) -> None:
    """Raise where as many streams are open as may be."""
    if request.app.state.streams >= MOST_STREAMS:
        raise Busy("too many open streams; close one, or ask again later")


@contextmanager
def open_stream(request: Request) -> Iterator[None]:
    """Count a stream while it is open; refused where there are too many."""
    refuse_more_streams(request)
    state = request.app.state
    state.streams += 1
    try:
        yield
    finally:
        state.streams -= 1


def _said(view: Overview) -> dict[str, Any]:
    """What the overview shows first, and as of when."""
    as_of = AsOf.of(view.status.at, today())
    return {
        "as_of": as_of.iso,
        "stale": as_of.stale,
        "figures": {tile.name: tile.figure for tile in view.tiles},
        "notes": {tile.name: tile.note for tile in view.tiles},
        "alerts": [asdict(each) for each in view.alerts],
        "words": view.rows,
    }


async def _figures(request: Request) -> AsyncIterator[str]:
    last = ""
    with open_stream(request):
        for _ in range(int(_LONGEST_SECONDS / _STEP_SECONDS)):
            view = await questions.overview(request)
            said = json.dumps(_said(view))
            yield f"event: figures\ndata: {said}\n\n" if said != last else ": still here\n\n"
            last = said
            await asyncio.sleep(_STEP_SECONDS)
            if await request.is_disconnected():
                return
