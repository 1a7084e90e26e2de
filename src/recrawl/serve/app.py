"""The server as a whole: pages for people, JSON for programs, and what guards both.

Touches: files, the network, threads.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

import recrawl
from recrawl.errors import RecrawlError
from recrawl.serve import api, charts, pages, questions
from recrawl.serve.answers import Answers
from recrawl.serve.problems import Problem, problem_response
from recrawl.serve.safety import COOKIE, LOGIN, Safety

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from recrawl.serve.safety import Access
    from recrawl.serve.source import Source

_HERE = Path(__file__).parent
_YEAR_SECONDS = 365 * 86_400
VL_VERSION = "5.21"  # that our charts are written for


def create_app(source: Source, access: Access) -> FastAPI:
    """The server of a crawl.

    Args:
        source: The crawl.
        access: Who may ask.
    """
    answers = Answers(source.open)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = asyncio.create_task(questions.warm(_Ourselves(app)))
        yield
        warming.cancel()
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
    app.state.streams = 0
    app.add_exception_handler(RecrawlError, _told)
    app.add_exception_handler(HTTPException, _told)
    app.add_exception_handler(RequestValidationError, _told)
    app.include_router(api.router)
    app.include_router(charts.router)
    app.include_router(pages.router)
    app.add_api_route("/static/vega.js", _vega, include_in_schema=False)
    app.add_api_route(LOGIN, _login, include_in_schema=False)
    app.mount("/static", StaticFiles(directory=_HERE / "static"))
    app.add_middleware(Safety, access=access)
    return app


@dataclass(frozen=True, slots=True)
class _Ourselves:
    """The server as one that asks."""

    app: FastAPI


async def _told(request: Request, error: Exception) -> Response:
    """What is wrong, in the form that the caller reads."""
    if isinstance(error, RecrawlError):
        problem = Problem.of(error)
    elif isinstance(error, HTTPException):
        problem = Problem(error.status_code, str(error.detail))
    else:
        assert isinstance(error, RequestValidationError)  # noqa: S101 - the third that is handled
        problem = Problem(422, _sentence(error))
    if request.url.path.startswith("/api/"):
        return problem_response(problem)
    return pages.problem_page(request, problem)


def _sentence(error: RequestValidationError) -> str:
    """What is wrong with the parameters of a call."""
    wrong = [f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors()]
    return "; ".join(wrong[:5])


@lru_cache(maxsize=1)
def _bundle() -> str:
    """What draws charts in a browser."""
    import vl_convert

    return vl_convert.javascript_bundle(
        "window.vegaEmbed = vegaEmbed; window.vega = vega;", vl_version=VL_VERSION
    )


async def _vega() -> Response:
    return Response(
        _bundle(),
        media_type="text/javascript",
        headers={"cache-control": f"private, max-age={_YEAR_SECONDS}"},
    )


async def _login(request: Request, token: str = "") -> Response:
    """Take the token from the link that was printed, and keep it in a cookie."""
    access: Access = request.app.state.access
    if not access.knows(token):
        return HTMLResponse("<p>This link is not valid.</p>", 401)
    response = RedirectResponse("/", 303)
    response.set_cookie(COOKIE, token, httponly=True, samesite="strict", path="/")
    return response
