"""Figures that move, as server-sent events.

Touches: the network, the clock.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from recrawl.errors import Busy
from recrawl.serve import questions
from recrawl.serve.api.answers import PROBLEMS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

router = APIRouter(tags=["crawl"], responses=PROBLEMS)

_MOST_STREAMS = 100
_STEP_SECONDS = 5.0
_LONGEST_SECONDS = 600.0  # then a browser asks again by itself


@router.get("/live", summary="Figures as they move", response_class=StreamingResponse)
async def live(request: Request) -> StreamingResponse:
    """Events `figures` with what the overview shows first, whenever it has changed."""
    state = request.app.state
    if state.streams >= _MOST_STREAMS:
        raise Busy("too many open streams; close one, or poll /api/v1/status")
    headers = {"cache-control": "no-store", "x-accel-buffering": "no"}
    return StreamingResponse(_figures(request), media_type="text/event-stream", headers=headers)


async def _figures(request: Request) -> AsyncIterator[str]:
    state, last = request.app.state, ""
    state.streams += 1
    try:
        for _ in range(int(_LONGEST_SECONDS / _STEP_SECONDS)):
            view = await questions.overview(request)
            said = json.dumps({tile.name: tile.figure for tile in view.tiles})
            yield f"event: figures\ndata: {said}\n\n" if said != last else ": still here\n\n"
            last = said
            await asyncio.sleep(_STEP_SECONDS)
            if await request.is_disconnected():
                return
    finally:
        state.streams -= 1
