"""The crawl as a whole.

Touches: the network.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from recrawl.report.status.object import status_object
from recrawl.serve import questions
from recrawl.serve.api.answers import PROBLEMS, with_etag
from recrawl.serve.api.models import PlanOutlooks

router = APIRouter(tags=["crawl"], responses=PROBLEMS)


@router.get("/status", summary="How the crawl stands", responses={200: {"model": dict[str, Any]}})
async def status(request: Request) -> Response:
    """Freshness, budgets, forecasts, targets, trouble: what `recrawl status --json` gives."""
    return with_etag(request, status_object((await questions.overview(request)).status))


@router.get("/plan", summary="What budgets buy", responses={200: {"model": PlanOutlooks}})
async def plan(request: Request) -> Response:
    """Freshness to expect in the long run of half the budget, the budget, and twice as much."""
    found = status_object((await questions.overview(request)).status)
    return with_etag(request, {"outlooks": found["outlooks"], "targets": found["targets"]})
