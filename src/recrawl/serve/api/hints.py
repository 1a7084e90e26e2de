"""Hints that pages have changed.

Touches: the network, a store, the clock.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Request

from recrawl.errors import InvalidParameter
from recrawl.scheduler.reports import address_of
from recrawl.serve import questions
from recrawl.serve.api.answers import CHANGES, NEEDS_TOKEN
from recrawl.serve.api.models import HintedPages, HintsNoted
from recrawl.settings.rules import NO_RULE
from recrawl.store import add_hints
from recrawl.store.lock import is_locked

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

router = APIRouter(tags=["schedule"], responses=CHANGES, dependencies=[NEEDS_TOKEN])


@router.post("/hints", summary="Say that pages have changed", response_model=HintsNoted)
async def hint(request: Request, pages: Annotated[HintedPages, Body()]) -> dict[str, Any]:
    """Note that pages have changed, as `recrawl hint` does; a crawl visits them the sooner.

    How much sooner depends on how often hints for their host were right. A page that is not known
    is added, if it belongs to a site of the settings.
    """
    source = request.app.state.source
    addresses = list(dict.fromkeys(address_of(url) for url in pages.urls))

    def work(reader: ReadStore) -> dict[str, Any]:
        settings, store = source.settings(reader), source.store()
        admitted = [each for each in map(settings.admit, addresses) if each.rule != NO_RULE]
        if not admitted:
            raise InvalidParameter("none of these pages belongs to a site of the settings")
        wanted = list(dict.fromkeys(each.address for each in admitted))
        add_hints(store, wanted, time.time())
        takes = "now" if is_locked(store) else "next crawl"
        left_out = len(addresses) - len(admitted)
        return {"noted": len(wanted), "left_out": left_out, "takes": takes}

    return await questions.read(request, work)
