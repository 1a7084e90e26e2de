"""The schedule for other crawlers: pages to visit now, leased; what visits found.

Touches: the network, the clock.
"""

from __future__ import annotations

import binascii
import hashlib
from base64 import b64decode
from math import inf, nan
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Body, Header, Query, Request, Response

from recrawl.errors import Conflict, InvalidParameter
from recrawl.scheduler.reports import Report, outcome_of, report_of
from recrawl.serve.api.answers import CHANGES, NEEDS_TOKEN
from recrawl.serve.api.models import (
    DuePages,
    Leases,
    Released,
    ReportedVisit,
    ReportedVisits,
    VisitResults,
)

if TYPE_CHECKING:
    from recrawl.serve.lending import Lending, LentPage

router = APIRouter(tags=["schedule"], responses=CHANGES, dependencies=[NEEDS_TOKEN])

_LEASE_SECONDS = 300.0
_LONGEST_LEASE_SECONDS = 3600.0
_LONGEST_WAIT_SECONDS = 20.0
_MOST_DUE = 500
_NO_OWNER = (
    "this server only reads the store; for leases run `recrawl serve --schedule`, or "
    "`recrawl crawl --serve PORT`"
)
_ENDED = (
    "the lease has ended, was used already, or was given by another server; ask for the page again"
)

Limit = Annotated[int, Query(ge=1, le=_MOST_DUE, description="Most pages.")]
Seconds = Annotated[
    float, Query(ge=1, le=_LONGEST_LEASE_SECONDS, description="How long the leases last.")
]
Wait = Annotated[
    float, Query(ge=0, le=_LONGEST_WAIT_SECONDS, description="Seconds to wait for a page.")
]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Names the batch: one that is sent again under its key counts once.",
    ),
]


def lending_of(request: Request) -> Lending:
    """The leases of the schedule; refused where somebody else owns it."""
    lending: Lending | None = request.app.state.lending
    if lending is None:
        raise Conflict(_NO_OWNER)
    return lending


@router.post("/due", summary="Lease pages to visit now", response_model=DuePages)
async def lease_due(
    request: Request, limit: Limit = 10, lease_seconds: Seconds = _LEASE_SECONDS, wait: Wait = 0.0
) -> dict[str, Any]:
    """Pages that are most worth a visit now, within the budget, no host asked too soon.

    Nobody else gets them until you report or release them, or the lease ends. None may be due:
    ask again after `wait_seconds`, or wait here.
    """
    lending = lending_of(request)
    pages = await lending.due(limit, lease_seconds, wait)
    if pages and await request.is_disconnected():
        await lending.release([each.lease for each in pages])
    ready = 0.0 if pages else await lending.owner.due_in()
    return {
        "pages": [_row(each) for each in pages],
        "lease_seconds": lease_seconds,
        "wait_seconds": None if ready == inf else round(ready, 3),
    }


@router.get("/due", summary="Lease pages to visit now (by GET)", response_model=DuePages)
async def get_due(
    request: Request, limit: Limit = 10, lease_seconds: Seconds = _LEASE_SECONDS, wait: Wait = 0.0
) -> dict[str, Any]:
    """The same, for clients that have only GET. Needs the token; is never cached.

    POST is the better form: nothing on the way repeats or prefetches it.
    """
    return await lease_due(request, limit, lease_seconds, wait)


def _row(lent: LentPage) -> dict[str, Any]:
    page = lent.page
    return {
        "lease": lent.lease,
        "page": page.lease.page,
        "address": page.address,
        "first": page.first,
        "headers": page.headers,
    }


@router.post("/due/release", summary="Give leases back", response_model=Released)
async def release(request: Request, leases: Annotated[Leases, Body()]) -> dict[str, Any]:
    """Give pages back that you will not visit: they are due again at once."""
    return {"released": await lending_of(request).release(leases.leases)}


@router.post("/visits", summary="Report visits", response_model=VisitResults)
async def report_visits(
    request: Request, batch: Annotated[ReportedVisits, Body()], idempotency_key: Key = ""
) -> Response | dict[str, Any]:
    """What visits to leased pages found: compared with the copies, learned and written down.

    A batch is on disk when this answers. With an `Idempotency-Key` it may be sent again, also to a
    server that was killed and started anew, and counts once. A batch that is not clear is refused
    as a whole; a visit whose lease has ended is not taken, and the others are.
    """
    lending = lending_of(request)
    keyed = None
    if idempotency_key:
        digest = hashlib.blake2b(await request.body(), digest_size=16).digest()
        keyed = idempotency_key, digest
    visits = [(each.lease, _report(lending, each)) for each in batch.visits]
    outcomes = await lending.seen_all(visits, keyed)
    results = [
        {
            "lease": each.lease,
            "outcome": None if outcome is None else outcome.label,
            "problem": _ENDED if outcome is None else None,
        }
        for each, outcome in zip(batch.visits, outcomes, strict=True)
    ]
    return {"taken": sum(each is not None for each in outcomes), "visits": results}


def _report(lending: Lending, visit: ReportedVisit) -> Report | None:
    """What is said of a visit; None where its lease has ended."""
    page = lending.page_of(visit.lease)
    if page is None:
        return None
    if visit.body is not None and visit.body_base64 is not None:
        raise InvalidParameter(f"lease {visit.lease}: give body or body_base64, not both")
    body: str | bytes | None = visit.body
    if visit.body_base64 is not None:
        try:
            body = b64decode(visit.body_base64, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidParameter(f"lease {visit.lease}: body_base64 is not Base64") from None
    report = Report(
        visit.changed,
        outcome_of(visit.outcome),
        visit.digest,
        age=nan if visit.age_days is None else visit.age_days,
    )
    return report_of(
        page.address,
        report,
        status=visit.status,
        headers=visit.headers,
        body=body,
        url=visit.url,
    )
