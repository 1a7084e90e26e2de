"""The pages that people look at.

Touches: files, the network.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import recrawl
from recrawl.errors import InvalidParameter
from recrawl.inspect.pages import STATUS_LABELS
from recrawl.inspect.versions import PageVersions
from recrawl.publish.reading import CopyReader
from recrawl.report.diff.html import diff_page
from recrawl.report.status.status import feed_sentence
from recrawl.report.why.words import why_rows
from recrawl.report.words import every, percent, tenths
from recrawl.serve import questions
from recrawl.serve.views.one_page import address_of
from recrawl.serve.views.page_table import TableQuery
from recrawl.serve.views.recent_changes import KINDS, ChangesQuery, read_changes

if TYPE_CHECKING:
    from recrawl.entries.store import ReadStore
    from recrawl.publish.reading import PageCopy
    from recrawl.serve.problems import Problem

Number = Annotated[int, InPath(ge=0, le=2**53)]
Seconds = Annotated[float, Query(ge=0, le=1e11)]

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals.update(every=every, percent=percent, tenths=tenths)
_NAVIGATION = (
    ("/", "Overview"),
    ("/changes", "Changes"),
    ("/pages", "Pages"),
    ("/sites", "Sites"),
    ("/listings", "Listings"),
    ("/what-if", "What if"),
)


def shown(request: Request, template: str, code: int = 200, **values: Any) -> HTMLResponse:  # noqa: ANN401
    """A page."""
    text = _templates.get_template(template).render(
        navigation=_NAVIGATION, path=request.url.path, version=recrawl.__version__, **values
    )
    return HTMLResponse(text, code, headers={"cache-control": "no-store"})


def problem_page(request: Request, problem: Problem) -> HTMLResponse:
    """What is wrong, for people."""
    return shown(request, "problem.html", problem.code, problem=problem)


@router.get("/")
async def overview(request: Request) -> HTMLResponse:
    """How the crawl stands."""
    return shown(request, "overview.html", view=await questions.overview(request))


@router.get("/pages")
async def pages(
    request: Request,
    q: Annotated[str, Query(max_length=200)] = "",
    host: Annotated[str, Query(max_length=300)] = "",
    status: Annotated[str, Query(max_length=20)] = "",
    sort: Annotated[str, Query(max_length=20)] = "rate",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> HTMLResponse:
    """All pages in parts."""
    query = TableQuery(q, host, status, sort, first=50 * (page - 1), rows=50)
    found = await questions.page_list(request, query)
    asked = {"q": q, "host": host, "status": status, "sort": sort, "page": 1}

    def link(**changed: Any) -> str:  # noqa: ANN401 - whatever an address holds
        wanted = {name: value for name, value in {**asked, **changed}.items() if value}
        return f"/pages?{urlencode(wanted)}"

    return shown(
        request,
        "pages.html",
        query=query,
        found=found,
        page=page,
        link=link,
        statuses=STATUS_LABELS,
    )


@router.get("/pages/{number}")
async def one_page(request: Request, number: Number) -> HTMLResponse:
    """One page."""
    return shown(request, "page.html", view=await questions.page_view(request, number))


@router.get("/pages/{number}/why")
async def why(request: Request, number: Number) -> HTMLResponse:
    """Why it is visited next, as a part of its page."""
    return shown(request, "why.html", rows=why_rows(await questions.why(request, number)))


@router.get("/pages/{number}/diff")
async def diff(request: Request, number: Number, to: Seconds) -> HTMLResponse:
    """What changed from the version before to one."""
    view = await questions.page_view(request, number)
    return shown(request, "diff.html", page=number, address=view.address, to=to)


@router.get("/pages/{number}/diff/frame")
async def diff_frame(request: Request, number: Number, to: Seconds) -> HTMLResponse:
    """The diff itself: a page of its own that can do nothing, shown in a frame."""

    def work(reader: ReadStore) -> str:
        address = address_of(reader, number)
        settings = request.app.state.source.settings(reader)
        versions = PageVersions.of(settings, reader, number, address)
        return diff_page(versions.compared(*versions.chosen(None, to)))

    text = await questions.read(request, work)
    # Its own policy stands in it: one style, nothing else, and no origin.
    policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"
    return HTMLResponse(text, headers={"content-security-policy": policy})


@router.get("/pages/{number}/text")
async def text(request: Request, number: Number, at: Seconds) -> HTMLResponse:
    """A version of a page as text."""

    def work(reader: ReadStore) -> PageCopy:
        copies = CopyReader(reader, request.app.state.source.settings(reader))
        return copies.copy(number, datetime.fromtimestamp(int(at) + 1, UTC))

    return shown(request, "text.html", copy=await questions.read(request, work))


@router.get("/changes")
async def changes(
    request: Request,
    kind: Annotated[str, Query(max_length=20)] = "",
    host: Annotated[str, Query(max_length=300)] = "",
    under: Annotated[str, Query(max_length=2000)] = "",
    share: Annotated[str, Query(max_length=20)] = "",
    before: Annotated[int, Query(ge=0, le=2**53)] = 0,
) -> HTMLResponse:
    """The change feed, newest first."""
    query = ChangesQuery(kind, host.lower(), under, _share(share), before)
    found = await questions.of_page(request, query, lambda reader: read_changes(reader, query))
    status = (await questions.overview(request)).status
    asked = {"kind": kind, "host": host, "under": under, "share": share}
    complete = "" if status.feed is None else f"The feed {feed_sentence(status.feed)}."

    def link(**changed: Any) -> str:  # noqa: ANN401 - whatever an address holds
        return f"/changes?{urlencode({name: each for name, each in {**asked, **changed}.items() if each})}"

    return shown(
        request, "changes.html", query=query, found=found, kinds=KINDS, complete=complete, link=link
    )


def _share(text: str) -> float:
    """A share in per cent, as a form sends it."""
    try:
        share = float(text or 0)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 100:  # noqa: PLR2004 - per cent
        raise InvalidParameter(f"share must be from 0 to 100 (got {text!r})")
    return share
