"""JSON for programs: `/api/v1/...`.

Touches: the network.
"""

from __future__ import annotations

from fastapi import APIRouter

from recrawl.serve.api import changes, copies, crawl, listings, live, pages

PREFIX = "/api/v1"
router = APIRouter(prefix=PREFIX)
for each in (crawl, pages, changes, copies, listings, live):
    router.include_router(each.router)
