"""Hosts, as the crawl treats them.

Touches: the network.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from recrawl.publish.events import maybe_utc
from recrawl.serve import questions
from recrawl.serve.api.answers import PROBLEMS, with_etag
from recrawl.serve.api.models import Hosts
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore

router = APIRouter(tags=["pages"], responses=PROBLEMS)


@router.get("/hosts", summary="Hosts", responses={200: {"model": Hosts}})
async def hosts(
    request: Request,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> Response:
    """Politeness delay, response time and failures of each host, in the order they were found."""

    def work(reader: ReadStore) -> dict[str, Any]:
        total, found = 0, []
        for host in reader.hosts():
            total += 1
            if offset < total <= offset + limit:
                found.append(host)
        rows = [
            {
                "host": each.name,
                "delay_seconds": None if each.delay is None else each.delay * SECONDS_A_DAY,
                "blocked_until": maybe_utc(each.blocked_until_seconds),
                "response_seconds": each.latency_seconds,
                "failures": each.failures,
            }
            for each in islice(found, limit)
        ]
        return {"total": total, "hosts": rows}

    return with_etag(request, await questions.of_page(request, ("hosts", limit, offset), work))
