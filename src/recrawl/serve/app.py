"""The server as a whole: pages for people, JSON for programs, and what guards both.

Touches: files, the network, threads.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

import recrawl
from recrawl.errors import RecrawlError, StoreError
from recrawl.serve import api, charts, pages, questions
from recrawl.serve.answers import Answers
from recrawl.serve.bundle import Bundle
from recrawl.serve.lending import Lending
from recrawl.serve.problems import Problem, problem_response
from recrawl.serve.safety import CHART_SCRIPT, COOKIE, LOGIN, Safety

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from recrawl.serve.lending import ScheduleOwner
    from recrawl.serve.safety import ServerAccess
    from recrawl.serve.source import ServedCrawl

_HERE = Path(__file__).parent
_YEAR_SECONDS = 365 * 86_400
_LOOK_SECONDS = 1.0  # between two looks for leases that have ended


def create_app(
    source: ServedCrawl, access: ServerAccess, owner: ScheduleOwner | None = None
) -> FastAPI:
    """The server of a crawl.

    Args:
        source: The crawl.
        access: Who may ask.
        owner: Holds the store, and decides what is due; None for a server that only reads. May be
            set later, by `set_owner`.
    """
    answers, bundle = Answers(source.open), Bundle()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        bundle.begin()
        background = [
            asyncio.create_task(_keep_leases(app)),
            asyncio.create_task(questions.warm(_Ourselves(app))),
        ]
        yield
        for task in background:
            task.cancel()
        await asyncio.wait(background)
        await bundle.close()
        await answers.close()

    app = FastAPI(
        title="recrawl",
        version=recrawl.__version__,
        summary="How fresh the copies of a crawl are, what changed, and what is next.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=lifespan,
    )
    app.state.source, app.state.answers, app.state.access = source, answers, access
    app.state.bundle, app.state.streams = bundle, 0
    set_owner(app, owner)
    app.add_exception_handler(RecrawlError, _told)
    app.add_exception_handler(HTTPException, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.include_router(api.router)
    app.include_router(charts.router)
    app.include_router(pages.router)
    app.add_api_route(CHART_SCRIPT, _vega, include_in_schema=False)
    app.add_api_route(LOGIN, _login, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=_HERE / "static"))
    app.add_middleware(Safety, access=access)
    return app


def set_owner(app: FastAPI, owner: ScheduleOwner | None) -> None:
    """Serve the schedule of an owner from now on; leases that another one gave are no more."""
    app.state.lending = None if owner is None else Lending(owner)


async def _keep_leases(app: FastAPI) -> None:
    """Take pages back whose leases have ended, and take hints."""
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        lending: Lending | None = app.state.lending
        if lending is not None:
            with suppress(StoreError):  # whoever owns the schedule says so, and ends
                await lending.take_back_expired()
                await lending.owner.take_hints()


@dataclass(frozen=True, slots=True)
class _Ourselves:
    """The server as one that asks."""

    app: FastAPI


async def _told(request: Request, error: Exception) -> Response:
    """What is wrong, in the form that the caller reads."""
    headers = None
    if isinstance(error, RecrawlError):
        problem = Problem.of(error)
    elif isinstance(error, HTTPException):
        problem = Problem(error.status_code, _of_http(error))
        headers = error.headers
        if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            headers = {"Allow": ", ".join(_methods(request))}
            problem = replace(problem, sentence=f"this call takes {headers['Allow']} only")
    else:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - the third that is handled
        problem = Problem(422, _sentence(error))
    if request.url.path.startswith("/api/"):
        return problem_response(problem, headers)
    return pages.problem_page(request, problem)


def _methods(request: Request) -> list[str]:
    """Methods that the calls of a path take, all together."""
    description: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    parts = request.url.path.split("/")
    found: set[str] = set()
    for template, calls in description.items():
        pairs = list(zip_longest(template.split("/"), parts))
        if all(one == other or (one or "").startswith("{") for one, other in pairs):
            found |= {method.upper() for method in calls}
    return sorted(found) or ["GET"]


def _of_http(error: HTTPException) -> str:
    """What is wrong with a request that no call takes."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        return "there is no such call; /api/v1/openapi.json describes those that there are"
    return str(error.detail)


def _sentence(error: RequestValidationError) -> str:
    """What is wrong with the parameters of a call."""
    wrong = [f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors()]
    return "; ".join(wrong[:5])


async def _vega(request: Request) -> Response:
    bundle: Bundle = request.app.state.bundle
    return Response(
        await bundle.text(),
        media_type="text/javascript",
        headers={"cache-control": f"private, max-age={_YEAR_SECONDS}"},
    )


async def _login(request: Request, token: str = "") -> Response:
    """Take the token from the link that was printed, and keep it in a cookie."""
    access: ServerAccess = request.app.state.access
    if not access.knows(token):
        return HTMLResponse("<p>This link is not valid.</p>", 401)
    response = RedirectResponse("/", 303)
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
    return response
