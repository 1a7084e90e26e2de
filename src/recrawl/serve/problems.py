"""Errors as answers: RFC 9457's problem+json for programs, a sentence on a page for people.

Touches: the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from recrawl import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

_MEDIA_TYPE = "application/problem+json"

# The first that fits counts.
_CODES: tuple[tuple[type[errors.RecrawlError], int], ...] = (
    (errors.UnknownPage, 404),
    (errors.NoVersion, 404),
    (errors.NothingToCompare, 404),
    (errors.CursorExpired, 410),
    (errors.Busy, 503),
    (errors.Conflict, 409),
    (errors.StoreLocked, 409),
    (errors.InvalidInput, 422),
    (errors.StoreError, 503),
    (errors.FetchFailed, 502),
)


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a request.

    Args:
        code: Its status code.
        sentence: What is wrong, and what would be right.
        more: Further members of the answer.
    """

    code: int
    sentence: str
    more: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, error: errors.RecrawlError) -> Problem:
        """The problem that an error of ours is."""
        code = next((code for kind, code in _CODES if isinstance(error, kind)), 500)
        return cls(code, str(error), getattr(error, "more", ()))


def problem_response(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem for a program, with headers of its own."""
    content = {
        "type": "about:blank",
        "title": HTTPStatus(problem.code).phrase,
        "status": problem.code,
        "detail": problem.sentence,
        **dict(problem.more),
    }
    retry = {"retry-after": "1"} if problem.code == HTTPStatus.SERVICE_UNAVAILABLE else {}
    all_headers = {"cache-control": "no-store", **retry, **(headers or {})}
    return JSONResponse(content, problem.code, headers=all_headers, media_type=_MEDIA_TYPE)
