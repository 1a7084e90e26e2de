"""The pages that people look at.

Touches: files, the network.
"""

from __future__ import annotations

from fastapi import APIRouter

from recrawl.serve.pages import changes, crawl, listings, one_page, page_list, sites
from recrawl.serve.pages.rendering import problem_page

__all__ = ["problem_page", "router"]

router = APIRouter()
for each in (crawl, page_list, one_page, changes, sites, listings):
    router.include_router(each.router)
