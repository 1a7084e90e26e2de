"""JSON for programs: `/api/v1/...`.

Touches: the network.
"""

from __future__ import annotations

from fastapi import APIRouter

from recrawl.serve.api import (
    changes,
    copies,
    crawl,
    hints,
    hosts,
    listings,
    live,
    pages,
    schedule,
    visits,
)

PREFIX = "/api/v1"
router = APIRouter(prefix=PREFIX)
for each in (crawl, pages, visits, hosts, changes, copies, listings, live, schedule, hints):
    router.include_router(each.router)
