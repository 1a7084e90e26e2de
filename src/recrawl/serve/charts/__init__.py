"""Charts as calls: Vega-Lite values, a sentence for those who cannot see them, and a table.

Touches: the network.
"""

from __future__ import annotations

from fastapi import APIRouter

from recrawl.serve.charts import crawl, listings, one_page, sites

router = APIRouter(prefix="/charts", include_in_schema=False)
for each in (crawl, one_page, sites, listings):
    router.include_router(each.router)
