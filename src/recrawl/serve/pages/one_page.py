"""One page: what is known of it, its versions, and why it is visited next.

Touches: the network.
"""

from __future__ import annotations

from datetime import UTC, datetime
from math import inf
from typing import TYPE_CHECKING

from fastapi import Request
from fastapi.responses import HTMLResponse

from recrawl.inspect.versions import PageVersions
from recrawl.publish.reading import CopyReader
from recrawl.report.diff.html import diff_page
from recrawl.report.why.words import why_rows
from recrawl.serve import questions
from recrawl.serve.pages.rendering import Number, Seconds, pages_router, shown
from recrawl.serve.views.one_page import address_of

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.publish.reading import PageCopy

router = pages_router()
# A page from the web in a frame of ours: one style, nothing else, and no origin.
_FRAME_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"


@router.get("/pages/{number}")
async def one_page(request: Request, number: Number) -> HTMLResponse:
    """One page."""
    view = await questions.page_view(request, number)
    return shown(request, "page.html", at=view.at, view=view)


@router.get("/pages/{number}/facts")
async def facts(request: Request, number: Number) -> HTMLResponse:
    """What is believed of it, as a part of its page."""
    # Nothing is waited for between the two, so both are of the same table.
    table = await questions.page_table(request)
    found = await questions.some_pages(request, [number])
    return shown(request, "facts.html", at=table.now, row=found[0] if found else None)


@router.get("/pages/{number}/why")
async def why(request: Request, number: Number) -> HTMLResponse:
    """Why it is visited next, as a part of its page."""
    found = await questions.why(request, number)
    return shown(request, "why.html", at=found.at, rows=why_rows(found))


@router.get("/pages/{number}/diff")
async def diff(
    request: Request, number: Number, since: Seconds = 0, to: Seconds = 0
) -> HTMLResponse:
    """What changed from one version to another, the one before by default."""
    view = await questions.page_view(request, number)
    return shown(request, "diff.html", at=view.at, view=view, since=since, to=to)


@router.get("/pages/{number}/diff/frame")
async def diff_frame(
    request: Request, number: Number, since: Seconds = 0, to: Seconds = 0
) -> HTMLResponse:
    """The diff itself: a page of its own that can do nothing, shown in a frame."""

    def work(reader: ReadStore) -> str:
        address = address_of(reader, number)
        settings = request.app.state.source.settings(reader)
        versions = PageVersions.of(settings, reader, number, address)
        return diff_page(versions.compared(*versions.chosen(since or None, to or inf)))

    text = await questions.read(request, work)
    return HTMLResponse(text, headers={"content-security-policy": _FRAME_POLICY})


@router.get("/pages/{number}/text")
async def text(request: Request, number: Number, at: Seconds) -> HTMLResponse:
    """A version of a page as text."""

    def work(reader: ReadStore) -> PageCopy:
        copies = CopyReader(reader, request.app.state.source.settings(reader))
        return copies.copy(number, datetime.fromtimestamp(int(at) + 1, UTC))

    return shown(request, "text.html", copy=await questions.read(request, work))
