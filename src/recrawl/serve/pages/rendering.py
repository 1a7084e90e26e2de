"""Templates, and what every page has: navigation, links with their parameters, problems.

Touches: files, the network.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from fastapi import Path as InPath
from fastapi.responses import HTMLResponse, Response
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import recrawl
from recrawl.report.words import cut, every, minute, percent, size_text, tenths, visits_text
from recrawl.serve.patience import ACCEPTED, AGAIN_SECONDS, PatientRoute
from recrawl.serve.source import today
from recrawl.serve.views.as_of import AsOf
from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recrawl.serve.problems import Problem

Number = Annotated[int, InPath(ge=0, le=2**53)]
Seconds = Annotated[float, Query(ge=0, le=1e11)]
PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
Search = Annotated[str, Query(max_length=200)]
Name = Annotated[str, Query(max_length=300)]

ROWS = 50  # of a table that is shown in parts
_NAVIGATION = (
    ("/", "Overview"),
    ("/changes", "Changes"),
    ("/pages", "Pages"),
    ("/sites", "Sites"),
    ("/listings", "Listings"),
    ("/what-if", "What if"),
)


def _number(value: float) -> str:
    """A whole number with commas."""
    return f"{round(value):,}"


def _instant(seconds: float | None) -> str:
    """An instant in epoch seconds as `<time>` has it; empty where there is none."""
    return "" if seconds is None else f"{minute(seconds / SECONDS_A_DAY)}Z".replace(" ", "T")


_templates = Environment(
    loader=FileSystemLoader(Path(__file__).parent.parent / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals.update(
    cut=cut,
    every=every,
    instant=_instant,
    number=_number,
    percent=percent,
    quoted=lambda text: quote(text, safe=""),
    size_text=size_text,
    tenths=tenths,
    visits_text=visits_text,
)


class _PatientPage(PatientRoute):
    """A page that says so while it is worked out."""

    @staticmethod
    def waiting(request: Request) -> Response:
        """A page that loads itself again."""
        return shown(request, "waiting.html", ACCEPTED, seconds=AGAIN_SECONDS)


def pages_router() -> APIRouter:
    """A router of pages for people: no part of the API."""
    return APIRouter(
        include_in_schema=False, default_response_class=HTMLResponse, route_class=_PatientPage
    )


def shown(
    request: Request,
    template: str,
    code: int = 200,
    *,
    at: float | None = None,
    **values: Any,  # noqa: ANN401 - whatever a template takes
) -> HTMLResponse:
    """A page.

    Args:
        request: Who asks for it.
        template: What shows it.
        code: Status of the response.
        at: The instant that its figures are of, in days after 1970; None where it has none.
        values: What the template takes.
    """
    text = _templates.get_template(template).render(
        navigation=_NAVIGATION,
        path=request.url.path,
        version=recrawl.__version__,
        as_of=None if at is None else AsOf.of(at, today()),
        **values,
    )
    return HTMLResponse(text, code, headers={"cache-control": "no-store"})


def problem_page(request: Request, problem: Problem) -> HTMLResponse:
    """What is wrong, for people."""
    return shown(request, "problem.html", problem.code, problem=problem)


def links(path: str, asked: Mapping[str, Any]) -> Callable[..., str]:
    """Makes addresses of the same page with other parameters; empty ones are left out.

    >>> links("/pages", {"q": "a b", "sort": ""})(page=2)
    '/pages?q=a+b&page=2'
    """

    def link(**changed: Any) -> str:  # noqa: ANN401 - whatever an address holds
        wanted = {name: value for name, value in {**asked, **changed}.items() if value}
        return f"{path}?{urlencode(wanted)}" if wanted else path

    return link
